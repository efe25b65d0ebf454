/* SPDX-License-Identifier: Apache-2.0
 * The words of templates of two precisions, for double. No include guard: they may be taken back. */
#define NAME(x) x##_double
#define SCALAR double
#define VECTOR SX_REAL
#define WIDTH SX_LANES
#define V_SET(x) SX_SET(x)
#define V_LOAD(p) SX_LOAD(p)
#define V_STORE(p, v) SX_STORE(p, v)
#define V_KEEP(p, v) SX_STORE(p, v)
#define V_FMA(a, b, c) SX_FMA(a, b, c)
#define V_FNMA(a, b, c) SX_FNMA(a, b, c)
