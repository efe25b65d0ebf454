// SPDX-License-Identifier: Apache-2.0
// The signal over the frame, delay by delay.
import { block, description } from "./blocks.js";
import { MapPanel } from "./map.js";

const { frames, signal } = description;

export class FramesPanel {
  constructor(host, view) {
    this.host = host;
    this.at = frames.shown;
    const size = frames.rows * frames.width;
    const step = frames.high / 127;
    const value = (row, column) => {
      const stored = block("frames")[this.at * size + Math.floor(row / frames.bin) * frames.width + Math.floor(column / frames.bin)];
      return stored === -128 ? NaN : stored * step;
    };
    const map = { title: "", unit: signal.unit, kind: "diverging", low: -frames.high, high: frames.high };
    this.map = new MapPanel(host, view, map, value);
    this.slider();
    this.show(this.at);
  }

  slider() {
    const control = document.createElement("label");
    control.className = "slider";
    control.innerHTML = `delay <input type="range" min="0" max="${signal.delay.length - 1}" step="1"> <output></output>`;
    this.map.element.append(control);
    this.input = control.querySelector("input");
    this.output = control.querySelector("output");
    this.input.addEventListener("input", () => this.show(Number(this.input.value)));
  }

  show(at) {
    this.at = at;
    this.input.value = at;
    const words = `${signal.delay[at].toFixed(3)} ps`;
    this.output.textContent = words;
    this.map.map.title = `signal at ${words}`;
    this.map.tell(null);
    this.map.schedule();
  }
}
