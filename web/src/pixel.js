// SPDX-License-Identifier: Apache-2.0
// One pixel in full: its trace, the fit, what the fit leaves, their spectra, and the numbers.
import { block, description, has } from "./blocks.js";
import { Chart } from "./chart.js";
import { curve, spectrum } from "./model.js";
import { withError, short } from "./numbers.js";

const { fields, pixels, signal, states } = description;
const SPECTRUM_POINTS = 400;

// The pixel nearest to a place of which the page holds more than the maps.
export function nearest(row, column) {
  const at = (place, first, count) => Math.min(Math.max(Math.round((place - first) / pixels.step), 0), count - 1);
  const i = at(row, pixels.row0, pixels.rows), j = at(column, pixels.column0, pixels.width);
  return { index: i * pixels.width + j, row: pixels.row0 + i * pixels.step, column: pixels.column0 + j * pixels.step };
}

function field(name, index) {
  const f = has("pixels") ? fields.indexOf(name) : -1;
  return f < 0 ? NaN : block("pixels")[index * fields.length + f];
}

export function fitOf(index) {
  const modes = [];
  for (let m = 0; m < field("modes", index); m++) {
    const mode = {};
    for (const name of ["frequency", "amplitude", "decay", "phase"]) {
      mode[name] = field(`${name} ${m}`, index);
      mode[name + "_errors"] = field(`${name}_errors ${m}`, index);
    }
    modes.push(mode);
  }
  return {
    modes,
    state: field("state", index),
    chi2: field("chi2", index),
    offset: field("offset", index),
    offset_errors: field("offset_errors", index),
    slope: field("background_slope", index),
    expAmplitude: field("background_amplitude", index),
    expTime: field("background_time", index),
  };
}

function samplesOf(index) {
  const nt = signal.delay.length, y = new Float64Array(nt), sigma = new Float64Array(nt);
  const [middle, step, sigmaStep] = block("trace-scale").subarray(3 * index, 3 * index + 3);
  const stored = block("trace-y").subarray(index * nt, (index + 1) * nt);
  const errors = signal.hasSigma ? block("trace-sigma").subarray(index * nt, (index + 1) * nt) : null;
  for (let i = 0; i < nt; i++) {
    y[i] = stored[i] === -32768 ? NaN : middle + stored[i] * step;
    sigma[i] = errors ? errors[i] * sigmaStep : NaN;
  }
  return { y, sigma };
}

export class PixelPanel {
  constructor(host) {
    host.innerHTML = `<h2 id="pixel-title"></h2><div class="pixel-charts"></div><div class="pixel-numbers"></div>`;
    this.title = host.querySelector("h2");
    this.numbers = host.querySelector(".pixel-numbers");
    if (has("trace-y")) {
      const charts = host.querySelector(".pixel-charts"), unit = signal.unit ? ` (${signal.unit})` : "";
      this.trace = new Chart(charts, { title: "trace and fit", x: "delay (ps)", y: signal.relative ? `on / off − 1${unit}` : "signal" }, 300);
      this.rest = new Chart(charts, { title: "what the fit leaves", x: "delay (ps)", y: signal.hasSigma ? "(data − fit) / σ" : `data − fit${unit}` }, 190);
      this.spectrum = new Chart(charts, { title: "spectrum", x: "frequency (THz)", y: `amplitude${unit}` }, 220);
    }
  }

  show(row, column) {
    const { index } = nearest(row, column), fit = fitOf(index);
    this.title.textContent = pixels.rows * pixels.width === 1 ? "Trace" : `Pixel in row ${row}, column ${column}`;
    if (has("pixels")) {
      this.table(fit);
    }
    if (this.trace) {
      this.charts(index, fit);
    }
  }

  charts(index, fit) {
    const { delay, t0, tStart, scale } = signal, { y, sigma } = samplesOf(index);
    const fitted = Number.isFinite(fit.offset), used = delay.map((t) => fitted && t >= tStart);
    const scaled = Float64Array.from(y, (v) => v * scale);
    const data = { name: "data", x: delay, y: scaled, points: true, error: signal.hasSigma ? Float64Array.from(sigma, (v) => v * scale) : null };
    const curves = [data];
    if (fitted) {
      const x = dense(tStart, delay[delay.length - 1], fit);
      curves.push({ name: "fit", x, y: x.map((t) => curve(fit, t0, t) * scale) });
    }
    this.trace.set(curves);
    const rest = Float64Array.from(y, (v, i) => (used[i] ? v - curve(fit, t0, delay[i]) : NaN));
    const shown = Float64Array.from(rest, (v, i) => (signal.hasSigma ? v / sigma[i] : v * scale));
    this.rest.set([{ name: "data − fit", x: delay, y: shown, points: true }]);
    const after = Float64Array.from(scaled, (v, i) => (delay[i] >= tStart ? v : NaN));
    const whole = spectrum(delay, after, SPECTRUM_POINTS), left = spectrum(delay, Float64Array.from(rest, (v) => v * scale), SPECTRUM_POINTS);
    const list = [{ name: "data", x: whole.frequency, y: whole.amplitude }];
    if (fitted) {
      list.push({ name: "what the fit leaves", x: left.frequency, y: left.amplitude });
    }
    this.spectrum.set(list);
  }

  table(fit) {
    const scale = signal.scale, percent = signal.unit ? ` (${signal.unit})` : "";
    const rows = fit.modes.map((m, k) => `<tr><th>${k + 1}</th><td>${withError(m.frequency, m.frequency_errors)}</td><td>${withError(m.amplitude * scale, m.amplitude_errors * scale)}</td><td>${withError(m.decay, m.decay_errors)}</td><td>${withError(m.phase, m.phase_errors)}</td></tr>`);
    const head = `<tr><th>mode</th><th>frequency (THz)</th><th>amplitude${percent}</th><th>decay (1/ps)</th><th>phase (rad)</th></tr>`;
    const state = states[fit.state] || { word: "?", sentence: "" };
    this.numbers.innerHTML = `${rows.length ? `<table>${head}${rows.join("")}</table>` : ""}
      <p>offset ${withError(fit.offset * scale, fit.offset_errors * scale)}${signal.unit ? " " + signal.unit : ""}; ${signal.hasSigma ? "χ² per degree of freedom" : "residual variance"} ${short(fit.chi2)}.</p>
      <p><b>${state.word}</b>: ${state.sentence}.</p>
      <p class="note">In brackets: one standard deviation in units of the last digits.</p>`;
  }
}

// Delays dense enough for the fastest mode.
function dense(first, last, fit) {
  const fastest = Math.max(0, ...fit.modes.map((m) => m.frequency));
  const count = Math.round(Math.min(Math.max(600, 24 * fastest * (last - first)), 8000));
  return Array.from({ length: count }, (_, i) => first + ((last - first) * i) / (count - 1));
}
