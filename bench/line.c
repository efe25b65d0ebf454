/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sextant/cpu.h>
#include <sextant/version.h>

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double line_processor_seconds(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }
double line_wall_seconds(void) { return seconds(CLOCK_MONOTONIC); }

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

line_spread line_spread_of(int n, double *values) {
    qsort(values, (size_t)n, sizeof *values, compare);
    return (line_spread){values[0], 0.5 * (values[(n - 1) / 2] + values[n / 2]), values[n - 1]};
}

void line_begin(const char *bench, const char *name) {
    printf("{\"bench\": \"%s\", \"case\": \"%s\"", bench, name);
}

void line_end(void) {
    char machine[160], date[32];
    const time_t now = time(NULL);
    sx_cpu cpu;
    sx_cpu_get(&cpu);
    sx_cpu_describe(&cpu, machine, sizeof machine);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf(", \"machine\": \"%s\", \"commit\": \"%s\", \"date\": \"%s\"}\n", machine, sx_commit(),
           date);
    fflush(stdout);
}
