/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/fit_bands.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sextant/cpu.h>

#include "base/fail.h"

/* A band of a cube that can be read row by row is small, so that memory stays flat; stored chunks
 * are never read twice where they fit into memory. */
static const int64_t BAND_BYTES = 32LL << 20;

/* Memory of a band, of the size of the largest. */
typedef struct slot {
    sx_array y, sigma, mask;
} slot;

struct sxi_fit_bands {
    sxi_source *source;
    const sxi_source_info *info;
    const sxi_fit_frame *frame;
    const sx_context *context;
    int64_t rows;          /* output rows of a band, at most */
    int64_t segment, row0; /* of the band that is read next */
    int slots;             /* 1: no memory, or no need, to read ahead */
    slot slot[2];          /* samples of band n lie in slot[n % slots] */
    sx_dcos_fit *fit[2];   /* its fits in fit[n % 2] */
    int64_t begun;         /* bands whose reading has begun */
    sxi_source_request *reading;
    sxi_fit_band ahead; /* what is read */
};

/* --- how many rows --- */

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t row_bytes(const sxi_source_info *info, const sxi_fit_frame *frame) {
    return info->nt * info->width * (int64_t)sx_dtype_size(info->dtype) *
           (info->has_sigma ? 2 : 1) * frame->bin_y;
}

/* Rows of whole chunks that fit into memory, and of some so many bytes; about as many in every band. */
static int64_t rows_of(const sxi_source_info *info, const sxi_fit_frame *frame, int64_t bytes,
                       int64_t most) {
    const int64_t row = row_bytes(info, frame);
    const int64_t chunk = divide_up(info->chunk_rows, frame->bin_y);
    int64_t wanted = bytes / row < frame->rows ? bytes / row : frame->rows;
    wanted = wanted < 1 ? 1 : wanted;
    wanted = divide_up(divide_up(frame->rows, divide_up(frame->rows, wanted)), chunk) * chunk;
    wanted = wanted < most / row ? wanted : most / row;
    return wanted < 1 ? 1 : wanted > frame->rows ? frame->rows : wanted;
}

static void plan_bands(sxi_fit_bands *bands, int64_t bytes) {
    const sxi_fit_frame *frame = bands->frame;
    sx_cpu cpu;
    sx_cpu_get(&cpu);
    const int64_t most = cpu.memory_available > 0 ? cpu.memory_available / 4 * 3 : 4LL << 30;
    bands->rows = rows_of(bands->info, frame, bytes > 0 ? bytes : BAND_BYTES, most);
    const bool several = frame->segments > 1 || bands->rows < frame->rows;
    const bool room = 2 * bands->rows * row_bytes(bands->info, frame) <= most;
    bands->slots = several && room ? 2 : 1;
}

/* --- memory --- */

static int64_t stored_most(const sxi_fit_bands *bands) {
    const int64_t rows = bands->rows * bands->frame->bin_y;
    const int64_t all = bands->frame->y1 - bands->frame->y0;
    return rows < all ? rows : all;
}

int64_t sxi_fit_bands_pixels(const sxi_fit_bands *bands) {
    return bands->rows * bands->frame->columns;
}

/* Asks for pages of the largest size: taking 50 MB in pages of 4 kB costs as much as reading them. */
static void take_large_pages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t before = (page - (uintptr_t)memory % page) % page; /* to the first whole page */
    if (bytes >= before + page) {
        madvise((char *)memory + before, (bytes - before) / page * page,
                MADV_HUGEPAGE); /* a wish */
    }
#else
    (void)memory;
    (void)bytes;
#endif
}

static sx_status samples_create(sx_dtype dtype, const int64_t *shape, sx_array *samples) {
    SXI_TRY(sx_array_create(dtype, 3, shape, samples));
    take_large_pages(samples->data, (size_t)sx_array_count(samples) * sx_dtype_size(dtype));
    return SX_OK;
}

static sx_status slots_create(sxi_fit_bands *bands) {
    const sxi_source_info *info = bands->info;
    const int64_t shape[] = {info->nt, stored_most(bands), info->width};
    const int64_t pixels = sxi_fit_bands_pixels(bands);
    for (int i = 0; i < bands->slots; i++) {
        SXI_TRY(samples_create(info->dtype, shape, &bands->slot[i].y));
        SXI_TRY(sx_array_create(SX_U8, 2, shape + 1, &bands->slot[i].mask));
        if (info->has_sigma) {
            SXI_TRY(samples_create(info->dtype, shape, &bands->slot[i].sigma));
        }
    }
    for (int i = 0; i < 2; i++) {
        bands->fit[i] = malloc((size_t)pixels * sizeof *bands->fit[i]);
        if (!bands->fit[i]) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for the fits of %lld pixels",
                            (long long)pixels);
        }
        take_large_pages(bands->fit[i], (size_t)pixels * sizeof *bands->fit[i]);
    }
    return SX_OK;
}

