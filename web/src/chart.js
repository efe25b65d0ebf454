// SPDX-License-Identifier: Apache-2.0
// Curves and points against one axis, with labels and units, through uPlot.
import uPlot from "uplot";

const COLOURS = ["#1f4e8c", "#d1495b", "#7a7a7a"];

function axis(label, size) {
  return { label, size, labelSize: 18, font: "11px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", stroke: "#444", grid: { stroke: "#eee" } };
}

function seriesOf(curve, i) {
  const stroke = curve.colour || COLOURS[i % COLOURS.length];
  return {
    label: curve.name,
    stroke,
    width: curve.points ? 0 : 1.6,
    paths: curve.points ? () => null : curve.bars ? uPlot.paths.bars({ size: [0.9, 40] }) : undefined,
    fill: curve.bars ? stroke + "55" : undefined,
    points: { show: Boolean(curve.points), size: 5, stroke, fill: stroke },
    spanGaps: true,
    value: (_, v) => (v === null || v === undefined ? "–" : v.toPrecision(4)),
  };
}

// Vertical lines of one standard deviation.
function drawErrors(plot, curve) {
  const context = plot.ctx;
  context.save();
  context.strokeStyle = (curve.colour || COLOURS[0]) + "80";
  context.lineWidth = Math.max(1, devicePixelRatio);
  context.beginPath();
  context.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  context.clip();
  context.beginPath();
  for (let i = 0; i < curve.x.length; i++) {
    if (Number.isFinite(curve.y[i]) && Number.isFinite(curve.error[i])) {
      const x = plot.valToPos(curve.x[i], "x", true);
      context.moveTo(x, plot.valToPos(curve.y[i] - curve.error[i], "y", true));
      context.lineTo(x, plot.valToPos(curve.y[i] + curve.error[i], "y", true));
    }
  }
  context.stroke();
  context.restore();
}

function numbers(list) {
  return Array.from(list, (v) => (Number.isFinite(v) ? v : null));
}

// A chart in an element of its own; set() replaces what it shows.
export class Chart {
  // labels: {title, x, y, ticks: [{at, label}] or none}; height in CSS pixels
  constructor(host, labels, height) {
    this.element = document.createElement("figure");
    this.element.className = "chart";
    this.element.innerHTML = "<figcaption></figcaption>";
    this.element.querySelector("figcaption").textContent = labels.title;
    this.labels = labels;
    this.height = height;
    host.append(this.element);
    new ResizeObserver(() => this.fitWidth()).observe(this.element);
  }

  fitWidth() {
    const width = this.element.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) {
      this.plot.setSize({ width, height: this.height });
    }
  }

  // Ticks where places of the axis have names.
  named() {
    const { ticks } = this.labels;
    return ticks ? { splits: () => ticks.map((t) => t.at), values: () => ticks.map((t) => t.label), filter: (_, splits) => splits } : {};
  }

  // curves: [{name, x, y, error, points, bars, colour}]; bars stand on zero
  set(curves) {
    const data = uPlot.join(curves.map((c) => [Array.from(c.x), numbers(c.y)]), curves.map(() => [2]));
    const options = {
      width: Math.max(this.element.clientWidth, 200),
      height: this.height,
      scales: { x: { time: false }, y: curves.some((c) => c.bars) ? { range: (_, low, high) => [0, 1.05 * high || 1] } : {} },
      axes: [{ ...axis(this.labels.x, 44), ...this.named() }, axis(this.labels.y, 62)],
      series: [{ label: this.labels.x }, ...curves.map(seriesOf)],
      legend: { show: curves.length > 1 && !this.labels.ticks },
      cursor: { drag: { x: true, y: true, uni: 20 } },
      hooks: { draw: [(plot) => curves.filter((c) => c.error).forEach((c) => drawErrors(plot, c))] },
    };
    this.plot?.destroy();
    this.plot = new uPlot(options, data, this.element);
  }
}
