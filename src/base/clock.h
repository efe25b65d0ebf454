/* SPDX-License-Identifier: Apache-2.0
 * Time to measure with. */
#ifndef SXI_CLOCK_H
#define SXI_CLOCK_H

/* sxi_now - seconds since some moment, never set back. */
double sxi_now(void);

#endif
