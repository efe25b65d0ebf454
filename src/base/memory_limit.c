/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* The number after a word at the start of a line, or the first number of the file without a word;
 * -1 if it is not there ("max" included). */
static int64_t read_number(const char *path, const char *word) {
    FILE *file = fopen(path, "r");
    char line[256];
    int64_t number = -1;
    if (!file) {
        return -1;
    }
    while (number < 0 && fgets(line, sizeof line, file)) {
        const size_t length = strlen(word);
        if (strncmp(line, word, length) == 0) {
            char *end = NULL;
            const long long read = strtoll(line + length, &end, 10);
            number = end != line + length && read >= 0 ? (int64_t)read : -1;
        }
    }
    fclose(file);
    return number;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Lowers total and available to one group's limit. Pages of files that nobody used lately are given
 * up by the system when memory is short, so they count as free. */
static void apply_group(const char *folder, const char *limit_name, const char *usage_name,
                        int64_t *total, int64_t *available) {
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, limit_name);
    const int64_t limit = read_number(path, "");
    if (limit < 0) {
        return;
    }
    snprintf(path, sizeof path, "%s/%s", folder, usage_name);
    const int64_t usage = read_number(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    const int64_t cached = read_number(path, "inactive_file ");
    const int64_t used = (usage > 0 ? usage : 0) - (cached > 0 ? cached : 0);
    const int64_t left = limit - (used > 0 ? used : 0);
    *total = least(*total, limit);
    *available = least(*available, left > 0 ? left : 0);
}

/* The group of this process and all above it; in a container often only the root is visible. */
static void apply_groups(const char *root, int64_t *total, int64_t *available) {
    char path[PATH_BYTES], line[PATH_BYTES / 2], group[PATH_BYTES / 2] = "";
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0) {
            snprintf(group, sizeof group, "%s", line + 3);
        }
    }
    if (file) {
        fclose(file);
    }
    for (;;) {
        snprintf(path, sizeof path, "%s/sys/fs/cgroup%s", root, group);
        apply_group(path, "memory.max", "memory.current", total, available);
        char *slash = strrchr(group, '/');
        if (!slash) {
            break;
        }
        *slash = '\0';
    }
    snprintf(path, sizeof path, "%s/sys/fs/cgroup/memory", root); /* version 1 */
    apply_group(path, "memory.limit_in_bytes", "memory.usage_in_bytes", total, available);
}

void sxi_memory_limit(const char *root, int64_t *total, int64_t *available) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    const int64_t total_kb = read_number(path, "MemTotal:");
    const int64_t available_kb = read_number(path, "MemAvailable:");
    *total = total_kb > 0 ? total_kb * 1024 : 0;
    *available = available_kb > 0 ? available_kb * 1024 : 0;
    if (*total > 0) {
        apply_groups(root, total, available);
    }
}
