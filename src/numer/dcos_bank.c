/* SPDX-License-Identifier: Apache-2.0
 * Start values: how well does each of a lattice of damped cosines explain a residual?
 *
 * With u, v the filter's cosine and sine less their weighted means, the sum of squares of a
 * residual r falls by gain = [ru rv] [uu uv; uv vv]^-1 [ru; rv],  ru = sum w r u, ... Products run
 * in float over blocks of traces. Where all samples have equal weight the matrix is the same for
 * all traces, a table beside the filters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/bank.h"
#include "kern/column.h"
#include "kern/kern.h"
#include "numer/dcos.h"

/* Decays in e-foldings over the span: neighbours differ by a factor 3, so no decay loses more than
 * 4 % of the gain. Those after the first ALWAYS are there as far as half the largest decay of the fit:
 * few samples are left of the span for them, unless delays are crowded at its start. */
static const double LEVELS[] = {0.5, 3, 9, 27, 81, 243, 729, 2187};
enum {
    ALWAYS = 4,
    LEVELS_MOST = sizeof LEVELS / sizeof *LEVELS,
    ROWS = 2 * ALWAYS,              /* u, v of those levels */
    SUMS = 5 * LEVELS_MOST,         /* of u, v, uu, uv, vv of each level */
    PIECE = 16,                     /* frequencies made at once where the table would be too big */
    TABLE_MOST = 128 * 1024 * 1024, /* bytes of a table that is kept: up to 2000 delays */
    REACH_LEAST = 16,
    WIDTH = SXI_BANK_WIDTH
};
/* Cycles between filters. A frequency half-way between two of them keeps 81 % of the gain without
 * decay. */
static const double SPACING = 0.5;
/* A filter after the first ALWAYS ends after so many e-foldings: the rest holds 1e-6 of its square. */
static const double REACH = 7;
/* It must hold a few samples per e-folding: decay_most is 2 per sample. */
static const double SAMPLES = 6;

struct sxi_dcos_bank {
    const sxi_dcos_grid *grid;
    int64_t frequencies;
    int levels;
    int64_t reach[LEVELS_MOST]; /* samples of a filter */
    int64_t row[LEVELS_MOST];   /* where its two rows start in the floats of a frequency */
    int64_t sums;               /* where their sums at weights 1 do */
    /* [frequencies][floats of a frequency]; NULL: made in pieces */
    float *table;
};

/* How many filters there are, and how long. */
static void lay_levels(const sxi_dcos_grid *grid, sxi_dcos_bank *bank) {
    int64_t at = 0;
    int level = 0;
    for (; level < LEVELS_MOST && (level < ALWAYS || SAMPLES * LEVELS[level] <= grid->decay_most);
         level++) {
        int64_t reach = level < ALWAYS ? grid->n : 0;
        while (reach < grid->n && (reach < REACH_LEAST || grid->x[reach] * LEVELS[level] < REACH)) {
            reach++;
        }
        bank->reach[level] = reach;
        bank->row[level] = at;
        at += 2 * reach;
    }
    bank->levels = level;
    bank->sums = at;
}

static double bank_frequency(const sxi_dcos_bank *bank, int64_t i) {
    return fmin(bank->grid->frequency_least + SPACING * (double)i, bank->grid->frequency_most);
}

static int64_t rows_floats(const sxi_dcos_bank *bank) {
    return bank->sums + (int64_t)5 * bank->levels;
}

/* One filter into its two rows, and into its sums. */
static void put_filter(int64_t n, const double *u, const double *v, float *row, float sums[5]) {
    double sum[5] = {0};
    for (int64_t k = 0; k < n; k++) {
        const double value[5] = {u[k], v[k], u[k] * u[k], u[k] * v[k], v[k] * v[k]};
        row[k] = (float)u[k];
        row[n + k] = (float)v[k];
        for (int j = 0; j < 5; j++) {
            sum[j] += value[j];
        }
    }
    for (int j = 0; j < 5; j++) {
        sums[j] = (float)sum[j];
    }
}

/* Filters of the frequencies first .. first + count - 1. u, v: scratch [padded]; one: [padded]
 * of 1. */
