/* SPDX-License-Identifier: Apache-2.0
 * Which pixels lie on a path through the Brillouin zone, symmetry considered.
 *
 * Pixels are folded into the first zone; the path is laid into it in every way that the point group and
 * the reciprocal lattice allow, also where it runs along the border and is seen from the other side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/dispersion/dispersion.h"

static const double TWO_PI = 6.283185307179586476925286766559;

/* Places of a segment at which the lattice vectors that bring it into the zone are looked for. */
enum { SAMPLES = 17 };

/* One way in which a segment lies in the zone: from a to a + along, 1/Angstrom with 2 pi. */
typedef struct image {
    int segment;
    double a[3], along[3];
} image;

typedef struct images {
    int count, room;
    image *list;
} images;

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* (h, k, l) to Cartesian, 1/Angstrom with 2 pi, in the frame of the crystal. */
static void cartesian(const sx_crystal *crystal, const double hkl[3], double q[3]) {
    for (int i = 0; i < 3; i++) {
        q[i] = TWO_PI * dot(crystal->b + 3 * i, hkl);
    }
}

static bool same(const image *i, const image *j) {
    double apart = 0;
    for (int d = 0; d < 3; d++) {
        apart = fmax(apart, fabs(i->a[d] - j->a[d]));
        apart = fmax(apart, fabs(i->along[d] - j->along[d]));
    }
    return i->segment == j->segment && apart < 1e-6;
}

static sx_status add_image(images *all, const image *new) {
    for (int i = 0; i < all->count; i++) {
        if (same(&all->list[i], new)) {
            return SX_OK;
        }
    }
    if (all->count == all->room) {
        const int room = 2 * all->room + 64;
        image *list = realloc(all->list, (size_t)room * sizeof *list);
        if (!list) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for a path");
        }
        all->list = list;
        all->room = room;
    }
    all->list[all->count++] = *new;
    return SX_OK;
}

/* The segment from `from` by `along`, shifted so that one of its places comes to every point of the
 * zone, or as near to it as radius, that is equivalent. */
static sx_status add_shifted(const sx_crystal *crystal, int segment, const double from[3],
                             const double along[3], const double place[3], double radius,
                             images *all) {
    double folded[3], inside[3], here[3];
    sx_crystal_fold(crystal, place, NULL, folded);
    cartesian(crystal, folded, inside);
    cartesian(crystal, place, here);
    const double reach = sqrt(dot(inside, inside)) + radius;
    for (int n = 0; n < 125; n++) {
        const int step[3] = {n / 25 - 2, n / 5 % 5 - 2, n % 5 - 2};
        double moved[3];
        for (int d = 0; d < 3; d++) {
            moved[d] = inside[d];
            for (int v = 0; v < 3; v++) {
                moved[d] += TWO_PI * step[v] * crystal->zone[3 * v + d];
            }
        }
        if (sqrt(dot(moved, moved)) <= reach) {
            image new = {.segment = segment};
            for (int d = 0; d < 3; d++) {
                new.a[d] = from[d] + moved[d] - here[d];
                new.along[d] = along[d];
            }
            SXI_TRY(add_image(all, &new));
        }
    }
    return SX_OK;
}

static void rotate(const int rotation[9], const double hkl[3], double out[3]) {
    for (int j = 0; j < 3; j++) {
        out[j] = hkl[0] * rotation[j] + hkl[1] * rotation[3 + j] + hkl[2] * rotation[6 + j];
    }
}

static sx_status add_images(const sx_crystal *crystal, int segment, const sx_crystal_stop stop[2],
                            double radius, images *all) {
    for (int r = 0; r < crystal->rotations; r++) {
        double end[2][3], q[2][3], along[3];
        for (int e = 0; e < 2; e++) {
            rotate(crystal->rotation[r], stop[e].hkl, end[e]);
            cartesian(crystal, end[e], q[e]);
        }
        for (int d = 0; d < 3; d++) {
            along[d] = q[1][d] - q[0][d];
        }
        for (int s = 0; s < SAMPLES; s++) {
            const double t = (double)s / (SAMPLES - 1);
            double place[3];
            for (int d = 0; d < 3; d++) {
                place[d] = (1 - t) * end[0][d] + t * end[1][d];
            }
            SXI_TRY(add_shifted(crystal, segment, q[0], along, place, radius, all));
        }
    }
    return SX_OK;
}

/* --- pixels --- */

/* How far q lies from the image, and where along it, 0 to 1. */
static double distance(const image *im, const double q[3], double *t) {
    double off[3] = {q[0] - im->a[0], q[1] - im->a[1], q[2] - im->a[2]};
    *t = fmin(fmax(dot(off, im->along) / dot(im->along, im->along), 0), 1);
    for (int d = 0; d < 3; d++) {
        off[d] -= *t * im->along[d];
    }
    return sqrt(dot(off, off));
}

/* Nearest place on each segment; aside: infinite where none is within the radius. */
typedef struct hit {
    double aside, t;
} hit;

