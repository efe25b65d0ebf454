/* SPDX-License-Identifier: Apache-2.0
 * xani: pump-probe X-ray cubes to maps of phonon frequencies, amplitudes and lifetimes. */
#ifndef SEXTANT_XANI_H
#define SEXTANT_XANI_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/cluster.h>
#include <sextant/context.h>
#include <sextant/dcos.h>
#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the signal comes from. Either cube (+ off), whose layout is recognised, or signal + delay.
 * NULL: not given. "FILE:/path" names a dataset. */
typedef struct sx_xani_input {
    const char *cube;   /* our cube, LCLS1 cube, LCLS2 cube, cropped cube, or a CSV of one trace (t,
                           y[, sigma]) */
    const char *off;    /* the laser-off file of an LCLS1 or cropped cube */
    const char *signal; /* FILE:/path  [T,H,W], [T,N], [T,S,H,W] or [T] of any numeric type */
    const char *delay;  /* FILE:/path  [T] */
    const char *sigma;  /* FILE:/path  shape of signal, [T], or one number */
    const char *mask;   /* FILE:/path  shape of one frame; 0 is good */
    const char *detector; /* which detector of a file that holds several */
    const char *i0; /* which intensity monitor: "ipm2", "ipm2__sum", "i0_ipm3"; default by layout */
    double
        delay_scale; /* ps per unit of the delays, negative flips; 0: from the unit in the file */
} sx_xani_input;

typedef struct sx_xani_fit_options {
    sx_dcos_options dcos; /* modes, background, start values, t0 */
    int64_t bin[2];       /* pixels added in y and x; 0: 1 */
    bool has_roi;
    int64_t roi[4]; /* y0, y1, x0, x1 of the frame as stored, half-open */
    int64_t
        tile[2]; /* so many pixels are one piece of work; 0: chosen. Does not change the result */
    double irf_fwhm; /* ps; 0: no correction */
    bool overwrite;
    /* Finished tiles are kept in OUTPUT.journal (of rank r > 0 in OUTPUT.journal.r) until the output is
     * complete, and what is there of an earlier run like this one is not computed again. */
    bool resume;
} sx_xani_fit_options;

typedef struct sx_xani_fit_summary {
    int64_t pixels, delays, delays_left_out;
    int64_t state[16];                    /* pixels by sx_dcos_state */
    int64_t modes[SX_DCOS_MAX_MODES + 1]; /* pixels in state ok by number of modes */
    /* Seconds by the clock: waiting for input; fitting, beside which the next rows are read; writing. */
    double seconds_read, seconds_fit, seconds_write;
    double frequency_lowest, frequency_highest; /* THz, searched */
    char layout[64];                            /* what the input was taken for */
    double chi2_mean;                           /* of pixels in state ok, NaN without */
    bool has_sigma;
    sx_dcos_fit single; /* the fit itself where there is only one pixel */
} sx_xani_fit_summary;

/* sx_xani_fit - fits every pixel of a cube and writes fit.h5 (layout: design,
 * docs/man/sextant-xani-fit). The output appears complete or not at all. Its values do not depend on the
 * number of ranks and threads. SX_ERR_* with a sentence naming file and dataset.
 *
 * in   cluster  whose ranks all call this with the same arguments; NULL: this process alone, silent, on
 *               all its cores
 * out  summary  complete on rank 0; NULL allowed */
SX_API sx_status sx_xani_fit(const sx_xani_input *input, const sx_xani_fit_options *options,
                             const char *output, sx_cluster *cluster, sx_xani_fit_summary *summary);

/* A cube with known truth: pixels on a lattice of q, nearest-neighbour phonons, Poisson noise.
 * Zero: default. */
typedef struct sx_xani_simulate_options {
    int64_t shape[2];   /* pixels; 64 x 64 */
    int64_t delays;     /* 120 */
    double delay_step;  /* ps; 0.08 */
    double delay_first; /* ps; used with has_delay_first, else -0.8 */
    bool has_delay_first;
    double photons;       /* photons per pixel and delay bin of the laser-on image; 2e4 */
    double frequency_max; /* THz, top of the acoustic branch of one phonon; 2.0 */
    uint64_t seed;        /* 1 */
    bool noiseless;
    bool overwrite;
} sx_xani_simulate_options;

