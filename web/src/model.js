// SPDX-License-Identifier: Apache-2.0
// The fitted curve, and the spectrum of samples at any delays.

// fit: {offset, slope, expAmplitude, expTime, modes: [{frequency, amplitude, decay, phase}]}
export function curve(fit, t0, t) {
  const x = t - t0;
  let y = fit.offset;
  if (Number.isFinite(fit.slope)) {
    y += fit.slope * x;
  }
  if (Number.isFinite(fit.expTime)) {
    y += fit.expAmplitude * Math.exp(-x / fit.expTime);
  }
  for (const m of fit.modes) {
    y += m.amplitude * Math.exp(-m.decay * x) * Math.cos(2 * Math.PI * m.frequency * x + m.phase);
  }
  return y;
}

// Amplitudes 2 |sum (y - mean) exp(-2 pi i f t)| / n of the samples that are numbers, at frequencies
// [count] up to the mean Nyquist frequency.
export function spectrum(t, y, count) {
  const used = t.map((_, i) => i).filter((i) => Number.isFinite(y[i]));
  const frequency = new Float64Array(count), amplitude = new Float64Array(count);
  if (used.length < 2) {
    return { frequency, amplitude: amplitude.fill(NaN) };
  }
  const mean = used.reduce((sum, i) => sum + y[i], 0) / used.length;
  const nyquist = (used.length - 1) / (2 * (t[used[used.length - 1]] - t[used[0]]));
  for (let k = 0; k < count; k++) {
    frequency[k] = (nyquist * k) / (count - 1);
    let re = 0, im = 0;
    for (const i of used) {
      const turn = 2 * Math.PI * frequency[k] * t[i];
      re += (y[i] - mean) * Math.cos(turn);
      im += (y[i] - mean) * Math.sin(turn);
    }
    amplitude[k] = (2 * Math.hypot(re, im)) / used.length;
  }
  return { frequency, amplitude };
}
