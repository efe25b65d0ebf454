/* SPDX-License-Identifier: Apache-2.0
 * Start values by spectra: transforms of a few decays, their gains, the peaks, and what lies
 * between bins and levels. */
#include "numer/dcos_spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/wave.h"
#include "numer/dcos_spectrum_table.h"

enum {
    LEVELS = SXI_SPECTRUM_LEVELS,
    WIDTH = SXI_SPECTRUM_WIDTH,
    HALO = 2,                           /* bins beyond both ends, as if the spectrum went on */
    FOLLOWED = SXI_DCOS_CANDIDATES + 2, /* peaks of a trace that are looked at closely */
    CROWDED = 64                        /* bins that can hold very many more */
};

/* E-foldings over the span. With SPACING and COARSEST they leave at least 0.75 of the gain of any
 * damped cosine at some bin, up to 100 e-foldings. */
static const double DECAYS[LEVELS] = {0.7, 3.5, 12, 40};
static const double SPACING = 0.55; /* cycles between bins at most */
/* Bins of a level may be as far apart as this part of its decay: a resonance is as wide. */
static const double COARSEST = 0.318309886183790671538;
static const double KEPT = 0.75;
/* A filter ends after so many e-foldings: the rest holds 1e-6 of its square. */
static const double REACH = 7;

/* --- tables --- */

static bool level_allocate(sxi_spectrum_level *level) {
    int64_t length = level->plan.length;
    level->weight = malloc((size_t)level->samples * sizeof(float));
    level->form = malloc((size_t)(level->top + 1) * 3 * sizeof(float));
    level->plan.twiddle = malloc((size_t)(sxi_spectrum_twiddles(length) + 1) * sizeof(float));
    level->plan.place = malloc((size_t)length * sizeof(int32_t));
    level->plan.turn = malloc((size_t)(length / 2 + 1) * 2 * sizeof(float));
    return level->weight && level->form && level->plan.twiddle && level->plan.place &&
           level->plan.turn;
}

static void level_shape(const sxi_dcos_spectrum_grid *grid, const sxi_dcos_spectrum *spectrum,
                        int64_t length, int64_t ratio, sxi_spectrum_level *level) {
    while (2 * (double)ratio * spectrum->step <= COARSEST * level->decay &&
           length / (2 * ratio) >= SXI_SPECTRUM_LEAST &&
           sxi_spectrum_length(length / (2 * ratio)) == length / (2 * ratio)) {
        ratio *= 2;
    }
    level->ratio = ratio;
    level->halved = 0;
    while (ratio >> (level->halved + 1)) {
        level->halved++;
    }
    level->plan.length = length / ratio;
    /* one beyond what is searched, as a neighbour */
    int64_t top = (spectrum->last + 1 + ratio - 1) / ratio + 1;
    level->top = top < level->plan.length ? top : level->plan.length;
    double reach = REACH / (level->decay * grid->step);
    int64_t samples = reach < (double)grid->samples ? (int64_t)reach + 1 : grid->samples;
    level->samples = samples + samples % 2;
}

static sx_status level_fill(const sxi_dcos_spectrum_grid *grid, const sxi_dcos_spectrum *spectrum,
                            sxi_spectrum_level *level) {
    if (!level_allocate(level)) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for start values on %lld samples",
                        (long long)grid->samples);
    }
    for (int64_t i = 0; i < level->samples; i++) {
        double x = grid->first + grid->step * (double)i;
        level->weight[i] = i < grid->samples ? (float)sxi_wave_decay(level->decay * x) : 0;
    }
    sxi_spectrum_plan_fill(&level->plan);
    return sxi_dcos_spectrum_forms(grid, spectrum->step * (double)level->ratio, level);
}

