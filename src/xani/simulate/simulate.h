/* SPDX-License-Identifier: Apache-2.0
 * The physics of a simulated run, apart from its file: lattice, pixels, photons.
 * Theory: docs/theory/simulate.md. */
#ifndef SXI_XANI_SIMULATE_H
#define SXI_XANI_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

enum { SXI_BRANCHES = 2 };

/* A square lattice with one atom per cell and central springs to its 4 nearest and 4 next-nearest
 * neighbours, before the pump; afterwards its dynamical matrix is (1 - softening) D. */
typedef struct sxi_lattice {
    double k1, k2; /* spring over mass, (rad/ps)^2 */
    double softening;
} sxi_lattice;

/* A normal mode: angular frequency, rad/ps, and unit vector of its displacement. */
typedef struct sxi_branch {
    double omega;
    double e[2];
} sxi_branch;

/* sxi_lattice_create - the lattice whose highest mode has frequency_max, THz. */
sxi_lattice sxi_lattice_create(double frequency_max);

/* sxi_lattice_branches - the modes before the pump at (h, k), in units of 2 pi over the lattice
 * constant, by increasing frequency. */
void sxi_lattice_branches(const sxi_lattice *lattice, double h, double k,
                          sxi_branch branch[SXI_BRANCHES]);

/* Everything that decides the numbers of a run. */
typedef struct sxi_run {
    sxi_lattice lattice;
    double omega_max; /* rad/ps */
    int64_t rows, width;
    int64_t nt;
    const double *delay; /* [nt] ps, mean delay of the bin */
    const double *share; /* [nt] shots of the bin over the mean of all bins */
    double photons;      /* of a pixel of average brightness in a bin of average length */
    double brightness;   /* what the mean over the frame of sxi_pixel.photons is divided by */
    uint64_t seed;
    bool noiseless;
} sxi_run;

/* What is true of a pixel. Of modes that the pixel does not see nothing is said. */
typedef struct sxi_pixel {
    double h, k;    /* momentum transfer, units of 2 pi over the lattice constant */
    double photons; /* expected without pump in a bin of average length */
    bool masked;    /* behind the beam stop, or dead */
    int modes;
    double
        frequency[SXI_BRANCHES]; /* THz, of the oscillation of the intensity: twice the phonon's */
    double amplitude[SXI_BRANCHES];
    double decay[SXI_BRANCHES]; /* 1/ps */
    double phase[SXI_BRANCHES]; /* rad at time zero */
    double offset;
} sxi_pixel;

/* sxi_run_pixel - the truth of pixel number row * width + x. */
sxi_pixel sxi_run_pixel(const sxi_run *run, int64_t number);

/* sxi_run_brightness - the mean over the frame of the unmasked pixels' photons while brightness and
 * photons are 1. */
double sxi_run_brightness(const sxi_run *run);

/* sxi_pixel_signal - on / off - 1 of the pixel at a delay, without noise. */
double sxi_pixel_signal(const sxi_pixel *pixel, double delay_ps);

/* One pixel as measured. */
typedef struct sxi_measured {
    double off, off_error; /* photons in a bin of average length, from all laser-off shots */
    bool seen;             /* false: no photon without pump, so there is no ratio */
} sxi_measured;

/* sxi_run_measure - a pixel with the noise of its photons.
 *
 * in   number  row * width + x; all random numbers depend on it and the seed alone
 * out  y       [nt]  on / off - 1
 * out  sigma   [nt]  shot noise of on; that of off is common to all delays and not in it */
sxi_measured sxi_run_measure(const sxi_run *run, const sxi_pixel *pixel, int64_t number, double *y,
                             double *sigma);

/* sxi_run_shots - shots of every bin, [nt]; sxi_run_delay - its mean delay. The shots of a bin are
 * spread evenly over its width. */
int64_t sxi_run_shots(uint64_t seed, int64_t bin);
double sxi_run_delay(uint64_t seed, int64_t bin, double first, double step, int64_t shots);

/* Shots of a bin on average, and laser-off shots for each laser-on shot. */
#define SXI_SHOTS 500
#define SXI_OFF_SHOTS 0.5

#endif
