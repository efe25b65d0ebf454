/* SPDX-License-Identifier: Apache-2.0
 * From crystal, forces and geometry to the tones of every pixel. */
#include "xani/simulate/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/geometry.h>

#include "base/fail.h"
#include "base/rng.h"
#include "xani/simulate/streams.h"

/* Brighter than the median by this the detector is behind a beam stop: a Bragg peak. */
static const double BEAM_STOP = 200;
/* Fainter tones, in parts of the intensity, are left out, and what is beyond the last kept. */
static const double FAINTEST = 1e-7;
/* Points of the zone in each direction for the Debye-Waller factor: good to some per cent. */
enum { ZONE_STEPS = 8 };

/* --- forces --- */

static sx_status read_forces(const sx_xani_run_options *o, const sx_crystal *crystal,
                             sx_phonons **before) {
    if (o->force_constants) {
        return sx_phonons_read(o->force_constants, o->poscar, NULL, before);
    }
    if (crystal->atoms == 0) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s: no atoms: the model %s needs the element, as atoms: [{element: Si, "
                        "position: [0, 0, 0]}]",
                        o->crystal, o->model);
    }
    return sx_phonons_model(o->model, crystal->atom[0].element, crystal->cell[0], o->highest,
                            before);
}

static sx_status pump(const sx_xani_run_options *o, const sx_phonons *before, sx_phonons **after) {
    return o->shell_count ? sx_phonons_soften_shells(before, o->shell_count, o->shells, after)
                          : sx_phonons_soften(before, o->softening, after);
}

/* --- orientation --- */

static sx_status set_angles(const sx_xani_run_options *o, sxi_scene *scene) {
    const sx_crystal *crystal = scene->crystal;
    scene->angle = calloc((size_t)crystal->axes + 1, sizeof *scene->angle);
    if (!scene->angle) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d angles", crystal->axes);
    }
    for (int i = 0; i < o->angles; i++) {
        int a = 0;
        while (a < crystal->axes && (strcmp(crystal->axis[a].name, o->angle[i].name) != 0 ||
                                     !crystal->axis[a].dataset)) {
            a++;
        }
        if (a == crystal->axes) {
            return SXI_FAIL(SX_ERR_MISSING,
                            "%s has no axis %s that turns (one of its goniometer, with a dataset)",
                            o->crystal, o->angle[i].name);
        }
        scene->angle[a] = o->angle[i].degrees;
    }
    return SX_OK;
}

/* --- pixels --- */

/* q = k (r / |r| - z), as in xani pixels. */
static void place(const sxi_scene *scene, const double m[9], const double r[3],
                  sxi_scene_pixel *pixel) {
    const double k = 2 * 3.14159265358979323846 / (12398.419843320026 / scene->photon_energy);
    const double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    for (int d = 0; d < 3; d++) {
        pixel->q[d] = k * (r[d] / length - (d == 2));
    }
    for (int d = 0; d < 3; d++) {
        pixel->hkl[d] =
            m[3 * d] * pixel->q[0] + m[3 * d + 1] * pixel->q[1] + m[3 * d + 2] * pixel->q[2];
    }
}

static sx_status place_all(const sx_xani_run_options *o, sxi_scene *scene) {
    sx_geometry *geometry = NULL;
    double m[9], *r = NULL;
    sx_status status = SX_OK;
    const sx_geometry_options read = {.photon_energy = o->photon_energy};
    SXI_GO(sx_geometry_read(o->geometry, &read, &geometry));
    const sx_geometry_facts *facts = sx_geometry_facts_of(geometry);
    if (!facts->has_distance || !isfinite(facts->photon_energy)) {
        status = SXI_FAIL(SX_ERR_MISSING, "%s does not say the %s", o->geometry,
                          facts->has_distance ? "photon energy: give --photon-energy EV"
                                              : "distance of the detector");
        goto out;
    }
    scene->photon_energy = facts->photon_energy;
    scene->rank = facts->rank;
    memcpy(scene->shape, facts->shape, sizeof scene->shape);
    scene->npix = facts->pixels;
    const int64_t columns = facts->shape[facts->rank - 1], rows = facts->pixels / columns;
    const size_t n = (size_t)scene->npix;
    scene->pixel = calloc(n, sizeof *scene->pixel);
    scene->nu = malloc((size_t)scene->branches * n * sizeof *scene->nu);
    r = malloc(3 * n * sizeof *r);
    if (!scene->pixel || !scene->nu || !r) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for the tones of %zu pixels", n);
        goto out;
    }
    SXI_GO(sx_crystal_hkl_matrix(scene->crystal, scene->angle, m));
    SXI_GO(sx_geometry_place(geometry, 0, rows, r, r + n, r + 2 * n));
    for (size_t i = 0; i < n; i++) {
        const double at[3] = {r[i], r[n + i], r[2 * n + i]};
        place(scene, m, at, &scene->pixel[i]);
        scene->pixel[i].masked = sx_geometry_mask(geometry)[i] != 0 || !isfinite(at[0]);
    }
