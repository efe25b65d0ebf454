/* SPDX-License-Identifier: Apache-2.0
 * Which peaks of the gain are worth a start. */
#include <math.h>
#include <stdbool.h>

#include "numer/dcos.h"

void sxi_dcos_seed_insert(sxi_dcos_seed seed[SXI_DCOS_CANDIDATES], sxi_dcos_seed candidate) {
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        if (candidate.gain > seed[c].gain) {
            sxi_dcos_seed lower = seed[c];
            seed[c] = candidate;
            candidate = lower;
        }
    }
}

/* A lobe of the window without decay is 2 cycles wide at its foot, a resonance decay / pi at half its
 * height: filters of different decays place one peak up to about half of that apart. Of decays that
 * are not neighbours (a factor 3 to 6 apart) both can be right, at one frequency. */
static bool related(const sxi_dcos_seed *a, const sxi_dcos_seed *b) {
    const double lobe = 0.75, part = 0.5 * 0.318309886183790671538, neighbours = 7;
    const double less = a->decay < b->decay ? a->decay : b->decay;
    const double more = a->decay < b->decay ? b->decay : a->decay;
    const bool near = fabs(a->frequency - b->frequency) < lobe + part * less;
    return near & (more < neighbours * less);
}

/* Gains of what was seen are negative: it is not lower than peak i. */
static bool hidden(int count, const sxi_dcos_seed *found, int i) {
    bool is = false;
    for (int j = 0; j < count; j++) {
        is |= (found[j].gain < 0) & related(&found[j], &found[i]);
    }
    return is;
}

int sxi_dcos_seeds_choose(int count, sxi_dcos_seed *found, double keep, double chance,
                          int picked[SXI_DCOS_CANDIDATES]) {
    int kept = 0;
    double least = 0;
    while (kept < SXI_DCOS_CANDIDATES) {
        int best = -1;
        double most = 0;
        for (int i = 0; i < count; i++) {
            const bool more = found[i].gain > most;
            best = more ? i : best;
            most = more ? found[i].gain : most;
        }
        if (best < 0 || most < least) {
            break;
        }
        if (!hidden(count, found, best)) {
            picked[kept++] = best;
            least = kept == 1 ? keep * most - chance : least;
        }
        found[best].gain = -most;
    }
    for (int i = 0; i < count; i++) {
        found[i].gain = fabs(found[i].gain);
    }
    return kept;
}
