/* SPDX-License-Identifier: Apache-2.0
 * How the library fails: a status, and a sentence kept for the thread. */
#ifndef SXI_FAIL_H
#define SXI_FAIL_H

#include <sextant/status.h>

/* return SXI_FAIL(SX_ERR_SHAPE, "trace has %lld delays, axis %lld", ...);
 * The status stands outside the call, so that compilers and analysers see that it is not SX_OK. */
#define SXI_FAIL(status_, ...) (sxi_fail((status_), __FILE__, __LINE__, __VA_ARGS__), (status_))

/* Owning nothing yet: return on failure. */
#define SXI_TRY(call)                                                                              \
    do {                                                                                           \
        sx_status try_ = (call);                                                                   \
        if (try_ != SX_OK) {                                                                       \
            return try_;                                                                           \
        }                                                                                          \
    } while (0)

/* Owning something: keep the status and go to the one exit, where all is freed. */
#define SXI_GO(call)                                                                               \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != SX_OK) {                                                                     \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

/* sxi_fail - records the failure of this thread and returns status. */
sx_status sxi_fail(sx_status status, const char *file, int line, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* sxi_fail_context - puts words in front of the recorded sentence: "words: sentence". Returns
 * status. */
sx_status sxi_fail_context(sx_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif
