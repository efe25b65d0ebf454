/* SPDX-License-Identifier: Apache-2.0
 * Events drawn from a theory: each a function of seed and number alone. */
#ifndef SXI_SAGIPS_DRAW_H
#define SXI_SAGIPS_DRAW_H

#include <sextant/sagips.h>

typedef struct sxi_drawer sxi_drawer;

/* sxi_drawer_create - for parameters p [P]. The box of a channel is cut into cells; a cell is chosen
 * by its integral, and within it the density is linear along each axis. Off by less than a
 * millionth of the cumulative distribution where the density is smooth.
 * SX_ERR_NUMERIC (a density that is negative, not finite or zero throughout), SX_ERR_MEMORY. */
sx_status sxi_drawer_create(const sx_theory *theory, const double *p, uint64_t seed,
                            sxi_drawer **drawer);
void sxi_drawer_destroy(sxi_drawer **drawer);

/* sxi_drawer_event - event number i, [columns]. Any thread. */
void sxi_drawer_event(const sxi_drawer *drawer, int64_t i, double *event);

#endif
