/* SPDX-License-Identifier: Apache-2.0
 * The exact minimum near a fit, found by other means than the fit: Newton's method in all parameters
 * at once, with all second derivatives. It squares its error in every step, so what it ends at is
 * right to rounding, where methods without second derivatives stop somewhere near. */
#ifndef FIT_NEWTON_H
#define FIT_NEWTON_H

#include "fit_peer.h"

/* fit_newton - p [fit_parameters] becomes the stationary point it is near to; false: no convergence,
 * or a saddle. */
bool fit_newton(const fit_problem *problem, double *p);

#endif