static void make_rows(const sxi_dcos_bank *bank, int64_t first, int64_t count, const double *one,
                      double *u, double *v, float *row) {
    const sxi_dcos_grid *grid = bank->grid;
    for (int64_t i = first; i < first + count; i++, row += rows_floats(bank)) {
        for (int level = 0; level < bank->levels; level++) {
            const int64_t n = bank->reach[level];
            sxi_column_dcos((n + SXI_LANES - 1) / SXI_LANES * SXI_LANES, grid->x, grid->dx, one,
                            LEVELS[level], bank_frequency(bank, i), u, v);
            put_filter(n, u, v, row + bank->row[level], row + bank->sums + 5 * level);
        }
    }
}

static double *make_scratch(const sxi_dcos_grid *grid) {
    double *scratch = aligned_alloc(64, (size_t)grid->padded * 3 * sizeof *scratch);
    for (int64_t k = 0; scratch && k < grid->padded; k++) {
        scratch[k] = 1;
    }
    return scratch;
}

sx_status sxi_dcos_bank_create(const sxi_dcos_grid *grid, sxi_dcos_bank **bank) {
    sxi_dcos_bank *made = calloc(1, sizeof *made);
    *bank = NULL;
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for start values");
    }
    made->grid = grid;
    lay_levels(grid, made);
    made->frequencies =
        1 + (int64_t)ceil((grid->frequency_most - grid->frequency_least) / SPACING - 1e-9);
    if (made->frequencies < 1) {
        made->frequencies = 1;
    }
    double bytes = (double)rows_floats(made) * (double)made->frequencies * (double)sizeof(float);
    if (bytes <= TABLE_MOST) {
        double *scratch = make_scratch(grid);
        made->table = malloc((size_t)bytes);
        if (!scratch || !made->table) {
            free(scratch);
            sxi_dcos_bank_destroy(&made);
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for a table of %.0f bytes of start values",
                            bytes);
        }
        make_rows(made, 0, made->frequencies, scratch, scratch + grid->padded,
                  scratch + 2 * grid->padded, made->table);
        free(scratch);
    }
    *bank = made;
    return SX_OK;
}

void sxi_dcos_bank_destroy(sxi_dcos_bank **bank) {
    if (*bank) {
        free((*bank)->table);
        free(*bank);
        *bank = NULL;
    }
}

/* What one search works on. */
typedef struct block {
    bool common[WIDTH];  /* all weights of the trace are 1 */
    bool own;            /* those of one trace at least are not */
    float *signal;       /* [n][WIDTH]  weight * residual */
    float *weight;       /* [n][WIDTH] */
    float *gain;         /* [levels][frequencies][WIDTH] */
    sxi_dcos_seed *peak; /* [levels * frequencies] */
    double *scratch;     /* [3][padded] */
    float *piece;
    float total[WIDTH]; /* sum of weights; infinite where no constant is fitted */
} block;

static void block_free(block *b) {
    free(b->signal);
    free(b->weight);
    free(b->gain);
    free(b->peak);
    free(b->scratch);
    free(b->piece);
}

static bool block_allocate(const sxi_dcos_bank *bank, block *b) {
    size_t n = (size_t)bank->grid->n, f = (size_t)(bank->levels * bank->frequencies);
    memset(b, 0, sizeof *b);
    b->signal = calloc(n * WIDTH, sizeof(float));
    b->weight = calloc(n * WIDTH, sizeof(float));
    b->gain = malloc(f * WIDTH * sizeof(float));
    b->peak = malloc(f * sizeof *b->peak);
    bool pieces = !bank->table;
    b->scratch = pieces ? make_scratch(bank->grid) : NULL;
    b->piece = pieces ? malloc((size_t)rows_floats(bank) * PIECE * sizeof(float)) : NULL;
    return b->signal && b->weight && b->gain && b->peak && (!pieces || (b->scratch && b->piece));
}

static void block_fill(const sxi_dcos_bank *bank, int count, const sxi_dcos_trace *const *traces,
                       const double *const *residual, block *b) {
    int64_t n = bank->grid->n;
    bool centred = traces[0]->background != SX_BACKGROUND_NONE;
    b->own = false;
    for (int l = 0; l < count; l++) {
        const double *s = traces[l]->s;
        double total = 0;
        b->common[l] = true;
        for (int64_t i = 0; i < n; i++) {
            double bounded = fmin(s[i], traces[l]->bank_most);
            double part = s[i] > 0 ? bounded / s[i] : 0;
            float w = (float)(bounded * bounded);
            b->signal[i * WIDTH + l] = (float)(bounded * (part * residual[l][i]));
            b->weight[i * WIDTH + l] = w;
            b->common[l] = b->common[l] && w == 1.0F;
            total += bounded * bounded;
        }
        b->total[l] = centred ? (float)total : INFINITY;
        b->own = b->own || !b->common[l];
    }
    for (int l = count; l < WIDTH; l++) {
        b->common[l] = true;
        b->total[l] = 1; /* lanes without a trace: any number */
    }
}

