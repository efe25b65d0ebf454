/* SPDX-License-Identifier: Apache-2.0
 * What each pixel of a detector sees of a crystal: the truth of a simulated run.
 * Theory: docs/theory/simulate.md. */
#ifndef SXI_XANI_SCENE_H
#define SXI_XANI_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/crystal.h>
#include <sextant/diffuse.h>
#include <sextant/phonons.h>
#include <sextant/xani.h>

#include "io/hdf5/h5file.h"

enum { SXI_SCENE_TONES = 8, SXI_SCENE_BRANCHES = 48 };

/* amplitude exp(-decay t) cos(2 pi frequency t), relative to the intensity before the pump. */
typedef struct sxi_scene_tone {
    double frequency; /* THz */
    double amplitude; /* negative: phase pi */
    uint8_t k, l, kind;
} sxi_scene_tone;

typedef struct sxi_scene_pixel {
    double q[3];       /* laboratory, 1/Angstrom with 2 pi */
    double hkl[3];     /* of the crystal's cell */
    double before;     /* thermal intensity, electrons^2 per cell; NaN: none */
    double photons;    /* in a mean pulse before the pump */
    bool dead, masked; /* masked: dead, behind the beam stop, or no pixel */
    int tones;         /* the strongest first */
    sxi_scene_tone tone[SXI_SCENE_TONES];
} sxi_scene_pixel;

typedef struct sxi_scene {
    sx_crystal *crystal;
    sx_phonons *before, *after;
    double match[9]; /* (h, k, l) of the crystal to that of the phonons */
    double *angle;   /* [crystal->axes] degrees */
    double photon_energy;
    double damping; /* 1/ps */
    int rank;
    int64_t shape[3], npix;
    int branches;
    sxi_scene_pixel *pixel; /* [npix] */
    double *nu;             /* [branches][npix] THz, after the pump */
    int most_tones;         /* of a pixel */
} sxi_scene;

/* sxi_scene_create - reads what options name and works out every pixel, on all threads. */
sx_status sxi_scene_create(const sx_xani_run_options *options, const sx_context *context,
                           sxi_scene *scene);
void sxi_scene_destroy(sxi_scene *scene);

/* sxi_scene_work_out - intensity, tones and phonons of pixel i, whose hkl is set.
 * in  uu  of sx_diffuse_displacements */
sx_status sxi_scene_work_out(const sxi_scene *scene, const double *uu, double temperature,
                             int64_t i);

/* sxi_scene_signal - on / off - 1 of a pixel, without noise. */
double sxi_scene_signal(const sxi_scene *scene, const sxi_scene_pixel *pixel, double delay_ps);

/* sxi_scene_write - the scene as /truth. sxi_scene_write_good - a mask as LCLS has it, 1 is good. */
sx_status sxi_scene_write(const sxi_scene *scene, sxi_h5_writer *writer);
sx_status sxi_scene_write_good(const sxi_scene *scene, sxi_h5_writer *writer, const char *name);

/* sxi_scene_summarise - the part of the summary that is about pixels. */
sx_status sxi_scene_summarise(const sxi_scene *scene, sx_xani_run_summary *summary);

#endif
