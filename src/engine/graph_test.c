/* SPDX-License-Identifier: Apache-2.0
 * Random graphs of operations, on several ranks, against the same ones done serially on plain arrays.
 *   graph_test [SEEDS]    4 by default */
#include <sextant/task.h>

#include <pthread.h>

#include "engine/cluster.h"
#include "engine/fake_wire.h"
#include "io/hdf5/h5file.h"
#include "sx_folder.h"
#include "sx_plain.h"

enum { OPERATIONS = 1000, POOL = 24, KINDS = 16, RANKS_MOST = 4 };

typedef struct pair {
    plain p;
    sx_darray *array;
    sx_array memory; /* that the array borrows */
} pair;

typedef struct graph {
    uint64_t seed, drawn;
    sx_cluster *cluster;
    pair pool[POOL];
    char path[256]; /* of a file of this rank alone */
    /* What is borrowed outlives its users in the pool: kept until the end. */
    sx_array kept[OPERATIONS + POOL];
    int kept_count;
} graph;

static int64_t draw(graph *g, int64_t below) {
    return (int64_t)(sxi_rng_uniform(g->seed, 1, g->drawn++) * (double)below);
}

/* Extents that meet: equal ones, and ones; more than a block of rows, edges of tiles. */
static int draw_shape(graph *g, int64_t *shape) {
    static const int64_t extents[] = {1, 3, 17, 130, 1, 3};
    const int rank = (int)draw(g, 4);
    int64_t count = 1;
    for (int d = 0; d < rank; d++) {
        shape[d] = extents[draw(g, 6)];
        if (count * shape[d] > 20000) {
            shape[d] = 1;
        }
        count *= shape[d];
    }
    return rank;
}

/* Keeps values of a hundred operations in a row near 1. */
static void squash(void *data, int64_t n, const double *x, double *y) {
    (void)data;
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] / (1 + fabs(x[i]));
    }
}

static void squash_plain(plain *p) {
    squash(NULL, plain_count(p), p->v, p->v);
    plain_round(p);
}

/* --- operations: each fills `made` --- */

static void make_memory(graph *g, pair *made) {
    int64_t shape[SX_MAX_RANK];
    const int rank = draw_shape(g, shape);
    made->p = plain_random(g->seed + g->drawn, draw(g, 2) ? SX_F32 : SX_F64, rank, shape);
    made->memory = plain_array(&made->p);
    made->array = sx_darray_from_memory(g->cluster, &made->memory);
}

static void make_file(graph *g, pair *made) {
    sxi_h5_writer *writer = NULL;
    int64_t shape[SX_MAX_RANK];
    const int rank = draw_shape(g, shape);
    made->p = plain_random(g->seed + g->drawn, draw(g, 2) ? SX_F32 : SX_F64, rank, shape);
    sx_array array = plain_array(&made->p);
    ck_ok(sxi_h5_create(g->path, true, &writer));
    ck_ok(sxi_h5_write(writer, "/x", &array, "", ""));
    ck_ok(sxi_h5_commit(&writer));
    sx_array_destroy(&array);
    /* It stays open, whatever becomes of the name. */
    made->array = sx_darray_from_hdf5(g->cluster, g->path, "/x");
}

static void pair_up(graph *g, const pair *a, const pair *b, int op, pair *made) {
    sx_darray *(*const function[])(sx_darray *, sx_darray *) = {sx_add, sx_subtract, sx_multiply,
                                                                sx_divide};
    (void)g;
    made->array = function[op](a->array, b->array);
    if (!plain_broadcast(&a->p, &b->p, &made->p)) {
        ck_fails(sx_wait(made->array), SX_ERR_SHAPE, "do not go together");
        sx_darray_destroy(&made->array);
        return;
    }
    for (int64_t i = 0; i < plain_count(&made->p); i++) {
        int64_t index[SX_MAX_RANK];
        plain_index(&made->p, i, index);
        const double x = plain_at(&a->p, made->p.rank, index);
        const double y = plain_at(&b->p, made->p.rank, index);
        made->p.v[i] = op == 0 ? x + y : op == 1 ? x - y : op == 2 ? x * y : x / y;
    }
    plain_round(&made->p);
}

static void fold(graph *g, const pair *a, int what, pair *made) {
    sx_darray *(*const function[])(sx_darray *, int) = {sx_sum, sx_mean, sx_variance, sx_min,
                                                        sx_max};
    if (a->p.rank == 0) {
        sx_darray *none = function[what](a->array, 0);
        ck_fails(sx_wait(none), SX_ERR_RANGE, "has 0 axes");
        sx_darray_destroy(&none);
        return;
    }
    const int axis = (int)draw(g, a->p.rank);
    made->array = function[what](a->array, axis);
    made->p = plain_reduce(&a->p, axis, what);
}

static void look_at(graph *g, const pair *a, pair *made) {
    int64_t start[SX_MAX_RANK] = {0}, stop[SX_MAX_RANK] = {0};
    for (int d = 0; d < a->p.rank; d++) {
        start[d] = draw(g, 4) == 0 ? draw(g, a->p.shape[d]) : 0;
        stop[d] = draw(g, 4) == 0 ? start[d] + 1 : a->p.shape[d];
    }
    made->array = sx_darray_view(a->array, start, stop);
    made->p = plain_view(&a->p, start, stop);
}

static void convert(graph *g, const pair *a, pair *made) {
    const sx_dtype dtype = draw(g, 2) ? SX_F32 : SX_F64;
    made->array = sx_convert(a->array, dtype);
    made->p = plain_copy(&a->p);
    made->p.dtype = dtype;
    plain_round(&made->p);
}

