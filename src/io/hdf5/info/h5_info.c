/* SPDX-License-Identifier: Apache-2.0
 * Every object of a file, for people. */
#include <sextant/info.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "io/hdf5/h5_locked.h"
#include "io/hdf5/info/h5_advice.h"
#include "io/hdf5/info/h5_visit.h"

enum { TYPE = 64, STORAGE = 512, SENTENCE = 1024, VALUE = 4096, VALUES = 16, ADVICE = 16384 };

typedef struct walk {
    sx_hdf5 *file;
    sx_info_fn fn;
    void *data;
    const char *owner; /* whose attributes are looked at */
} walk;

/* Texts of the object at hand. */
typedef struct words {
    char type[TYPE], unit[32], sentence[SENTENCE], storage[STORAGE], value[VALUE], advice[ADVICE];
    sx_hdf5_dataset about;
} words;

/* "/fit@t0_ps", malloc'd. */
static char *join(const char *owner, char mark, const char *name) {
    const size_t size = strlen(owner) + strlen(name) + 2;
    char *full = malloc(size);
    if (full) {
        snprintf(full, size, "%s%c%s", owner, mark, name);
    }
    return full;
}

static void say_type(hid_t type, char *text, size_t size) {
    const int bits = 8 * (int)H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        snprintf(text, size, "%sint%d", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
        break;
    case H5T_FLOAT:
        snprintf(text, size, "float%d", bits);
        break;
    case H5T_STRING:
        snprintf(text, size, "text");
        break;
    case H5T_ENUM:
        snprintf(text, size, "enum of %d words", H5Tget_nmembers(type));
        break;
    case H5T_COMPOUND:
        snprintf(text, size, "record of %d fields", H5Tget_nmembers(type));
        break;
    case H5T_REFERENCE:
        snprintf(text, size, "reference");
        break;
    case H5T_VLEN:
        snprintf(text, size, "lists");
        break;
    case H5T_ARRAY:
        snprintf(text, size, "arrays");
        break;
    default:
        snprintf(text, size, "%d opaque bits", bits);
        break;
    }
}

static void say_filters(hid_t created, char *text, size_t size) {
    const int count = H5Pget_nfilters(created);
    for (int i = 0; i < count; i++) {
        unsigned flags = 0, configuration = 0, values[8];
        size_t n = sizeof values / sizeof *values;
        char name[64] = "";
        const H5Z_filter_t id = H5Pget_filter2(created, (unsigned)i, &flags, &n, values,
                                               sizeof name, name, &configuration);
        const size_t used = strlen(text);
        if (*name) {
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        } else {
            snprintf(text + used, size - used, "%sfilter %d", used ? ", " : "", (int)id);
        }
    }
}

static void say_storage(hid_t dataset, sx_info_object *object, char *text, size_t size) {
    hid_t created = H5Dget_create_plist(dataset);
    hsize_t chunk[SX_INFO_MAX_RANK] = {0};
    size_t sources = 0;
    switch (H5Pget_layout(created)) {
    case H5D_VIRTUAL:
        H5Pget_virtual_count(created, &sources);
        snprintf(text, size, "virtual, %zu source%s", sources, sources == 1 ? "" : "s");
        break;
    case H5D_CHUNKED:
        object->chunked = H5Pget_chunk(created, SX_INFO_MAX_RANK, chunk) == object->rank;
        for (int d = 0; d < object->rank; d++) {
            object->chunk[d] = (int64_t)chunk[d];
        }
        say_filters(created, text, size);
        break;
    default:
        if (H5Pget_external_count(created) > 0) {
            snprintf(text, size, "in another file");
        }
        break;
    }
    H5Pclose(created);
}

/* The first count texts of an attribute or dataset, with newlines between them. */
static void read_texts(hid_t object, bool is_attribute, int64_t count, char *text, size_t size) {
    for (int64_t i = 0; i < count; i++) {
        const size_t used = strlen(text);
        if (used + 2 < size) {
            snprintf(text + used, size - used, "%s", i ? "\n" : "");
            const size_t at = strlen(text);
            sxi_h5_text_get(object, is_attribute, i, text + at, size - at);
        }
    }
}

