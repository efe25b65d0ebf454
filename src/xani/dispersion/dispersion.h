/* SPDX-License-Identifier: Apache-2.0
 * From maps of fitted frequencies to frequencies against q: the runs, their pixels in reciprocal
 * space, the volume, the path. */
#ifndef SXI_XANI_DISPERSION_H
#define SXI_XANI_DISPERSION_H

#include <sextant/crystal.h>
#include <sextant/xani.h>

#include "io/hdf5/h5file.h"
#include "xani/dispersion/bands.h"
#include "xani/figure/figure_load.h"

/* Where every pixel of the maps of a run scatters to. */
typedef struct sxi_sheet_run {
    sxi_fit_file fit;
    double rotation[9]; /* laboratory q to (h, k, l) at the angles of this run */
    double *hkl;        /* [npix][3], NaN outside of the detector */
    double *q;          /* [npix] length, 1/Angstrom with 2 pi */
} sxi_sheet_run;

typedef struct sxi_dispersion {
    const sx_xani_dispersion_options *options;
    const sx_context *context;
    sx_crystal *crystal;
    sxi_bands bands; /* count 0: none given */
    int runs;
    sxi_sheet_run *run;
    sx_xani_dispersion_summary *summary;
} sxi_dispersion;

/* sxi_dispersion_branch - what a fitted frequency says of a phonon. */
double sxi_dispersion_branch(sx_branch branch, double frequency);

/* sxi_dispersion_place - opens the fits and places their pixels. SX_ERR_MISSING (an angle of the
 * goniometer), SX_ERR_SHAPE (maps and geometry differ). */
sx_status sxi_dispersion_place(sxi_dispersion *d, int files, const char *const *paths,
                               const char *geometry);
void sxi_dispersion_release(sxi_dispersion *d);

/* A mode of a pixel in state ok. */
typedef struct sxi_tone {
    double frequency, error; /* THz, by the branch rule */
    double amplitude;
} sxi_tone;

/* sxi_dispersion_tones - all tones of a run, [npix][SX_DCOS_MAX_MODES], those missing with a
 * frequency of NaN. To be freed by the caller. */
sx_status sxi_dispersion_tones(const sxi_dispersion *d, int run, sxi_tone **tones);

/* Each writes its part: /pixels; /volume; /path, where one is wanted. */
sx_status sxi_dispersion_pixels(const sxi_dispersion *d, sxi_h5_writer *writer);
sx_status sxi_dispersion_volume(const sxi_dispersion *d, sxi_h5_writer *writer);
sx_status sxi_dispersion_path(const sxi_dispersion *d, sxi_h5_writer *writer);

/* Whether pixels that are equivalent by symmetry, far apart in (h, k, l), show the same frequency: shares of
 * pairs, NaN without a pair. */
typedef struct sxi_agreement {
    int64_t pairs;
    double alike, chance; /* as they are; of any two pixels */
    double best;     /* by the best of other guesses: an axis reversed, a turn by a few degrees */
    bool mirrored;   /* they agree surely better with an axis reversed */
    bool disordered; /* better turned, or hardly more than by chance */
} sxi_agreement;

/* sxi_dispersion_agreement - compares, and logs a warning where geometry or orientation look wrong. */
sx_status sxi_dispersion_agreement(const sxi_dispersion *d, sxi_agreement *agreement);
sx_status sxi_agreement_write(const sxi_agreement *agreement, sxi_h5_writer *writer);

/* A pixel's tone on the path. */
typedef struct sxi_path_point {
    double distance; /* along the path, 1/Angstrom */
    double aside;    /* from the path, 1/Angstrom */
    double hkl[3];   /* the nearest point of the path */
    sxi_tone tone;
    int32_t run;
    int64_t pixel;
} sxi_path_point;

typedef struct sxi_path {
    int count; /* stops */
    sx_crystal_stop *stop;
    double *at; /* [count] distance of each stop; a jump takes none */
    int64_t points;
    sxi_path_point *point; /* by distance */
} sxi_path;

/* sxi_path_find - all tones within options.radius of the path, wherever in reciprocal space the
 * symmetry of the crystal allows it to be. */
sx_status sxi_path_find(const sxi_dispersion *d, sxi_path *path);
void sxi_path_free(sxi_path *path);

#endif
