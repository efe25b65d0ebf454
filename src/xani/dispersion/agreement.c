/* SPDX-License-Identifier: Apache-2.0
 * Do geometry and orientation fit the frequencies? Pixels that scatter to equivalent q from different parts of
 * reciprocal space must show the same phonons. If they do not, but would with one axis of the detector
 * reversed, the geometry is mirrored; if they are no more alike than any two pixels, the orientation is
 * wrong. Theory: docs/theory/crystal.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/lattice.h"
#include "xani/dispersion/dispersion.h"

/* Of the wedge of the Brillouin zone, as parts of the shortest reciprocal axis: frequencies hardly change
 * across it. */
static const double VOXEL = 0.04;

/* So far apart in (h, k, l) pixels agree for no other reason than symmetry. */
static const double APART = 0.3;

/* Besides three standard deviations, of the highest frequency: what it changes within a voxel. */
static const double SLACK = 0.02;

/* Fewer pairs tell nothing; beyond this many standard deviations it is no chance. */
enum { FEWEST = 100 };
static const double SURE = 6;

/* The strongest tone of a pixel and where it scatters to. */
typedef struct entry {
    int32_t voxel[3], run;
    double given[3]; /* (h, k, l) */
    double hkl[3];   /* by a guess */
    double frequency, error;
} entry;

static int by_voxel(const void *a, const void *b) {
    const entry *x = a, *y = b;
    for (int d = 0; d < 3; d++) {
        if (x->voxel[d] != y->voxel[d]) {
            return x->voxel[d] < y->voxel[d] ? -1 : 1;
        }
    }
    for (int d = 0; d < 3; d++) {
        if (x->hkl[d] != y->hkl[d]) {
            return x->hkl[d] < y->hkl[d] ? -1 : 1;
        }
    }
    return 0;
}

/* The strongest mode of a pixel; false: it has none in state ok. */
static bool strongest(const sxi_tone *tone, entry *to) {
    double most = -1;
    for (int m = 0; m < SX_DCOS_MAX_MODES; m++) {
        if (isfinite(tone[m].frequency) && tone[m].amplitude > most) {
            most = tone[m].amplitude;
            to->frequency = tone[m].frequency;
            to->error = tone[m].error;
        }
    }
    return most >= 0;
}

/* What else might be: an axis of the detector reversed, or the orientation turned about an axis of the
 * laboratory. */
typedef struct guess {
    int axis;
    double degrees; /* 0: reversed */
} guess;

static const guess guesses[] = {{0, 0},  {1, 0}, {0, 1},  {0, -1}, {1, 1},  {1, -1}, {2, 1},
                                {2, -1}, {0, 4}, {0, -4}, {1, 4},  {1, -4}, {2, 4},  {2, -4}};
enum { GUESSES = sizeof guesses / sizeof *guesses };

/* The matrix that makes the laboratory q of a guess of that as it is. */
static void matrix_of(const guess *g, double m[9]) {
    const double angle = g->degrees * 3.14159265358979323846 / 180;
    const int a = (g->axis + 1) % 3, b = (g->axis + 2) % 3;
    for (int i = 0; i < 9; i++) {
        m[i] = i % 4 == 0;
    }
    if (g->degrees == 0) {
        m[4 * g->axis] = -1;
        return;
    }
    m[4 * a] = m[4 * b] = cos(angle);
    m[3 * a + b] = -sin(angle);
    m[3 * b + a] = sin(angle);
}

/* The matrix that makes (h, k, l) of a guess of those as they are; false: the orientation is singular. */
static bool turned(const double orientation[9], const guess *g, double m[9]) {
    double inverse[9], lab[9], half[9];
    if (!g) {
        for (int i = 0; i < 9; i++) {
            m[i] = i % 4 == 0;
        }
        return true;
    }
    matrix_of(g, lab);
    if (!sxi_matrix_invert(orientation, inverse)) {
        return false;
    }
    sxi_matrix_times(lab, inverse, half);
    sxi_matrix_times(orientation, half, m);
    return true;
}

/* The pixels that are compared, of all runs; more tell no more. */
enum { MOST = 10000 };

static int64_t stride_of(const sxi_dispersion *d) {
    int64_t all = 0;
    for (int r = 0; r < d->runs; r++) {
        all += d->run[r].fit.npix;
    }
    return (all + MOST - 1) / MOST;
}

static sx_status gather(const sxi_dispersion *d, entry *list, int64_t *count) {
    const int64_t stride = stride_of(d);
    *count = 0;
    for (int r = 0; r < d->runs; r++) {
        const sxi_sheet_run *run = &d->run[r];
        sxi_tone *tones = NULL;
        SXI_TRY(sxi_dispersion_tones(d, r, &tones));
        for (int64_t i = 0; i < run->fit.npix; i += stride) {
            entry *e = list + *count;
            if (isfinite(run->q[i]) && strongest(tones + i * SX_DCOS_MAX_MODES, e)) {
                e->run = r;
                memcpy(e->given, run->hkl + 3 * i, sizeof e->given);
                ++*count;
            }
        }
        free(tones);
    }
    return SX_OK;
}

