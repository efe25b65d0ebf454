/* SPDX-License-Identifier: Apache-2.0
 * GSL's multifit_nlinear: Levenberg-Marquardt, QR, its usual tolerances, the analytic Jacobian. No
 * covariance. */
#include "fit_peer.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <string.h>

static int residual(const gsl_vector *p, void *problem, gsl_vector *r) {
    fit_residual(problem, p->data, r->data);
    return GSL_SUCCESS;
}

static int jacobian(const gsl_vector *p, void *problem, gsl_matrix *j) {
    fit_jacobian(problem, p->data, (int)j->tda, 1, j->data);
    return GSL_SUCCESS;
}

bool fit_gsl(const fit_data *data, int64_t count, const double *start, double *result) {
    const size_t m = (size_t)data->c->nt, n = (size_t)fit_parameters(data->c->modes);
    const double tolerance = 1e-8;
    const gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    gsl_set_error_handler_off();
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, m, n);
    memcpy(result, start, (size_t)count * n * sizeof *result);
    for (int64_t i = 0; work && i < count; i++) {
        fit_problem problem = fit_problem_of(data, i);
        gsl_multifit_nlinear_fdf fdf = {
            .f = residual, .df = jacobian, .n = m, .p = n, .params = &problem};
        gsl_vector_view view = gsl_vector_view_array(result + i * (int64_t)n, n);
        int reason;
        gsl_multifit_nlinear_init(&view.vector, &fdf, work);
        gsl_multifit_nlinear_driver(200, tolerance, tolerance, tolerance, NULL, NULL, &reason,
                                    work);
        memcpy(result + i * (int64_t)n, gsl_multifit_nlinear_position(work)->data,
               n * sizeof *result);
    }
    gsl_multifit_nlinear_free(work);
    return work != NULL;
}
