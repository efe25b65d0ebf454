/* SPDX-License-Identifier: Apache-2.0
 * What the files of diffuse scattering share. */
#ifndef SXI_DIFFUSE_H
#define SXI_DIFFUSE_H

#include <sextant/diffuse.h>

/* sxi_thermal - <|Q_k|^2> of a mode, u Angstrom^2: hbar / (2 w) coth(hbar w / 2 k T).
 * in  omega  rad/ps, above 0 */
double sxi_thermal(double omega, double temperature);

/* Slower modes, in THz, are those of a crystal moved as a whole, or of none that is stable. */
#define SXI_SLOWEST 1e-3

#endif
