/* SPDX-License-Identifier: Apache-2.0
 * Requests: threads take slabs of a plan until there is none left. */
#include "io/hdf5/reader/h5_plan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREAD_BYTES = 1 << 20, /* less than this for each is not worth another thread */
    THREADS = 1024,
    AGAIN = 3 /* times that a slab of a live file is read again */
};

struct sx_hdf5_request {
    sxi_h5_plan *plan; /* guarded by the lock of the HDF5 library */
    sx_hdf5_options options;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    int working;      /* threads between asking for a slab and giving it back */
    int64_t returned; /* slabs that were given back */
    bool exhausted;   /* nothing more to take */
    sx_status status;
    char message[1024];
    sx_hdf5_statistics did;
    double begun;
    int threads;
    pthread_t thread[];
};

/* Keeps the first failure; no more work is taken. Under the mutex. */
static void fail(sx_hdf5_request *request, sx_status status) {
    if (request->status == SX_OK) {
        request->status = status;
        snprintf(request->message, sizeof request->message, "%s", sx_error_message());
    }
    request->exhausted = true;
}

static bool may_take(sx_hdf5_request *request, int64_t *returned) {
    pthread_mutex_lock(&request->mutex);
    if (!request->exhausted && sx_cancelled(request->options.context)) {
        fail(request, SXI_FAIL(SX_ERR_CANCELLED, "reading was cancelled"));
    }
    const bool more = !request->exhausted;
    request->working += more;
    *returned = request->returned;
    pthread_mutex_unlock(&request->mutex);
    return more;
}

/* The thread that took a slab, or found none, has finished. */
static void give_back(sx_hdf5_request *request, sx_status status, sxi_h5_next next) {
    pthread_mutex_lock(&request->mutex);
    if (status != SX_OK) {
        fail(request, status);
    }
    request->exhausted = request->exhausted || next == SXI_H5_NEXT_NONE;
    request->returned += next == SXI_H5_NEXT_SLAB;
    request->working--;
    pthread_cond_broadcast(&request->changed);
    pthread_mutex_unlock(&request->mutex);
}

/* Until a slab comes back that was out when `returned` had come. */
static void wait_for_slab(sx_hdf5_request *request, int64_t returned) {
    pthread_mutex_lock(&request->mutex);
    while (!request->exhausted && request->returned == returned) {
        pthread_cond_wait(&request->changed, &request->mutex);
    }
    pthread_mutex_unlock(&request->mutex);
}

static sx_status take(sx_hdf5_request *request, sxi_h5_worker *worker, sxi_h5_slab *slab,
                      sxi_h5_next *next) {
    sxi_h5_enter();
    const double begun = sxi_now();
    const sx_status status = sxi_h5_plan_next(request->plan, slab, next);
    worker->did.plan_s += sxi_now() - begun;
    sxi_h5_leave();
    return status;
}

/* Tells the caller which part of which array is there. */
static void tell(const sx_hdf5_request *request, const sxi_h5_slab *slab) {
    const sxi_h5_job *job = &slab->walk->job;
    int64_t start[SX_MAX_RANK + 1];
    int64_t count[SX_MAX_RANK + 1];
    int64_t step[SX_MAX_RANK + 1];
    for (int a = 0; a <= SX_MAX_RANK; a++) {
        start[a] = a < SX_MAX_RANK ? job->target.origin[a] : 0;
        count[a] = step[a] = 1;
    }
    for (int d = 0; d < slab->walk->storage->rank; d++) {
        const int a = job->target.axis[d];
        if (a >= 0) {
            start[a] += (slab->start[d] - job->start[d]) * job->target.step[d];
            count[a] = slab->count[d];
            step[a] = job->target.step[d];
        }
    }
    request->options.slab(request->options.slab_data, job->target.box, start, count, step);
}

/* A chunk that its writer has moved, or is writing at this moment, does not decode. */
static bool may_be_torn(const sxi_h5_slab *slab, sx_status status) {
    return slab->walk->job.file->live && (status == SX_ERR_FORMAT || status == SX_ERR_IO);
}

static sx_status do_slab(sx_hdf5_request *request, sxi_h5_worker *worker, sxi_h5_slab *slab) {
    sx_status status = sxi_h5_slab_run(slab, worker);
    for (int i = 0; i < AGAIN && may_be_torn(slab, status); i++) {
        status = sxi_h5_slab_again(slab);
        if (status == SX_OK) {
            status = sxi_h5_slab_run(slab, worker);
        }
    }
    if (may_be_torn(slab, status)) {
        sxi_fail_context(status, "tried %d times, as the file is being written", AGAIN + 1);
    }
    const bool placed = slab->walk->fold == 0 || slab->turn;
    if (status == SX_OK && placed && request->options.slab) {
        tell(request, slab);
    }
    sxi_h5_enter();
    sxi_h5_plan_done(slab);
    sxi_h5_leave();
    return status;
}

static void add(sx_hdf5_request *request, const sx_hdf5_statistics *did) {
    pthread_mutex_lock(&request->mutex);
    request->did.bytes_stored += did->bytes_stored;
    request->did.bytes_placed += did->bytes_placed;
    request->did.pieces += did->pieces;
    request->did.library += did->library;
    request->did.device += did->device;
    request->did.plan_s += did->plan_s;
    request->did.io_s += did->io_s;
    request->did.decode_s += did->decode_s;
    request->did.place_s += did->place_s;
    request->did.threads++;
    pthread_mutex_unlock(&request->mutex);
}

