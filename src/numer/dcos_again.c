/* SPDX-License-Identifier: Apache-2.0
 * The second look of dcos_search.c for a block of traces at once. */
#include <math.h>

#include "numer/dcos_tile.h"

static int64_t gather(const sxi_dcos_tile *t, int64_t pixels, int modes, int mode) {
    int64_t jobs = 0;
    for (int64_t i = 0; i < pixels; i++) {
        sxi_dcos_pixel *p = &t->pixel[i];
        sxi_dcos_model start[SXI_DCOS_AGAIN];
        if (p->seeker.chosen != modes || p->finished != modes || p->doubtful) {
            continue;
        }
        const int count = sxi_dcos_again(&p->seeker, p->fit, mode, start);
        for (int k = 0; k < count; k++) {
            t->job[jobs++] = (sxi_dcos_job){
                .pixel = p, .model = start[k], .worth = sxi_dcos_rss_rival(&p->seeker, modes)};
        }
    }
    return jobs;
}

/* What stopped on its way is for the exact core if it could be the answer. */
static void take(const sxi_dcos_tile *t, int64_t jobs) {
    for (int64_t i = 0; i < jobs; i++) {
        sxi_dcos_pixel *p = t->job[i].pixel;
        const sxi_dcos_model *found = &t->job[i].model;
        sxi_dcos_seeker *s = &p->seeker;
        if (t->job[i].useless) {
            continue;
        }
        if (found->end != SXI_END_CONVERGED) {
            p->doubtful |= !isfinite(found->rss) || sxi_dcos_contends(s, found);
        } else if (sxi_dcos_news(s, found)) {
            p->finished = found->rss < s->model[found->modes].rss ? -1 : p->finished;
            sxi_dcos_keep(s, found);
        }
    }
}

void sxi_dcos_look_again(sxi_dcos_tile *t, int64_t pixels) {
    for (int modes = 1; modes <= SX_DCOS_MAX_MODES; modes++) {
        for (int mode = 0; mode < modes; mode++) {
            const int64_t jobs = gather(t, pixels, modes, mode);
            sxi_dcos_lanes_minimise(t->lanes, modes, jobs, t->job);
            take(t, jobs);
        }
    }
}
