/* SPDX-License-Identifier: Apache-2.0
 * MINPACK's lmder in C, with the analytic Jacobian and SciPy's default tolerances. No covariance. */
#include "fit_peer.h"

#include <cminpack.h>
#include <stdlib.h>
#include <string.h>

static int evaluate(void *problem, int m, int n, const double *p, double *r, double *jacobian,
                    int rows, int flag) {
    (void)m;
    (void)n;
    if (flag == 1) {
        fit_residual(problem, p, r);
    } else {
        fit_jacobian(problem, p, 1, rows, jacobian);
    }
    return 0;
}

bool fit_cminpack(const fit_data *data, int64_t count, const double *start, double *result) {
    enum { M = FIT_MOST_SAMPLES, N = FIT_MOST_PARAMETERS };
    const double tolerance = 1.49012e-8, factor = 100;
    const int m = data->c->nt, n = fit_parameters(data->c->modes);
    double r[M], scale[N], qtf[N], a[N], b[N], c[N], d[M];
    double *jacobian = malloc(sizeof *jacobian * M * N);
    int pivot[N], residuals, jacobians;
    if (!jacobian) {
        return false;
    }
    memcpy(result, start, (size_t)(count * n) * sizeof *result);
    for (int64_t i = 0; i < count; i++) {
        fit_problem problem = fit_problem_of(data, i);
        lmder(evaluate, &problem, m, n, result + i * n, r, jacobian, m, tolerance, tolerance, 0,
              100 * (n + 1), scale, 1, factor, 0, &residuals, &jacobians, pivot, qtf, a, b, c, d);
    }
    free(jacobian);
    return true;
}
