/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>

#include <sextant/engine.h>
#include <sextant/task.h>

#include "sx_folder.h"
#include "sx_plain.h"

static sx_status nothing(const sx_tile *tile) {
    (void)tile;
    return SX_OK;
}

static void hear(void *data, sx_log_level level, const char *sentence) {
    (void)level;
    snprintf(data, 400, "%s", sentence);
}

START_TEST(a_trace_names_every_tile_once) {
    const int64_t shape[] = {100, 40};
    char sentence[400] = "";
    const char *path = sx_folder("trace.json");
    const sx_context context = {.threads = 2, .log = hear, .data = sentence};
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(&context, &cluster));
    ck_ok(sx_engine_trace(cluster, path));
    sx_darray *out = sx_darray_create(cluster, SX_F64, 2, shape);
    ck_ok(sx_task_run(&(sx_task){.name = "quote \" and \\",
                                 .tiles = "i=5 j=3",
                                 .cpu = nothing,
                                 .use = {{out, "i j", SX_WRITE}}}));
    ck_ok(sx_engine_trace_end(cluster));
    ck_ok(sx_engine_trace_end(cluster)); /* there is none any more */
    sx_darray_destroy(&out);
    sx_cluster_close(&cluster);
    ck_assert_ptr_nonnull(strstr(sentence, "on 1 rank of 2 threads, rank 0: busy "));

    json_error_t error;
    json_t *trace = json_load_file(path, 0, &error);
    ck_assert_msg(trace != NULL, "%s", error.text);
    const json_t *events = json_object_get(trace, "traceEvents");
    size_t i, names = 0;
    json_t *event;
    json_int_t tiles = 0;
    json_array_foreach(events, i, event) {
        const char *kind = json_string_value(json_object_get(event, "ph"));
        names += strcmp(kind, "M") == 0;
        if (strcmp(kind, "X") == 0) {
            ck_assert_str_eq(json_string_value(json_object_get(event, "name")),
                             "compute quote  and ");
            ck_assert(json_number_value(json_object_get(event, "ts")) >= 0);
            ck_assert(json_number_value(json_object_get(event, "dur")) >= 0);
            tiles += json_integer_value(json_object_get(json_object_get(event, "args"), "count"));
        }
    }
    ck_assert_int_eq(tiles, 20 * 14);
    ck_assert_uint_ge(names, 3);
    json_decref(trace);
}
END_TEST

START_TEST(a_place_that_cannot_be_written_is_told) {
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(NULL, &cluster));
    ck_ok(sx_engine_trace(cluster, "/no/such/folder/trace.json"));
    ck_fails(sx_engine_trace_end(cluster), SX_ERR_IO, "/no/such/folder/trace.json cannot be");
    ck_ok(sx_engine_trace(cluster, sx_folder("left.json"))); /* closed without an end */
    sx_cluster_close(&cluster);
}
END_TEST

/* An input is never replaced, nor an output that got the name of the trace meanwhile. */
START_TEST(only_a_trace_is_replaced) {
    const char *path = sx_folder("cube.h5");
    char kept[8] = "";
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(NULL, &cluster));
    ck_ok(sx_engine_trace(cluster, path));
    ck_ok(sx_engine_trace_end(cluster));
    ck_ok(sx_engine_trace(cluster, path));
    FILE *file = fopen(path, "wb");
    ck_assert(file && fputs("a cube", file) >= 0 && fclose(file) == 0);
    ck_fails(sx_engine_trace_end(cluster), SX_ERR_EXISTS, "exists and is no trace");
    sx_cluster_close(&cluster);
    file = fopen(path, "rb");
    ck_assert(file && fgets(kept, sizeof kept, file) && fclose(file) == 0);
    ck_assert_str_eq(kept, "a cube");
}
END_TEST

SX_TEST_MAIN("trace", a_trace_names_every_tile_once, a_place_that_cannot_be_written_is_told,
             only_a_trace_is_replaced)
