/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5/sources/h5_mapping.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t sxi_h5_elements(int rank, const int64_t *shape) {
    int64_t elements = 1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] <= 0) {
            return 0;
        }
        elements = elements > SXI_H5_ENDLESS / shape[d] ? SXI_H5_ENDLESS : elements * shape[d];
    }
    return elements;
}

sxi_h5_axis sxi_h5_axis_of(int64_t start, int64_t stride, int64_t count, int64_t block) {
    const bool endless = count >= SXI_H5_ENDLESS || block >= SXI_H5_ENDLESS ||
                         (block > 0 && count > SXI_H5_ENDLESS / block);
    const int64_t length = endless ? SXI_H5_ENDLESS : count * block;
    const bool one = count == 1 || block >= SXI_H5_ENDLESS || stride == block;
    return one ? (sxi_h5_axis){start, length > 0 ? length : 1, length > 0 ? length : 1, length}
               : (sxi_h5_axis){start, stride, block, length};
}

int64_t sxi_h5_axis_at(const sxi_h5_axis *axis, int64_t k) {
    return axis->start + k / axis->block * axis->stride + k % axis->block;
}

int64_t sxi_h5_axis_below(const sxi_h5_axis *axis, int64_t at) {
    if (at <= axis->start) {
        return 0;
    }
    const int64_t far = at - axis->start;
    const int64_t before = far / axis->stride * axis->block;
    return least(before + least(far % axis->stride, axis->block), axis->length);
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t last_of(const sxi_h5_axis *axis) {
    return axis->length >= SXI_H5_ENDLESS ? SXI_H5_ENDLESS : sxi_h5_axis_at(axis, axis->length - 1);
}

bool sxi_h5_axes_meet(const sxi_h5_axis *a, const sxi_h5_axis *b) {
    if (a->length == 0 || b->length == 0) {
        return false;
    }
    const bool a_single = a->block >= a->length;
    const bool b_single = b->block >= b->length;
    const int64_t low = a->start > b->start ? a->start : b->start;
    const int64_t high = least(last_of(a), last_of(b));
    if (low > high) {
        return false;
    }
    if (a_single || b_single) { /* elements of the other inside the block */
        const sxi_h5_axis *other = a_single ? b : a;
        return sxi_h5_axis_below(other, high + 1) > sxi_h5_axis_below(other, low);
    }
    /* Blocks of both begin at any multiple of the divisor away from each other. */
    const int64_t divisor = common_divisor(a->stride, b->stride);
    const int64_t behind = ((b->start - a->start) % divisor + divisor) % divisor;
    return behind < a->block || divisor - behind < b->block;
}

int sxi_h5_pair_axes(const sxi_h5_selection *target, const sxi_h5_selection *source,
                     sxi_h5_pair *pair) {
    int count = 0;
    int t = 0;
    int s = 0;
    while (t < target->rank || s < source->rank) {
        const int64_t of_target = t < target->rank ? target->axis[t].length : 0;
        const int64_t of_source = s < source->rank ? source->axis[s].length : 0;
        if (t < target->rank && s < source->rank && of_target == of_source) {
            pair[count++] = (sxi_h5_pair){t++, s++};
        } else if (t < target->rank && of_target == 1) {
            pair[count++] = (sxi_h5_pair){t++, -1};
        } else if (s < source->rank && of_source == 1) {
            pair[count++] = (sxi_h5_pair){-1, s++};
        } else {
            return -1;
        }
    }
    return count;
}

int64_t sxi_h5_run_end(const sxi_h5_axis *target, const sxi_h5_axis *source, int64_t k,
                       int64_t end) {
    end = least(end, k - k % source->block + source->block);
    return target->block == 1 ? end : least(end, k - k % target->block + target->block);
}

int64_t sxi_h5_runs(const sxi_h5_axis *target, const sxi_h5_axis *source, int64_t k, int64_t end,
                    int64_t most) {
    int64_t count = 0;
    while (k < end && count < most) {
        k = sxi_h5_run_end(target, source, k, end);
        count++;
    }
    return count;
}

static bool ranges_meet(int rank, const sxi_h5_range *a, const sxi_h5_range *b) {
    for (int d = 0; d < rank; d++) {
        if (a->start[d] >= b->start[d] + b->count[d] || b->start[d] >= a->start[d] + a->count[d]) {
            return false;
        }
    }
    return true;
}

/* Cuts what lies before, and behind, taken along each axis from a box that meets it. */
static int64_t split(int rank, sxi_h5_range range, const sxi_h5_range *taken, sxi_h5_range *piece) {
    int64_t count = 0;
    for (int d = 0; d < rank; d++) {
        const int64_t before = taken->start[d] - range.start[d];
        if (before > 0) {
            piece[count] = range;
            piece[count++].count[d] = before;
            range.start[d] += before;
            range.count[d] -= before;
        }
        const int64_t inside = taken->start[d] + taken->count[d] - range.start[d];
        if (inside < range.count[d]) {
            piece[count] = range;
            piece[count].start[d] += inside;
            piece[count++].count[d] -= inside;
            range.count[d] = inside;
        }
    }
    return count;
}

int64_t sxi_h5_rest(int rank, const sxi_h5_range *whole, int64_t n, const sxi_h5_range *taken,
                    int64_t most, sxi_h5_range *rest) {
    int64_t count = 1;
    rest[0] = *whole;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < count;) {
            sxi_h5_range piece[2 * SX_MAX_RANK];
            if (!ranges_meet(rank, &rest[j], &taken[i])) {
                j++;
                continue;
            }
            const int64_t pieces = split(rank, rest[j], &taken[i], piece);
            rest[j] = rest[--count];
            if (count + pieces > most) {
                return -1;
            }
            for (int64_t p = 0; p < pieces; p++) {
                rest[count++] = piece[p];
            }
        }
    }
    return count;
}
