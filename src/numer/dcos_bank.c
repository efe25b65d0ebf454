/* SPDX-License-Identifier: Apache-2.0
 * Start values: how well does each of a lattice of damped cosines explain a residual?
 *
 * With u, v the filter's cosine and sine less their weighted means, the sum of squares of a
 * residual r falls by gain = [ru rv] [uu uv; uv vv]^-1 [ru; rv],  ru = sum w r u, ... Products run
 * in float over blocks of traces. Where all samples have equal weight the matrix is the same for
 * all traces; else its five sums are products of the weights with rows of their own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/bank.h"
#include "kern/column.h"
#include "numer/dcos.h"

/* Decays in e-foldings over the span: neighbours differ by a factor 3, so no decay loses more than
 * 4 % of the gain. */
static const double LEVELS[] = {0.5, 3, 9, 27};
enum {
    LEVEL_COUNT = sizeof LEVELS / sizeof *LEVELS,
    ROWS = 5,                      /* u, v, uu, uv, vv */
    PIECE = 16,                    /* frequencies made at once where the table would be too big */
    TABLE_MOST = 64 * 1024 * 1024, /* bytes of a table that is kept */
    WIDTH = SXI_BANK_WIDTH
};
/* Cycles between filters. A frequency half-way between two of them keeps 81 % of the gain without
 * decay. */
static const double SPACING = 0.5;

struct sxi_dcos_bank {
    const sxi_dcos_grid *grid;
    int64_t frequencies;
    /* [frequencies][LEVEL_COUNT] filters of ROWS rows of n, then the sum of each row; NULL: made in
     * pieces */
    float *table;
};

static double bank_frequency(const sxi_dcos_bank *bank, int64_t i) {
    return fmin(bank->grid->frequency_least + SPACING * (double)i, bank->grid->frequency_most);
}

static int64_t filter_floats(const sxi_dcos_bank *bank) { return ROWS * bank->grid->n + ROWS; }

static int64_t rows_floats(const sxi_dcos_bank *bank) { return LEVEL_COUNT * filter_floats(bank); }

/* Filters of the frequencies first .. first + count - 1. u, v: scratch [padded]; one: [padded]
 * of 1. */
