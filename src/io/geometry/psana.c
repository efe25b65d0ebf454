/* SPDX-License-Identifier: Apache-2.0
 * Geometry .data of psana (LCLS): a tree of objects, each placed in its parent. Theory:
 * docs/theory/geometry.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/geometry/geometry.h"
#include "io/geometry/psana_segment.h"
#include "io/geometry/text.h"

enum { MOST_NODES = 1 << 12, MOST_DEPTH = 32 };

/* One line. place: x, y, z in um, then rotation about z, y, x, then tilt likewise, in degrees. */
typedef struct node {
    char parent[SXI_PANEL_NAME], name[SXI_PANEL_NAME];
    double parent_index, index;
    double place[9];
    long line;
} node;

typedef struct tree {
    const char *path;
    int count;
    node *node;
    int segments;
    int depth; /* of the segments below the root */
    const char *segment_name;
} tree;

/* --- reading --- */

static sx_status read_node(sxi_line *line, char *text, node *n) {
    static const char *const words[] = {"X0",    "Y0",     "Z0",     "ROT-Z", "ROT-Y",
                                        "ROT-X", "TILT-Z", "TILT-Y", "TILT-X"};
    char *at = text, *field[14] = {NULL};
    int count = 0;
    while (count < 14 && (field[count] = sxi_field_next(&at)) != NULL) {
        count++;
    }
    if (count != 13) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s line %ld has %d fields instead of 13: parent, index, object, index, "
                        "and nine numbers",
                        line->path, line->number, count);
    }
    if (strlen(field[0]) >= sizeof n->parent || strlen(field[2]) >= sizeof n->name) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: a name is longer than %zu letters", line->path,
                        line->number, sizeof n->name - 1);
    }
    memcpy(n->parent, field[0], strlen(field[0]) + 1);
    memcpy(n->name, field[2], strlen(field[2]) + 1);
    n->line = line->number;
    SXI_TRY(sxi_line_real(line, "the index of the parent", field[1], &n->parent_index));
    SXI_TRY(sxi_line_real(line, "the index of the object", field[3], &n->index));
    for (int i = 0; i < 9; i++) {
        SXI_TRY(sxi_line_real(line, words[i], field[4 + i], &n->place[i]));
    }
    return SX_OK;
}

static sx_status read_tree(char *text, tree *t) {
    sxi_line line = {.path = t->path, .next = text};
    for (char *here; (here = sxi_line_next(&line)) != NULL;) {
        if (*here == '#' || *here == '\0') {
            continue;
        }
        if (t->count == MOST_NODES) {
            return SXI_FAIL(SX_ERR_RANGE, "%s has more than %d objects", t->path, MOST_NODES);
        }
        if ((t->count & (t->count - 1)) == 0) { /* doubled at each power of two */
            const size_t room = t->count ? 2 * (size_t)t->count : 1;
            node *grown = realloc(t->node, room * sizeof *grown);
            if (!grown) {
                return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %zu objects", t->path, room);
            }
            t->node = grown;
        }
        t->node[t->count] = (node){0};
        SXI_TRY(read_node(&line, here, &t->node[t->count]));
        t->count++;
    }
    return SX_OK;
}

/* --- the tree --- */

static bool is_child(const node *child, const node *of) {
    return strcmp(child->parent, of->name) == 0 && child->parent_index == of->index;
}

static int parent_of(const tree *t, int i) {
    for (int k = 0; k < t->count; k++) {
        if (is_child(&t->node[i], &t->node[k])) {
            return k;
        }
    }
    return -1;
}

/* cos and sin of degrees; right angles are exact, so that a detector at 90 degrees keeps its zeros. */
static void turn(double degrees, double *c, double *s) {
    static const double cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
    const double quarter = fmod(degrees, 360) / 90;
    if (quarter == floor(quarter)) {
        const int k = ((int)quarter + 4) % 4;
        *c = cosine[k];
        *s = sine[k];
    } else {
        *c = cos(degrees * 0.017453292519943295);
        *s = sin(degrees * 0.017453292519943295);
    }
}

static void rotate(double degrees, double *a, double *b) {
    double c, s;
    turn(degrees, &c, &s);
    const double was = *a;
    *a = was * c - *b * s;
    *b = *b * c + was * s;
}

/* From the frame of an object to that of its parent: about z, y, x, then by its place. */
static void lift(const node *n, bool is_place, double *v) {
    rotate(n->place[3] + n->place[6], &v[0], &v[1]);
    rotate(n->place[4] + n->place[7], &v[2], &v[0]);
    rotate(n->place[5] + n->place[8], &v[1], &v[2]);
    for (int d = 0; d < 3 && is_place; d++) {
        v[d] += n->place[d];
    }
}