/* All levels of one frequency; gains of a level are `stride` floats behind those of the one before. */
static void score(const sxi_dcos_bank *bank, const block *b, const float *row, float *gain) {
    const int64_t n = bank->grid->n, stride = bank->frequencies * WIDTH;
    float signal[2 * LEVELS_MOST][WIDTH], sums[SUMS][WIDTH] = {{0}};
    sxi_bank_products(ROWS, n, row, b->signal, &signal[0][0]);
    if (b->own) {
        sxi_bank_squares(ALWAYS, n, row, b->weight, &sums[0][0]);
    }
    for (int level = ALWAYS; level < bank->levels; level++) {
        const float *filter = row + bank->row[level];
        const int64_t reach = bank->reach[level];
        sxi_bank_products(2, reach, filter, b->signal, signal[2 * level]);
        if (b->own) {
            sxi_bank_squares(1, reach, filter, b->weight, sums[5 * level]);
        }
    }
    /* Trace by trace, as neighbours must not decide which of two roundings a trace gets. */
    for (int j = 0; j < 5 * bank->levels; j++) {
        for (int l = 0; l < WIDTH; l++) {
            sums[j][l] = b->common[l] ? row[bank->sums + j] : sums[j][l];
        }
    }
    for (int level = 0; level < bank->levels; level++) {
        sxi_bank_gain(signal[2 * level], sums[5 * level], b->total, gain + level * stride);
    }
}

static void score_all(const sxi_dcos_bank *bank, block *b) {
    int64_t floats = rows_floats(bank);
    for (int64_t i = 0; i < bank->frequencies; i++) {
        const float *row = bank->table ? bank->table + i * floats : b->piece + i % PIECE * floats;
        if (!bank->table && i % PIECE == 0) {
            int64_t left = bank->frequencies - i;
            make_rows(bank, i, left < PIECE ? left : PIECE, b->scratch,
                      b->scratch + bank->grid->padded, b->scratch + 2 * bank->grid->padded,
                      b->piece);
        }
        score(bank, b, row, b->gain + i * WIDTH);
    }
}

static void find_peaks(const sxi_dcos_bank *bank, const block *b, int lane,
                       sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    const float *gain = b->gain + lane;
    int count = 0, picked[SXI_DCOS_CANDIDATES];
    for (int level = 0; level < bank->levels; level++, gain += bank->frequencies * WIDTH) {
        for (int64_t i = 0; i < bank->frequencies; i++) {
            float here = gain[i * WIDTH], left = i > 0 ? gain[(i - 1) * WIDTH] : 0;
            float right = i + 1 < bank->frequencies ? gain[(i + 1) * WIDTH] : 0;
            if (here > left && here >= right) {
                b->peak[count++] = (sxi_dcos_seed){.decay = LEVELS[level],
                                                   .frequency = bank_frequency(bank, i),
                                                   .gain = (double)here};
            }
        }
    }
    const int kept = sxi_dcos_seeds_choose(count, b->peak, 0, 0, picked);
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        seed[c] = c < kept ? b->peak[picked[c]] : (sxi_dcos_seed){0, 0, 0};
    }
}

sx_status sxi_dcos_bank_search(const sxi_dcos_bank *bank, int count,
                               const sxi_dcos_trace *const *traces, const double *const *residual,
                               sxi_dcos_seed seed[][SXI_DCOS_CANDIDATES]) {
    block b;
    if (!block_allocate(bank, &b)) {
        block_free(&b);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to search start values on %lld delays",
                        (long long)bank->grid->n);
    }
    block_fill(bank, count, traces, residual, &b);
    score_all(bank, &b);
    for (int l = 0; l < count; l++) {
        find_peaks(bank, &b, l, seed[l]);
    }
    block_free(&b);
    return SX_OK;
}
