/* SPDX-License-Identifier: Apache-2.0
 * Start values by spectra: transforms of a few decays, their gains, the peaks, and what lies
 * between bins and levels. */
#include "numer/dcos_spectrum.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/wave.h"
#include "numer/dcos_spectrum_table.h"

enum {
    LEVELS = SXI_SPECTRUM_LEVELS,
    ALWAYS = 4,
    WIDTH = SXI_SPECTRUM_WIDTH,
    HALO = 2,                       /* bins beyond both ends, as if the spectrum went on */
    FOLLOWED = SXI_DCOS_CANDIDATES, /* peaks of a trace and level that are looked at */
    CROWDED = 64                    /* bins that can hold very many more */
};

/* E-foldings over the span. With SPACING and COARSEST the best of a level's bins keeps at least KEPT
 * of what its filters gain anywhere between bins, and its summit LEVEL_KEEPS of the gain of a damped
 * cosine, for one of the levels, up to 2.5 times the last. Those after the first ALWAYS are there as
 * far as half the largest decay that is fitted. */
static const double DECAYS[LEVELS] = {0.7, 3.5, 12, 40, 130, 430, 1400};
static const double SPACING = 0.55; /* cycles between bins at most */
/* Bins of a level may be as far apart as this part of its decay: a resonance is as wide. */
static const double COARSEST = 0.318309886183790671538;
static const double KEPT = 0.65;
static const double LEVEL_KEEPS = 0.85;
/* A filter ends after so many e-foldings: the rest holds 1e-6 of its square. */
static const double REACH = 7;
/* It must hold a few samples per e-folding: decay_most is 2 per sample. */
static const double SAMPLES = 6;

/* --- tables --- */

static bool level_allocate(sxi_spectrum_level *level) {
    int64_t length = level->plan.length;
    level->weight = malloc((size_t)level->samples * sizeof(float));
    level->square = malloc((size_t)level->samples * sizeof(float));
    level->form = malloc((size_t)(level->top + 1) * 3 * sizeof(float));
    level->plan.twiddle = malloc((size_t)(sxi_spectrum_twiddles(length) + 1) * sizeof(float));
    level->plan.place = malloc((size_t)length * sizeof(int32_t));
    level->plan.turn = malloc((size_t)(length / 2 + 1) * 2 * sizeof(float));
    return level->weight && level->square && level->form && level->plan.twiddle &&
           level->plan.place && level->plan.turn;
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
    level->low = spectrum->first / ratio;
    level->high = (spectrum->last + ratio - 1) / ratio;
    level->high = level->high < level->top ? level->high : level->top;
    /* What is spread begins before its delays, and ends as far behind them. */
    double reach = (REACH / level->decay - 2 * grid->first) / grid->step;
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
        const bool real = i < grid->samples;
        level->weight[i] = real ? (float)sxi_wave_decay(level->decay * x) : 0;
        level->square[i] = real ? (float)sxi_wave_decay(2 * level->decay * x) : 0;
    }
    sxi_spectrum_plan_fill(&level->plan);
    return sxi_dcos_spectrum_forms(grid, spectrum->step * (double)level->ratio, level);
}

static bool wanted(const sxi_dcos_spectrum_grid *grid, int level) {
    const bool wrong = grid->decay_served > 0 && DECAYS[level] > grid->decay_served;
    return level == 0 ||
           (!wrong && (level < ALWAYS || SAMPLES * DECAYS[level] <= grid->decay_most));
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
    made->centred = grid->centred;
    made->own_weights = grid->own_weights;
    made->step = 0.5 / ((double)length * grid->step);
    made->frequency_least = grid->frequency_least;
    made->frequency_most = fmax(grid->frequency_most, grid->frequency_least);
    made->first = (int64_t)fmax(1, ceil(grid->frequency_least / made->step - 1e-9));
    made->last = (int64_t)fmin((double)length - 1, grid->frequency_most / made->step + 1e-9);
    made->last = made->last > made->first ? made->last : made->first;
    int64_t ratio = 1;
    for (int l = 0; l < LEVELS && wanted(grid, l); l++) {
        made->levels = l + 1;
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
        free(level->square);
        free(level->form);
        free(level->plan.twiddle);
        free(level->plan.place);
        free(level->plan.turn);
    }
    free(*spectrum);
    *spectrum = NULL;
}

