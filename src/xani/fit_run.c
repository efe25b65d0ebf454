/* SPDX-License-Identifier: Apache-2.0
 * The work itself: bands are read, cut into pieces, fitted, written. While one band is fitted the
 * next is read and the one before is written. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "xani/fit_bands.h"

/* Pixels of a piece: the fit works on many traces at once, and this many traces of some hundred
 * delays still fit into the cache; the last pieces of a band are smaller, so that all threads end
 * together. A piece lasts so long at most, for a wish to stop is only heard between pieces. */
enum { PIECE_MOST = 1024, PIECE_LAST = 64, PIECE_FIRST = 16 };
static const int64_t PIECE_BYTES = 8LL << 20;
static const double PIECE_SECONDS = 0.1;

/* What a thread keeps from piece to piece. */
typedef struct worker {
    double *y, *sigma;
    int64_t most; /* pixels of its next piece */
} worker;

typedef struct team {
    sxi_fit_run *run;
    sxi_fit_bands *bands;
    int64_t piece; /* pixels of the largest piece, for which workers have memory */
    int threads;
    worker *worker;    /* [threads] */
    sxi_fit_band band; /* that is fitted */
    int64_t next;      /* first pixel of it that nobody has taken */
    sxi_fit_band done; /* that is to be written; rows 0: none */
    int64_t pixels_done;
    /* Why the team stops: the first failure, carried from the worker to the caller. */
    bool halt; /* read and written atomically */
    sx_status status;
    char sentence[1024];
} team;

static void halt(team *t, sx_status status) {
#pragma omp critical(sxi_xani_fit_halt)
    if (t->status == SX_OK) {
        t->status = status;
        snprintf(t->sentence, sizeof t->sentence, "%s", sx_error_message());
    }
#pragma omp atomic write
    t->halt = true;
}

static bool halted(const team *t) {
    bool wished;
#pragma omp atomic read
    wished = t->halt;
    return wished;
}

static sx_status stopped(const team *t, int64_t done) {
    return SXI_FAIL(SX_ERR_CANCELLED, "stopped after %lld of %lld pixels; nothing was written",
                    (long long)done, (long long)t->run->summary->pixels);
}

static int64_t done_by_now(const team *t) {
    int64_t done;
#pragma omp atomic read
    done = t->pixels_done;
    return done;
}

/* --- pieces --- */

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Takes pixels of the band; 0: there are none left. */
static int64_t take(team *t, int64_t most, int64_t *first) {
    const int64_t pixels = t->band.rows * t->run->output.frame->columns;
    int64_t count;
#pragma omp critical(sxi_xani_fit_take)
    {
        const int64_t left = pixels - t->next;
        const int64_t shared = t->run->piece > 0 ? most : left / (2 * t->threads);
        count = clamp(shared, most < PIECE_LAST ? most : PIECE_LAST, most);
        count = count < left ? count : left;
        *first = t->next;
        t->next += count;
    }
    return count;
}

/* The next piece lasts as long as a piece may, going by what this one took. Pixels without samples
 * take no time and tell nothing. */
static void adapt(const team *t, worker *w, const sx_dcos_fit *fit, int64_t count, double seconds) {
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        used += fit[i].state != SX_DCOS_MASKED;
    }
    if (used > 0 && t->run->piece == 0) {
        const double most = PIECE_SECONDS * (double)used / (seconds + 1e-9);
        w->most = most < (double)t->piece ? clamp((int64_t)most, 1, t->piece) : t->piece;
    }
}

static sx_status fit_piece(team *t, worker *w, int64_t first, int64_t count) {
    const double *weight = sxi_source_describe(t->run->source)->weight;
    const double begun = sxi_now();
    sx_dcos_fit *fit = t->band.fit + first;
    sxi_fit_gather(t->run->output.frame, &t->band, weight, first, count, w->y, w->sigma);
    SXI_TRY(sx_dcos_fit_tile(t->run->plan, count, w->y, w->sigma, weight, NULL, fit));
    adapt(t, w, fit, count, sxi_now() - begun);
    return SX_OK;
}

static void report(team *t, int64_t pixels) {
    const sx_context *context = t->run->context;
    int64_t done;
#pragma omp atomic capture
    done = t->pixels_done += pixels;
    if (omp_get_thread_num() == 0) {
        sx_progress(context, "pixels", done, t->run->summary->pixels);
    }
    if (sx_cancelled(context)) {
        halt(t, stopped(t, done));
    }
}

/* --- what becomes of a fitted band --- */

static void summarise(sxi_fit_run *run, const sxi_fit_band *band) {
    sx_xani_fit_summary *summary = run->summary;
    if (summary->pixels == 1) {
        summary->single = band->fit[0];
    }
    for (int64_t i = 0; i < band->rows * run->output.frame->columns; i++) {
        const sx_dcos_fit *fit = &band->fit[i];
        summary->state[fit->state]++;
        if (fit->state == SX_DCOS_OK) {
            summary->modes[fit->modes]++;
            run->chi2_sum += fit->chi2;
            run->far += fabs(fit->offset) > 0.5;
        }
    }
}

