/* SPDX-License-Identifier: Apache-2.0
 * A folder of its own for a test program, removed when it ends. */
#ifndef SX_FOLDER_H
#define SX_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char sx_folder_root[64];

/* Removes the files in the folder; there are no folders below it but empty ones. */
static inline void sx_folder_empty(void) {
    DIR *folder = opendir(sx_folder_root);
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", sx_folder_root, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            remove(path);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

static inline void sx_folder_remove(void) {
    sx_folder_empty();
    rmdir(sx_folder_root);
}

/* Path of name in the folder; the last 8 stay valid. */
static inline const char *sx_folder(const char *name) {
    static char path[8][256];
    static int turn;
    if (!sx_folder_root[0]) {
        snprintf(sx_folder_root, sizeof sx_folder_root, "/tmp/sextant-test-XXXXXX");
        if (!mkdtemp(sx_folder_root)) {
            abort();
        }
        atexit(sx_folder_remove);
    }
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", sx_folder_root, name);
    return path[turn];
}

/* Number of entries, hidden ones too. */
static inline int sx_folder_count(void) {
    int count = -2;
    DIR *folder = opendir(sx_folder_root);
    while (folder && readdir(folder)) {
        count++;
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

/* Writes bytes to a file of the folder and returns its path. */
static inline const char *sx_folder_write(const char *name, const void *bytes, size_t count) {
    const char *path = sx_folder(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        abort();
    }
    return path;
}

/* Reads a whole file; the caller frees. */
static inline char *sx_folder_slurp(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        abort();
    }
    fseek(file, 0, SEEK_END);
    *count = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*count + 1);
    if (!bytes || fread(bytes, 1, *count, file) != *count) {
        abort();
    }
    bytes[*count] = '\0';
    fclose(file);
    return bytes;
}

#endif
