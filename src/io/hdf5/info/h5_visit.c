/* SPDX-License-Identifier: Apache-2.0
 * Objects are opened by their address. By their path, as H5Ovisit offers them, each costs a look-up a
 * level: groups nested 3000 deep took two minutes. */
#include "io/hdf5/info/h5_visit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An object to be looked at. */
typedef struct item {
    char *name; /* of its path, malloc'd */
    haddr_t address;
} item;

typedef struct visit {
    const sxi_h5_visitor *visitor;
    item *stack;
    size_t count, room;
    haddr_t *seen;       /* open addressing; HADDR_UNDEF: free */
    size_t known, slots; /* slots: a power of two */
    const char *parent;
    bool stopped, starved;
} visit;

static size_t slot_of(const haddr_t *seen, size_t slots, haddr_t address) {
    /* Fibonacci hashing; addresses are multiples of 8 */
    size_t i = (size_t)((address * 0x9e3779b97f4a7c15U) >> 20) & (slots - 1);
    while (seen[i] != HADDR_UNDEF && seen[i] != address) {
        i = (i + 1) & (slots - 1);
    }
    return i;
}

static bool grow_seen(visit *v) {
    const size_t slots = v->slots ? 2 * v->slots : 256;
    haddr_t *seen = malloc(slots * sizeof *seen);
    if (!seen) {
        return false;
    }
    for (size_t i = 0; i < slots; i++) {
        seen[i] = HADDR_UNDEF;
    }
    for (size_t i = 0; i < v->slots; i++) {
        if (v->seen[i] != HADDR_UNDEF) {
            seen[slot_of(seen, slots, v->seen[i])] = v->seen[i];
        }
    }
    free(v->seen);
    v->seen = seen;
    v->slots = slots;
    return true;
}

/* Whether an address is met for the first time. */
static bool is_new(visit *v, haddr_t address) {
    if (2 * v->known >= v->slots && !grow_seen(v)) {
        v->starved = true;
        return false;
    }
    const size_t i = slot_of(v->seen, v->slots, address);
    const bool first = v->seen[i] == HADDR_UNDEF;
    v->known += first;
    v->seen[i] = address;
    return first;
}

/* Puts parent/name on the stack. */
static bool push(visit *v, const char *name, haddr_t address) {
    if (v->count == v->room) {
        const size_t room = v->room ? 2 * v->room : 64;
        item *stack = realloc(v->stack, room * sizeof *stack);
        if (!stack) {
            return false;
        }
        v->stack = stack;
        v->room = room;
    }
    const size_t size = strlen(v->parent) + strlen(name) + 2;
    char *full = malloc(size);
    if (!full) {
        return false;
    }
    snprintf(full, size, "%s/%s", v->parent, name);
    v->stack[v->count].name = full;
    v->stack[v->count++].address = address;
    return true;
}

static herr_t look_at_link(hid_t group, const char *name, const H5L_info_t *info, void *data) {
    visit *v = data;
    if (info->type == H5L_TYPE_HARD) {
        v->starved = !push(v, name, info->u.address);
        return v->starved;
    }
    v->stopped = !v->visitor->link(v->visitor->data, group, v->parent, name, info);
    return v->stopped;
}

/* The members of a group, in name order on top of the stack. */
static sx_status look_into(visit *v, sx_hdf5 *file, hid_t group, const char *name) {
    const size_t first = v->count;
    v->parent = strcmp(name, "/") == 0 ? "" : name;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at_link, v) < 0) {
        char reason[SXI_H5_REASON];
        return SXI_FAIL(SX_ERR_FORMAT, "%s: the members of %.200s cannot be listed: %s", file->path,
                        name, sxi_h5_reason(reason, sizeof reason));
    }
    for (size_t i = first, j = v->count; i + 1 < j; i++) {
        const item last = v->stack[--j];
        v->stack[j] = v->stack[i];
        v->stack[i] = last;
    }
    return SX_OK;
}

static sx_status look_at(visit *v, sx_hdf5 *file, const item *at) {
    sx_status status = SX_OK;
    hid_t id = H5Oopen_by_addr(file->id, at->address);
    v->stopped = !v->visitor->object(v->visitor->data, at->name, id);
    if (!v->stopped && id >= 0 && H5Iget_type(id) == H5I_GROUP) {
        status = look_into(v, file, id, at->name);
    }
    if (id >= 0) {
        H5Oclose(id);
    }
    return status;
}

sx_status sxi_h5_visit(sx_hdf5 *file, const sxi_h5_visitor *visitor) {
    sx_status status = SX_OK;
    visit v = {.visitor = visitor, .parent = ""};
    H5O_info_t root;
    if (H5Oget_info2(file->id, &root, H5O_INFO_BASIC) < 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s has no root group", file->path);
    }
    v.starved = !push(&v, "", root.addr);
    while (status == SX_OK && v.count > 0 && !v.stopped && !v.starved) {
        const item at = v.stack[--v.count];
        if (is_new(&v, at.address)) {
            status = look_at(&v, file, &at);
        }
        free(at.name);
    }
    if (v.starved) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to list it", file->path);
    }
    while (v.count > 0) {
        free(v.stack[--v.count].name);
    }
    free(v.stack);
    free(v.seen);
    return status;
}