static void find_hits(const images *all, const double q[3], double radius, int segments,
                      hit *hits) {
    for (int s = 0; s < segments; s++) {
        hits[s].aside = (double)INFINITY;
    }
    for (int i = 0; i < all->count; i++) {
        double t;
        const double aside = distance(&all->list[i], q, &t);
        hit *h = &hits[all->list[i].segment];
        if (aside <= radius && aside < h->aside) {
            *h = (hit){aside, t};
        }
    }
}

static sx_status add_point(sxi_path *path, int64_t *room, const sxi_path_point *point) {
    if (path->points == *room) {
        const int64_t more = 2 * *room + 1024;
        sxi_path_point *list = realloc(path->point, (size_t)more * sizeof *list);
        if (!list) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld points of a path", (long long)more);
        }
        path->point = list;
        *room = more;
    }
    path->point[path->points++] = *point;
    return SX_OK;
}

/* The tones of one pixel on one segment, from stop s to the next. */
static sx_status add_tones(sxi_path *path, int64_t *room, int s, const hit *h, int run,
                           int64_t pixel, const sxi_tone *tone) {
    const sx_crystal_stop *stop = path->stop + s;
    sxi_path_point point = {.aside = h->aside, .run = run, .pixel = pixel};
    point.distance = path->at[s] + h->t * (path->at[s + 1] - path->at[s]);
    for (int d = 0; d < 3; d++) {
        point.hkl[d] = (1 - h->t) * stop[0].hkl[d] + h->t * stop[1].hkl[d];
    }
    for (int m = 0; m < SX_DCOS_MAX_MODES; m++) {
        if (isfinite(tone[m].frequency)) {
            point.tone = tone[m];
            SXI_TRY(add_point(path, room, &point));
        }
    }
    return SX_OK;
}

static sx_status find_run(const sxi_dispersion *d, int r, const images *all, double radius,
                          sxi_path *path, int64_t *room) {
    const sxi_sheet_run *run = &d->run[r];
    sx_status status = SX_OK;
    sxi_tone *tones = NULL;
    hit *hits = malloc((size_t)path->count * sizeof *hits);
    if (!hits) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a path");
    }
    SXI_GO(sxi_dispersion_tones(d, r, &tones));
    for (int64_t i = 0; i < run->fit.npix; i++) {
        const sxi_tone *tone = tones + i * SX_DCOS_MAX_MODES;
        double zone[3], q[3];
        if (!isfinite(tone->frequency) || !isfinite(run->q[i])) {
            continue; /* modes fill from the first on */
        }
        sx_crystal_fold(d->crystal, run->hkl + 3 * i, NULL, zone);
        cartesian(d->crystal, zone, q);
        find_hits(all, q, radius, path->count - 1, hits);
        for (int s = 0; s + 1 < path->count; s++) {
            if (isfinite(hits[s].aside)) {
                SXI_GO(add_tones(path, room, s, &hits[s], r, i, tone));
            }
        }
    }
out:
    free(hits);
    free(tones);
    return status;
}

static int by_distance(const void *a, const void *b) {
    const sxi_path_point *x = a, *y = b;
    if (x->distance != y->distance) {
        return x->distance < y->distance ? -1 : 1;
    }
    if (x->run != y->run) {
        return x->run < y->run ? -1 : 1;
    }
    if (x->pixel != y->pixel) {
        return x->pixel < y->pixel ? -1 : 1;
    }
    return (x->tone.frequency > y->tone.frequency) - (x->tone.frequency < y->tone.frequency);
}

static sx_status place_stops(const sxi_dispersion *d, sxi_path *path) {
    path->at = calloc((size_t)path->count, sizeof *path->at);
    if (!path->at) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a path");
    }
    for (int s = 1; s < path->count; s++) {
        double along[3];
        for (int i = 0; i < 3; i++) {
            along[i] = path->stop[s].hkl[i] - path->stop[s - 1].hkl[i];
        }
        const double length = path->stop[s].jump ? 0 : sx_crystal_length(d->crystal, along);
        path->at[s] = path->at[s - 1] + length;
    }
    return SX_OK;
}

sx_status sxi_path_find(const sxi_dispersion *d, sxi_path *path) {
    const double radius = d->options->radius > 0 ? d->options->radius : 0.02;
    images all = {0};
    int64_t room = 0;
    sx_status status = SX_OK;
    memset(path, 0, sizeof *path);
    SXI_GO(sx_crystal_path(d->crystal, d->options->path, &path->stop, &path->count));
    SXI_GO(place_stops(d, path));
    for (int s = 0; s + 1 < path->count; s++) {
        if (path->at[s + 1] > path->at[s]) {
            SXI_GO(add_images(d->crystal, s, path->stop + s, radius, &all));
        }
    }
    for (int r = 0; r < d->runs; r++) {
        SXI_GO(find_run(d, r, &all, radius, path, &room));
        sx_progress(d->context, "runs", r + 1, d->runs);
    }
    if (path->points > 0) {
        qsort(path->point, (size_t)path->points, sizeof *path->point, by_distance);
    }
out:
    free(all.list);
    return status;
}

void sxi_path_free(sxi_path *path) {
    free(path->stop);
    free(path->at);
    free(path->point);
    memset(path, 0, sizeof *path);
}