void sx_hdf5_work(sx_hdf5_request *request) {
    sxi_h5_worker worker = {0};
    bool worked = false;
    int64_t returned = 0;
    while (may_take(request, &returned)) {
        sxi_h5_slab slab;
        sxi_h5_next next = SXI_H5_NEXT_NONE;
        sx_status status = take(request, &worker, &slab, &next);
        if (status == SX_OK && next == SXI_H5_NEXT_SLAB) {
            status = do_slab(request, &worker, &slab);
            worked = true;
        } else if (status == SX_OK && next == SXI_H5_NEXT_LATER) {
            wait_for_slab(request, returned);
        }
        give_back(request, status, next);
    }
    if (worked) {
        add(request, &worker.did);
    }
    sxi_h5_worker_free(&worker);
}

static void *run_thread(void *request) {
    sx_hdf5_work(request);
    return NULL;
}

/* Begins with `threads` threads; fewer if the system has no more. */
static sx_status begin(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options, int threads,
                       int least, sx_hdf5_request **request) {
    *request = NULL;
    if (n < 0 || (n > 0 && !boxes)) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%d boxes cannot be read", n);
    }
    sxi_h5_plan *plan = NULL;
    const double begun = sxi_now();
    sxi_h5_enter();
    sx_status status = sxi_h5_plan_create(n, boxes, options, &plan);
    sxi_h5_leave();
    if (status != SX_OK) {
        return status;
    }
    const int64_t worth = sxi_h5_plan_work(plan) / THREAD_BYTES;
    threads = worth < threads ? (int)worth : threads;
    threads = threads < least ? least : threads > THREADS ? THREADS : threads;
    sx_hdf5_request *made = calloc(1, sizeof *made + (size_t)threads * sizeof *made->thread);
    if (!made) {
        sxi_h5_enter();
        sxi_h5_plan_destroy(&plan);
        sxi_h5_leave();
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to read");
    }
    made->plan = plan;
    made->options = *options;
    made->begun = begun;
    made->did.plan_s = sxi_now() - begun;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    while (made->threads < threads &&
           pthread_create(&made->thread[made->threads], NULL, run_thread, made) == 0) {
        made->threads++;
    }
    *request = made;
    return SX_OK;
}

static const sx_hdf5_options none;

sx_status sx_hdf5_start(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options,
                        sx_hdf5_request **request) {
    options = options ? options : &none;
    const bool own = !options->context || options->context->threads >= 0;
    return begin(n, boxes, options, own ? sx_threads(options->context) : 0, own ? 1 : 0, request);
}

bool sx_hdf5_done(sx_hdf5_request *request) {
    pthread_mutex_lock(&request->mutex);
    const bool done = request->exhausted && request->working == 0;
    pthread_mutex_unlock(&request->mutex);
    return done;
}

void sx_hdf5_cancel(sx_hdf5_request *request) {
    pthread_mutex_lock(&request->mutex);
    if (!request->exhausted) {
        fail(request, SXI_FAIL(SX_ERR_CANCELLED, "reading was cancelled"));
    }
    pthread_mutex_unlock(&request->mutex);
}

static void wait_idle(sx_hdf5_request *request) {
    pthread_mutex_lock(&request->mutex);
    while (request->working > 0) {
        pthread_cond_wait(&request->changed, &request->mutex);
    }
    pthread_mutex_unlock(&request->mutex);
    for (int i = 0; i < request->threads; i++) {
        pthread_join(request->thread[i], NULL);
    }
}

sx_status sx_hdf5_wait(sx_hdf5_request **request, sx_hdf5_statistics *statistics) {
    sx_hdf5_request *waited = *request;
    if (!waited) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "there is no request to wait for");
    }
    sx_hdf5_work(waited);
    wait_idle(waited);
    sxi_h5_enter();
    sxi_h5_plan_destroy(&waited->plan);
    sxi_h5_leave();
    waited->did.seconds = sxi_now() - waited->begun;
    if (statistics) {
        *statistics = waited->did;
    }
    const sx_status status =
        waited->status == SX_OK ? SX_OK : SXI_FAIL(waited->status, "%s", waited->message);
    pthread_cond_destroy(&waited->changed);
    pthread_mutex_destroy(&waited->mutex);
    free(waited);
    *request = NULL;
    return status;
}

sx_status sx_hdf5_read(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options,
                       sx_hdf5_statistics *statistics) {
    options = options ? options : &none;
    sx_hdf5_request *request = NULL;
    SXI_TRY(begin(n, boxes, options, sx_threads(options->context) - 1, 0, &request));
    return sx_hdf5_wait(&request, statistics);
}

void sxi_h5_context_set(sx_hdf5 *file, const sx_context *context) { file->context = context; }

sx_status sxi_h5_read_box(sx_hdf5 *file, const char *name, const int64_t *start,
                          const int64_t *count, sx_array *array) {
    const sx_hdf5_box box = {file, name, start, count, array};
    const sx_hdf5_options options = {.context = file->context, .missing = SX_HDF5_MISSING_FILL};
    return sx_hdf5_read(1, &box, &options, NULL);
}

sx_status sxi_h5_read(sx_hdf5 *file, const char *name, const sx_dtype *as, sx_array *array) {
    *array = (sx_array){0};
    sx_hdf5_dataset about;
    sx_array read = {0};
    SXI_TRY(sx_hdf5_describe(file, name, &about));
    SXI_TRY(sx_array_create(as ? *as : about.dtype, about.rank, about.shape, &read));
    const sx_status status = sxi_h5_read_box(file, name, NULL, NULL, &read);
    if (status != SX_OK) {
        sx_array_destroy(&read);
        return status;
    }
    *array = read;
    return SX_OK;
}