/* Bands come one by one in their order, so sums do not depend on threads. */
static sx_status finish_band(team *t) {
    const sxi_fit_band band = t->done;
    t->done.rows = 0;
    if (band.rows == 0) {
        return SX_OK;
    }
    summarise(t->run, &band);
    return sxi_fit_output_write(&t->run->output, &band, t->run->writer);
}

/* What one thread does while the others fit. Digests come last: by then the inputs are in the cache
 * of the system, if they fit. */
static sx_status work_beside(team *t) {
    const sxi_source_info *info = t->run->output.info;
    SXI_TRY(finish_band(t));
    if (sxi_fit_bands_left(t->bands)) {
        return SX_OK;
    }
    const sx_status status =
        sxi_h5_inputs(t->run->writer, t->run->context, info->inputs, info->paths);
    return status == SX_ERR_CANCELLED ? stopped(t, done_by_now(t)) : status;
}

/* --- the team --- */

static void work(team *t, worker *w) {
    int64_t first = 0;
    while (!halted(t)) {
        const int64_t count = take(t, w->most, &first);
        if (count == 0) {
            break;
        }
        const sx_status status = fit_piece(t, w, first, count);
        if (status != SX_OK) {
            halt(t, status);
            break;
        }
        report(t, count);
    }
    if (!halted(t)) {
        sxi_fit_bands_work(t->bands);
    }
}

/* All pieces of a band over the threads; the first failure, or a wish to stop, ends the rest. */
static sx_status work_on_band(team *t) {
    t->next = 0;
#pragma omp parallel num_threads(t->threads)
    {
#pragma omp single nowait
        {
            const sx_status status = work_beside(t);
            if (status != SX_OK) {
                halt(t, status);
            }
        }
        work(t, &t->worker[omp_get_thread_num()]);
    }
    t->done = t->band;
    return t->status == SX_OK ? SX_OK : SXI_FAIL(t->status, "%s", t->sentence);
}

static sx_status next_band(team *t) {
    const sx_status status = sxi_fit_bands_next(t->bands, &t->band);
    return status == SX_ERR_CANCELLED ? stopped(t, t->pixels_done) : status;
}

static sx_status work_on_bands(team *t) {
    sx_xani_fit_summary *summary = t->run->summary;
    for (;;) {
        const double start = sxi_now();
        SXI_TRY(next_band(t));
        const double read = sxi_now();
        summary->seconds_read += read - start;
        if (t->band.rows == 0) {
            break;
        }
        SXI_TRY(work_on_band(t));
        summary->seconds_fit += sxi_now() - read;
    }
    const double start = sxi_now();
    SXI_TRY(finish_band(t));
    summary->seconds_write += sxi_now() - start;
    return SX_OK;
}

static int64_t largest_piece(const team *t) {
    const int64_t nt = sxi_source_describe(t->run->source)->nt;
    const int64_t room = PIECE_BYTES / (nt * (int64_t)sizeof(double));
    const int64_t piece = t->run->piece > 0 ? t->run->piece : clamp(room, PIECE_FIRST, PIECE_MOST);
    return clamp(piece, 1, sxi_fit_bands_pixels(t->bands));
}

static sx_status workers_create(team *t) {
    const sxi_source_info *info = sxi_source_describe(t->run->source);
    const size_t bytes = (size_t)(t->piece * info->nt) * sizeof(double);
    const bool sigma = sxi_fit_gathers_sigma(t->run->output.frame, info);
    t->worker = calloc((size_t)t->threads, sizeof *t->worker);
    bool got = t->worker != NULL;
    for (int i = 0; i < t->threads && got; i++) {
        worker *w = &t->worker[i];
        w->most = t->run->piece > 0 || t->piece < PIECE_FIRST ? t->piece : PIECE_FIRST;
        w->y = malloc(bytes);
        w->sigma = sigma ? malloc(bytes) : NULL;
        got = w->y && (w->sigma || !sigma);
    }
    return got ? SX_OK
               : SXI_FAIL(SX_ERR_MEMORY, "no memory for the traces of %lld pixels at a time",
                          (long long)t->piece);
}

static void workers_free(team *t) {
    for (int i = 0; t->worker && i < t->threads; i++) {
        free(t->worker[i].y);
        free(t->worker[i].sigma);
    }
    free(t->worker);
}

sx_status sxi_fit_run_all(sxi_fit_run *run) {
    team t = {.run = run, .threads = sx_threads(run->context)};
    sx_status status = SX_OK;
    SXI_GO(sxi_fit_bands_open(run->source, run->output.frame, run->context, run->band_bytes,
                              &t.bands));
    t.piece = largest_piece(&t);
    SXI_GO(workers_create(&t));
    status = work_on_bands(&t);
out:
    workers_free(&t);
    sxi_fit_bands_close(&t.bands);
    return status;
}
