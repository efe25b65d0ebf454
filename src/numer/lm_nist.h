/* SPDX-License-Identifier: Apache-2.0
 * Test support: the nonlinear regression problems of NIST's Statistical Reference Datasets. */
#ifndef SXI_LM_NIST_H
#define SXI_LM_NIST_H

#include <stdbool.h>

enum { NIST_MAX_PARAMETERS = 9, NIST_MAX_POINTS = 300 };

/* Value of a model at b and x, and its derivatives with respect to b. */
typedef double (*nist_fn)(const double *b, const double *x, double *derivatives);

typedef struct nist_problem {
    const char *name;
    int n, predictors;
    nist_fn model;
    bool log_response;

    int m;
    double x[NIST_MAX_POINTS][2], y[NIST_MAX_POINTS];
    double start[2][NIST_MAX_PARAMETERS];
    double value[NIST_MAX_PARAMETERS], deviation[NIST_MAX_PARAMETERS]; /* certified */
    double rss;
} nist_problem;

/* The problems whose data lie in files, by name; NULL after the last. m is 0 until nist_read. */
nist_problem *nist_file_problem(int which);

/* Problems that are written out here; complete. NULL after the last. */
nist_problem *nist_builtin_problem(int which);

/* Reads data, starts and certified values; false where the file is not as expected. */
bool nist_read(const char *path, nist_problem *problem);

#endif
