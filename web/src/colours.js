// SPDX-License-Identifier: Apache-2.0
// Numbers to colours: 256 steps between a few anchors. Even and cyclic maps rise evenly in lightness.
const ANCHORS = {
  even: ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"],
  cyclic: ["#e2d9e2", "#9ebbc9", "#6785be", "#5e43a5", "#2f1436", "#7b2150", "#b25652", "#ceac94", "#e2d9e2"],
  diverging: ["#2166ac", "#67a9cf", "#d1e5f0", "#f7f7f7", "#fddbc7", "#ef8a62", "#b2182b"],
  grey: ["#0b0b0b", "#f7f7f7"],
};
export const MISSING = [190, 190, 190];

function parse(colour) {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

const tables = new Map();

// [256] of [red, green, blue]
export function table(kind) {
  if (!tables.has(kind)) {
    const anchors = ANCHORS[kind].map(parse);
    tables.set(kind, Array.from({ length: 256 }, (_, i) => {
      const at = (i / 255) * (anchors.length - 1);
      const left = Math.min(Math.floor(at), anchors.length - 2);
      return anchors[left].map((low, c) => Math.round(low + (at - left) * (anchors[left + 1][c] - low)));
    }));
  }
  return tables.get(kind);
}

export function classTable(classes) {
  return classes.map((c) => parse(c.colour));
}