/* sx_xani_simulate - writes a cube.h5 with its truth in /truth (frequency, amplitude, decay, phase
 * as in fit.h5). */
SX_API sx_status sx_xani_simulate(const sx_xani_simulate_options *options, const char *output,
                                  const sx_context *context);

/* An angle of the goniometer. */
typedef struct sx_xani_angle {
    const char *name; /* of the axis in crystal.yaml */
    double degrees;
} sx_xani_angle;

/* How a simulated run lies in files: shots as LCLS smalldata has them; sums over the shots of each
 * nominal delay, X_on.h5 and X_off.h5; shots as a file of a run of European XFEL, RAW-R0001-SIM01-S00000.h5. */
typedef enum sx_xani_layout {
    SX_XANI_SMALLDATA,
    SX_XANI_LCLS1_CUBE,
    SX_XANI_EUXFEL
} sx_xani_layout;

/* A run of a crystal after a sudden change of its forces, shot by shot. Zero: default. */
typedef struct sx_xani_run_options {
    const char *crystal;         /* crystal.yaml, oriented; required */
    const char *geometry;        /* PONI, CrystFEL .geom, psana .data or NeXus; required */
    const char *force_constants; /* as phonopy writes them, with poscar; or a model: */
    const char *poscar;
    const char *model;          /* of sx_phonons_model, with the first atom and a of the crystal */
    double highest;             /* THz, of the model; 15 */
    double photon_energy;       /* eV; from the geometry */
    const sx_xani_angle *angle; /* those not named are zero */
    int angles;
    sx_xani_layout layout; /* smalldata */
    double softening; /* D' = (1 - softening) D; used with has_softening, else 0.1 without shells */
    const double *shells; /* [shell_count] bonds of shell k to (1 - shells[k]) of themselves */
    int shell_count;
    bool has_softening;
    double temperature; /* K; 300 */
    double damping;     /* of every tone, 1/ps; 0 */
    int64_t shots;      /* 10000 */
    /* The nominal delay goes through delays steps, from each to the next after off_every shots, the last of
     * which is without laser, and begins again. */
    int64_t off_every;         /* 5 */
    int64_t delays;            /* 120 */
    double delay_step;         /* ps; 0.08 */
    double delay_first;        /* ps; used with has_delay_first, else -0.8 */
    double jitter;             /* ps, 1 sigma, of the arrival time; 0 */
    double tool_error;         /* ps, 1 sigma, of the time tool */
    double drop;               /* share of the pulses without X-rays */
    double photons;            /* of the median pixel in a mean pulse; 2 */
    double i0_spread;          /* relative, 1 sigma */
    double i0_offset;          /* what the monitor reads without beam, its mean reading being 1 */
    double pedestal, gain;     /* ADU; ADU per photon, 1. With either frames are raw */
    double noise, common_mode; /* ADU, 1 sigma; the latter of each row */
    /* Above so many photons a pixel goes over to a second gain, a 30th of the first and falling from 15000
     * ADU, and marks that by bit 14, as Jungfrau does; 0: never. Frames are then raw, of 14 bits. */
    double gain_switch;
    double dead; /* share of the pixels that always read 0 */
    bool has_delay_first;
    uint64_t seed; /* 1 */
    bool overwrite;
} sx_xani_run_options;

typedef struct sx_xani_run_summary {
    int64_t pixels, masked;
    double median_amplitude;          /* of the strongest tones */
    double tone_lowest, tone_highest; /* THz, of the strongest tones */
    double seconds_tones, seconds_shots;
    int64_t bytes; /* of frames */
} sx_xani_run_summary;

/* sx_xani_simulate_run - writes a run, and what is true of each pixel and shot in /truth of output. It has
 * the same bytes for any number of threads. Memory, at most some 1.5 GB, does not grow with the number
 * of shots.
 *
 * out  summary  NULL allowed
 *
 * Theory: docs/theory/simulate.md. Errors of the readers; SX_ERR_ARGUMENT, SX_ERR_MISSING (orientation,
 * photon energy, an axis of that name). */
