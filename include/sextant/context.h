/* SPDX-License-Identifier: Apache-2.0
 * What a caller hands in to hear from a long call, to stop it, and to bound its threads.
 * The library keeps no globals: two calls with two contexts do not know each other. */
#ifndef SEXTANT_CONTEXT_H
#define SEXTANT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sx_log_level { SX_LOG_DEBUG, SX_LOG_INFO, SX_LOG_WARNING } sx_log_level;

/* A sentence for people, without a newline. Called from one thread at a time. */
typedef void (*sx_log_fn)(void *data, sx_log_level level, const char *sentence);

/* done of total units of what is named; total 0: unknown. Called from one thread at a time, often.
 */
typedef void (*sx_progress_fn)(void *data, const char *what, int64_t done, int64_t total);

/* true: stop soon. The call then returns SX_ERR_CANCELLED and leaves no output. Any thread. */
typedef bool (*sx_cancel_fn)(void *data);

/* All zero (or a NULL pointer) means: silent, not to be cancelled, all cores of the process. */
typedef struct sx_context {
    sx_log_fn log;
    sx_progress_fn progress;
    sx_cancel_fn cancel;
    void *data;          /* handed to the three functions */
    int threads;         /* at most this many; 0: as many as OpenMP finds */
    const char *command; /* written into the provenance of outputs; NULL: "" */
} sx_context;

/* sx_log - formats a sentence and hands it to the context's log; nothing if it has none. */
SX_API void sx_log(const sx_context *context, sx_log_level level, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* sx_progress - reports done of total; nothing if the context has no progress function. */
SX_API void sx_progress(const sx_context *context, const char *what, int64_t done, int64_t total);

/* sx_cancelled - whether the context asks to stop. */
SX_API bool sx_cancelled(const sx_context *context);

/* sx_threads - the number of threads to use, at least 1. */
SX_API int sx_threads(const sx_context *context);

#ifdef __cplusplus
}
#endif
#endif