static void read_attribute(hid_t object, const char *name, char *text, size_t size) {
    if (*text == '\0' && H5Aexists(object, name) > 0) {
        hid_t id = H5Aopen(object, name, H5P_DEFAULT);
        if (id >= 0) {
            sxi_h5_text_get(id, true, 0, text, size);
            H5Aclose(id);
        }
    }
}

/* A single number, or the first texts. */
static void read_value(hid_t dataset, const sx_info_object *object, hid_t type, char *text,
                       size_t size) {
    int64_t count = 1;
    for (int d = 0; d < object->rank; d++) {
        count *= object->shape[d];
    }
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_STRING && object->rank <= 1 && count <= VALUES) {
        read_texts(dataset, false, count, text, size);
    } else if ((class == H5T_INTEGER || class == H5T_FLOAT) && count == 1) {
        double value = 0;
        if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0) {
            snprintf(text, size, "%.15g", value);
        }
    }
}

/* Layout, chunks and the way it would be read. Not of what sextant refuses to read. */
static void describe(const walk *w, hid_t dataset, hid_t space, sx_info_object *object,
                     words *texts) {
    const sx_hdf5_dataset *about = &texts->about;
    hsize_t stored = 0;
    if (sxi_h5_describe_open(w->file, object->name, dataset, &texts->about) != SX_OK) {
        return;
    }
    object->described = true;
    object->layout = about->layout;
    object->path = about->path;
    object->bytes = about->element_bytes;
    object->stored_bytes = (int64_t)H5Dget_storage_size(dataset);
    for (int d = 0; d < about->rank; d++) {
        if (__builtin_mul_overflow(object->bytes, about->shape[d], &object->bytes)) {
            object->bytes = INT64_MAX;
        }
    }
    if (about->layout != SX_HDF5_CHUNKED || !object->chunked) {
        return;
    }
    object->chunks = 1;
    for (int d = 0; d < about->rank; d++) {
        const int64_t along =
            about->shape[d] / about->chunk[d] + (about->shape[d] % about->chunk[d] > 0);
        if (__builtin_mul_overflow(object->chunks, along, &object->chunks)) {
            object->chunks = INT64_MAX;
        }
    }
    /* Not H5Dget_chunk_info, which walks the whole index for each. */
    if (H5Dget_num_chunks(dataset, space, &stored) >= 0) {
        object->chunks_stored = (int64_t)stored;
    }
    sxi_h5_advice(w->file->path, object->name, about, texts->advice, sizeof texts->advice);
}

static void look_at_dataset(const walk *walker, hid_t dataset, sx_info_object *object, words *w) {
    hid_t type = H5Dget_type(dataset);
    hid_t space = H5Dget_space(dataset);
    hsize_t shape[SX_INFO_MAX_RANK] = {0};
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    object->rank = rank > 0 ? rank : 0;
    for (int d = 0; d < object->rank; d++) {
        object->shape[d] = (int64_t)shape[d];
    }
    say_type(type, w->type, sizeof w->type);
    say_storage(dataset, object, w->storage, sizeof w->storage);
    if (H5Sget_simple_extent_type(space) != H5S_NULL) {
        read_value(dataset, object, type, w->value, sizeof w->value);
        describe(walker, dataset, space, object, w);
    }
    H5Sclose(space);
    H5Tclose(type);
}

/* --- attributes --- */