sx_status sxi_fit_bands_open(sxi_source *source, const sxi_fit_frame *frame,
                             const sx_context *context, int64_t bytes, sxi_fit_bands **bands) {
    *bands = NULL;
    sxi_fit_bands *made = calloc(1, sizeof *made);
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to read a cube");
    }
    made->source = source;
    made->info = sxi_source_describe(source);
    made->frame = frame;
    made->context = context;
    plan_bands(made, bytes);
    const sx_status status = slots_create(made);
    if (status != SX_OK) {
        sxi_fit_bands_close(&made);
        return status;
    }
    *bands = made;
    return SX_OK;
}

void sxi_fit_bands_close(sxi_fit_bands **bands) {
    if (!*bands) {
        return;
    }
    sxi_fit_bands *closed = *bands;
    sxi_source_cancel(&closed->reading);
    for (int i = 0; i < 2; i++) {
        sx_array_destroy(&closed->slot[i].y);
        sx_array_destroy(&closed->slot[i].sigma);
        sx_array_destroy(&closed->slot[i].mask);
        free(closed->fit[i]);
    }
    free(closed);
    *bands = NULL;
}

/* --- reading --- */

static bool any_left(const sxi_fit_bands *bands) { return bands->segment < bands->frame->segments; }

/* Stored rows of the band that is read next; then the place of the one after it. */
static sxi_fit_band step(sxi_fit_bands *bands) {
    const sxi_fit_frame *f = bands->frame;
    const int64_t left = f->rows - bands->row0;
    sxi_fit_band band = {.segment = bands->segment,
                         .row0 = bands->row0,
                         .rows = left < bands->rows ? left : bands->rows};
    const int64_t first = f->y0 + band.row0 * f->bin_y, last = first + band.rows * f->bin_y;
    band.stored0 = band.segment * f->segment_rows + first;
    band.stored = (last < f->y1 ? last : f->y1) - first;
    bands->row0 += band.rows;
    if (bands->row0 == f->rows) {
        bands->row0 = 0;
        bands->segment++;
    }
    return band;
}

/* The memory of a slot in the shape of the band. */
static sx_status take_slot(const sxi_fit_bands *bands, const slot *memory, sxi_fit_band *band) {
    const sxi_source_info *info = bands->info;
    const int64_t shape[] = {info->nt, band->stored, info->width};
    SXI_TRY(sx_array_view(info->dtype, 3, shape, memory->y.data, &band->y));
    SXI_TRY(sx_array_view(SX_U8, 2, shape + 1, memory->mask.data, &band->mask));
    return info->has_sigma ? sx_array_view(info->dtype, 3, shape, memory->sigma.data, &band->sigma)
                           : SX_OK;
}

static sx_status begin(sxi_fit_bands *bands, int threads) {
    sxi_fit_band *band = &bands->ahead;
    *band = step(bands);
    band->fit = bands->fit[bands->begun % 2];
    SXI_TRY(take_slot(bands, &bands->slot[bands->begun % bands->slots], band));
    bands->begun++;
    return sxi_source_start(bands->source, threads, band->stored0, band->stored, &band->y,
                            bands->info->has_sigma ? &band->sigma : NULL, &band->mask,
                            &bands->reading);
}

bool sxi_fit_bands_left(const sxi_fit_bands *bands) { return bands->reading || any_left(bands); }

sx_status sxi_fit_bands_next(sxi_fit_bands *bands, sxi_fit_band *band) {
    const int threads = sx_threads(bands->context);
    *band = (sxi_fit_band){0};
    if (!bands->reading) {
        if (!any_left(bands)) {
            return SX_OK;
        }
        SXI_TRY(begin(bands, threads - 1));
    }
    SXI_TRY(sxi_source_wait(&bands->reading));
    *band = bands->ahead;
    /* One thread waits for the disk beside those that compute; one alone reads when it is idle. */
    return bands->slots == 2 && any_left(bands) ? begin(bands, threads > 1 ? 1 : 0) : SX_OK;
}

void sxi_fit_bands_work(sxi_fit_bands *bands) {
    if (bands->reading) {
        sxi_source_work(bands->reading);
    }
}
