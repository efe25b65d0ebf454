/* SPDX-License-Identifier: Apache-2.0
 * Diffuse X-ray scattering by phonons, and how it oscillates after the potential has changed at
 * once.
 *
 * All by the harmonic approximation and to first order (one phonon), per primitive cell, in units
 * of the scattering of one electron. Q is not folded and given as (h, k, l) of the model's cell;
 * sx_diffuse_match says how these follow from the crystal's. Temperatures in K, 0 and above.
 * Theory: docs/theory/phonons.md. */
#ifndef SEXTANT_DIFFUSE_H
#define SEXTANT_DIFFUSE_H

#include <stdint.h>

#include <sextant/crystal.h>
#include <sextant/phonons.h>
#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* sx_diffuse_match - the matrix that turns (h, k, l) of a crystal into those of a model: the cells
 * are the same within 2 % and 1 degree, or that of the model is the crystal's primitive cell in its
 * usual form.
 * out  m  [3][3], rows one after the other
 * SX_ERR_FORMAT with both cells. */
SX_API sx_status sx_diffuse_match(const sx_crystal *crystal, const sx_phonons *phonons,
                                  double m[9]);

/* sx_diffuse_form_factor - electrons that an atom scatters like at |Q|, 1/Angstrom with 2 pi, far
 * from its absorption edges (xraylib). SX_ERR_ARGUMENT: no element, Q above 150 1/Angstrom;
 * SX_ERR_UNSUPPORTED without xraylib. */
SX_API sx_status sx_diffuse_form_factor(const char *element, double q, double *f);

/* sx_diffuse_displacements - the mean <u u'> of every atom in thermal equilibrium.
 *
 * in   steps  points of the zone in each direction, none at its centre; 8 is good to some per cent
 * out  uu     [N][3][3] Angstrom^2, Cartesian in the frame of phonons->cell
 *
 * SX_ERR_NUMERIC where a mode is not stable; SX_ERR_ARGUMENT, SX_ERR_MEMORY. */
SX_API sx_status sx_diffuse_displacements(const sx_phonons *phonons, double temperature, int steps,
                                          double *uu);

/* sx_diffuse_factors - what the atoms scatter at Q: form factor times exp(-Q.<u u'>.Q / 2).
 * in   uu  [N][3][3] of sx_diffuse_displacements; NULL: atoms at rest
 * out  f   [N] electrons
 * As sx_diffuse_form_factor. */
SX_API sx_status sx_diffuse_factors(const sx_phonons *phonons, const double hkl[3],
                                    const double *uu, double *f);

/* sx_diffuse_amplitudes - how strongly each mode scatters at Q.
 *
 *   F_k(Q) = sum_i f_i m_i^-1/2 (Q.e_k,i) exp(-i Q.r_i)
 *
 * in   f        [N]
 * in   vectors  [3 N][3 N][2] of sx_phonons_modes, at Q or at Q folded, which is the same
 * out  amplitude  [3 N][2] electrons / (Angstrom u^1/2) */
SX_API void sx_diffuse_amplitudes(const sx_phonons *phonons, const double hkl[3], const double *f,
                                  const double *vectors, double *amplitude);

typedef enum sx_tone_kind {
    SX_TONE_OVERTONE,  /* 2 f_k */
    SX_TONE_SUM,       /* f_k + f_l */
    SX_TONE_DIFFERENCE /* f_l - f_k */
} sx_tone_kind;

/* amplitude cos(2 pi frequency t); negative amplitudes have phase pi. */
typedef struct sx_tone {
    double frequency; /* THz */
    double amplitude; /* electrons^2 per cell */
    int k, l; /* modes after the change, by frequency, k <= l; of equal tones the strongest */
    sx_tone_kind kind;
} sx_tone;

typedef struct sx_diffuse {
    double before; /* thermal intensity, electrons^2 per cell */
    double mean;   /* about which it oscillates afterwards; before = mean + sum of amplitudes */
    int tones;     /* at most (3 N)^2, the strongest first */
} sx_diffuse;

/* sx_diffuse_tones - the intensity at Q after a sudden change of the force constants at t = 0, exact
 * for harmonic crystals and without damping:
 *
 *   I(t) = mean + sum_n amplitude_n cos(2 pi frequency_n t),   t >= 0
 *
 * in   before, after  the same crystal; in equilibrium at temperature before
 * in   f          [N]
 * out  diffuse    intensities are NaN, and there are no tones, where a mode before or after is not
 *                 stable, or slower than 1 GHz: at the reciprocal lattice
 * out  tone       room for (3 N)^2. Tones within 1e-6 THz are one (degenerate modes), those below
 *                 that belong to mean
 *
 * SX_ERR_SHAPE: other atoms after than before; SX_ERR_MEMORY; SX_ERR_NUMERIC. Threads: yes.
 * Source: Trigo et al. 2013, Nature Physics 9, 790, for one mode. */
SX_API sx_status sx_diffuse_tones(const sx_phonons *before, const sx_phonons *after,
                                  const double hkl[3], const double *f, double temperature,
                                  sx_diffuse *diffuse, sx_tone *tone);

#ifdef __cplusplus
}
#endif
#endif