sx_status sxi_dcos_spectrum_create(const sxi_dcos_spectrum_grid *grid,
                                   sxi_dcos_spectrum **spectrum) {
    sx_status status = SX_OK;
    *spectrum = NULL;
    sxi_dcos_spectrum *made = calloc(1, sizeof *made);
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for start values");
    }
    int64_t length = sxi_spectrum_length((int64_t)ceil(0.5 / (SPACING * grid->step)));
    made->kernels = sxi_spectrum_kernels_best();
    made->samples = grid->samples;
    made->step = 0.5 / ((double)length * grid->step);
    made->frequency_least = grid->frequency_least;
    made->frequency_most = fmax(grid->frequency_most, grid->frequency_least);
    made->first = (int64_t)fmax(1, ceil(grid->frequency_least / made->step - 1e-9));
    made->last = (int64_t)fmin((double)length - 1, grid->frequency_most / made->step + 1e-9);
    made->last = made->last > made->first ? made->last : made->first;
    int64_t ratio = 1;
    for (int l = 0; l < LEVELS; l++) {
        made->level[l].decay = DECAYS[l];
        level_shape(grid, made, length, ratio, &made->level[l]);
        ratio = made->level[l].ratio;
        SXI_GO(level_fill(grid, made, &made->level[l]));
    }
    sxi_dcos_spectrum_between(grid, made);
    *spectrum = made;
    made = NULL;
out:
    sxi_dcos_spectrum_destroy(&made);
    return status;
}

void sxi_dcos_spectrum_destroy(sxi_dcos_spectrum **spectrum) {
    for (int l = 0; *spectrum && l < LEVELS; l++) {
        sxi_spectrum_level *level = &(*spectrum)->level[l];
        free(level->weight);
        free(level->form);
        free(level->plan.twiddle);
        free(level->plan.place);
        free(level->plan.turn);
    }
    free(*spectrum);
    *spectrum = NULL;
}

/* --- scratch --- */

/* A peak that is looked at closely. */
typedef struct peak {
    int lane;
    int64_t bin;
    float gain;
} peak;

struct sxi_dcos_spectrum_work {
    float *memory;
    float *block, *data;
    float *gain[LEVELS];   /* [-HALO .. top + HALO][WIDTH] */
    float *merged[LEVELS]; /* alike; of the last level: its gain */
    uint32_t *mask;        /* [(last - first) / 32 + 1][WIDTH] */
    peak list[FOLLOWED * WIDTH + 1];
    sxi_dcos_seed seed[FOLLOWED * WIDTH];
};

sx_status sxi_dcos_spectrum_work_create(const sxi_dcos_spectrum *spectrum,
                                        sxi_dcos_spectrum_work **work) {
    int64_t masks = (spectrum->last - spectrum->first) / 32 + 1;
    int64_t block =
        spectrum->samples + spectrum->samples % 2; /* the last of an odd number stays 0 */
    int64_t rows = block + 2 * spectrum->level[0].plan.length + masks;
    for (int l = 0; l < LEVELS; l++) {
        rows += 2 * (spectrum->level[l].top + 1 + 2 * HALO);
    }
    size_t bytes = (size_t)rows * WIDTH * sizeof(float);
    *work = NULL;
    sxi_dcos_spectrum_work *made = calloc(1, sizeof *made);
    float *next = made ? made->memory = aligned_alloc(64, bytes) : NULL;
    if (!next) {
        free(made);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %zu bytes to search start values in", bytes);
    }
    memset(next, 0, bytes); /* some rows beyond a top are read and not used */
    made->block = next;
    made->data = next += block * WIDTH;
    next += 2 * spectrum->level[0].plan.length * WIDTH;
    for (int l = 0; l < LEVELS; l++) {
        int64_t floats = (spectrum->level[l].top + 1 + 2 * HALO) * WIDTH;
        made->gain[l] = next + HALO * WIDTH;
        made->merged[l] = l + 1 < LEVELS ? made->gain[l] + floats : made->gain[l];
        next += 2 * floats;
    }
    made->mask = (uint32_t *)(void *)next;
    *work = made;
    return SX_OK;
}

void sxi_dcos_spectrum_work_destroy(sxi_dcos_spectrum_work **work) {
    if (*work) {
        free((*work)->memory);
        free(*work);
        *work = NULL;
    }
}

/* --- the search --- */

/* The spectrum of real samples is even about zero and Nyquist; an end that is neither goes on
 * level. */
static void put_halo(const sxi_spectrum_level *level, float *gain) {
    int64_t top = level->top;
    for (int64_t k = 1; k <= HALO; k++) {
        int64_t beyond = top == level->plan.length ? top - k : top;
        memcpy(gain - k * WIDTH, gain + k * WIDTH, WIDTH * sizeof *gain);
        memcpy(gain + (top + k) * WIDTH, gain + beyond * WIDTH, WIDTH * sizeof *gain);
    }
}