SX_API sx_status sx_xani_simulate_run(const sx_xani_run_options *options, const char *output,
                                      const sx_context *context, sx_xani_run_summary *summary);

typedef struct sx_xani_figure_options {
    const char
        *cube; /* what was fitted, for the trace; NULL: the input that the fit names, if it is
                         still there */
    bool has_pixel;
    int64_t pixel[2]; /* row, column of the maps, from 0, whose trace is drawn; default: of those in
                         state ok the one whose strongest mode stands out most from its error; of a
                         cube a bright one */
    bool overwrite;
} sx_xani_figure_options;

/* sx_xani_figure - draws a fit.h5, a cube.h5, or the path of a dispersion.h5, through gnuplot.
 *
 * Of a fit: maps of the strongest mode, chi2 and state, and beneath them a trace with its fit,
 * residuals and numbers. Of a path: fitted modes with errors over their spectrum, and
 * calculated bands. Of a cube: the laser-off image, the signal at a few delays, a trace, shots.
 * Row 0 is on top. Beside OUTPUT.png (or .pdf) lie OUTPUT.gnuplot, OUTPUT.maps.dat and OUTPUT.trace.dat, from
 * which it can be drawn again.
 *
 * SX_ERR_MISSING without gnuplot, SX_ERR_FORMAT (none of these), SX_ERR_EXISTS,
 * SX_ERR_ARGUMENT (neither .png nor .pdf), SX_ERR_RANGE (pixel), SX_ERR_SHAPE, SX_ERR_IO. */
SX_API sx_status sx_xani_figure(const char *fit, const sx_xani_figure_options *options,
                                const char *output, const sx_context *context);

/* What a fitted frequency f says of phonons: HALF, f is twice that of a phonon (squeezing by the pump,
 * the usual case off Bragg peaks); RAW, f is that of a phonon; SUM, f is a sum or difference of two. */
typedef enum sx_branch { SX_BRANCH_HALF, SX_BRANCH_RAW, SX_BRANCH_SUM } sx_branch;

typedef struct sx_xani_dispersion_options {
    const char *geometry;        /* pixels.h5 */
    const char *crystal;         /* crystal.yaml, oriented */
    const char *path;            /* "G-X-W-K-G-L"; NULL: none */
    double radius;               /* 1/Angstrom, how far from the path pixels may lie; 0: 0.02 */
    double voxel;                /* of the volume, reciprocal lattice units; 0: 0.05 */
    const char *force_constants; /* as phonopy writes them, for calculated bands; NULL: none */
    const char *poscar;          /* their unit cell, that of the crystal; with force_constants */
    const char *bands; /* or a table of them: CSV with columns h, k, l, f1, f2, ... (THz) */
    sx_branch branch;
    bool overwrite;
} sx_xani_dispersion_options;

typedef struct sx_xani_dispersion_summary {
    int runs;
    int64_t points;  /* on the path */
    double residual; /* THz, root mean square from calculated bands; NaN without */
    /* Pixels that are equivalent by symmetry: pairs of them far apart, the share that shows the same
     * frequency, and that of any two. */
    int64_t pairs;
    double alike, chance;
    bool mirrored; /* they would agree surely better with x or y of the detector reversed */
    bool
        disordered; /* surely better with q turned, or hardly more than any two: the orientation looks wrong */
} sx_xani_dispersion_summary;

/* sx_xani_dispersion - frequencies against q from fits of one detector at several orientations.
 *
 * in   fits     fit.h5 each; angles of the goniometer are datasets of their /cube
 * out  output   dispersion.h5 (docs/man/sextant-dispersion.h5)
 * out  summary  NULL allowed
 *
 * Theory: docs/theory/crystal.md. SX_ERR_MISSING (an angle, q without photon energy), SX_ERR_SHAPE
 * (maps and geometry differ), SX_ERR_USAGE (the path), SX_ERR_RANGE (voxels too small), SX_ERR_FORMAT,
 * SX_ERR_EXISTS, SX_ERR_IO. */
SX_API sx_status sx_xani_dispersion(int files, const char *const *fits,
                                    const sx_xani_dispersion_options *options, const char *output,
                                    const sx_context *context, sx_xani_dispersion_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
