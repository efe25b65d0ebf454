/* SPDX-License-Identifier: Apache-2.0
 * What the programs that measure fits have in common: clocks, medians, the ends of a JSON line. */
#ifndef FIT_LINE_H
#define FIT_LINE_H

typedef struct fit_spread {
    double least, median, most;
} fit_spread;

/* fit_processor_seconds - of this process. fit_wall_seconds - never set back. */
double fit_processor_seconds(void);
double fit_wall_seconds(void);

/* fit_spread_of - sorts the values. */
fit_spread fit_spread_of(int n, double *values);

/* fit_line_begin - {"bench": "fit", "case": "even". fit_line_end - , "machine": ... } */
void fit_line_begin(const char *bench, const char *name);
void fit_line_end(void);

#endif
