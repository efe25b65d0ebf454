/* SPDX-License-Identifier: Apache-2.0
 * Where a better minimum could be: the peaks of what one mode would explain, on a lattice of a
 * quarter of a cycle and eight decays over the whole box. It is four times as dense as the one of the
 * library and shares no code with it, so it finds what that one misses.
 *
 * Between the points of the lattice at most a tenth is lost: a peak below half of the highest cannot
 * become the best fit, and is left out. */
#ifndef FIT_STARTS_H
#define FIT_STARTS_H

#include "fit_case.h"

enum { FIT_STARTS = 31, FIT_STARTS_WIDTH = 50 };

typedef struct fit_starts fit_starts;

/* fit_starts_create - for the delays of a case of one mode, up to frequency most; NULL: no memory. */
fit_starts *fit_starts_create(const fit_data *data, double most);
void fit_starts_destroy(fit_starts *starts);

/* fit_starts_find - the peaks, best first, of traces first .. first + count - 1, at most
 * FIT_STARTS_WIDTH of them; number[i] of trace first + i. */
void fit_starts_find(fit_starts *starts, const fit_data *data, int64_t first, int count,
                     int *number, sx_dcos_fit start[][FIT_STARTS]);

#endif
