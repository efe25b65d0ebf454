/* SPDX-License-Identifier: Apache-2.0
 * What one core can do at most: multiply-adds in the widest vectors it has. */
#ifndef FIT_PEAK_H
#define FIT_PEAK_H

typedef struct fit_peak {
    const char *vectors; /* "avx512", "avx2", "c" */
    double f64, f32;     /* flop/s, now; a multiply-add counts two */
} fit_peak;

/* fit_peak_measure - takes about 5 ms of processor time. */
fit_peak fit_peak_measure(void);

#endif