static sx_status add_one(const sx_tile *tile) {
    sx_array out = tile->array[1];
    sx_status status = sx_array_copy(&tile->array[0], &out);
    const int64_t count = sx_array_count(&out);
    for (int64_t i = 0; i < count && status == SX_OK; i++) {
        int64_t index[SX_MAX_RANK], left = i;
        for (int d = out.rank - 1; d >= 0; d--) {
            index[d] = left % out.shape[d];
            left /= out.shape[d];
        }
        sx_array_set(&out, index, sx_array_get(&out, index) + 1);
    }
    return status;
}

static void run_task(graph *g, const pair *a, pair *made) {
    static const char *const tiles[] = {"", "a=5", "a=2 b=16", "b=4 c=50 a"};
    static const char *const axes[] = {"", "a", "a b", "a b c"};
    if (a->p.rank == 0) {
        return;
    }
    made->p = plain_copy(&a->p);
    for (int64_t i = 0; i < plain_count(&made->p); i++) {
        made->p.v[i] += 1;
    }
    plain_round(&made->p);
    made->array = sx_darray_create(g->cluster, a->p.dtype, a->p.rank, a->p.shape);
    ck_ok(sx_task_run(&(sx_task){
        .name = "add one",
        .tiles = tiles[a->p.rank],
        .cpu = add_one,
        .use = {{a->array, axes[a->p.rank], SX_READ}, {made->array, axes[a->p.rank], SX_WRITE}}}));
}

static void operate(graph *g, pair *made) {
    const pair *a = &g->pool[draw(g, POOL)], *b = &g->pool[draw(g, POOL)];
    const int kind = (int)draw(g, KINDS);
    *made = (pair){.array = NULL};
    if (kind < 4) {
        pair_up(g, a, b, kind, made);
    } else if (kind < 9) {
        fold(g, a, kind - 4, made);
    } else if (kind == 9) {
        look_at(g, a, made);
    } else if (kind == 10) {
        convert(g, a, made);
    } else if (kind == 11) {
        run_task(g, a, made);
    } else if (kind == 12) {
        make_memory(g, made);
    } else if (kind == 13) {
        make_file(g, made);
    } else if (kind == 14) {
        ck_ok(sx_wait(a->array));
    } else {
        made->array = sx_map(a->array, squash, NULL);
        made->p = plain_copy(&a->p);
        squash_plain(&made->p);
    }
}

static void put(graph *g, int at, pair *made) {
    pair *old = &g->pool[at];
    sx_darray_destroy(&old->array);
    plain_free(&old->p);
    *old = *made;
    if (made->memory.owned) {
        g->kept[g->kept_count++] = made->memory;
    }
}

static void run(graph *g) {
    for (int i = 0; i < POOL; i++) {
        pair made = {.array = NULL};
        make_memory(g, &made);
        put(g, i, &made);
    }
    for (int i = 0; i < OPERATIONS; i++) {
        pair made;
        operate(g, &made);
        if (made.array) {
            put(g, (int)draw(g, POOL), &made);
        }
    }
    for (int i = 0; i < POOL; i++) {
        plain_gathered(&g->pool[i].p, g->pool[i].array);
        sx_darray_destroy(&g->pool[i].array);
        plain_free(&g->pool[i].p);
    }
    for (int i = 0; i < g->kept_count; i++) {
        sx_array_destroy(&g->kept[i]);
    }
}

/* --- ranks --- */

typedef struct rank {
    fake_net *net;
    int number;
    sx_context context;
    graph graph;
    pthread_t thread;
} rank;

static void *live(void *data) {
    static const sxi_cluster_options patient = {.lost_s = 1000};
    rank *r = data;
    const sxi_wire wire = fake_net_wire(r->net, r->number);
    ck_ok(sxi_cluster_open(&r->context, &patient, &wire, &r->graph.cluster));
    run(&r->graph);
    sx_cluster_close(&r->graph.cluster);
    return NULL;
}

static void live_together(uint64_t seed, int size, int threads) {
    fake_net *net = fake_net_create(size);
    rank *ranks = calloc((size_t)size, sizeof *ranks);
    for (int i = 0; i < size; i++) {
        ranks[i] = (rank){.net = net, .number = i, .context.threads = threads};
        ranks[i].graph.seed = seed;
        snprintf(ranks[i].graph.path, sizeof ranks[i].graph.path, "%s-%d", sx_folder("graph.h5"),
                 i);
        ck_assert_int_eq(pthread_create(&ranks[i].thread, NULL, live, &ranks[i]), 0);
    }
    for (int i = 0; i < size; i++) {
        pthread_join(ranks[i].thread, NULL);
    }
    fake_net_destroy(&net);
    free(ranks);
}

static int seeds = 4;

START_TEST(graphs_give_the_bits_of_a_serial_run) {
    for (int seed = 0; seed < seeds; seed++) {
        const int ranks = 1 + seed % RANKS_MOST, threads = 1 + seed / RANKS_MOST % 3;
        printf("seed %d, %d ranks, %d threads\n", seed, ranks, threads);
        fflush(stdout);
        live_together((uint64_t)seed, ranks, threads);
    }
}
END_TEST

SX_TEST_RUNNER("graph", run_tests, graphs_give_the_bits_of_a_serial_run)

int main(int argc, char **argv) {
    seeds = argc > 1 ? atoi(argv[1]) : seeds;
    return run_tests();
}