/* Told as unit and sentence, or written by the HDF5 library about dimension scales. */
static bool is_told(const char *name) {
    static const char *const known[] = {"units", "unit",           "long_name",     "CLASS",
                                        "NAME",  "DIMENSION_LIST", "REFERENCE_LIST"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void read_numbers(hid_t attribute, int64_t count, char *text, size_t size) {
    double values[VALUES];
    if (H5Aread(attribute, H5T_NATIVE_DOUBLE, values) < 0) {
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%.15g", i ? "\n" : "", values[i]);
    }
}

static herr_t look_at_attribute(hid_t owner, const char *name, const H5A_info_t *info, void *data) {
    const walk *w = data;
    (void)info;
    if (is_told(name)) {
        return 0;
    }
    char type_word[TYPE] = "unreadable", value[VALUE] = "";
    char *full = join(w->owner, '@', name);
    if (!full) {
        return -1;
    }
    sx_info_object object = {.kind = SX_INFO_ATTRIBUTE,
                             .name = full,
                             .type = type_word,
                             .unit = "",
                             .sentence = "",
                             .storage = "",
                             .value = value};
    hid_t id = H5Aopen(owner, name, H5P_DEFAULT);
    if (id >= 0) {
        hid_t type = H5Aget_type(id), space = H5Aget_space(id);
        hsize_t shape[SX_INFO_MAX_RANK] = {0};
        const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
        const hssize_t count = H5Sget_simple_extent_npoints(space);
        const H5T_class_t class = H5Tget_class(type);
        object.rank = rank > 0 ? rank : 0;
        for (int d = 0; d < object.rank; d++) {
            object.shape[d] = (int64_t)shape[d];
        }
        say_type(type, type_word, sizeof type_word);
        if (count > 0 && count <= VALUES && (class == H5T_INTEGER || class == H5T_FLOAT)) {
            read_numbers(id, count, value, sizeof value);
        } else if (count > 0 && count <= VALUES && class == H5T_STRING) {
            read_texts(id, true, count, value, sizeof value);
        }
        H5Sclose(space);
        H5Tclose(type);
        H5Aclose(id);
    }
    const bool more = w->fn(w->data, &object);
    free(full);
    return more ? 0 : 1;
}

/* --- objects and links --- */

/* Whether to go on. */
static bool look_at_object(void *data, const char *name, hid_t id) {
    walk *w = data;
    words texts = {0};
    const H5I_type_t kind = id >= 0 ? H5Iget_type(id) : H5I_BADID;
    sx_info_object object = {.kind = kind == H5I_GROUP ? SX_INFO_GROUP : SX_INFO_DATASET,
                             .name = name,
                             .type = texts.type,
                             .unit = texts.unit,
                             .sentence = texts.sentence,
                             .storage = texts.storage,
                             .value = texts.value,
                             .reason = texts.about.reason,
                             .filters = texts.about.filters,
                             .advice = texts.advice};
    if (kind == H5I_DATATYPE) {
        return true;
    }
    if (id < 0) {
        snprintf(texts.type, sizeof texts.type, "unreadable");
        return w->fn(w->data, &object);
    }
    if (kind == H5I_DATASET) {
        look_at_dataset(w, id, &object, &texts);
    }
    read_attribute(id, "units", texts.unit, sizeof texts.unit);
    read_attribute(id, "unit", texts.unit, sizeof texts.unit);
    read_attribute(id, "long_name", texts.sentence, sizeof texts.sentence);
    if (strcmp(name, "/") != 0 && !w->fn(w->data, &object)) {
        return false;
    }
    w->owner = name;
    return H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at_attribute, w) <= 0;
}

static bool look_at_link(void *data, hid_t group, const char *parent, const char *name,
                         const H5L_info_t *info) {
    const walk *w = data;
    char storage[STORAGE] = "", target[2048] = "";
    const char *file = NULL, *object = NULL;
    char *full = join(parent, '/', name);
    if (!full) {
        return false;
    }
    if (info->u.val_size < sizeof target &&
        H5Lget_val(group, name, target, sizeof target, H5P_DEFAULT) >= 0) {
        if (info->type == H5L_TYPE_EXTERNAL &&
            H5Lunpack_elink_val(target, info->u.val_size, NULL, &file, &object) >= 0) {
            snprintf(storage, sizeof storage, "to %.200s in %.200s", object, file);
        } else {
            snprintf(storage, sizeof storage, "to %.400s", target);
        }
    }
    const size_t used = strlen(storage);
    if (H5Oexists_by_name(group, name, H5P_DEFAULT) <= 0) {
        snprintf(storage + used, sizeof storage - used, ", which is not there");
    }
    const sx_info_object link = {.kind = SX_INFO_LINK,
                                 .name = full,
                                 .type = "link",
                                 .unit = "",
                                 .sentence = "",
                                 .storage = storage,
                                 .value = ""};
    const bool more = w->fn(w->data, &link);
    free(full);
    return more;
}

sx_status sx_info_run(const char *path, sx_info_fn fn, void *data) {
    sx_hdf5 *file = NULL;
    SXI_TRY(sx_hdf5_open(path, &file));
    walk w = {.file = file, .fn = fn, .data = data};
    const sxi_h5_visitor visitor = {look_at_object, look_at_link, &w};
    sxi_h5_enter();
    const sx_status status = sxi_h5_visit(file, &visitor);
    sxi_h5_leave();
    sx_hdf5_close(&file);
    return status;
}