out:
    free(r);
    sx_geometry_destroy(&geometry);
    return status;
}

/* What is left out stays in the mean, which is what is added up to at the beginning. */
static void keep_tones(const sx_diffuse *diffuse, const sx_tone *tone, sxi_scene_pixel *pixel) {
    for (int n = 0; n < diffuse->tones && pixel->tones < SXI_SCENE_TONES; n++) {
        const double share = tone[n].amplitude / diffuse->before;
        if (fabs(share) > FAINTEST && tone[n].frequency > 0) {
            pixel->tone[pixel->tones++] =
                (sxi_scene_tone){tone[n].frequency, share, (uint8_t)tone[n].k, (uint8_t)tone[n].l,
                                 (uint8_t)tone[n].kind};
        }
    }
}

sx_status sxi_scene_work_out(const sxi_scene *scene, const double *uu, double temperature,
                             int64_t i) {
    enum { MOST = SXI_SCENE_BRANCHES };
    sxi_scene_pixel *pixel = &scene->pixel[i];
    const double *m = scene->match, *h = pixel->hkl;
    double hkl[3], f[MOST / 3], nu[MOST];
    sx_diffuse diffuse;
    sx_tone tone[MOST * MOST];
    pixel->before = NAN;
    for (int b = 0; b < scene->branches; b++) {
        scene->nu[b * scene->npix + i] = NAN;
    }
    if (pixel->masked) {
        return SX_OK;
    }
    for (int d = 0; d < 3; d++) {
        hkl[d] = m[3 * d] * h[0] + m[3 * d + 1] * h[1] + m[3 * d + 2] * h[2];
    }
    SXI_TRY(sx_diffuse_factors(scene->before, hkl, uu, f));
    SXI_TRY(sx_diffuse_tones(scene->before, scene->after, hkl, f, temperature, &diffuse, tone));
    SXI_TRY(sx_phonons_modes(scene->after, hkl, nu, NULL));
    for (int b = 0; b < scene->branches; b++) {
        scene->nu[b * scene->npix + i] = nu[b];
    }
    pixel->before = diffuse.before;
    keep_tones(&diffuse, tone, pixel);
    return SX_OK;
}

static sx_status work_out_all(const sx_xani_run_options *o, const sx_context *context,
                              sxi_scene *scene) {
    double uu[9 * SXI_SCENE_BRANCHES / 3];
    int64_t failed = scene->npix;
    SXI_TRY(sx_diffuse_displacements(scene->before, o->temperature, ZONE_STEPS, uu));
#pragma omp parallel for num_threads(sx_threads(context)) schedule(dynamic, 64)
    for (int64_t i = 0; i < scene->npix; i++) {
        if (sxi_scene_work_out(scene, uu, o->temperature, i) != SX_OK) {
#pragma omp critical
            failed = i < failed ? i : failed;
        }
    }
    /* Errors are kept by the thread in which they arise. */
    return failed < scene->npix ? sxi_scene_work_out(scene, uu, o->temperature, failed) : SX_OK;
}

