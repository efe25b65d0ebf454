/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/fit/fit_arguments.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

#define GROUP "/provenance/arguments/"

typedef enum kind { A_FILE, A_DATASET, A_WORD } kind;

typedef struct argument {
    const char *name;
    size_t offset; /* in sx_xani_input */
    kind kind;
    const char *sentence;
} argument;

/* The cube and the signal first: one of them is there. */
static const argument ARGUMENTS[SXI_ARGUMENTS] = {
    {"cube", offsetof(sx_xani_input, cube), A_FILE, "the cube that was fitted"},
    {"signal", offsetof(sx_xani_input, signal), A_DATASET, "the signal that was fitted"},
    {"off", offsetof(sx_xani_input, off), A_FILE, "the laser-off file"},
    {"delay", offsetof(sx_xani_input, delay), A_DATASET, "the delays"},
    {"sigma", offsetof(sx_xani_input, sigma), A_DATASET, "the errors of the signal"},
    {"mask", offsetof(sx_xani_input, mask), A_DATASET, "the mask"},
    {"detector", offsetof(sx_xani_input, detector), A_WORD, "the detector"},
    {"i0", offsetof(sx_xani_input, i0), A_WORD, "the intensity monitor"},
};

static const char **text_of(sx_xani_input *input, int i) {
    return (const char **)(void *)((char *)input + ARGUMENTS[i].offset);
}

/* Length of the file's name in FILE:/path, or of all of it. */
static size_t file_length(const char *text, bool dataset) {
    size_t length = strlen(text);
    if (dataset) {
        for (const char *at = strstr(text, ":/"); at; at = strstr(at + 1, ":/")) {
            length = (size_t)(at - text);
        }
    }
    return length;
}

sx_status sxi_fit_arguments_write(const sx_xani_input *input, sxi_h5_writer *writer) {
    sx_xani_input copy = *input;
    char name[64], folder[SXI_ARGUMENT_BYTES];
    for (int i = 0; i < SXI_ARGUMENTS; i++) {
        const char *text = *text_of(&copy, i);
        if (text) {
            snprintf(name, sizeof name, GROUP "%s", ARGUMENTS[i].name);
            SXI_TRY(sxi_h5_write_text(writer, name, text));
            SXI_TRY(sxi_h5_set_text(writer, name, "long_name", ARGUMENTS[i].sentence));
        }
    }
    if (copy.delay_scale != 0) {
        sx_array scale;
        SXI_TRY(sx_array_view(SX_F64, 0, NULL, &copy.delay_scale, &scale));
        SXI_TRY(sxi_h5_write(writer, GROUP "delay_scale", &scale, "ps",
                             "ps per unit of the delays as stored, negative flips them"));
    }
    if (getcwd(folder, sizeof folder)) {
        SXI_TRY(sxi_h5_write_text(writer, GROUP "folder", folder));
        SXI_TRY(sxi_h5_set_text(writer, GROUP "folder", "long_name",
                                "where relative paths of the arguments began"));
    }
    return SX_OK;
}

sx_status sxi_fit_arguments_read(sx_hdf5 *file, sxi_fit_arguments *arguments) {
    char name[64];
    *arguments = (sxi_fit_arguments){0};
    for (int i = 0; i < SXI_ARGUMENTS; i++) {
        snprintf(name, sizeof name, GROUP "%s", ARGUMENTS[i].name);
        if (sxi_h5_exists(file, name)) {
            SXI_TRY(sxi_h5_read_text(file, name, 0, arguments->text[i], sizeof arguments->text[i]));
            *text_of(&arguments->input, i) = arguments->text[i];
        }
    }
    if (sxi_h5_exists(file, GROUP "delay_scale")) {
        const sx_dtype real = SX_F64;
        sx_array scale;
        SXI_TRY(sxi_h5_read(file, GROUP "delay_scale", &real, &scale));
        arguments->input.delay_scale = *(const double *)scale.data;
        sx_array_destroy(&scale);
    }
    if (sxi_h5_exists(file, GROUP "folder")) {
        SXI_TRY(
            sxi_h5_read_text(file, GROUP "folder", 0, arguments->folder, sizeof arguments->folder));
    }
    return arguments->input.cube || arguments->input.signal
               ? SX_OK
               : SXI_FAIL(SX_ERR_MISSING,
                          "%s does not say what was fitted (it has no " GROUP "cube)",
                          sx_hdf5_path_of(file));
}

