/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "engine/ranks.h"

/* Of a long run, the first ones: more than any viewer shows. */
enum { SPANS_MOST = 2000000 };

typedef struct span {
    const char *what;
    char task[32];
    int thread;
    double begin, end;
    int64_t first, count;
} span;

struct sxi_trace {
    char *path;
    double begun;
    pthread_mutex_t lock; /* around all that follows */
    span *spans;
    int64_t n, room, lost;
};

static const char HEAD[] = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";

/* An older trace is replaced, nothing else: neither a cube nor its fit. */
static sx_status check_target(const char *path) {
    char head[sizeof HEAD - 1];
    FILE *file = fopen(path, "rb");
    const size_t got = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) {
        fclose(file);
    }
    return memcmp(head, HEAD, got) == 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_EXISTS, "%s exists and is no trace: give another name for it",
                          path);
}

void sxi_trace_free(struct sxi_trace **trace) {
    struct sxi_trace *gone = *trace;
    if (gone) {
        pthread_mutex_destroy(&gone->lock);
        free(gone->path);
        free(gone->spans);
        free(gone);
        *trace = NULL;
    }
}

sx_status sx_engine_trace(sx_cluster *cluster, const char *path) {
    sxi_engine *engine = sxi_engine_of(cluster);
    sxi_trace_free(&engine->trace);
    struct sxi_trace *made = calloc(1, sizeof *made);
    char *name = strdup(path);
    if (!made || !name) {
        free(made);
        free(name);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a trace");
    }
    made->path = name;
    pthread_mutex_init(&made->lock, NULL);
    /* Clocks of machines differ: times count from this moment. */
    const sx_status status =
        sxi_ranks_agree(cluster, sx_cluster_rank(cluster) == 0 ? check_target(path) : SX_OK);
    made->begun = sxi_now();
    engine->trace = made;
    return status;
}

/* With the lock held. */
static span *next_span(struct sxi_trace *trace) {
    if (trace->n == trace->room && trace->room < SPANS_MOST) {
        const int64_t room = 2 * trace->room + 1024;
        span *grown = realloc(trace->spans, (size_t)room * sizeof *grown);
        if (grown) {
            trace->spans = grown;
            trace->room = room;
        }
    }
    return trace->n < trace->room ? &trace->spans[trace->n++] : NULL;
}

void sxi_trace_add(sx_cluster *cluster, const char *what, const char *task, int thread,
                   double begin, double end, int64_t first, int64_t count) {
    struct sxi_trace *trace = sxi_engine_of(cluster)->trace;
    if (!trace) {
        return;
    }
    pthread_mutex_lock(&trace->lock);
    span *s = next_span(trace);
    if (s) {
        *s = (span){.what = what,
                    .thread = thread,
                    .begin = begin - trace->begun,
                    .end = end - trace->begun,
                    .first = first,
                    .count = count};
        snprintf(s->task, sizeof s->task, "%s", task);
    } else {
        trace->lost++;
    }
    pthread_mutex_unlock(&trace->lock);
}

/* --- writing --- */

static void add_name(sxi_text *text, int rank, int thread, const char *name, int number) {
    sxi_text_add(text,
                 "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":"
                 "\"%s %d\"}},\n",
                 rank, thread, name, number);
}

/* Names of tasks are the caller's: what JSON does not like is left out. */
static void clean(const char *word, char *cleaned, size_t size) {
    size_t n = 0;
    for (; *word && n < size - 1; word++) {
        if ((unsigned char)*word >= ' ' && *word != '"' && *word != '\\') {
            cleaned[n++] = *word;
        }
    }
    cleaned[n] = '\0';
}

static void write_spans(const struct sxi_trace *trace, int rank, sxi_text *text) {
    int threads = 0;
    sxi_text_add(text,
                 "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank "
                 "%d\"}},\n",
                 rank, rank);
    for (int64_t i = 0; i < trace->n; i++) {
        const span *s = &trace->spans[i];
        char task[32];
        clean(s->task, task, sizeof task);
        threads = s->thread >= threads ? s->thread + 1 : threads;
        sxi_text_add(text,
                     "{\"name\":\"%s %s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,"
                     "\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"first\":%lld,\"count\":%lld}},\n",
                     s->what, task, s->what, rank, s->thread + 1, 1e6 * s->begin,
                     1e6 * (s->end - s->begin), (long long)s->first, (long long)s->count);
    }
    add_name(text, rank, 0, "reading of rank", rank);
    for (int i = 0; i < threads; i++) {
        add_name(text, rank, i + 1, "thread", i);
    }
}