/* Gains of all levels; most: the largest of each trace. */
static void gains(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                  float most[WIDTH]) {
    for (int l = LEVELS - 1; l >= 0; l--) {
        const sxi_spectrum_level *level = &spectrum->level[l];
        spectrum->kernels->transform(&level->plan, level->samples, level->weight, work->block,
                                     work->data);
        spectrum->kernels->gain(&level->plan, level->top, level->form, work->data, work->gain[l]);
        put_halo(level, work->gain[l]);
        if (l + 1 < LEVELS) {
            spectrum->kernels->merge(l ? 0 : spectrum->first, l ? level->top : spectrum->last,
                                     level[1].ratio / level->ratio, work->gain[l],
                                     work->merged[l + 1], work->merged[l], most);
        }
    }
}

static int lowest_bit(uint32_t bits) { return __builtin_ctz(bits); }

/* Leaves FOLLOWED of one peak more. */
static void drop_lowest(peak *list) {
    int lowest = 0;
    for (int i = 1; i <= FOLLOWED; i++) {
        lowest = list[i].gain < list[lowest].gain ? i : lowest;
    }
    memmove(list + lowest, list + lowest + 1, (size_t)(FOLLOWED - lowest) * sizeof *list);
}

/* The FOLLOWED highest peaks of a lane in order of bins. list has room for one more. */
static int peaks_of_lane(const sxi_dcos_spectrum *spectrum, const sxi_dcos_spectrum_work *work,
                         int lane, peak *list) {
    int count = 0;
    for (int64_t k = spectrum->first, word = lane; k <= spectrum->last; k += 32, word += WIDTH) {
        for (uint32_t bits = work->mask[word]; bits; bits &= bits - 1) {
            int64_t bin = k + lowest_bit(bits);
            float gain = work->merged[0][bin * WIDTH + lane];
            list[count].lane = lane;
            list[count].bin = bin;
            list[count].gain = gain;
            count += gain > 0;
            if (count > FOLLOWED) {
                drop_lowest(list);
                count = FOLLOWED;
            }
        }
    }
    return count;
}

/* The summit of each level near each of WIDTH peaks. */
typedef struct summits {
    int64_t bin[LEVELS][WIDTH];
    float shift[LEVELS][WIDTH], height[LEVELS][WIDTH];
} summits;

static void climb(const sxi_dcos_spectrum *spectrum, const sxi_dcos_spectrum_work *work, int count,
                  const peak *list, summits *s) {
    for (int l = 0; l < LEVELS; l++) {
        const sxi_spectrum_level *level = &spectrum->level[l];
        float left[WIDTH] = {0}, middle[WIDTH] = {0}, right[WIDTH] = {0};
        for (int i = 0; i < count; i++) {
            int64_t bin = (list[i].bin + level->ratio / 2) >> level->halved;
            const float *gain = work->gain[l] + bin * WIDTH + list[i].lane;
            /* no branches: which neighbour is higher is as good as random */
            int before = (gain[-WIDTH] > gain[0]) & (gain[-WIDTH] >= gain[WIDTH]);
            int after = ~before & (gain[WIDTH] > gain[0]);
            bin += after - before;
            gain += (after - before) * WIDTH;
            left[i] = gain[-WIDTH];
            middle[i] = gain[0];
            right[i] = gain[WIDTH];
            s->bin[l][i] = bin;
        }
        if (l == 0) { /* decays hardly within the span */
            sxi_spectrum_lobe(left, middle, right, s->shift[l], s->height[l]);
        } else {
            sxi_spectrum_resonance(left, middle, right, s->shift[l], s->height[l]);
        }
    }
}