/* --- finding files again --- */

enum { PLACES = 4 };

typedef struct places {
    int count;
    char path[PLACES][SXI_ARGUMENT_BYTES];
} places;

static void add_place(places *p, const char *folder, size_t length, const char *name) {
    char *path = p->path[p->count];
    bool known = false;
    if (snprintf(path, SXI_ARGUMENT_BYTES, "%.*s%s%s", (int)length, folder, length ? "/" : "",
                 name) >= SXI_ARGUMENT_BYTES) {
        return; /* no file has such a path */
    }
    for (int i = 0; i < p->count; i++) {
        known = known || strcmp(p->path[i], path) == 0;
    }
    p->count += !known;
}

static void list_places(const char *fit, const char *folder, const char *file, places *p) {
    const char *slash = strrchr(fit, '/'), *last = strrchr(file, '/');
    size_t beside = slash ? (size_t)(slash - fit) : 0;
    p->count = 0;
    if (file[0] != '/') {
        if (folder[0]) {
            add_place(p, folder, strlen(folder), file);
        }
        add_place(p, "", 0, file);
        add_place(p, fit, beside, file);
    } else {
        add_place(p, "", 0, file);
    }
    add_place(p, fit, beside, last ? last + 1 : file);
}

static sx_status not_found(const argument *about, const char *file, bool replaceable,
                           const places *p) {
    char looked[1024] = "";
    for (int i = 0; i < p->count; i++) {
        size_t used = strlen(looked);
        snprintf(looked + used, sizeof looked - used, "%s%s",
                 i == 0              ? ""
                 : i + 1 == p->count ? " and "
                                     : ", ",
                 p->path[i]);
    }
    return SXI_FAIL(SX_ERR_MISSING, "%s is not there any more, which held %s; looked for %s: %s",
                    file, about->sentence, looked,
                    replaceable ? "give it with --cube FILE" : "put it back at such a place");
}

sx_status sxi_fit_arguments_find(const char *fit, const char *replacement,
                                 sxi_fit_arguments *arguments) {
    char file[SXI_ARGUMENT_BYTES], path[SXI_ARGUMENT_BYTES], main_file[SXI_ARGUMENT_BYTES] = "";
    for (int i = 0; i < SXI_ARGUMENTS; i++) {
        const argument *about = &ARGUMENTS[i];
        char *text = arguments->text[i];
        if (!*text_of(&arguments->input, i) || about->kind == A_WORD) {
            continue;
        }
        size_t length = file_length(text, about->kind == A_DATASET);
        snprintf(file, sizeof file, "%.*s", (int)length, text);
        snprintf(path, sizeof path, "%s", text + length);
        if (!main_file[0]) {
            snprintf(main_file, sizeof main_file, "%s", file);
        }
        bool replaceable = strcmp(file, main_file) == 0;
        const char *found = replaceable ? replacement : NULL;
        places p = {0};
        if (!found) {
            list_places(fit, arguments->folder, file, &p);
        }
        for (int k = 0; k < p.count && !found; k++) {
            found = access(p.path[k], R_OK) == 0 ? p.path[k] : NULL;
        }
        if (!found) {
            return not_found(about, file, replaceable, &p);
        }
        if (snprintf(text, SXI_ARGUMENT_BYTES, "%s%s", found, path) >= SXI_ARGUMENT_BYTES) {
            return SXI_FAIL(SX_ERR_RANGE, "%s%s: the name is too long", found, path);
        }
    }
    return SX_OK;
}
