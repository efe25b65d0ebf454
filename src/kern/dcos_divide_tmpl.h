/* SPDX-License-Identifier: Apache-2.0
 * The three divisions of dcos_even.kern.h, for one instruction set and one precision:
 *
 *   b_i = y_i + r b_{i+1} - q b_{i+2},  c_i = b_i + r c_{i+1} - q c_{i+2},  d from c alike
 *
 * r = 2 Re exp(s dx), q = |exp(s dx)|^2. Defined by the including file: NAME(x), SCALAR, VECTOR,
 * WIDTH, V_SET, V_LOAD, V_STORE, V_FMA, V_FNMA. */

/* CHAINS: groups x modes, a chain of its own for each, which hides the latency of the products. */
SX_FN void NAME(divide_chains)(const int modes, const int groups, int64_t n, const SCALAR *y,
                               SCALAR (*middle)[SXI_BUNDLE], SCALAR (*square)[SXI_BUNDLE], int lane,
                               sxi_dcos_remainder *rest) {
    enum { MOST = SXI_DCOS_MOST_MODES };
    VECTOR r[MOST], q[MOST], b1[MOST], b2[MOST], c1[MOST], c2[MOST], d1[MOST], d2[MOST];
    const int chains = modes * groups;
    for (int h = 0; h < chains; h++) {
        r[h] = V_LOAD(&middle[h % modes][lane + h / modes * WIDTH]);
        q[h] = V_LOAD(&square[h % modes][lane + h / modes * WIDTH]);
        b1[h] = b2[h] = c1[h] = c2[h] = d1[h] = d2[h] = V_SET(0);
    }
    for (int64_t i = n - 1; i >= 4; i--) {
        SX_UNROLL
        for (int h = 0; h < chains; h++) {
            const VECTOR v = V_LOAD(y + i * SXI_BUNDLE + lane + h / modes * WIDTH);
            const VECTOR b = V_FMA(r[h], b1[h], V_FNMA(q[h], b2[h], v));
            const VECTOR c = V_FMA(r[h], c1[h], V_FNMA(q[h], c2[h], b));
            const VECTOR d = V_FMA(r[h], d1[h], V_FNMA(q[h], d2[h], c));
            b2[h] = b1[h], b1[h] = b;
            c2[h] = c1[h], c1[h] = c;
            d2[h] = d1[h], d1[h] = d;
        }
    }
    SX_UNROLL
    for (int h = 0; h < chains; h++) {
        SX_UNROLL
        for (int64_t i = 3; i >= 0; i--) {
            const VECTOR v = V_LOAD(y + i * SXI_BUNDLE + lane + h / modes * WIDTH);
            const VECTOR b = V_FMA(r[h], b1[h], V_FNMA(q[h], b2[h], v));
            b2[h] = b1[h], b1[h] = b;
            if (i >= 2) {
                const VECTOR c = V_FMA(r[h], c1[h], V_FNMA(q[h], c2[h], b));
                c2[h] = c1[h], c1[h] = c;
            }
        }
        double(*out)[SXI_BUNDLE] = rest[h % modes];
        const int at = lane + h / modes * WIDTH;
        V_STORE(&out[0][at], b1[h]);
        V_STORE(&out[1][at], b2[h]);
        V_STORE(&out[2][at], c1[h]);
        V_STORE(&out[3][at], c2[h]);
        V_STORE(&out[4][at], d1[h]);
        V_STORE(&out[5][at], d2[h]);
    }
}

/* All groups of the lanes that are wanted, two at a time where one mode leaves registers free. */
SX_FN void NAME(divide)(const int modes, int64_t n, const SCALAR *y, SCALAR (*middle)[SXI_BUNDLE],
                        SCALAR (*square)[SXI_BUNDLE], uint32_t lanes, sxi_dcos_remainder *rest) {
    const int together = modes == 1 ? 3 : modes == 2 ? 2 : 1;
    const uint32_t group = WIDTH == 32 ? UINT32_MAX : (UINT32_C(1) << WIDTH % 32) - 1;
    for (int lane = 0; lane < SXI_BUNDLE;) {
        const int left = (SXI_BUNDLE - lane) / WIDTH;
        if (!(lanes >> lane & group)) {
            lane += WIDTH;
        } else if (together > 2 && left > 2) {
            NAME(divide_chains)(modes, 3, n, y, middle, square, lane, rest);
            lane += 3 * WIDTH;
        } else if (together > 1 && left > 1) {
            NAME(divide_chains)(modes, 2, n, y, middle, square, lane, rest);
            lane += 2 * WIDTH;
        } else {
            NAME(divide_chains)(modes, 1, n, y, middle, square, lane, rest);
            lane += WIDTH;
        }
    }
}
