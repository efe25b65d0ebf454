/* SPDX-License-Identifier: Apache-2.0
 * Files, names, shapes and masks of a source, whatever its layout. */
#include "xani/source/source_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place for path among the inputs; an old one if it is known. */
static sx_status place_of(sxi_source *source, const char *path, int *place) {
    for (int i = 0; i < source->files; i++) {
        if (strcmp(source->path[i], path) == 0) {
            *place = i;
            return SX_OK;
        }
    }
    if (source->files == SXI_SOURCE_FILES) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%s: more than %d input files", path, SXI_SOURCE_FILES);
    }
    source->path[source->files] = strdup(path);
    if (!source->path[source->files]) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to open it", path);
    }
    *place = source->files++;
    return SX_OK;
}

sx_status sxi_source_input(sxi_source *source, const char *path) {
    int place = 0;
    return place_of(source, path, &place);
}

sx_status sxi_source_file(sxi_source *source, const char *path, sx_hdf5 **file) {
    int place = 0;
    SXI_TRY(place_of(source, path, &place));
    if (!source->file[place]) {
        SXI_TRY(sx_hdf5_open(path, &source->file[place]));
        sxi_h5_context_set(source->file[place], source->context);
    }
    *file = source->file[place];
    return SX_OK;
}

/* The conventions of netCDF for values that are not what they look like. */
static sx_status read_marks(sxi_stack *stack) {
    static const char *const marks[] = {"_FillValue", "missing_value"};
    static const struct {
        const char *name;
        double none;
    } packing[] = {{"scale_factor", 1}, {"add_offset", 0}};
    double value = 0;
    for (size_t i = 0; i < sizeof packing / sizeof *packing; i++) {
        if (sxi_h5_attribute_real(stack->file, stack->name, packing[i].name, &value) == SX_OK &&
            value != packing[i].none) {
            return SXI_FAIL(SX_ERR_UNSUPPORTED,
                            "%s:%s is packed (%s %g), which is not undone here; write it unpacked",
                            sx_hdf5_path_of(stack->file), stack->name, packing[i].name, value);
        }
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (sxi_h5_attribute_real(stack->file, stack->name, marks[i], &value) == SX_OK) {
            stack->mark[stack->marks++] = value;
        }
    }
    return SX_OK;
}

sx_status sxi_source_stack(sx_hdf5 *file, const char *name, sxi_stack *stack) {
    if (strlen(name) >= sizeof stack->name) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%s: the name %s is too long", sx_hdf5_path_of(file),
                        name);
    }
    *stack = (sxi_stack){.file = file};
    snprintf(stack->name, sizeof stack->name, "%s", name);
    SXI_TRY(sx_hdf5_describe(file, name, &stack->about));
    if (!stack->about.numeric) { /* reading knows how to say what it is instead */
        sx_array none = {0};
        return sxi_h5_read(file, name, NULL, &none);
    }
    SXI_TRY(sxi_h5_check_written(file, name));
    return read_marks(stack);
}

sx_status sxi_source_name(sxi_source *source, const char *option, const char *text,
                          sxi_stack *stack) {
    const char *split = NULL;
    for (const char *at = strstr(text, ":/"); at; at = strstr(at + 1, ":/")) {
        split = at;
    }
    if (!split || split == text || split[2] == '\0') {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%s %s names no dataset; write FILE:/path, for instance run.h5:/entry/data",
                        option, text);
    }
    char *path = strndup(text, (size_t)(split - text));
    if (!path) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s %s: no memory to open it", option, text);
    }
    sx_hdf5 *file = NULL;
    sx_status status = sxi_source_file(source, path, &file);
    free(path);
    SXI_TRY(status);
    return sxi_source_stack(file, split + 1, stack);
}

const char *sxi_shape_text(int rank, const int64_t *shape, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (int d = 0; d < rank && used < size; d++) {
        used += (size_t)snprintf(text + used, size - used, "%s%lld", d ? ", " : "",
                                 (long long)shape[d]);
    }
    if (used < size) {
        snprintf(text + used, size - used, "]");
    }
    return text;
}

