// SPDX-License-Identifier: Apache-2.0
// What the page carries: a description as JSON, and blocks of numbers, compressed, as text.
import { unzlibSync } from "fflate";

const TYPES = { float32: Float32Array, uint16: Uint16Array, int16: Int16Array, int8: Int8Array, uint8: Uint8Array };

export const description = JSON.parse(document.getElementById("description").textContent);

// A block is unpacked when it is first asked for; it stays, its text goes.
const unpacked = new Map();

export function has(name) {
  return unpacked.has(name) || document.getElementById("block-" + name) !== null;
}

// Stored are planes: the lowest byte of all numbers first.
function numbers(sorted, Type, count) {
  const size = Type.BYTES_PER_ELEMENT;
  if (size === 1) {
    return new Type(sorted.buffer, 0, count);
  }
  const bytes = new Uint8Array(count * size);
  for (let b = 0; b < size; b++) {
    for (let i = 0; i < count; i++) {
      bytes[i * size + b] = sorted[b * count + i];
    }
  }
  return new Type(bytes.buffer);
}

export function block(name) {
  if (!unpacked.has(name)) {
    const element = document.getElementById("block-" + name);
    const Type = TYPES[element.dataset.type], count = Number(element.dataset.count);
    const packed = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    const sorted = unzlibSync(packed, { out: new Uint8Array(count * Type.BYTES_PER_ELEMENT) });
    unpacked.set(name, numbers(sorted, Type, count));
    element.remove();
  }
  return unpacked.get(name);
}
