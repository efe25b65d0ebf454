// SPDX-License-Identifier: Apache-2.0
// Fitted modes along a path through the Brillouin zone, beside calculated bands.
import { block, description } from "./blocks.js";
import { Chart } from "./chart.js";

// Abscissae that differ, for several modes may lie at one place: apart by less than a screen shows.
function apart(x, length) {
  return Float64Array.from(x, (v, i) => v + (1e-5 * length * i) / x.length);
}

export function showPath(host) {
  const { stops, branch, bands } = description.path;
  const length = stops[stops.length - 1].at || 1;
  const curves = [];
  for (let b = 0; b < bands; b++) {
    const all = block("bands"), x = apart(block("band-distance"), length);
    curves.push({ name: `band ${b + 1}`, x, y: x.map((_, i) => all[i * bands + b]), colour: "#9a9a9a" });
  }
  const errors = block("path-errors");
  const fitted = { name: "fitted", x: apart(block("path-distance"), length), y: block("path-frequency"), error: errors, points: true };
  const labels = { title: "phonons along the path", x: "", y: "frequency (THz)", ticks: stops };
  new Chart(host, labels, 460).set([...curves, fitted]);
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = `Branch rule ${branch}.` + (bands ? " Lines: calculated from force constants." : "");
  host.append(note);
}
