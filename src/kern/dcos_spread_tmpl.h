/* SPDX-License-Identifier: Apache-2.0
 * Spreading of traces to an even grid, for one instruction set and one precision. Defined by the
 * including file: NAME(x), SCALAR, VECTOR, WIDTH, V_SET, V_LOAD, V_KEEP (stores as it is), V_FMA,
 * and
 *
 *   SPREAD_BLOCK   points of the grid a block; where a sample's window may begin
 *   SPREAD_WINDOW  points from there that its taps may reach, whole blocks
 *
 * Each point takes its samples in their order, whatever the vectors. */

/* Sums of the window move a block at a time past the samples; what it leaves behind is done. */
SX_FN void NAME(spread_some)(const int together, int64_t blocks, const int32_t *window,
                             const int32_t *sample, const SCALAR *tap, const SCALAR *const *y,
                             SCALAR *const *grid) {
    enum { PARTS = SPREAD_WINDOW / WIDTH, DONE = SPREAD_BLOCK / WIDTH }; /* vectors */
    VECTOR sum[4 * PARTS];
    for (int h = 0; h < together * PARTS; h++) {
        sum[h] = V_SET(0);
    }
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t k = window[b]; k < window[b + 1]; k++) {
            for (int h = 0; h < together; h++) {
                const VECTOR v = V_SET(y[h][sample[k]]);
                for (int p = 0; p < PARTS; p++) {
                    sum[h * PARTS + p] =
                        V_FMA(v, V_LOAD(tap + k * SPREAD_WINDOW + p * WIDTH), sum[h * PARTS + p]);
                }
            }
        }
        for (int h = 0; h < together; h++) {
            VECTOR *s = sum + h * PARTS;
            for (int p = 0; p < PARTS; p++) {
                if (p < DONE) {
                    V_KEEP(grid[h] + b * SPREAD_BLOCK + p * WIDTH, s[p]);
                }
                s[p] = p + DONE < PARTS ? s[p + DONE] : V_SET(0);
            }
        }
    }
}

/* SX_TARGET spelled out per number together, so that sums stay in registers. */
SX_TARGET static void NAME(spread_four)(int64_t blocks, const int32_t *window,
                                        const int32_t *sample, const SCALAR *tap,
                                        const SCALAR *const *y, SCALAR *const *grid) {
    NAME(spread_some)(4, blocks, window, sample, tap, y, grid);
}

SX_TARGET static void NAME(spread_one)(int64_t blocks, const int32_t *window, const int32_t *sample,
                                       const SCALAR *tap, const SCALAR *const *y,
                                       SCALAR *const *grid) {
    NAME(spread_some)(1, blocks, window, sample, tap, y, grid);
}

static void NAME(spread_all)(int64_t blocks, const int32_t *window, const int32_t *sample,
                             const SCALAR *tap, int64_t count, const SCALAR *const *y,
                             SCALAR *const *grid) {
    int64_t done = 0;
    for (; done + 4 <= count; done += 4) {
        NAME(spread_four)(blocks, window, sample, tap, y + done, grid + done);
    }
    for (; done < count; done++) {
        NAME(spread_one)(blocks, window, sample, tap, y + done, grid + done);
    }
}
