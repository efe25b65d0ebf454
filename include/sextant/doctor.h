/* SPDX-License-Identifier: Apache-2.0
 * What this machine offers to sextant, what is missing, and the remedy. */
#ifndef SEXTANT_DOCTOR_H
#define SEXTANT_DOCTOR_H

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, word, sentence) */
#define SX_DOCTOR_STATE_LIST(X)                                                                    \
    X(OK, "ok", "there, and as it should be")                                                      \
    X(NONE, "none", "not there; nothing needs it")                                                 \
    X(POOR, "poor", "there, but not as it should be; the remedy helps")                            \
    X(MISSING, "missing", "needed by some command; the remedy helps")

typedef enum sx_doctor_state {
#define SX_DOCTOR_STATE_ENUM(name, word, sentence) SX_DOCTOR_##name,
    SX_DOCTOR_STATE_LIST(SX_DOCTOR_STATE_ENUM)
#undef SX_DOCTOR_STATE_ENUM
} sx_doctor_state;

/* One thing looked at. The texts live until the callback returns. */
typedef struct sx_doctor_finding {
    const char *topic; /* "gnuplot" */
    sx_doctor_state state;
    const char *found;  /* "/usr/bin/gnuplot" */
    const char *remedy; /* what to do; "" where nothing is to be done */
} sx_doctor_finding;

typedef void (*sx_doctor_fn)(void *data, const sx_doctor_finding *finding);

/* sx_doctor_state_word - "ok" and so on. */
SX_API const char *sx_doctor_state_word(sx_doctor_state state);

/* sx_doctor_run - looks at CPU, memory, OpenMP, HDF5 and its filters, BLAS, GPU, cuFile, MPI and
 * gnuplot, and hands each finding to the callback. SX_ERR_ARGUMENT without one. */
SX_API sx_status sx_doctor_run(sx_doctor_fn report, void *data);

#ifdef __cplusplus
}
#endif
#endif
