/* SPDX-License-Identifier: Apache-2.0
 * The three divisions of dcos_even.kern.h, for one instruction set and one precision:
 *
 *   b_i = y_i + r b_{i+1} - q b_{i+2},  c_i = b_i + r c_{i+1} - q c_{i+2},  d from c alike
 *
 * r = 2 Re exp(s dx), q = |exp(s dx)|^2. Defined by the including file: NAME(x), SCALAR, VECTOR,
 * WIDTH, V_SET, V_LOAD, V_STORE, V_FMA, V_FNMA. */

/* Two chains at once hide the latency of their products; more do not fit the registers. */
SX_FN void NAME(divide_chains)(const int chains, const SX_CHAIN *chain, int64_t n, const SCALAR *y,
                               SCALAR (*middle)[SXI_BUNDLE], SCALAR (*square)[SXI_BUNDLE],
                               sxi_dcos_remainder *rest) {
    enum { MOST = 2 };
    VECTOR r[MOST], q[MOST], b1[MOST], b2[MOST], c1[MOST], c2[MOST], d1[MOST], d2[MOST];
    SX_UNROLL
    for (int h = 0; h < chains; h++) {
        r[h] = V_LOAD(&middle[chain[h].mode][chain[h].lane]);
        q[h] = V_LOAD(&square[chain[h].mode][chain[h].lane]);
        b1[h] = b2[h] = c1[h] = c2[h] = d1[h] = d2[h] = V_SET(0);
    }
    SX_UNROLL_TWICE
    for (int64_t i = n - 1; i >= 4; i--) {
        SX_UNROLL
        for (int h = 0; h < chains; h++) {
            const VECTOR v = V_LOAD(y + i * SXI_BUNDLE + chain[h].lane);
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
        const int at = chain[h].lane;
        SX_UNROLL
        for (int64_t i = 3; i >= 0; i--) {
            const VECTOR v = V_LOAD(y + i * SXI_BUNDLE + at);
            const VECTOR b = V_FMA(r[h], b1[h], V_FNMA(q[h], b2[h], v));
            b2[h] = b1[h], b1[h] = b;
            if (i >= 2) {
                const VECTOR c = V_FMA(r[h], c1[h], V_FNMA(q[h], c2[h], b));
                c2[h] = c1[h], c1[h] = c;
            }
        }
        double(*out)[SXI_BUNDLE] = rest[chain[h].mode];
        V_STORE(&out[0][at], b1[h]);
        V_STORE(&out[1][at], b2[h]);
        V_STORE(&out[2][at], c1[h]);
        V_STORE(&out[3][at], c2[h]);
        V_STORE(&out[4][at], d1[h]);
        V_STORE(&out[5][at], d2[h]);
    }
}

/* Any number of modes of groups of lanes. */
SX_FN void NAME(divide_list)(const int count, const SX_CHAIN *chain, int64_t n, const SCALAR *y,
                             SCALAR (*middle)[SXI_BUNDLE], SCALAR (*square)[SXI_BUNDLE],
                             sxi_dcos_remainder *rest) {
    int done = 0;
    for (; done + 2 <= count; done += 2) {
        NAME(divide_chains)(2, chain + done, n, y, middle, square, rest);
    }
    if (done < count) {
        NAME(divide_chains)(1, chain + done, n, y, middle, square, rest);
    }
}

/* All groups of the lanes that are wanted. */
SX_FN void NAME(divide)(const int modes, int64_t n, const SCALAR *y, SCALAR (*middle)[SXI_BUNDLE],
                        SCALAR (*square)[SXI_BUNDLE], uint32_t lanes, sxi_dcos_remainder *rest) {
    const uint32_t group = WIDTH == 32 ? UINT32_MAX : (UINT32_C(1) << WIDTH % 32) - 1;
    SX_CHAIN chain[SXI_DCOS_MOST_MODES * SXI_BUNDLE / WIDTH];
    int count = 0;
    for (int lane = 0; lane < SXI_BUNDLE; lane += WIDTH) {
        for (int mode = 0; mode < modes && lanes >> lane & group; mode++) {
            chain[count].mode = mode;
            chain[count++].lane = lane;
        }
    }
    NAME(divide_list)(count, chain, n, y, middle, square, rest);
}
