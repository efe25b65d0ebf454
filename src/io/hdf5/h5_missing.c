/* SPDX-License-Identifier: Apache-2.0
 * Sentences for a dataset that is not there or holds no numbers: what there is instead. */
#include "io/hdf5/h5_locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256, LISTED = 8, LIST_BYTES = 1024 };

/* Letters to change, add or drop to make b of a. Longer names than NAME_BYTES are not near. */
static int distance(const char *a, const char *b) {
    const size_t n = strlen(b);
    if (n >= NAME_BYTES || strlen(a) >= NAME_BYTES) {
        return NAME_BYTES;
    }
    int row[NAME_BYTES];
    for (size_t j = 0; j <= n; j++) {
        row[j] = (int)j;
    }
    for (size_t i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            const int swap = diagonal + (a[i - 1] != b[j - 1]);
            const int step = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = swap < step ? swap : step;
        }
    }
    return row[n];
}

static const char *last_part(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

typedef struct listing {
    const char *wanted;
    int count;
    int nearest_distance;
    char nearest[NAME_BYTES];
    char list[LIST_BYTES]; /* the first few */
} listing;

static herr_t list_dataset(hid_t root, const char *name, const H5O_info_t *info, void *data) {
    (void)root;
    listing *found = data;
    if (info->type != H5O_TYPE_DATASET) {
        return 0;
    }
    const size_t used = strlen(found->list);
    if (found->count < LISTED) {
        snprintf(found->list + used, sizeof found->list - used, "%s/%s", used ? ", " : "", name);
    }
    found->count++;
    /* The right name in another group is nearer than any misspelling. */
    const bool same_end = strcmp(last_part(name), last_part(found->wanted)) == 0;
    const int far = same_end ? 0 : distance(name, found->wanted);
    if (far < found->nearest_distance && strlen(name) < sizeof found->nearest) {
        found->nearest_distance = far;
        snprintf(found->nearest, sizeof found->nearest, "%s", name);
    }
    return 0;
}

/* If a link on the way to name leads nowhere, says so in text. */
static bool dangling(hid_t file, const char *name, char *text, size_t size) {
    char part[NAME_BYTES];
    for (size_t n = 1; n <= strlen(name) && n < sizeof part; n++) {
        if (name[n] != '/' && name[n] != '\0') {
            continue;
        }
        snprintf(part, sizeof part, "%.*s", (int)n, name);
        if (H5Lexists(file, part, H5P_DEFAULT) <= 0) {
            return false;
        }
        H5L_info_t link;
        char target[1024] = "";
        const char *other = NULL;
        const char *object = NULL;
        if (H5Oexists_by_name(file, part, H5P_DEFAULT) > 0 ||
            H5Lget_info(file, part, &link, H5P_DEFAULT) < 0 || link.type == H5L_TYPE_HARD ||
            link.u.val_size >= sizeof target ||
            H5Lget_val(file, part, target, sizeof target, H5P_DEFAULT) < 0) {
            continue;
        }
        if (link.type == H5L_TYPE_EXTERNAL &&
            H5Lunpack_elink_val(target, link.u.val_size, NULL, &other, &object) >= 0) {
            snprintf(text, size, "%s is a link to %s in the file %s, which is not there", part,
                     object, other);
        } else {
            snprintf(text, size, "%s is a link to %s, which is not there", part, target);
        }
        return true;
    }
    return false;
}

sx_status sxi_h5_missing(sx_hdf5 *file, const char *name) {
    char words[1400];
    if (dangling(file->id, name, words, sizeof words)) {
        return SXI_FAIL(SX_ERR_MISSING, "%s: %s", file->path, words);
    }
    const bool exists = H5Oexists_by_name(file->id, name, H5P_DEFAULT) > 0;
    const char *wanted = name[0] == '/' ? name + 1 : name;
    listing found = {.wanted = wanted, .nearest_distance = NAME_BYTES};
    H5Ovisit2(file->id, H5_INDEX_NAME, H5_ITER_INC, list_dataset, &found, H5O_INFO_BASIC);
    snprintf(words, sizeof words,
             exists ? "%s:%s is a group, not a dataset" : "%s has no dataset %s", file->path, name);
    const int near = (int)strlen(wanted) / 3;
    if (!exists && found.nearest_distance <= (near > 2 ? near : 2) && found.nearest[0]) {
        return SXI_FAIL(SX_ERR_MISSING, "%s; nearest is /%s", words, found.nearest);
    }
    if (found.count == 0) {
        return SXI_FAIL(SX_ERR_MISSING, "%s; the file holds no dataset at all", words);
    }
    return SXI_FAIL(SX_ERR_MISSING, "%s; the file holds %s%s (%d in all)", words, found.list,
                    found.count > LISTED ? ", ..." : "", found.count);
}

/* "records (compound) of x, y, ..." */
static void say_compound(hid_t type, char *text, size_t size) {
    const int count = H5Tget_nmembers(type);
    snprintf(text, size, "records (compound) of ");
    for (int i = 0; i < count && i < LISTED; i++) {
        char *field = H5Tget_member_name(type, (unsigned)i);
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? ", " : "", field ? field : "?");
        H5free_memory(field);
    }
    if (count > LISTED) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, ", ...");
    }
}

sx_status sxi_h5_not_numbers(const char *path, const char *name, hid_t dataset) {
    char words[600];
    hid_t type = H5Dget_type(dataset);
    const unsigned long size = (unsigned long)H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_STRING:
        snprintf(words, sizeof words, "text");
        break;
    case H5T_COMPOUND:
        say_compound(type, words, sizeof words);
        break;
    case H5T_REFERENCE:
        snprintf(words, sizeof words, "references to other objects");
        break;
    case H5T_VLEN:
        snprintf(words, sizeof words, "lists of varying length");
        break;
    case H5T_ARRAY:
        snprintf(words, sizeof words, "an array in every element");
        break;
    case H5T_OPAQUE:
        snprintf(words, sizeof words, "opaque bytes");
        break;
    default:
        snprintf(words, sizeof words, "numbers of %lu bytes", size);
        break;
    }
    H5Tclose(type);
    return SXI_FAIL(SX_ERR_TYPE,
                    "%s:%s holds %s; a dataset of integers or floats of at most 8 bytes is needed",
                    path, name, words);
}
