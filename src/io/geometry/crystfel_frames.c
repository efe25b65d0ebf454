/* SPDX-License-Identifier: Apache-2.0
 * Frames of a data file with a dataset for each: what stands for the % of its path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/geometry/nexus.h"

typedef struct search {
    sx_hdf5 *file;
    const sx_geometry *geometry;
    sx_geometry_frame_fn fn;
    void *fn_data;
    int64_t found;
    bool stopped;
} search;

/* "run1/shot7//3": the frames of one dataset, of one axis at most. */
static sx_status report(search *s, const char *path, const char *name) {
    char text[2 * SXI_GEOMETRY_PATH];
    sx_hdf5_dataset dataset;
    int64_t count = 1;
    if (!sxi_h5_exists(s->file, path) || sxi_h5_is_group(s->file, path)) {
        return SX_OK;
    }
    if (s->geometry->frame_axes > 0) {
        SXI_TRY(sx_hdf5_describe(s->file, path, &dataset));
        if (s->geometry->frame_axes > 1 || dataset.rank < 1) {
            return SXI_FAIL(SX_ERR_UNSUPPORTED, "%s:%s: frames of %d axes are not counted",
                            sx_hdf5_path_of(s->file), path, s->geometry->frame_axes);
        }
        count = dataset.shape[0];
    }
    for (int64_t i = 0; i < count && !s->stopped; i++) {
        const int n = snprintf(text, sizeof text, "%s//", name);
        if (s->geometry->frame_axes > 0) {
            snprintf(text + n, sizeof text - (size_t)n, "%lld", (long long)i);
        }
        s->found++;
        s->stopped = s->fn && !s->fn(s->fn_data, text);
    }
    return SX_OK;
}

/* Puts each member of the group before the first % in its place. path has room for
 * SXI_GEOMETRY_PATH. */
static sx_status expand(search *s, const char *path, const char *name) {
    const char *mark = strchr(path, '%');
    if (!mark) {
        return report(s, path, name);
    }
    char group[SXI_GEOMETRY_PATH];
    snprintf(group, sizeof group, "%.*s", (int)(mark - path), path);
    for (size_t n = strlen(group); n > 1 && group[n - 1] == '/'; n--) {
        group[n - 1] = '\0';
    }
    if (mark == path || mark[-1] != '/' || (mark[1] != '/' && mark[1] != '\0')) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "%s: in '%s' a %% does not stand for a whole name",
                        sx_hdf5_path_of(s->file), s->geometry->data);
    }
    if (!sxi_h5_is_group(s->file, group)) {
        return SX_OK;
    }
    char *list;
    size_t length;
    SXI_TRY(sxi_member_names(s->file, group, &list, &length));
    sx_status status = SX_OK;
    for (const char *member = list; member < list + length && status == SX_OK && !s->stopped;
         member += strlen(member) + 1) {
        char next[SXI_GEOMETRY_PATH], so_far[SXI_GEOMETRY_PATH];
        const int a =
            snprintf(next, sizeof next, "%.*s%s%s", (int)(mark - path), path, member, mark + 1);
        const int b = snprintf(so_far, sizeof so_far, "%s%s%s", name, *name ? "/" : "", member);
        if (a < (int)sizeof next && b < (int)sizeof so_far) {
            status = expand(s, next, so_far);
        }
    }
    free(list);
    return status;
}

sx_status sx_geometry_frames(const sx_geometry *geometry, const char *data, sx_geometry_frame_fn fn,
                             void *fn_data) {
    search s = {.geometry = geometry, .fn = fn, .fn_data = fn_data};
    if (geometry->facts.kind != SX_GEOMETRY_CRYSTFEL) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "a %s geometry does not say where frames are",
                        sx_geometry_kind_name(geometry->facts.kind));
    }
    SXI_TRY(sx_hdf5_open(data, &s.file));
    sx_status status = expand(&s, geometry->data, "");
    sx_hdf5_close(&s.file);
    if (status == SX_OK && s.found == 0) {
        status = SXI_FAIL(SX_ERR_MISSING, "%s holds no frame under %s", data, geometry->data);
    }
    return status;
}
