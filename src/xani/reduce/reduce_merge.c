/* SPDX-License-Identifier: Apache-2.0
 * xani merge: the sums of several cubes become one cube. */
#include <sextant/reduce.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "engine/launcher.h"
#include "xani/reduce/reducer.h"

/* Numbers of /cube that hold of the whole run, such as the photon energy. */
enum { NUMBERS = 32 };
typedef struct number {
    char name[160], unit[32], sentence[256];
    double value;
} number;
typedef struct numbers {
    sx_hdf5 *file;
    int count;
    number number[NUMBERS];
} numbers;

static bool note_number(void *data, const char *member, bool is_group) {
    numbers *n = data;
    char name[160];
    sx_hdf5_dataset about;
    const sx_dtype real = SX_F64;
    sx_array value = {0};
    snprintf(name, sizeof name, "/cube/%s", member);
    if (is_group || n->count == NUMBERS || strlen(member) >= 120 ||
        sx_hdf5_describe(n->file, name, &about) != SX_OK || !about.numeric || about.rank != 0 ||
        sxi_h5_read(n->file, name, &real, &value) != SX_OK) {
        return true;
    }
    number *one = &n->number[n->count++];
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->unit, sizeof one->unit, "%s", about.unit);
    one->value = *(const double *)value.data;
    if (sxi_h5_attribute_text(n->file, name, "long_name", one->sentence, sizeof one->sentence) !=
        SX_OK) {
        one->sentence[0] = '\0';
    }
    sx_array_destroy(&value);
    return true;
}

/* What differs at all between runs at one setting: an encoder, the spectrum. */
static bool alike(const number *a, const number *b) {
    const double difference = a->value > b->value ? a->value - b->value : b->value - a->value;
    const double size = a->value > 0 ? a->value : -a->value;
    return difference <= 0.01 + 1e-4 * size;
}

static sx_status compare(const numbers *all, const numbers *one, const char *first,
                         const char *path) {
    for (int i = 0; i < all->count; i++) {
        const number *other = NULL;
        for (int k = 0; k < one->count; k++) {
            other = strcmp(one->number[k].name, all->number[i].name) == 0 ? &one->number[k] : other;
        }
        if (!other || !alike(&all->number[i], other)) {
            return SXI_FAIL(
                SX_ERR_SHAPE,
                "%s is %g in %s and %s%.6g in %s: cubes of different settings cannot be "
                "added",
                all->number[i].name, all->number[i].value, first, other ? "" : "missing, not ",
                other ? other->value : 0, path);
        }
    }
    return SX_OK;
}

typedef struct merging {
    sx_reducer *sum;
    sx_cube_options options; /* of the first cube */
    numbers all, one;
} merging;

static sx_status read_options(sx_hdf5 *file, sx_cube_options *options) {
    char from[16];
    SXI_TRY(sxi_h5_attribute_real(file, "/cube", "i0_offset", &options->i0_offset));
    SXI_TRY(sxi_h5_attribute_text(file, "/cube", "sigma_from", from, sizeof from));
    options->sigma = strcmp(from, "bin") == 0 ? SX_REDUCE_SIGMA_BIN : SX_REDUCE_SIGMA_POOLED;
    return SX_OK;
}

static sx_status take(merging *m, const char *path, const char *first, const sx_context *context) {
    sx_status status = SX_OK;
    sx_hdf5 *file = NULL;
    sx_reducer *more = NULL;
    SXI_GO(sx_hdf5_open(path, &file));
    sxi_h5_context_set(file, context);
    SXI_GO(sxi_reducer_read(file, &more));
    numbers *into = m->sum ? &m->one : &m->all;
    *into = (numbers){.file = file};
    SXI_GO(sxi_h5_members(file, "/cube", note_number, into));
    if (!m->sum) {
        SXI_GO(read_options(file, &m->options));
        m->sum = more;
        more = NULL;
    } else {
        SXI_GO(compare(&m->all, &m->one, first, path));
        status = sx_reducer_merge(m->sum, more);
        if (status != SX_OK) {
            sxi_fail_context(status, "%s and %s", first, path);
        }
    }
out:
    sx_reducer_destroy(&more);
    sx_hdf5_close(&file);
    return status;
}

static sx_status write_sum(const merging *m, int cubes, const char *const *paths,
                           const char *output, bool overwrite, const sx_context *context) {
    sx_status status = SX_OK;
    sxi_h5_writer *writer = NULL;
    SXI_GO(sxi_h5_create(output, overwrite, &writer));
    SXI_GO(sxi_reducer_write(m->sum, &m->options, writer, context));
    for (int i = 0; i < m->all.count; i++) {
        const number *one = &m->all.number[i];
        double value = one->value;
        sx_array array;
        SXI_GO(sx_array_view(SX_F64, 0, NULL, &value, &array));
        SXI_GO(sxi_h5_write(writer, one->name, &array, one->unit, one->sentence));
    }
    SXI_GO(sxi_h5_inputs(writer, context, cubes, paths));
    SXI_GO(sxi_h5_provenance(writer, context, 0, NULL));
    SXI_GO(sxi_h5_commit(&writer));
out:
    sxi_h5_abandon(&writer);
    return status;
}

sx_status sx_xani_merge(int cubes, const char *const *paths, const char *output, bool overwrite,
                        const sx_context *context, sx_reducer_counts *counts) {
    SXI_TRY(sxi_launcher_alone("xani merge"));
    if (cubes < 1) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "there is no cube to merge");
    }
    SXI_TRY(sxi_output_check(output, overwrite, cubes, paths));
    SXI_TRY(sxi_inputs_differ(cubes, paths));
    merging *m = calloc(1, sizeof *m);
    if (!m) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to merge cubes");
    }
    sx_status status = SX_OK;
    for (int i = 0; i < cubes; i++) {
        SXI_GO(take(m, paths[i], paths[0], context));
        sx_progress(context, "cubes", i + 1, cubes);
    }
    SXI_GO(write_sum(m, cubes, paths, output, overwrite, context));
    if (counts) {
        *counts = sx_reducer_count(m->sum);
    }
out:
    sx_reducer_destroy(&m->sum);
    free(m);
    return status;
}