/* All the way up to the interaction point. */
static void lift_all(const tree *t, int i, bool is_place, double *v) {
    for (; i >= 0; i = parent_of(t, i)) {
        lift(&t->node[i], is_place, v);
    }
    for (int d = 0; d < 3; d++) {
        v[d] *= 1e-6;
    }
}

static sx_status add_segment(const tree *t, sx_geometry *g, int i, const sxi_segment *s) {
    sxi_panel *p = sxi_geometry_panel(g);
    if (!p) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %d panels", t->path, g->panels);
    }
    snprintf(p->name, sizeof p->name, "segment %d", g->panels - 1);
    p->row = (g->panels - 1) * s->rows;
    p->rows = s->rows;
    p->columns = s->columns;
    p->stepped = true;
    p->fast[s->x_along_rows ? 1 : 0] = 1;
    p->slow[s->x_along_rows ? 0 : 1] = 1;
    lift_all(t, i, true, p->origin);
    lift_all(t, i, false, p->fast);
    lift_all(t, i, false, p->slow);
    return SX_OK;
}

/* The segments below node i, depth first, children in the order of the file as psana takes them.
 * g NULL: counts them and checks that they are alike. */
static sx_status walk(tree *t, int i, int depth, sx_geometry *g, const sxi_segment *s) {
    const node *n = &t->node[i];
    if (depth > MOST_DEPTH) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: '%s' %g lies in itself, or too deep", t->path,
                        n->line, n->name, n->index);
    }
    bool leaf = true;
    for (int k = 0; k < t->count && !sxi_segment_known(n->name); k++) {
        if (is_child(&t->node[k], n)) {
            leaf = false;
            SXI_TRY(walk(t, k, depth + 1, g, s));
        }
    }
    if (!leaf) {
        return SX_OK;
    }
    if (g) {
        return add_segment(t, g, i, s);
    }
    if (t->segment_name && strcmp(t->segment_name, n->name) != 0) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s has segments '%s' and '%s', which do not stack to one array", t->path,
                        t->segment_name, n->name);
    }
    t->segment_name = n->name;
    t->segments++;
    t->depth = depth;
    return SX_OK;
}

/* The one object that lies in none of the others. */
static sx_status find_root(const tree *t, int *root) {
    *root = -1;
    for (int i = 0; i < t->count; i++) {
        for (int k = 0; k < i; k++) {
            if (strcmp(t->node[i].name, t->node[k].name) == 0 &&
                t->node[i].index == t->node[k].index) {
                return SXI_FAIL(SX_ERR_FORMAT, "%s lines %ld and %ld both place '%s' %g", t->path,
                                t->node[k].line, t->node[i].line, t->node[i].name,
                                t->node[i].index);
            }
        }
        if (parent_of(t, i) < 0) {
            if (*root >= 0) {
                return SXI_FAIL(SX_ERR_FORMAT,
                                "%s line %ld: the parent '%s' %g is not placed anywhere, nor is "
                                "that of line %ld: one object only stands at the interaction point",
                                t->path, t->node[i].line, t->node[i].parent,
                                t->node[i].parent_index, t->node[*root].line);
            }
            *root = i;
        }
    }
    return *root >= 0 ? SX_OK : SXI_FAIL(SX_ERR_FORMAT, "%s: each object lies in another", t->path);
}

static sx_status build(tree *t, sx_geometry *g, sxi_segment *s) {
    int root;
    SXI_TRY(find_root(t, &root));
    SXI_TRY(walk(t, root, 0, NULL, NULL));
    SXI_TRY(sxi_segment_create(t->path, t->segment_name, s));
    /* A sensor that stands alone has frames of two axes; in a camera it is one of its segments. */
    const bool alone = t->depth == 0;
    const int64_t shape[] = {t->segments, s->rows, s->columns};
    SXI_TRY(sxi_geometry_shape(g, alone ? 2 : 3, alone ? shape + 1 : shape));
    SXI_TRY(walk(t, root, 0, g, s));
    snprintf(g->facts.detector, sizeof g->facts.detector, "%s", t->node[root].name);
    snprintf(g->facts.segment, sizeof g->facts.segment, "%s: %s", t->segment_name, s->steps);
    g->fast_steps = s->column;
    g->slow_steps = s->row;
    s->row = s->column = NULL;
    return sxi_geometry_finish(g);
}

sx_status sxi_geometry_psana(sx_geometry *geometry, char *text) {
    sx_status status = SX_OK;
    tree t = {.path = geometry->path};
    sxi_segment s = {0};
    SXI_GO(read_tree(text, &t));
    SXI_GO(build(&t, geometry, &s));
out:
    sxi_segment_destroy(&s);
    free(t.node);
    return status;
}