/* --- brightness --- */

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sx_status set_brightness(const sx_xani_run_options *o, sxi_scene *scene) {
    double *level = malloc((size_t)scene->npix * sizeof *level);
    int64_t n = 0;
    if (!level) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld pixels", (long long)scene->npix);
    }
    for (int64_t i = 0; i < scene->npix; i++) {
        if (isfinite(scene->pixel[i].before)) {
            level[n++] = scene->pixel[i].before;
        }
    }
    qsort(level, (size_t)n, sizeof *level, by_size);
    const double median = n ? level[n / 2] : 0;
    free(level);
    if (!(median > 0)) {
        return SXI_FAIL(SX_ERR_NUMERIC, "no pixel of %s sees diffuse scattering of %s", o->geometry,
                        o->crystal);
    }
    for (int64_t i = 0; i < scene->npix; i++) {
        sxi_scene_pixel *pixel = &scene->pixel[i];
        pixel->dead = sxi_rng_uniform(o->seed, SXI_STREAM_DEAD_PIXEL, (uint64_t)i) < o->dead;
        pixel->masked = pixel->dead || !(pixel->before <= BEAM_STOP * median);
        pixel->photons = pixel->masked ? 0 : o->photons * pixel->before / median;
        pixel->tones = pixel->masked ? 0 : pixel->tones;
        scene->most_tones = pixel->tones > scene->most_tones ? pixel->tones : scene->most_tones;
    }
    return SX_OK;
}

sx_status sxi_scene_summarise(const sxi_scene *scene, sx_xani_run_summary *summary) {
    double *size = malloc((size_t)scene->npix * sizeof *size);
    int64_t n = 0;
    if (!size) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld pixels", (long long)scene->npix);
    }
    summary->pixels = scene->npix;
    summary->tone_lowest = summary->tone_highest = (double)NAN;
    for (int64_t i = 0; i < scene->npix; i++) {
        const sxi_scene_pixel *pixel = &scene->pixel[i];
        summary->masked += pixel->masked;
        if (pixel->tones > 0) {
            size[n++] = fabs(pixel->tone[0].amplitude);
            summary->tone_lowest = fmin(summary->tone_lowest, pixel->tone[0].frequency);
            summary->tone_highest = fmax(summary->tone_highest, pixel->tone[0].frequency);
        }
    }
    qsort(size, (size_t)n, sizeof *size, by_size);
    summary->median_amplitude = n ? size[n / 2] : (double)NAN;
    free(size);
    return SX_OK;
}

/* --- whole --- */

sx_status sxi_scene_create(const sx_xani_run_options *o, const sx_context *context,
                           sxi_scene *scene) {
    sx_status status = SX_OK;
    memset(scene, 0, sizeof *scene);
    scene->damping = o->damping;
    SXI_GO(sx_crystal_read(o->crystal, &scene->crystal));
    SXI_GO(set_angles(o, scene));
    SXI_GO(read_forces(o, scene->crystal, &scene->before));
    SXI_GO(pump(o, scene->before, &scene->after));
    SXI_GO(sx_diffuse_match(scene->crystal, scene->before, scene->match));
    scene->branches = 3 * scene->before->atoms;
    if (scene->branches > SXI_SCENE_BRANCHES) {
        status = SXI_FAIL(SX_ERR_UNSUPPORTED, "%d atoms in the primitive cell; at most %d",
                          scene->before->atoms, SXI_SCENE_BRANCHES / 3);
        goto out;
    }
    SXI_GO(place_all(o, scene));
    SXI_GO(work_out_all(o, context, scene));
    SXI_GO(set_brightness(o, scene));
out:
    if (status != SX_OK) {
        sxi_scene_destroy(scene);
    }
    return status;
}

void sxi_scene_destroy(sxi_scene *scene) {
    sx_crystal_destroy(&scene->crystal);
    sx_phonons_destroy(&scene->before);
    sx_phonons_destroy(&scene->after);
    free(scene->angle);
    free(scene->pixel);
    free(scene->nu);
    *scene = (sxi_scene){0};
}

double sxi_scene_signal(const sxi_scene *scene, const sxi_scene_pixel *pixel, double delay_ps) {
    double sum = 0;
    for (int n = 0; n < pixel->tones && delay_ps > 0; n++) {
        const double phase = 2 * 3.14159265358979323846 * pixel->tone[n].frequency * delay_ps;
        sum += pixel->tone[n].amplitude * (exp(-scene->damping * delay_ps) * cos(phase) - 1);
    }
    return sum;
}
