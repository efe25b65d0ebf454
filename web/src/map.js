// SPDX-License-Identifier: Apache-2.0
// A map of the frame on a canvas. All maps of a page share one view, the part of the frame that is
// shown, and one marked pixel. Only what the canvas shows is drawn, so frames of any size are quick.
import { MISSING, table, classTable } from "./colours.js";
import { short } from "./numbers.js";

const BORDER = [255, 255, 255];
const LEFT = 44, BOTTOM = 34, TOP = 6, RIGHT = 8;

// What maps share: frame {rows, width}, the view in pixels of the frame, the mark, those who draw.
export class View {
  constructor(frame) {
    this.frame = frame;
    this.maps = [];
    this.mark = null;
    this.listeners = [];
    this.reset();
  }
  reset() {
    Object.assign(this, { x: 0, y: 0, width: this.frame.width, rows: this.frame.rows });
    this.draw();
  }
  draw() {
    this.maps.forEach((map) => map.schedule());
  }
  choose(row, column) {
    this.mark = { row, column };
    this.draw();
    this.listeners.forEach((listener) => listener(row, column));
  }
  // Around a point of the frame that stays where it is; no smaller than some pixels.
  zoom(factor, row, column) {
    const width = Math.min(Math.max(this.width * factor, Math.min(6, this.frame.width)), this.frame.width);
    const rows = Math.min(Math.max(this.rows * factor, Math.min(6, this.frame.rows)), this.frame.rows);
    this.x = column - ((column - this.x) / this.width) * width;
    this.y = row - ((row - this.y) / this.rows) * rows;
    Object.assign(this, { width, rows });
    this.move(0, 0);
  }
  move(rows, columns) {
    this.x = Math.min(Math.max(this.x + columns, 0), this.frame.width - this.width);
    this.y = Math.min(Math.max(this.y + rows, 0), this.frame.rows - this.rows);
    this.draw();
  }
}

function ticks(low, high, most) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  const step = Math.max(1, [1, 2, 5, 10].find((s) => s * power >= raw) * power);
  const list = [];
  for (let t = Math.ceil(low / step) * step; t <= high; t += step) {
    list.push(t);
  }
  return list;
}

export class MapPanel {
  // map: {title, unit, kind, low, high, log, classes}; value(row, column): a number or NaN; zone(row,
  // column): between different ones a line is drawn, null: none
  constructor(host, view, map, value, zone = null) {
    Object.assign(this, { view, map, value, zone, pending: false });
    this.element = document.createElement("figure");
    this.element.className = "map";
    this.element.innerHTML = `<figcaption></figcaption><canvas></canvas><div class="scale"></div>`;
    this.caption = this.element.querySelector("figcaption");
    this.canvas = this.element.querySelector("canvas");
    this.canvas.setAttribute("role", "img");
    host.append(this.element);
    this.legend();
    this.listen();
    view.maps.push(this);
    new ResizeObserver(() => this.schedule()).observe(this.canvas);
    this.schedule();
  }

  legend() {
    const { map } = this, scale = this.element.querySelector(".scale");
    this.caption.textContent = map.title + (map.unit ? ` (${map.unit})` : "");
    this.canvas.setAttribute("aria-label", `map of ${this.caption.textContent}`);
    if (map.kind === "class") {
      this.colours = classTable(map.classes);
      scale.classList.add("classes");
      scale.innerHTML = map.classes.map((c) => `<span><i style="background:${c.colour}"></i>${c.words}</span>`).join("");
      return;
    }
    this.colours = table(map.kind);
    const stops = this.colours.filter((_, i) => i % 17 === 0).map((c) => `rgb(${c})`);
    scale.innerHTML = `<span>${short(map.low)}</span><i style="background:linear-gradient(90deg,${stops})"></i><span>${short(map.high)}</span>`;
    if (map.log) {
      scale.title = "logarithmic";
    }
  }

  schedule() {
    if (!this.pending) {
      this.pending = true;
      requestAnimationFrame(() => {
        this.pending = false;
        this.draw();
      });
    }
  }

  // Where the view lies on the canvas, in CSS pixels: as large as fits, pixels square unless the frame
  // is a line.
  layout() {
    const width = this.canvas.clientWidth - LEFT - RIGHT, height = this.canvas.clientHeight - TOP - BOTTOM;
    const { frame } = this.view;
    if (frame.rows === 1 || frame.width === 1) {
      return { x: LEFT, y: TOP, width, height };
    }
    const pixel = Math.min(width / this.view.width, height / this.view.rows);
    return { x: LEFT, y: TOP, width: pixel * this.view.width, height: pixel * this.view.rows };
  }

  colour(value) {
    const { map } = this;
    if (!Number.isFinite(value)) {
      return MISSING;
    }
    if (map.kind === "class") {
      return this.colours[value];
    }
    const part = map.log ? Math.log(value / map.low) / Math.log(map.high / map.low) : (value - map.low) / (map.high - map.low || 1);
    return this.colours[Math.min(Math.max(Math.round(255 * part), 0), 255)];
  }

