/* SPDX-License-Identifier: Apache-2.0 */
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>

#include <sextant/context.h>

enum { THREADS_MOST = 4096 }; /* as many as --threads allows */

void sx_log(const sx_context *context, sx_log_level level, const char *format, ...) {
    if (!context || !context->log) {
        return;
    }
    char sentence[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    context->log(context->data, level, sentence);
}

void sx_progress(const sx_context *context, const char *what, int64_t done, int64_t total) {
    if (context && context->progress) {
        context->progress(context->data, what, done, total);
    }
}

bool sx_cancelled(const sx_context *context) {
    return context && context->cancel && context->cancel(context->data);
}

int sx_threads(const sx_context *context) {
    const int available = omp_get_max_threads();
    if (context && context->threads > 0) {
        return context->threads;
    }
    if (available > THREADS_MOST) { /* OMP_NUM_THREADS takes any number */
        return THREADS_MOST;
    }
    return available > 0 ? available : 1;
}