/* Frequency from the level that gains most; decay and gain from it and its better neighbour. */
static sxi_dcos_seed seed_of(const sxi_dcos_spectrum *spectrum, const summits *s, int i) {
    int best = 0;
    for (int l = 1; l < LEVELS; l++) {
        best = s->height[l][i] > s->height[best][i] ? l : best;
    }
    bool upward =
        best == 0 || (best + 1 < LEVELS && s->height[best + 1][i] > s->height[best - 1][i]);
    int low = upward ? best : best - 1;
    const sxi_spectrum_between *between = &spectrum->between[low];
    float sum = s->height[low][i] + s->height[low + 1][i];
    float at = (s->height[low + 1][i] / sum - between->least) * between->steps;
    at = at > 0 ? at < SXI_SPECTRUM_STEPS ? at : SXI_SPECTRUM_STEPS : 0; /* NaN, too */
    int step = (int)at;
    float part = at - (float)step;
    float decay = between->decay[step] + part * (between->decay[step + 1] - between->decay[step]);
    float rise = between->rise[step] + part * (between->rise[step + 1] - between->rise[step]);
    float gain = rise * sum, height = s->height[best][i];
    double bin = (double)s->bin[best][i] + (double)s->shift[best][i];
    double frequency = fabs(bin) * spectrum->step * (double)spectrum->level[best].ratio;
    return (sxi_dcos_seed){
        .decay = (double)decay,
        .frequency = fmin(fmax(frequency, spectrum->frequency_least), spectrum->frequency_most),
        .gain = (double)(gain > height ? gain : height)};
}

/* Two bins can belong to one resonance, where a level takes over from another. */
static bool same(const sxi_dcos_spectrum *spectrum, const sxi_dcos_seed *a,
                 const sxi_dcos_seed *b) {
    const double part_of_width = 0.08; /* a resonance is decay / pi wide */
    double near = 0.5 * spectrum->step + part_of_width * fmin(a->decay, b->decay);
    return fabs(a->frequency - b->frequency) < near;
}

static void choose(const sxi_dcos_spectrum *spectrum, int count, const sxi_dcos_seed *found,
                   double keep, double chance, sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    sxi_dcos_seed ordered[FOLLOWED];
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && found[i].gain > ordered[at - 1].gain; at--) {
            ordered[at] = ordered[at - 1];
        }
        ordered[at] = found[i];
    }
    int kept = 0;
    for (int i = 0; i < count && kept < SXI_DCOS_CANDIDATES; i++) {
        bool fresh = ordered[i].gain >= keep * ordered[0].gain - chance || i == 0;
        for (int j = 0; fresh && j < kept; j++) {
            fresh = !same(spectrum, &seed[j], &ordered[i]);
        }
        if (fresh) {
            seed[kept++] = ordered[i];
        }
    }
    for (; kept < SXI_DCOS_CANDIDATES; kept++) {
        seed[kept] = (sxi_dcos_seed){0, 0, 0};
    }
}

static void search_block(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work, int count,
                         const float *const *trace, const float *variance, double keep,
                         double chance, sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES]) {
    const float *row[WIDTH];
    float least[WIDTH];
    for (int l = 0; l < WIDTH; l++) {
        row[l] = trace[l < count ? l : 0];
    }
    spectrum->kernels->block(spectrum->samples, row, work->block);
    gains(spectrum, work, least);
    const float part = (float)(KEPT * keep), noise = (float)(KEPT * chance);
    for (int l = 0; l < count; l++) {
        float bound = part * least[l] - noise * variance[l];
        least[l] = bound > 0 ? bound : 0;
    }
    if (spectrum->last - spectrum->first >= CROWDED) {
        spectrum->kernels->crowd(spectrum->first, spectrum->last, work->merged[0], least);
    }
    spectrum->kernels->peaks(spectrum->first, spectrum->last, work->merged[0], least, work->mask);

    int found[WIDTH], total = 0;
    for (int l = 0; l < count; l++) {
        found[l] = peaks_of_lane(spectrum, work, l, work->list + total);
        total += found[l];
    }
    for (int first = 0; first < total; first += WIDTH) {
        int some = total - first < WIDTH ? total - first : WIDTH;
        summits s;
        climb(spectrum, work, some, work->list + first, &s);
        for (int i = 0; i < some; i++) {
            work->seed[first + i] = seed_of(spectrum, &s, i);
        }
    }
    for (int l = 0, first = 0; l < count; first += found[l++]) {
        choose(spectrum, found[l], work->seed + first, keep, chance * (double)variance[l], seed[l]);
    }
}

void sxi_dcos_spectrum_search(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                              int64_t count, const float *const *trace, const float *variance,
                              double keep, double chance,
                              sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES]) {
    for (int64_t first = 0; first < count; first += WIDTH) {
        int some = (int)(count - first < WIDTH ? count - first : WIDTH);
        search_block(spectrum, work, some, trace + first, variance + first, keep, chance,
                     seed + first);
    }
}