/* Seconds of all spans of a kind. */
static double seconds_of(const struct sxi_trace *trace, const char *what) {
    double seconds = 0;
    for (int64_t i = 0; i < trace->n; i++) {
        seconds += strcmp(trace->spans[i].what, what) == 0
                       ? trace->spans[i].end - trace->spans[i].begin
                       : 0;
    }
    return seconds;
}

/* The texts of all ranks at rank 0, each ends with a comma. */
static sx_status gather(sx_cluster *cluster, const char *text, size_t length, char **all,
                        size_t *total) {
    const int size = sx_cluster_size(cluster);
    const bool root = sx_cluster_rank(cluster) == 0;
    sx_status status = SX_OK;
    size_t *lengths = calloc((size_t)size, sizeof *lengths);
    *total = 0;
    *all = NULL;
    if (!lengths) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to write a trace");
        goto out;
    }
    SXI_GO(sxi_ranks_gather(cluster, 0, &length, sizeof length, NULL, lengths));
    for (int r = 0; root && r < size; r++) {
        *total += lengths[r];
    }
    *all = malloc(*total + 1);
    if (!*all) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to write a trace");
        goto out;
    }
    SXI_GO(sxi_ranks_gather(cluster, 0, text, length, root ? lengths : NULL, *all));
out:
    free(lengths);
    return status;
}

static sx_status write_file(const char *path, const char *text, size_t length) {
    SXI_TRY(check_target(path)); /* once more: an output may have got this name */
    FILE *file = fopen(path, "wb");
    bool good = file && fputs(HEAD, file) >= 0;
    good = good && (length < 2 || fwrite(text, 1, length - 2, file) == length - 2);
    good = good && fputs("\n]}\n", file) >= 0;
    good = file && fclose(file) == 0 && good;
    return good ? SX_OK : SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", path, strerror(errno));
}

static void summarise(sx_cluster *cluster, const struct sxi_trace *trace) {
    const double seconds = sxi_now() - trace->begun;
    const double busy = seconds_of(trace, "compute"), reading = seconds_of(trace, "read");
    const int threads = sx_threads(sxi_ranks_context(cluster));
    const double waiting = seconds * threads - busy;
    sx_log(sxi_ranks_context(cluster), SX_LOG_INFO,
           "trace of %.2f s on %d rank%s of %d thread%s, rank 0: busy %.2f s, waiting %.2f s, "
           "reading beside %.2f s%s",
           seconds, sx_cluster_size(cluster), sx_cluster_size(cluster) > 1 ? "s" : "", threads,
           threads > 1 ? "s" : "", busy, waiting > 0 ? waiting : 0.0, reading,
           trace->lost > 0 ? "; it was too long to be kept to its end" : "");
}

sx_status sx_engine_trace_end(sx_cluster *cluster) {
    struct sxi_trace *trace = sxi_engine_of(cluster)->trace;
    sxi_text text = {0};
    char *all = NULL, *mine = NULL;
    size_t total = 0;
    sx_status status = SX_OK;
    if (!trace) {
        return SX_OK;
    }
    write_spans(trace, sx_cluster_rank(cluster), &text);
    const size_t length = text.length;
    mine = sxi_text_take(&text);
    if (!mine) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to write a trace");
        goto out;
    }
    SXI_GO(gather(cluster, mine, length, &all, &total));
    if (sx_cluster_rank(cluster) == 0) {
        status = write_file(trace->path, all, total);
        summarise(cluster, trace);
    }
out:
    if (status == SX_ERR_MEMORY) { /* others may wait for this one */
        sxi_ranks_fail(cluster, status);
    }
    free(mine);
    free(all);
    sxi_trace_free(&sxi_engine_of(cluster)->trace);
    return status;
}