/* --- scratch --- */

/* A peak of one level. */
typedef struct peak {
    int lane, level;
    int64_t bin; /* of its level */
    float shift, height;
} peak;

struct sxi_dcos_spectrum_work {
    float *memory;
    float *block, *data;
    float *weight;                   /* as block; NULL: no own weights */
    float *signal, *linear, *square; /* bins of a level */
    float *gain[LEVELS];             /* [-HALO .. top + HALO][WIDTH] */
    uint32_t *mask;                  /* [(high - low) / 32 + 1][WIDTH] of a level */
    int count[WIDTH];                /* of the peaks of a lane */
    peak list[WIDTH][LEVELS * FOLLOWED + 1];
    peak chosen[WIDTH * FOLLOWED];
    sxi_dcos_seed seed[WIDTH * FOLLOWED];
};

sx_status sxi_dcos_spectrum_work_create(const sxi_dcos_spectrum *spectrum,
                                        sxi_dcos_spectrum_work **work) {
    int64_t masks = (spectrum->level[0].high - spectrum->level[0].low) / 32 + 1;
    int64_t block =
        spectrum->samples + spectrum->samples % 2; /* the last of an odd number stays 0 */
    int64_t length = spectrum->level[0].plan.length, bins = 2 * (length + 1);
    int64_t rows = block + 2 * length + masks;
    rows += spectrum->own_weights ? block + 3 * bins : 0;
    for (int l = 0; l < spectrum->levels; l++) {
        rows += spectrum->level[l].top + 1 + 2 * HALO;
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
    next += 2 * length * WIDTH;
    if (spectrum->own_weights) {
        made->weight = next;
        made->signal = next += block * WIDTH;
        made->linear = next += bins * WIDTH;
        made->square = next += bins * WIDTH;
        next += bins * WIDTH;
    }
    for (int l = 0; l < spectrum->levels; l++) {
        made->gain[l] = next + HALO * WIDTH;
        next += (spectrum->level[l].top + 1 + 2 * HALO) * WIDTH;
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

/* 1 / sum of the weights of each trace; 0: nothing to centre, or no weight. */
static void over_weights(const sxi_dcos_spectrum *spectrum, const float *weight,
                         float over[WIDTH]) {
    double sum[WIDTH] = {0};
    for (int64_t i = 0; spectrum->centred && i < spectrum->samples; i++) {
        for (int l = 0; l < WIDTH; l++) {
            sum[l] += (double)weight[i * WIDTH + l];
        }
    }
    for (int l = 0; l < WIDTH; l++) {
        over[l] = sum[l] > 0 ? (float)(1 / sum[l]) : 0;
    }
}

static void bins_of(const sxi_dcos_spectrum *spectrum, const sxi_spectrum_level *level, int64_t top,
                    const float *weight, const float *block, float *data, float *bins) {
    spectrum->kernels->transform(&level->plan, level->samples, weight, block, data);
    spectrum->kernels->bins(&level->plan, top, data, bins);
}

/* Gains of a level; over: NULL where weights are shared. */
static void gains_of_level(const sxi_dcos_spectrum *spectrum, const sxi_spectrum_level *level,
                           sxi_dcos_spectrum_work *work, const float *over, float *gain) {
    const sxi_spectrum_kernels *kernels = spectrum->kernels;
    if (!over) {
        kernels->transform(&level->plan, level->samples, level->weight, work->block, work->data);
        kernels->gain(&level->plan, level->top, level->form, work->data, gain);
        return;
    }
    const int64_t top = level->top, length = level->plan.length;
    bins_of(spectrum, level, top, level->weight, work->block, work->data, work->signal);
    bins_of(spectrum, level, top, level->weight, work->weight, work->data, work->linear);
    bins_of(spectrum, level, length, level->square, work->weight, work->data, work->square);
    kernels->own_gain(length, top, work->signal, work->linear, work->square, over, gain);
}

/* Gains of all levels; most: the largest of each trace. */
static void gains(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                  const float *over, float most[WIDTH]) {
    memset(most, 0, WIDTH * sizeof *most);
    for (int l = 0; l < spectrum->levels; l++) {
        const sxi_spectrum_level *level = &spectrum->level[l];
        gains_of_level(spectrum, level, work, over, work->gain[l]);
        put_halo(level, work->gain[l]);
        spectrum->kernels->most(level->low, level->high, work->gain[l], most);
    }
}

static int lowest_bit(uint32_t bits) { return __builtin_ctz(bits); }

/* Leaves FOLLOWED of one peak more. */
static void drop_lowest(peak *list) {
    int lowest = 0;
    for (int i = 1; i <= FOLLOWED; i++) {
        lowest = list[i].height < list[lowest].height ? i : lowest;
    }
    memmove(list + lowest, list + lowest + 1, (size_t)(FOLLOWED - lowest) * sizeof *list);
}

/* The FOLLOWED highest peaks of a level in order of bins. list has room for one more. */
static int peaks_of_lane(const sxi_spectrum_level *level, const sxi_dcos_spectrum_work *work, int l,
                         int lane, peak *list) {
    int count = 0;
    for (int64_t k = level->low, word = lane; k <= level->high; k += 32, word += WIDTH) {
        for (uint32_t bits = work->mask[word]; bits; bits &= bits - 1) {
            int64_t bin = k + lowest_bit(bits);
            float gain = work->gain[l][bin * WIDTH + lane];
            list[count] = (peak){.lane = lane, .level = l, .bin = bin, .height = gain};
            count += gain > 0;
            if (count > FOLLOWED) {
                drop_lowest(list);
                count = FOLLOWED;
            }
        }
    }
    return count;
}

/* Peaks of each level that reach `bound`. */
static void peaks_of_levels(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                            int count, const float bound[WIDTH]) {
    float least[WIDTH]; /* what a level has plenty of is too low for the next ones, too */
    memcpy(least, bound, sizeof least);
    memset(work->count, 0, sizeof work->count);
    for (int l = 0; l < spectrum->levels; l++) {
        const sxi_spectrum_level *level = &spectrum->level[l];
        if (level->high - level->low >= CROWDED) {
            spectrum->kernels->crowd(level->low, level->high, work->gain[l], least);
        }
        spectrum->kernels->peaks(level->low, level->high, work->gain[l], least, work->mask);
        for (int lane = 0; lane < count; lane++) {
            peak *list = work->list[lane] + work->count[lane];
            work->count[lane] += peaks_of_lane(level, work, l, lane, list);
        }
    }
}

/* A bin and its neighbours. */
typedef struct places {
    float left[WIDTH], middle[WIDTH], right[WIDTH];
} places;

static void put_place(const float *gain, int i, places *p) {
    p->left[i] = gain[-WIDTH];
    p->middle[i] = gain[0];
    p->right[i] = gain[WIDTH];
}

static void summit(int level, const places *p, float shift[WIDTH], float height[WIDTH]) {
    if (level == 0) { /* decays hardly within the span */
        sxi_spectrum_lobe(p->left, p->middle, p->right, shift, height);
    } else {
        sxi_spectrum_resonance(p->left, p->middle, p->right, shift, height);
    }
}

/* Between bins: WIDTH peaks of one level. */
static void refine(const sxi_dcos_spectrum_work *work, int level, int count, peak *const *list) {
    places p = {0};
    float shift[WIDTH], height[WIDTH];
    for (int i = 0; i < count; i++) {
        put_place(work->gain[level] + list[i]->bin * WIDTH + list[i]->lane, i, &p);
    }
    summit(level, &p, shift, height);
    for (int i = 0; i < count; i++) {
        list[i]->shift = shift[i];
        list[i]->height = height[i];
    }
}

static void refine_all(sxi_dcos_spectrum_work *work) {
    peak *list[LEVELS][WIDTH];
    int some[LEVELS] = {0};
    for (int lane = 0; lane < WIDTH; lane++) {
        for (int i = 0; i < work->count[lane]; i++) {
            int l = work->list[lane][i].level;
            list[l][some[l]++] = &work->list[lane][i];
            if (some[l] == WIDTH) {
                refine(work, l, WIDTH, list[l]);
                some[l] = 0;
            }
        }
    }
    for (int l = 0; l < LEVELS; l++) {
        if (some[l] > 0) {
            refine(work, l, some[l], list[l]);
        }
    }
}

static double frequency_of(const sxi_dcos_spectrum *spectrum, const peak *p) {
    double bin = fabs((double)p->bin + (double)p->shift);
    double frequency = bin * spectrum->step * (double)spectrum->level[p->level].ratio;
    return fmin(fmax(frequency, spectrum->frequency_least), spectrum->frequency_most);
}

/* Of the peaks of a trace in all levels, each once; returns how many. */
static int choose_peaks(const sxi_dcos_spectrum *spectrum, const sxi_dcos_spectrum_work *work,
                        int lane, float least, double keep, double chance, peak chosen[FOLLOWED]) {
    const peak *list = work->list[lane];
    sxi_dcos_seed found[LEVELS * FOLLOWED];
    int from[LEVELS * FOLLOWED] = {0}, high = 0;
    for (int i = 0; i < work->count[lane]; i++) {
        if (list[i].height < least) {
            continue;
        }
        from[high] = i;
        found[high++] = (sxi_dcos_seed){.decay = spectrum->level[list[i].level].decay,
                                        .frequency = frequency_of(spectrum, &list[i]),
                                        .gain = (double)list[i].height};
    }
    int picked[SXI_DCOS_CANDIDATES];
    int kept = sxi_dcos_seeds_choose(high, found, LEVEL_KEEPS * keep, LEVEL_KEEPS * chance, picked);
    for (int i = 0; i < kept; i++) {
        chosen[i] = list[from[picked[i]]];
    }
    return kept;
}

/* Heights of all levels near each of WIDTH peaks. */
typedef struct heights {
    float at[LEVELS][WIDTH];
} heights;

static void climb(const sxi_dcos_spectrum *spectrum, const sxi_dcos_spectrum_work *work, int count,
                  const peak *list, heights *h) {
    for (int l = 0; l < spectrum->levels; l++) {
        const sxi_spectrum_level *level = &spectrum->level[l];
        places p = {0};
        float shift[WIDTH];
        for (int i = 0; i < count; i++) {
            double fine = frequency_of(spectrum, &list[i]) / spectrum->step;
            int64_t bin = ((int64_t)(fine + 0.5) + level->ratio / 2) >> level->halved;
            const float *gain = work->gain[l] + bin * WIDTH + list[i].lane;
            /* no branches: which neighbour is higher is as good as random */
            int before = (gain[-WIDTH] > gain[0]) & (gain[-WIDTH] >= gain[WIDTH]);
            int after = ~before & (gain[WIDTH] > gain[0]);
            put_place(gain + (after - before) * WIDTH, i, &p);
        }
        summit(l, &p, shift, h->at[l]);
    }
}

/* Decay and gain from the peak's level and its better neighbour. Where a neighbour is higher, what
 * it sees is another, broader or narrower one that covers this. */
static sxi_dcos_seed seed_of(const sxi_dcos_spectrum *spectrum, const heights *h, int i,
                             const peak *p) {
    const int level = p->level;
    const float own = p->height;
    float before = level > 0 ? h->at[level - 1][i] : 0;
    float after = level + 1 < spectrum->levels ? h->at[level + 1][i] : 0;
    before = before > own ? 0 : before;
    after = after > own ? 0 : after;
    sxi_dcos_seed seed = {.decay = spectrum->level[level].decay,
                          .frequency = frequency_of(spectrum, p),
                          .gain = (double)own};
    if (before > 0 || after > 0) {
        const bool upward = after > before;
        const sxi_spectrum_between *between = &spectrum->between[upward ? level : level - 1];
        float sum = own + (upward ? after : before);
        float share = (upward ? after : own) / sum;
        float at = (share - between->least) * between->steps;
        at = at > 0 ? at < SXI_SPECTRUM_STEPS ? at : SXI_SPECTRUM_STEPS : 0; /* NaN, too */
        int step = (int)at;
        float part = at - (float)step;
        const float *decay = between->decay + step, *rise = between->rise + step;
        float gain = (rise[0] + part * (rise[1] - rise[0])) * sum;
        seed.decay = (double)(decay[0] + part * (decay[1] - decay[0]));
        seed.gain = (double)(gain > own ? gain : own);
    }
    return seed;
}

/* The best first, as far as they are worth it. */
static void put_seeds(int count, const sxi_dcos_seed *found, double keep, double chance,
                      sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        seed[c] = (sxi_dcos_seed){0, 0, 0};
    }
    for (int i = 0; i < count; i++) {
        sxi_dcos_seed_insert(seed, found[i]);
    }
    for (int c = 1; c < count; c++) {
        if (!(seed[c].gain >= keep * seed[0].gain - chance)) {
            seed[c] = (sxi_dcos_seed){0, 0, 0};
        }
    }
}

/* What is wanted of a block of traces. weight: NULL where it is shared. */
typedef struct request {
    int count;
    const float *const *trace, *const *weight;
    const float *variance, *least;
    double keep, chance;
} request;

static void put_block(const sxi_dcos_spectrum *spectrum, int count, const float *const *from,
                      float *block) {
    const float *row[WIDTH];
    for (int l = 0; l < WIDTH; l++) {
        row[l] = from[l < count ? l : 0];
    }
    spectrum->kernels->block(spectrum->samples, row, block);
}

static void search_block(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                         const request *r, sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES]) {
    const int count = r->count;
    const float *variance = r->variance;
    const double keep = r->keep, chance = r->chance;
    float least[WIDTH], over[WIDTH];
    put_block(spectrum, count, r->trace, work->block);
    if (r->weight) {
        put_block(spectrum, count, r->weight, work->weight);
        over_weights(spectrum, work->weight, over);
    }
    gains(spectrum, work, r->weight ? over : NULL, least);
    const float part = (float)(KEPT * keep), noise = (float)(KEPT * chance);
    for (int l = 0; l < count; l++) {
        const float bound = part * least[l] - noise * variance[l];
        const float floor = r->least ? (float)(KEPT * LEVEL_KEEPS) * r->least[l] : 0;
        least[l] = bound > floor ? bound : floor;
    }
    peaks_of_levels(spectrum, work, count, least);
    refine_all(work);

    int found[WIDTH], total = 0;
    for (int l = 0; l < count; l++) {
        const float low = r->least ? (float)LEVEL_KEEPS * r->least[l] : 0;
        found[l] = choose_peaks(spectrum, work, l, low, keep, chance * (double)variance[l],
                                work->chosen + total);
        total += found[l];
    }
    for (int first = 0; first < total; first += WIDTH) {
        int some = total - first < WIDTH ? total - first : WIDTH;
        heights h = {{{0}}};
        climb(spectrum, work, some, work->chosen + first, &h);
        for (int i = 0; i < some; i++) {
            work->seed[first + i] = seed_of(spectrum, &h, i, &work->chosen[first + i]);
        }
    }
    for (int l = 0, first = 0; l < count; first += found[l++]) {
        put_seeds(found[l], work->seed + first, keep, chance * (double)variance[l], seed[l]);
    }
}

static void search_all(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                       int64_t count, const float *const *trace, const float *const *weight,
                       const float *variance, const float *least, double keep, double chance,
                       sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES]) {
    for (int64_t first = 0; first < count; first += WIDTH) {
        const request r = {.count = (int)(count - first < WIDTH ? count - first : WIDTH),
                           .trace = trace + first,
                           .weight = weight ? weight + first : NULL,
                           .variance = variance + first,
                           .least = least ? least + first : NULL,
                           .keep = keep,
                           .chance = chance};
        search_block(spectrum, work, &r, seed + first);
    }
}

void sxi_dcos_spectrum_search(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                              int64_t count, const float *const *trace, const float *variance,
                              const float *least, double keep, double chance,
                              sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES]) {
    search_all(spectrum, work, count, trace, NULL, variance, least, keep, chance, seed);
}

void sxi_dcos_spectrum_search_own(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                                  int64_t count, const float *const *trace,
                                  const float *const *weight, const float *variance,
                                  const float *least, double keep, double chance,
                                  sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES]) {
    assert(spectrum->own_weights);
    search_all(spectrum, work, count, trace, weight, variance, least, keep, chance, seed);
}
