// SPDX-License-Identifier: Apache-2.0
// The report: what there is to show, one section after the other.
import "./report.css";
import { block, description, has } from "./blocks.js";
import { Chart } from "./chart.js";
import { FramesPanel } from "./frames.js";
import { MapPanel, View } from "./map.js";
import { showPath } from "./path.js";
import { nearest, PixelPanel } from "./pixel.js";

const { maps, frame, pixels, files } = description;

function section(id, title) {
  const element = document.createElement("section");
  element.id = id;
  element.innerHTML = `<h2>${title}</h2>`;
  document.querySelector("main").append(element);
  return element;
}

function valueOf(map) {
  return (row, column) => block("map-" + map.id)[row * frame.width + column];
}

function showMaps(view) {
  const host = section("maps", "Maps");
  const grid = document.createElement("div");
  grid.className = "maps";
  host.append(grid);
  const zone = has("zones") ? (row, column) => block("zones")[row * frame.width + column] : null;
  maps.forEach((map) => new MapPanel(grid, view, map, valueOf(map), map.id === "off" ? zone : null));
  if (has("frames")) {
    new FramesPanel(grid, view);
  }
  const note = document.createElement("p");
  note.className = "note";
  const some = pixels.step > 1 ? ` The page holds the traces of one pixel in ${pixels.step} in each direction.` : "";
  note.textContent = "Row 0 is on top. Grey: missing, not in state ok, or no mode. Colours run from the 2nd to the 98th percentile." + (zone ? " White lines: borders of Brillouin zones." : "") + some + " Click a pixel for its trace; wheel and drag to zoom and move, all maps together; double click for the whole frame.";
  host.append(note);
}

function showPixel(view) {
  const host = document.createElement("section");
  host.id = "pixel";
  document.querySelector("main").append(host);
  const panel = new PixelPanel(host);
  const show = (row, column) => {
    const at = nearest(row, column);
    view.mark = { row: at.row, column: at.column };
    view.draw();
    panel.show(at.row, at.column);
    history.replaceState(null, "", `#pixel=${at.row},${at.column}`);
  };
  view.listeners.push(show);
  const named = /^#pixel=(\d+),(\d+)$/.exec(location.hash);
  const [row, column] = named ? named.slice(1).map(Number) : description.pixel;
  show(row, column);
}

function showCurves() {
  const { curves } = description;
  if (!curves.length) {
    return;
  }
  const grid = document.createElement("div");
  grid.className = "charts";
  section("run", "The run").append(grid);
  curves.forEach((c) => new Chart(grid, c, 220).set([{ name: c.y, x: c.xs, y: c.ys, bars: c.bars, points: c.points }]));
}

function showHead() {
  document.title = `${description.title} – Sextant`;
  const head = document.querySelector("header");
  head.innerHTML = `<h1></h1><p class="note"></p>`;
  head.querySelector("h1").textContent = description.title;
  head.querySelector("p").textContent = description.words || "";
}

function showChecks() {
  if (!description.checks.length) {
    return;
  }
  const list = document.createElement("ul");
  section("checks", "Checks").append(list);
  for (const check of description.checks) {
    const item = document.createElement("li");
    item.className = check.level;
    item.textContent = check.words;
    list.append(item);
  }
}

// What was read, and what made it.
function showFiles() {
  const table = document.createElement("table");
  section("files", "Where it comes from").append(table);
  for (const file of files) {
    for (const [name, value] of Object.entries(file)) {
      const row = table.insertRow();
      row.insertCell().textContent = name === "path" ? "file" : name;
      Object.assign(row.insertCell(), { className: "path", textContent: value });
    }
  }
}

showHead();
showChecks();
if (frame) {
  const view = new View(frame);
  if (maps.length || has("frames")) {
    showMaps(view);
  }
  if (has("pixels") || has("trace-y")) {
    showPixel(view);
  }
}
showCurves();
if (description.path) {
  showPath(section("path", "Dispersion"));
}
showFiles();
document.body.dataset.ready = "yes";