  draw() {
    const density = window.devicePixelRatio || 1, { canvas, view } = this;
    canvas.width = Math.round(canvas.clientWidth * density);
    canvas.height = Math.round(canvas.clientHeight * density);
    if (!canvas.width || !canvas.height) {
      return;
    }
    const box = this.layout(), context = canvas.getContext("2d");
    const width = Math.max(1, Math.round(box.width * density)), height = Math.max(1, Math.round(box.height * density));
    const image = context.createImageData(width, height), data = image.data;
    const above = new Int32Array(width).fill(-1);
    for (let i = 0, at = 0; i < height; i++) {
      let left = -1;
      const row = Math.min(Math.floor(view.y + ((i + 0.5) / height) * view.rows), view.frame.rows - 1);
      for (let j = 0; j < width; j++, at += 4) {
        const column = Math.min(Math.floor(view.x + ((j + 0.5) / width) * view.width), view.frame.width - 1);
        let c = this.colour(this.value(row, column));
        if (this.zone) {
          const zone = this.zone(row, column);
          c = (left >= 0 && zone !== left) || (above[j] >= 0 && zone !== above[j]) ? BORDER : c;
          left = above[j] = zone;
        }
        data[at] = c[0];
        data[at + 1] = c[1];
        data[at + 2] = c[2];
        data[at + 3] = 255;
      }
    }
    context.putImageData(image, Math.round(box.x * density), Math.round(box.y * density));
    context.scale(density, density);
    this.drawAxes(context, box);
    this.drawMark(context, box);
  }

  drawAxes(context, box) {
    const { view } = this;
    context.strokeStyle = context.fillStyle = "#444";
    context.font = "11px system-ui, sans-serif";
    context.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
    context.textAlign = "center";
    for (const t of ticks(view.x, view.x + view.width - 1, Math.max(2, box.width / 70))) {
      context.fillText(t, box.x + ((t + 0.5 - view.x) / view.width) * box.width, box.y + box.height + 13);
    }
    context.fillText("column", box.x + box.width / 2, box.y + box.height + 28);
    context.textAlign = "right";
    for (const t of ticks(view.y, view.y + view.rows - 1, Math.max(2, box.height / 45))) {
      context.fillText(t, box.x - 4, box.y + ((t + 0.5 - view.y) / view.rows) * box.height + 4);
    }
    context.save();
    context.translate(9, box.y + box.height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("row", 0, 0);
    context.restore();
  }

  drawMark(context, box) {
    const { view } = this, { mark } = view;
    if (!mark || mark.column < view.x - 1 || mark.column > view.x + view.width || mark.row < view.y - 1 || mark.row > view.y + view.rows) {
      return;
    }
    const x = box.x + ((mark.column + 0.5 - view.x) / view.width) * box.width;
    const y = box.y + ((mark.row + 0.5 - view.y) / view.rows) * box.height;
    const arm = Math.max(7, box.width / view.width / 2 + 3);
    for (const [colour, width] of [["#fff", 3.5], ["#d00", 1.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(x - arm, y - arm, 2 * arm, 2 * arm);
    }
  }

  // The pixel of the frame under the pointer; null outside.
  pixelAt(event) {
    const box = this.layout(), { view } = this;
    const column = view.x + ((event.offsetX - box.x) / box.width) * view.width;
    const row = view.y + ((event.offsetY - box.y) / box.height) * view.rows;
    const inside = event.offsetX >= box.x && event.offsetX < box.x + box.width && event.offsetY >= box.y && event.offsetY < box.y + box.height;
    return inside ? { row, column } : null;
  }

  listen() {
    const { canvas, view } = this;
    let start = null;
    canvas.addEventListener("pointerdown", (event) => {
      start = { event, x: view.x, y: view.y, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!start) {
        this.tell(this.pixelAt(event));
        return;
      }
      const box = this.layout();
      const right = event.offsetX - start.event.offsetX, down = event.offsetY - start.event.offsetY;
      start.moved = start.moved || Math.hypot(right, down) > 4;
      if (start.moved) {
        Object.assign(view, { x: start.x, y: start.y });
        view.move((-down / box.height) * view.rows, (-right / box.width) * view.width);
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      const at = this.pixelAt(event);
      if (start && !start.moved && at) {
        view.choose(Math.floor(at.row), Math.floor(at.column));
      }
      start = null;
    });
    canvas.addEventListener("pointerleave", () => this.tell(null));
    canvas.addEventListener("dblclick", () => view.reset());
    canvas.addEventListener("wheel", (event) => {
      const at = this.pixelAt(event);
      if (at) {
        event.preventDefault();
        view.zoom(event.deltaY > 0 ? 1.25 : 0.8, at.row, at.column);
      }
    }, { passive: false });
  }

  tell(at) {
    const { map } = this, name = map.title + (map.unit ? ` (${map.unit})` : "");
    if (!at) {
      this.caption.textContent = name;
      return;
    }
    const row = Math.floor(at.row), column = Math.floor(at.column), value = this.value(row, column);
    const words = map.kind === "class" ? (map.classes[value] || {}).words : short(value) + (map.unit ? " " + map.unit : "");
    this.caption.textContent = `row ${row}, column ${column}: ${words}`;
  }
}
