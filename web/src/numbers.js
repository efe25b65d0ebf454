// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.

// "1.842(7)": the error counts in last digits; two of its digits if it begins with 1.
export function withError(value, error) {
  if (!Number.isFinite(value)) {
    return "–";
  }
  if (!(error > 0 && Number.isFinite(error))) {
    return short(value);
  }
  const place = Math.floor(Math.log10(error));
  let decimals = (error / 10 ** place < 1.95 ? 1 : 0) - place;
  const largest = Math.max(Math.abs(value), error);
  if (decimals >= 0 && largest >= 1e-4) {
    return `${value.toFixed(decimals)}(${(error * 10 ** decimals).toFixed(0)})`;
  }
  const exponent = Math.floor(Math.log10(largest));
  decimals = Math.max(decimals + exponent, 0);
  return `${(value / 10 ** exponent).toFixed(decimals)}(${(error * 10 ** (decimals - exponent)).toFixed(0)})e${exponent}`;
}

export function short(value) {
  if (!Number.isFinite(value)) {
    return "–";
  }
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
