/* SPDX-License-Identifier: Apache-2.0
 * Events wherever they are: a solver asks for some of them at a time, again and again. */
#ifndef SXI_SAGIPS_SOURCE_H
#define SXI_SAGIPS_SOURCE_H

#include <sextant/sagips.h>

typedef struct sxi_event_source sxi_event_source;

struct sxi_event_source {
    const sx_theory *theory;
    int64_t count;
    bool has_norms;
    double norms[SX_THEORY_CHANNELS]; /* measured integrals of the densities */
    bool has_truth;
    double truth[SX_THEORY_PARAMETERS];
    /* Reads events first .. first + n - 1 into to [n][columns]. */
    sx_status (*read)(const sxi_event_source *source, int64_t first, int64_t n, float *to,
                      const sx_context *context);
    void *data; /* of the kind of source */
};

/* sxi_events_open - events.h5. theory: NULL: named in the file. SX_ERR_SHAPE, SX_ERR_MISSING,
 * SX_ERR_FORMAT, SX_ERR_IO. *source is empty on failure. */
sx_status sxi_events_open(const char *path, const sx_theory *theory, sxi_event_source *source);

/* sxi_events_view - an array [n][columns] F32 in C order, which must outlive it. SX_ERR_SHAPE,
 * SX_ERR_TYPE. */
sx_status sxi_events_view(const sx_array *events, const sx_theory *theory,
                          sxi_event_source *source);

/* sxi_events_close - of an empty one, too. */
void sxi_events_close(sxi_event_source *source);

#endif