sx_status sxi_source_vector(sx_hdf5 *file, const char *name, int64_t expected, double **values,
                            int64_t *count) {
    const sx_dtype real = SX_F64;
    char shape[80];
    sx_array array = {0};
    sxi_stack stack;
    SXI_TRY(sxi_source_stack(file, name, &stack));
    const sx_hdf5_dataset *about = &stack.about;
    int64_t elements = 1;
    for (int d = 0; d < about->rank; d++) {
        elements *= about->shape[d];
    }
    if (about->rank < 1 || elements != about->shape[0]) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has the shape %s, one axis is needed",
                        sx_hdf5_path_of(file), name,
                        sxi_shape_text(about->rank, about->shape, shape, sizeof shape));
    }
    if (expected >= 0 && elements != expected) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %lld entries, %lld are needed",
                        sx_hdf5_path_of(file), name, (long long)elements, (long long)expected);
    }
    SXI_TRY(sxi_h5_read(file, name, &real, &array));
    sxi_stack_blank(&stack, &array);
    *values = malloc((size_t)(elements ? elements : 1) * sizeof **values);
    if (!*values) {
        sx_array_destroy(&array);
        return SXI_FAIL(SX_ERR_MEMORY, "%s:%s: no memory to read it", sx_hdf5_path_of(file), name);
    }
    memcpy(*values, array.data, (size_t)elements * sizeof **values);
    sx_array_destroy(&array);
    if (count) {
        *count = elements;
    }
    return SX_OK;
}

/* Rows of the flattened frame that one chunk holds. */
static int64_t chunk_rows(const sx_hdf5_dataset *about) {
    if (about->chunk[0] == 0 || about->rank < 2) {
        return 1;
    }
    if (about->rank == 4) {
        return about->chunk[1] > 1 ? about->chunk[1] * about->shape[2] : about->chunk[2];
    }
    return about->chunk[1];
}

/* What fits in 24 bits needs no double. */
static sx_dtype band_type(sx_dtype stored) {
    switch (stored) {
    case SX_I8:
    case SX_U8:
    case SX_I16:
    case SX_U16:
    case SX_F32:
        return SX_F32;
    case SX_I32:
    case SX_U32:
    case SX_I64:
    case SX_U64:
    case SX_F64:
        break;
    }
    return SX_F64;
}

sx_status sxi_source_signal(sxi_source *source, const sxi_stack *signal) {
    sxi_source_info *info = &source->info;
    const sx_hdf5_dataset *about = &signal->about;
    char shape[80];
    bool empty = false;
    for (int d = 0; d < about->rank; d++) {
        empty = empty || about->shape[d] == 0;
    }
    if (about->rank < 1 || about->rank > 4 || empty) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s:%s has the shape %s; [T], [T, N], [T, H, W] or [T, S, H, W] with at "
                        "least one of each is needed",
                        sx_hdf5_path_of(signal->file), signal->name,
                        sxi_shape_text(about->rank, about->shape, shape, sizeof shape));
    }
    source->signal = *signal;
    info->nt = about->shape[0];
    info->rank = about->rank > 1 ? about->rank - 1 : 1;
    info->shape[0] = 1;
    for (int d = 1; d < about->rank; d++) {
        info->shape[d - 1] = about->shape[d];
    }
    info->width = info->rank > 1 ? info->shape[info->rank - 1] : 1;
    info->rows = info->rank == 3 ? info->shape[0] * info->shape[1] : info->shape[0];
    info->dtype = band_type(about->dtype);
    info->chunk_rows = chunk_rows(about);
    return SX_OK;
}

sx_status sxi_source_mask(sxi_source *source, const sxi_stack *mask, bool good_is_one) {
    const sxi_source_info *info = &source->info;
    const int64_t pixels = info->rows * info->width;
    char found[80];
    char needed[80];
    int64_t elements = 1;
    bool fits = mask->about.rank == info->rank;
    for (int d = 0; d < mask->about.rank; d++) {
        elements *= mask->about.shape[d];
        fits = fits && mask->about.shape[d] == info->shape[d];
    }
    if (!fits && !(pixels == 1 && elements == 1)) {
        return SXI_FAIL(SX_ERR_SHAPE, "the mask %s:%s has the shape %s, a frame has %s",
                        sx_hdf5_path_of(mask->file), mask->name,
                        sxi_shape_text(mask->about.rank, mask->about.shape, found, sizeof found),
                        sxi_shape_text(info->rank, info->shape, needed, sizeof needed));
    }
    if (!source->mask) {
        source->mask = calloc((size_t)pixels, 1);
    }
    if (!source->mask) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a mask of %lld pixels", (long long)pixels);
    }
    sx_array array;
    SXI_TRY(sxi_h5_read(mask->file, mask->name, NULL, &array));
    sx_array flat;
    sx_status status = sx_array_view(array.dtype, 1, &pixels, array.data, &flat);
    for (int64_t i = 0; status == SX_OK && i < pixels; i++) {
        const bool zero = sx_array_get(&flat, &i) == 0;
        source->mask[i] |= (uint8_t)(zero == good_is_one);
    }
    sx_array_destroy(&array);
    return status;
}

void sxi_names_add(sxi_names *names, const char *name) {
    const size_t used = strlen(names->text);
    snprintf(names->text + used, sizeof names->text - used, "%s%s", names->count ? ", " : "", name);
    snprintf(names->last, sizeof names->last, "%s", name);
    names->count++;
}
