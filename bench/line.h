/* SPDX-License-Identifier: Apache-2.0
 * What the programs that measure have in common: clocks, medians, the ends of a JSON line. */
#ifndef LINE_H
#define LINE_H

typedef struct line_spread {
    double least, median, most;
} line_spread;

/* line_processor_seconds - of this process. line_wall_seconds - never set back. */
double line_processor_seconds(void);
double line_wall_seconds(void);

/* line_spread_of - sorts the values. */
line_spread line_spread_of(int n, double *values);

/* line_begin - {"bench": "fit", "case": "even". line_end - , "machine": ... } */
void line_begin(const char *bench, const char *name);
void line_end(void);

#endif
