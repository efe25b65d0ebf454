/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/spectrum.h"

#include <math.h>

#include "base/cpu.h"
#include "kern/kern.h"
#include "kern/wave.h"

enum { WIDTH = SXI_SPECTRUM_WIDTH };

extern const sxi_spectrum_kernels sxi_spectrum_kernels_c, sxi_spectrum_kernels_avx2,
    sxi_spectrum_kernels_avx512;

const sxi_spectrum_kernels *sxi_spectrum_kernels_variant(int number) {
    const sxi_spectrum_kernels *list[3] = {&sxi_spectrum_kernels_c};
    int count = 1;
#if defined(__x86_64__)
    unsigned features = sxi_cpu_features();
    if (features & SX_CPU_AVX2) {
        list[count++] = &sxi_spectrum_kernels_avx2;
    }
    if (features & SX_CPU_AVX512) {
        list[count++] = &sxi_spectrum_kernels_avx512;
    }
#endif
    return number < count ? list[number] : NULL;
}

const sxi_spectrum_kernels *sxi_spectrum_kernels_best(void) {
    const sxi_spectrum_kernels *best = NULL;
    for (int i = 0; sxi_spectrum_kernels_variant(i); i++) {
        best = sxi_spectrum_kernels_variant(i);
    }
    return best;
}

/* --- the plan --- */

int64_t sxi_spectrum_length(int64_t least) {
    int64_t two = 4, three = 3;
    while (two < least) {
        two *= 2;
    }
    while (three < least) {
        three *= 2;
    }
    return two < three ? two : three;
}

int64_t sxi_spectrum_twiddles(int64_t length) {
    int64_t count = 0;
    for (; length > 8; length /= 4) {
        count += 6 * (length / 4);
    }
    return count;
}

static int32_t place_of(int64_t length, int64_t k) {
    int64_t place = 0;
    for (; length > 8; length /= 4, k /= 4) {
        place += k % 4 * (length / 4);
    }
    return (int32_t)(place + k);
}

void sxi_spectrum_plan_fill(sxi_spectrum_plan *plan) {
    int64_t length = plan->length;
    float *twiddle = plan->twiddle;
    double cosine, sine;
    for (int64_t part = length; part > 8; part /= 4) {
        for (int64_t j = 0; j < part / 4; j++) {
            for (int64_t p = 1; p < 4; p++) {
                sxi_wave_turn(-2 * (double)(j * p) / (double)part, &cosine, &sine);
                *twiddle++ = (float)cosine;
                *twiddle++ = (float)sine;
            }
        }
    }
    for (int64_t k = 0; k < length; k++) {
        plan->place[k] = place_of(length, k);
    }
    for (int64_t k = 0; k <= length / 2; k++) {
        sxi_wave_turn((double)k / (double)length, &cosine, &sine);
        plan->turn[2 * k] = (float)cosine;
        plan->turn[2 * k + 1] = (float)sine;
    }
}

/* --- summits --- */

static inline float bounded(float s) { return s > 0.5F ? 0.5F : s < -0.5F ? -0.5F : s; }

SXI_CLONES
void sxi_spectrum_lobe(const float *left, const float *middle, const float *right, float *shift,
                       float *height) {
    for (int l = 0; l < WIDTH; l++) {
        float a = sqrtf(sqrtf(left[l])), b = sqrtf(sqrtf(middle[l])), c = sqrtf(sqrtf(right[l]));
        float slope = 0.5F * (c - a), bend = 2 * b - a - c;
        float s = bounded(bend > 0 ? slope / bend : 0);
        float top = b + s * (slope - 0.5F * bend * s);
        float square = top * top;
        shift[l] = s;
        height[l] = square * square;
    }
}

SXI_CLONES
void sxi_spectrum_resonance(const float *left, const float *middle, const float *right,
                            float *shift, float *height) {
    for (int l = 0; l < WIDTH; l++) {
        const float most = 3.5F; /* what a resonance wider than bins are apart can have */
        float a = most * left[l] > middle[l] ? middle[l] / left[l] : most;
        float c = most * right[l] > middle[l] ? middle[l] / right[l] : most;
        a = a > 1 ? a : 1;
        c = c > 1 ? c : 1;
        float slope = 0.5F * (a - c), bend = a + c - 2;
        float s = bounded(bend > 0 ? slope / bend : 0);
        shift[l] = s;
        height[l] = middle[l] / (1 - s * (slope - 0.5F * bend * s));
    }
}