/* Puts all pixels where they would be by a guess, those of a voxel one after the other. */
static void place(const sxi_dispersion *d, const guess *g, entry *list, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        entry *e = list + i;
        double m[9], wedge[3];
        if (!turned(d->run[e->run].rotation, g, m)) {
            continue;
        }
        sxi_times_vector(m, e->given, e->hkl);
        sx_crystal_reduce(d->crystal, e->hkl, wedge);
        for (int j = 0; j < 3; j++) {
            e->voxel[j] = (int32_t)lround(wedge[j] / VOXEL);
        }
    }
    qsort(list, (size_t)count, sizeof *list, by_voxel);
}

static bool alike(const entry *a, const entry *b, double slack) {
    const double error = sqrt(a->error * a->error + b->error * b->error);
    return fabs(a->frequency - b->frequency) <= fmax(3 * error, slack);
}

static bool same_voxel(const entry *a, const entry *b) {
    return memcmp(a->voxel, b->voxel, sizeof a->voxel) == 0;
}

static bool far_apart(const entry *a, const entry *b) {
    double square = 0;
    for (int d = 0; d < 3; d++) {
        square += (a->hkl[d] - b->hkl[d]) * (a->hkl[d] - b->hkl[d]);
    }
    return square > APART * APART;
}

/* Each pixel with the next of its voxel that is far from it; by chance: with one of another voxel. */
static void compare(const entry *list, int64_t count, double slack, sxi_agreement *a) {
    int64_t found = 0, chance = 0;
    *a = (sxi_agreement){0};
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = i + 1; j < count && same_voxel(list + i, list + j); j++) {
            if (far_apart(list + i, list + j)) {
                a->pairs++;
                found += alike(list + i, list + j, slack);
                chance += alike(list + i, list + (i + count / 2) % count, slack);
                break;
            }
        }
    }
    a->alike = (double)found / (double)a->pairs;
    a->chance = (double)chance / (double)a->pairs;
}

static double highest(const entry *list, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        most = fmax(most, list[i].frequency);
    }
    return most;
}

/* Standard deviations between two shares of pairs. */
static double between(const sxi_agreement *a, double one, double other) {
    const double share = 0.5 * (one + other);
    return (one - other) / sqrt(fmax(share * (1 - share), 1e-6) * 2 / (double)a->pairs);
}

/* Of the share that chance leaves to be explained, less than this is not an orientation with noise. */
static const double LEAST = 0.25;

static void tell(const sxi_dispersion *d, const guess *best, sxi_agreement *a) {
    const bool better = a->best - a->alike > 0.03 && between(a, a->best, a->alike) > SURE;
    a->mirrored = better && best->degrees == 0;
    a->disordered = !a->mirrored && (better || a->alike - a->chance < LEAST * (1 - a->chance));
    const long long pairs = (long long)a->pairs;
    if (a->mirrored) {
        sx_log(
            d->context, SX_LOG_WARNING,
            "of %lld pairs of pixels that are equivalent by symmetry %.0f %% show the same "
            "frequency, and %.0f %% would if %c of the detector were reversed: the geometry looks "
            "mirrored",
            pairs, 100 * a->alike, 100 * a->best, "xyz"[best->axis]);
    } else if (better) {
        sx_log(
            d->context, SX_LOG_WARNING,
            "of %lld pairs of pixels that are equivalent by symmetry %.0f %% show the same "
            "frequency, and %.0f %% would if q were turned by %g degrees about %c: the orientation "
            "(UB), an angle or the beam centre looks wrong",
            pairs, 100 * a->alike, 100 * a->best, best->degrees, "xyz"[best->axis]);
    } else if (a->disordered) {
        sx_log(
            d->context, SX_LOG_WARNING,
            "of %lld pairs of pixels that are equivalent by symmetry %.0f %% show the same "
            "frequency, hardly more than of any two (%.0f %%): orientation (UB), angles, cell or "
            "distance look wrong",
            pairs, 100 * a->alike, 100 * a->chance);
    }
}

sx_status sxi_dispersion_agreement(const sxi_dispersion *d, sxi_agreement *a) {
    sx_status status = SX_OK;
    const guess *best = guesses;
    int64_t count;
    entry *list = malloc((MOST + (size_t)d->runs) * sizeof *list);
    if (!list) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to compare %d pixels", MOST);
    }
    SXI_GO(gather(d, list, &count));
    const double slack = SLACK * highest(list, count);
    place(d, NULL, list, count);
    compare(list, count, slack, a);
    for (int g = 0; g < GUESSES && a->pairs >= FEWEST; g++) {
        sxi_agreement one;
        place(d, guesses + g, list, count);
        compare(list, count, slack, &one);
        if (one.pairs >= FEWEST && one.alike > a->best) {
            a->best = one.alike;
            best = guesses + g;
        }
    }
    if (a->pairs >= FEWEST) {
        tell(d, best, a);
    }
out:
    free(list);
    return status;
}

sx_status sxi_agreement_write(const sxi_agreement *a, sxi_h5_writer *writer) {
    const struct {
        const char *name;
        double share;
    } shares[] = {
        {"alike", a->alike}, {"alike_by_chance", a->chance}, {"alike_otherwise", a->best}};
    SXI_TRY(sxi_h5_set_ints(writer, "/pixels", "pairs", 1, &a->pairs));
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        SXI_TRY(sxi_h5_set_reals(writer, "/pixels", shares[i].name, 1, &shares[i].share));
    }
    return sxi_h5_set_text(writer, "/pixels", "agreement",
                           a->pairs < FEWEST ? "not told: too few equivalent pixels"
                           : a->mirrored     ? "mirrored"
                           : a->disordered   ? "disagree"
                                             : "agree");
}