static void make_rows(const sxi_dcos_bank *bank, int64_t first, int64_t count, const double *one,
                      double *u, double *v, float *row) {
    const sxi_dcos_grid *grid = bank->grid;
    int64_t n = grid->n;
    for (int64_t i = first; i < first + count; i++) {
        for (int level = 0; level < LEVEL_COUNT; level++, row += filter_floats(bank)) {
            double sum[ROWS] = {0};
            sxi_column_dcos(grid->padded, grid->x, grid->dx, one, LEVELS[level],
                            bank_frequency(bank, i), u, v);
            for (int64_t k = 0; k < n; k++) {
                const double value[ROWS] = {u[k], v[k], u[k] * u[k], u[k] * v[k], v[k] * v[k]};
                for (int r = 0; r < ROWS; r++) {
                    row[r * n + k] = (float)value[r];
                    sum[r] += value[r];
                }
            }
            for (int r = 0; r < ROWS; r++) {
                row[ROWS * n + r] = (float)sum[r];
            }
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
    bool common;          /* all traces have the same weights: those of lane 0 */
    bool centred;         /* the background holds a constant */
    float *signal;        /* [n][WIDTH]  weight * residual */
    float *weight;        /* [n][WIDTH] */
    float *best;          /* [frequencies][WIDTH]  gain */
    unsigned char *level; /* [frequencies][WIDTH]  where it was best */
    double *scratch;      /* [3][padded] */
    float *piece;
    float total[WIDTH]; /* sum of weights */
} block;

static void block_free(block *b) {
    free(b->signal);
    free(b->weight);
    free(b->best);
    free(b->level);
    free(b->scratch);
    free(b->piece);
}

static bool block_allocate(const sxi_dcos_bank *bank, block *b) {
    size_t n = (size_t)bank->grid->n, f = (size_t)bank->frequencies;
    memset(b, 0, sizeof *b);
    b->signal = calloc(n * WIDTH, sizeof(float));
    b->weight = calloc(n * WIDTH, sizeof(float));
    b->best = calloc(f * WIDTH, sizeof(float));
    b->level = calloc(f * WIDTH, 1);
    bool pieces = !bank->table;
    b->scratch = pieces ? make_scratch(bank->grid) : NULL;
    b->piece = pieces ? malloc((size_t)rows_floats(bank) * PIECE * sizeof(float)) : NULL;
    return b->signal && b->weight && b->best && b->level && (!pieces || (b->scratch && b->piece));
}

static void block_fill(const sxi_dcos_bank *bank, int count, const sxi_dcos_trace *const *traces,
                       const double *const *residual, block *b) {
    int64_t n = bank->grid->n;
    b->centred = traces[0]->background != SX_BACKGROUND_NONE;
    b->common = true;
    for (int l = 0; l < count; l++) {
        const double *s = traces[l]->s;
        double total = 0;
        for (int64_t i = 0; i < n; i++) {
            float w = (float)(s[i] * s[i]);
            b->signal[i * WIDTH + l] = (float)(s[i] * residual[l][i]);
            b->weight[i * WIDTH + l] = w;
            b->common = b->common && w == 1.0F;
            total += s[i] * s[i];
        }
        b->total[l] = (float)total;
    }
}

/* The matrix of a filter from its five sums: sum w u, w v, w uu, w uv, w vv. Returns its inverse in
 * a, b, c. */
static bool invert(const float sum[ROWS], float total, bool centred, float *a, float *b, float *c) {
    float uu = sum[2], uv = sum[3], vv = sum[4];
    if (centred) {
        uu -= sum[0] * sum[0] / total;
        uv -= sum[0] * sum[1] / total;
        vv -= sum[1] * sum[1] / total;
    }
    float determinant = uu * vv - uv * uv;
    if (!(determinant > 1e-4F * sum[2] * sum[4]) || !(uu > 0) || !(vv > 0)) {
        return false; /* too near to a constant, or cosine and sine not to be told apart */
    }
    *a = vv / determinant;
    *b = -uv / determinant;
    *c = uu / determinant;
    return true;
}

static void score(const block *b, int count, int64_t n, int level, const float *row, float *best,
                  unsigned char *where) {
    float signal[2][WIDTH], sums[ROWS][WIDTH];
    sxi_bank_products(2, n, row, b->signal, &signal[0][0]);
    if (!b->common) {
        sxi_bank_products(ROWS, n, row, b->weight, &sums[0][0]);
    }
    for (int l = 0; l < count; l++) {
        float sum[ROWS], p, q, r;
        for (int k = 0; k < ROWS; k++) {
            sum[k] = b->common ? row[ROWS * n + k] : sums[k][l];
        }
        if (!invert(sum, b->total[l], b->centred, &p, &q, &r)) {
            continue;
        }
        float x = signal[0][l], y = signal[1][l];
        float gain = p * x * x + 2 * q * x * y + r * y * y;
        if (gain > best[l]) {
            best[l] = gain;
            where[l] = (unsigned char)level;
        }
    }
}

static void score_all(const sxi_dcos_bank *bank, int count, block *b) {
    int64_t n = bank->grid->n, floats = rows_floats(bank);
    for (int64_t i = 0; i < bank->frequencies; i++) {
        const float *row = bank->table ? bank->table + i * floats : b->piece + i % PIECE * floats;
        if (!bank->table && i % PIECE == 0) {
            int64_t left = bank->frequencies - i;
            make_rows(bank, i, left < PIECE ? left : PIECE, b->scratch,
                      b->scratch + bank->grid->padded, b->scratch + 2 * bank->grid->padded,
                      b->piece);
        }
        for (int level = 0; level < LEVEL_COUNT; level++) {
            score(b, count, n, level, row + level * filter_floats(bank), b->best + i * WIDTH,
                  b->level + i * WIDTH);
        }
    }
}

void sxi_dcos_seed_insert(sxi_dcos_seed seed[SXI_DCOS_CANDIDATES], sxi_dcos_seed candidate) {
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        if (candidate.gain > seed[c].gain) {
            sxi_dcos_seed lower = seed[c];
            seed[c] = candidate;
            candidate = lower;
        }
    }
}

static void find_peaks(const sxi_dcos_bank *bank, const block *b, int lane,
                       sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        seed[c] = (sxi_dcos_seed){0, 0, 0};
    }
    for (int64_t i = 0; i < bank->frequencies; i++) {
        float here = b->best[i * WIDTH + lane];
        float left = i > 0 ? b->best[(i - 1) * WIDTH + lane] : 0;
        float right = i + 1 < bank->frequencies ? b->best[(i + 1) * WIDTH + lane] : 0;
        if (here > left && here >= right && here > 0) {
            sxi_dcos_seed_insert(seed, (sxi_dcos_seed){.decay = LEVELS[b->level[i * WIDTH + lane]],
                                                       .frequency = bank_frequency(bank, i),
                                                       .gain = (double)here});
        }
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
    score_all(bank, count, &b);
    for (int l = 0; l < count; l++) {
        find_peaks(bank, &b, l, seed[l]);
    }
    block_free(&b);
    return SX_OK;
}
