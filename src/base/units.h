/* SPDX-License-Identifier: Apache-2.0
 * Units of time as files spell them. */
#ifndef SXI_UNITS_H
#define SXI_UNITS_H

#include <sextant/status.h>

/* sxi_unit_time - ps per unit: "ps", "fs", "us", "µs", "second", "nano.second", "Picoseconds" and
 * the like, in any case. SX_ERR_UNIT naming what was found and what is known. */
sx_status sxi_unit_time(const char *unit, double *ps);

#endif
