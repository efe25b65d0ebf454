/* SPDX-License-Identifier: Apache-2.0
 * What a function that can fail returns, and the sentence that goes with it. */
#ifndef SEXTANT_STATUS_H
#define SEXTANT_STATUS_H

#if defined(__GNUC__)
#define SX_API __attribute__((visibility("default")))
#else
#define SX_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of errors: X(name, value, words). */
#define SX_STATUS_LIST(X)                                                                          \
    X(OK, 0, "done")                                                                               \
    X(ERR_MEMORY, -1, "out of memory")                                                             \
    X(ERR_ARGUMENT, -2, "argument not allowed")                                                    \
    X(ERR_USAGE, -3, "wrong command line")                                                         \
    X(ERR_IO, -4, "reading or writing failed")                                                     \
    X(ERR_FORMAT, -5, "file is not in a known format")                                             \
    X(ERR_MISSING, -6, "something needed is missing")                                              \
    X(ERR_SHAPE, -7, "shapes do not fit")                                                          \
    X(ERR_TYPE, -8, "element type not supported")                                                  \
    X(ERR_EXISTS, -9, "output exists")                                                             \
    X(ERR_RANGE, -10, "value out of range")                                                        \
    X(ERR_UNIT, -11, "unit missing or unknown")                                                    \
    X(ERR_NUMERIC, -12, "calculation failed")                                                      \
    X(ERR_CANCELLED, -13, "cancelled")                                                             \
    X(ERR_UNSUPPORTED, -14, "not supported by this build")

typedef enum sx_status {
#define SX_STATUS_ENUM(name, value, words) SX_##name = value,
    SX_STATUS_LIST(SX_STATUS_ENUM)
#undef SX_STATUS_ENUM
} sx_status;

/* sx_status_name - "SX_ERR_SHAPE" for a status; "SX_ERR_?" for a number that is none. */
SX_API const char *sx_status_name(sx_status status);

/* sx_status_text - a few words for a status. */
SX_API const char *sx_status_text(sx_status status);

/* sx_error_message - the sentence of the last failure on this thread; "" if there was none.
 * Valid until the next failure on the same thread. */
SX_API const char *sx_error_message(void);

/* sx_error_status, sx_error_place - status, and "file.c:123", of that failure. */
SX_API sx_status sx_error_status(void);
SX_API const char *sx_error_place(void);

/* sx_error_clear - forgets the last failure of this thread. */
SX_API void sx_error_clear(void);

#ifdef __cplusplus
}
#endif
#endif
