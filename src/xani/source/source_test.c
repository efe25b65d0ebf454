/* SPDX-License-Identifier: Apache-2.0
 * Our cube, datasets of any kind, traces as text: values, order of delays, masks, refusals. */
#include "xani/source/source.h"

#include <math.h>
#include <string.h>

#include "sx_check.h"
#include "sx_folder.h"
#include "sx_put.h"

enum { T = 6, S = 2, H = 5, W = 3 };

static double index_of(int64_t i) { return (double)i; }
static double tenth(int64_t i) { return 0.1 * (double)i; }
static double one(int64_t i) { return i >= 0 ? 1 : 0; }
static double shots(int64_t i) { return i == 2 ? 0 : 10 + (double)i; }
static double falling(int64_t i) { return 1.0 - 0.1 * (double)i; }
static double repeated(int64_t i) { return i == 4 ? tenth(3) : tenth(i); }
static double with_nan(int64_t i) { return i == 3 ? (double)NAN : 0.1 * (double)i; }
static double second_bad(int64_t i) { return i == 1 ? 4 : 0; }
static double frame_fifth(int64_t i) { return 0.2 * (double)(i + 1); }

static sxi_h5_writer *create(const char *name) {
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(sx_folder(name), true, &writer));
    return writer;
}

/* A file with a dataset of each kind that the tests ask for. */
static const char *datasets(void) {
    static const int64_t trace[] = {T}, flat[] = {T, H}, image[] = {T, H, W};
    static const int64_t panels[] = {T, S, H, W}, turned[] = {H, W, T}, frame[] = {H, W};
    sx_folder_empty();
    sxi_h5_writer *writer = create("d.h5");
    sx_put(writer, "/t1", SX_F64, 1, trace, "", index_of);
    sx_put(writer, "/t2", SX_I32, 2, flat, "", index_of);
    sx_put(writer, "/t3", SX_U16, 3, image, "", index_of);
    sx_put(writer, "/t4", SX_F32, 4, panels, "", index_of);
    sx_put(writer, "/turned", SX_F32, 3, turned, "", index_of);
    sx_put(writer, "/ps", SX_F64, 1, trace, "ps", tenth);
    sx_put(writer, "/fs", SX_F32, 1, trace, "femtosecond", index_of);
    sx_put(writer, "/none", SX_I16, 1, trace, "", index_of);
    sx_put(writer, "/mm", SX_F64, 1, trace, "mm", index_of);
    sx_put(writer, "/falling", SX_F64, 1, trace, "ps", falling);
    sx_put(writer, "/repeated", SX_F64, 1, trace, "ps", repeated);
    sx_put(writer, "/nan", SX_F64, 1, trace, "ps", with_nan);
    sx_put(writer, "/sigma3", SX_F64, 3, image, "", frame_fifth);
    sx_put(writer, "/sigma1", SX_F64, 1, trace, "", frame_fifth);
    sx_put(writer, "/mask", SX_I32, 2, frame, "", second_bad);
    ck_ok(sxi_h5_write_text(writer, "/text", "words"));
    ck_ok(sxi_h5_commit(&writer));
    return sx_folder("d.h5");
}

/* "FILE:/name"; the last 64 stay valid. */
static const char *at(const char *path, const char *name) {
    static char text[64][300];
    static int turn;
    turn = (turn + 1) % 64;
    snprintf(text[turn], sizeof text[turn], "%s:%s", path, name);
    return text[turn];
}

/* All of a source in one band, or height rows at a time. */
typedef struct band {
    sx_array y, sigma, mask;
} band;

static void read_by(sxi_source *source, int64_t height, band *all) {
    const sxi_source_info *info = sxi_source_describe(source);
    const int64_t shape[] = {info->nt, info->rows, info->width};
    ck_ok(sx_array_create(info->dtype, 3, shape, &all->y));
    ck_ok(sx_array_create(info->dtype, 3, shape, &all->sigma));
    ck_ok(sx_array_create(SX_U8, 2, shape + 1, &all->mask));
    for (int64_t row = 0; row < info->rows; row += height) {
        const int64_t end = row + height < info->rows ? row + height : info->rows;
        const int64_t from[] = {0, row, 0}, to[] = {info->nt, end, info->width};
        sx_array y, sigma, mask;
        ck_ok(sx_array_slice(&all->y, from, to, &y));
        ck_ok(sx_array_slice(&all->sigma, from, to, &sigma));
        ck_ok(sx_array_slice(&all->mask, from + 1, to + 1, &mask));
        ck_ok(sxi_source_read(source, row, end - row, &y, info->has_sigma ? &sigma : NULL, &mask));
    }
}

static void band_free(band *all) {
    sx_array_destroy(&all->y);
    sx_array_destroy(&all->sigma);
    sx_array_destroy(&all->mask);
}

static double get3(const sx_array *array, int64_t t, int64_t row, int64_t x) {
    return sx_array_get(array, (const int64_t[]){t, row, x});
}

START_TEST(every_rank_and_type) {
    static const struct {
        const char *name;
        int rank;
        int64_t rows, width;
        sx_dtype dtype;
    } cases[] = {{"/t1", 1, 1, 1, SX_F64},
                 {"/t2", 1, H, 1, SX_F64},
                 {"/t3", 2, H, W, SX_F32},
                 {"/t4", 3, S * H, W, SX_F32}};
    const char *path = datasets();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sx_xani_input input = {.signal = at(path, cases[i].name), .delay = at(path, "/ps")};
        sxi_source *source = NULL;
        ck_ok(sxi_source_open(&input, NULL, &source));
        const sxi_source_info *info = sxi_source_describe(source);
        ck_assert_int_eq(info->nt, T);
        ck_assert_int_eq(info->rank, cases[i].rank);
        ck_assert_int_eq(info->rows, cases[i].rows);
        ck_assert_int_eq(info->width, cases[i].width);
        ck_assert_int_eq(info->dtype, cases[i].dtype);
        ck_assert(!info->has_sigma && info->weight == NULL && info->inputs == 1);
        ck_assert_str_eq(info->paths[0], path);
        ck_near(info->delay_ps[3], 0.3, 1e-15, 0);
        for (int64_t height = 1; height <= info->rows; height++) { /* any band, the same values */
            band all;
            read_by(source, height, &all);
            int64_t n = 0;
            for (int64_t t = 0; t < T; t++) {
                for (int64_t row = 0; row < info->rows; row++) {
                    for (int64_t x = 0; x < info->width; x++) {
                        ck_assert(get3(&all.y, t, row, x) == (double)n++);
                    }
                }
            }
            band_free(&all);
        }
        sxi_source_close(&source);
        ck_assert_ptr_null(source);
    }
}
END_TEST

START_TEST(units_and_scales_of_delays) {
    const char *path = datasets();
    static const struct {
        const char *name;
        double scale;
        double third; /* delay at index 2, ps */
    } cases[] = {
        {"/ps", 0, 0.2}, {"/fs", 0, 0.002}, {"/none", 2, 4}, {"/mm", 0.5, 1}, {"/ps", 10, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sx_xani_input input = {.signal = at(path, "/t1"),
                                     .delay = at(path, cases[i].name),
                                     .delay_scale = cases[i].scale};
        sxi_source *source = NULL;
        ck_ok(sxi_source_open(&input, NULL, &source));
        ck_near(sxi_source_describe(source)->delay_ps[2], cases[i].third, 1e-12, 0);
        sxi_source_close(&source);
    }
}
END_TEST

static void keep_warning(void *data, sx_log_level level, const char *sentence) {
    if (level == SX_LOG_WARNING) {
        snprintf(data, 300, "%s", sentence);
    }
}

START_TEST(a_scale_beside_a_unit) {
    static const struct {
        const char *name;
        double scale;
        const char *words; /* of the warning; NULL: none is due */
    } cases[] = {{"/fs", 1, ":/fs says femtosecond (0.001 ps), --delay-scale 1 is used instead"},
                 {"/fs", -1, "--delay-scale -1 is used instead"},
                 {"/fs", 1e-3, NULL},
                 {"/fs", -1e-3, NULL},
                 {"/fs", 0, NULL},
                 {"/none", 1, NULL},
                 {"/mm", 1, NULL}};
    const char *path = datasets();
    sxi_source *source = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[300] = "";
        const sx_context context = {.log = keep_warning, .data = said};
        const sx_xani_input input = {.signal = at(path, "/t1"),
                                     .delay = at(path, cases[i].name),
                                     .delay_scale = cases[i].scale};
        ck_ok(sxi_source_open(&input, &context, &source));
        ck_assert(cases[i].words ? strstr(said, cases[i].words) != NULL : said[0] == '\0');
        sxi_source_close(&source);
    }
    char said[300] = "";
    const sx_context context = {.log = keep_warning, .data = said};
    const char text[] = "t_us,y\n1,2\n2,3\n3,4\n";
    const sx_xani_input input = {.cube = sx_folder_write("u.csv", text, sizeof text - 1),
                                 .delay_scale = 1};
    ck_ok(sxi_source_open(&input, &context, &source));
    ck_assert_ptr_nonnull(
        strstr(said, "u.csv says us (1e+06 ps), --delay-scale 1 is used instead"));
    sxi_source_close(&source);
}
END_TEST

START_TEST(a_negative_scale_turns_delays_and_frames) {
    const char *path = datasets();
    const sx_xani_input input = {.signal = at(path, "/t4"),
                                 .delay = at(path, "/none"),
                                 .sigma = at(path, "/sigma1"),
                                 .delay_scale = -0.5};
    sxi_source *source = NULL;
    ck_ok(sxi_source_open(&input, NULL, &source));
    const sxi_source_info *info = sxi_source_describe(source);
    ck_assert(info->has_sigma);
    band all;
    read_by(source, 3, &all);
    for (int64_t t = 0; t < T; t++) {
        ck_near(info->delay_ps[t], -0.5 * (double)(T - 1 - t), 1e-15, 0);
        ck_assert(get3(&all.y, t, 7, 2) == (double)(((T - 1 - t) * S * H + 7) * W + 2));
        ck_near(get3(&all.sigma, t, 7, 2), 0.2 * (double)(T - t), 1e-6, 0);
    }
    band_free(&all);
    sxi_source_close(&source);
    /* Stored the other way round, it comes out increasing without turning. */
    const sx_xani_input other = {
        .signal = at(path, "/t1"), .delay = at(path, "/falling"), .delay_scale = -1};
    ck_ok(sxi_source_open(&other, NULL, &source));
    read_by(source, 1, &all);
    ck_near(sxi_source_describe(source)->delay_ps[0], -1, 1e-15, 0);
    ck_assert(get3(&all.y, 0, 0, 0) == 0);
    band_free(&all);
    sxi_source_close(&source);
}
END_TEST

START_TEST(sigma_and_mask) {
    const char *path = datasets();
    const sx_xani_input input = {.signal = at(path, "/t3"),
                                 .delay = at(path, "/ps"),
                                 .sigma = at(path, "/sigma3"),
                                 .mask = at(path, "/mask")};
    sxi_source *source = NULL;
    ck_ok(sxi_source_open(&input, NULL, &source));
    band all;
    read_by(source, 2, &all);
    ck_near(get3(&all.sigma, 1, 2, 1), 0.2 * (double)(H * W + 2 * W + 2), 1e-6, 0);
    ck_assert(((uint8_t *)all.mask.data)[1] != 0);
    ck_assert(((uint8_t *)all.mask.data)[0] == 0);
    ck_assert(isnan(get3(&all.y, 0, 0, 1)) && get3(&all.y, 0, 0, 2) == 2);
    band_free(&all);
    sxi_source_close(&source);
}
END_TEST

/* Values that stand for missing samples, by the conventions of netCDF. */
static const char *marked(const char *attribute, double value) {
    static const int64_t trace[] = {T}, image[] = {T, H, W};
    const double seven = 7;
    sx_folder_empty();
    sxi_h5_writer *writer = create("m.h5");
    sx_put(writer, "/t", SX_F64, 1, trace, "ps", tenth);
    sx_put(writer, "/u16", SX_U16, 3, image, "", index_of);
    sx_put(writer, "/f32", SX_F32, 3, image, "", tenth);
    sx_put(writer, "/f64", SX_F64, 3, image, "", index_of);
    ck_ok(sxi_h5_set_reals(writer, "/u16", attribute, 1, &value));
    ck_ok(sxi_h5_set_reals(writer, "/f32", attribute, 1, &value));
    ck_ok(sxi_h5_set_reals(writer, "/f64", attribute, 1, &value));
    ck_ok(sxi_h5_set_reals(writer, "/f64", "missing_value", 1, &seven));
    ck_ok(sxi_h5_commit(&writer));
    return sx_folder("m.h5");
}

START_TEST(marks_of_missing_samples) {
    static const struct {
        const char *name;
        double mark;
        int64_t missing[2]; /* index of the samples that are NaN */
    } cases[] = {{"/u16", 40, {40, 40}}, {"/f32", 4.1, {41, 41}}, {"/f64", 40, {40, 7}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = marked("_FillValue", cases[i].mark);
        const sx_xani_input input = {.signal = at(path, cases[i].name),
                                     .delay = at(path, "/t"),
                                     .sigma = at(path, cases[i].name)};
        sxi_source *source = NULL;
        ck_ok(sxi_source_open(&input, NULL, &source));
        band all;
        read_by(source, 2, &all);
        for (int64_t n = 0; n < T * H * W; n++) {
            const int64_t t = n / (H * W), row = n / W % H, x = n % W;
            const bool missing = n == cases[i].missing[0] || n == cases[i].missing[1];
            ck_assert(isnan(get3(&all.y, t, row, x)) == missing);
            ck_assert(isnan(get3(&all.sigma, t, row, x)) == missing);
        }
        band_free(&all);
        sxi_source_close(&source);
    }
    /* A delay that is missing, values that are packed. */
    const char *path = marked("scale_factor", 0.5);
    sxi_source *source = NULL;
    sx_xani_input input = {.signal = at(path, "/u16"), .delay = at(path, "/t")};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_UNSUPPORTED,
             "is packed (scale_factor 0.5)");
    path = marked("add_offset", 0);
    ck_ok(sxi_source_open(&input, NULL, &source));
    sxi_source_close(&source);
}
END_TEST

START_TEST(one_sigma_for_all) {
    static const int64_t trace[] = {T}, one_number[] = {1};
    sx_folder_empty();
    sxi_h5_writer *writer = create("s.h5");
    sx_put(writer, "/t", SX_F64, 1, trace, "ps", tenth);
    sx_put(writer, "/y", SX_F64, 1, trace, "", index_of);
    sx_put(writer, "/one", SX_F64, 1, one_number, "", frame_fifth);
    sx_put(writer, "/scalar", SX_F32, 0, NULL, "", frame_fifth);
    sx_put(writer, "/nought", SX_F64, 0, NULL, "", index_of);
    ck_ok(sxi_h5_commit(&writer));
    const char *path = sx_folder("s.h5");
    const char *const names[] = {"/one", "/scalar"};
    sxi_source *source = NULL;
    for (int i = 0; i < 2; i++) {
        const sx_xani_input input = {
            .signal = at(path, "/y"), .delay = at(path, "/t"), .sigma = at(path, names[i])};
        ck_ok(sxi_source_open(&input, NULL, &source));
        ck_assert(sxi_source_describe(source)->has_sigma);
        band all;
        read_by(source, 1, &all);
        ck_near(get3(&all.sigma, 0, 0, 0), 0.2, 1e-7, 0); /* a float */
        ck_near(get3(&all.sigma, T - 1, 0, 0), 0.2, 1e-7, 0);
        band_free(&all);
        sxi_source_close(&source);
    }
    const sx_xani_input input = {
        .signal = at(path, "/y"), .delay = at(path, "/t"), .sigma = at(path, "/nought")};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_RANGE, "it must be positive");
}
END_TEST

START_TEST(what_does_not_fit_is_refused) {
    const char *path = datasets();
    const struct {
        sx_xani_input input;
        sx_status status;
        const char *words;
    } cases[] = {
        {{0}, SX_ERR_ARGUMENT, "no input"},
        {{.cube = path, .signal = "x:/y"}, SX_ERR_ARGUMENT, "one is needed"},
        {{.signal = at(path, "/t3")}, SX_ERR_ARGUMENT, "needs --delay"},
        {{.signal = path, .delay = at(path, "/ps")}, SX_ERR_ARGUMENT, "names no dataset"},
        {{.signal = ":/t3", .delay = at(path, "/ps")}, SX_ERR_ARGUMENT, "names no dataset"},
        {{.signal = at(path, "/t9"), .delay = at(path, "/ps")}, SX_ERR_MISSING, "has no dataset"},
        {{.signal = at(path, "/text"), .delay = at(path, "/ps")}, SX_ERR_TYPE, "holds text"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/none")}, SX_ERR_UNIT, "--delay-scale"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/mm")}, SX_ERR_UNIT, "'mm'"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/repeated")},
         SX_ERR_RANGE,
         "index 3 and index 4 both hold 0.3 ps"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/nan")}, SX_ERR_RANGE, "index 3 holds nan"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/falling")},
         SX_ERR_RANGE,
         "index 0 holds 1 ps, index 1 0.9 ps (sort the frames by delay)"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/t3")}, SX_ERR_SHAPE, "one axis"},
        {{.signal = at(path, "/turned"), .delay = at(path, "/ps")},
         SX_ERR_SHAPE,
         "axis 2 has that many: the delay axis must come first"},
        {{.signal = at(path, "/mask"), .delay = at(path, "/ps")}, SX_ERR_SHAPE, "5 delays"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/ps"), .sigma = at(path, "/mask")},
         SX_ERR_SHAPE,
         "shaped like the signal, [6, 5, 3]"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/ps"), .mask = at(path, "/t2")},
         SX_ERR_SHAPE,
         "a frame has [5, 3]"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/ps"), .i0 = "ipm2"},
         SX_ERR_ARGUMENT,
         "--i0 ipm2 has no meaning"},
        {{.signal = at(path, "/t3"), .delay = at(path, "/ps"), .delay_scale = (double)NAN},
         SX_ERR_ARGUMENT,
         "finite"},
        {{.cube = path}, SX_ERR_FORMAT, "no layout known here"},
        {{.cube = sx_folder("gone.h5")}, SX_ERR_IO, "no such file"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sxi_source *source = NULL;
        ck_fails(sxi_source_open(&cases[i].input, NULL, &source), cases[i].status, cases[i].words);
        ck_assert_ptr_null(source);
    }
}
END_TEST

START_TEST(a_colon_in_the_name_of_a_file) {
    datasets();
    ck_assert_int_eq(rename(sx_folder("d.h5"), sx_folder("a:b.h5")), 0);
    const sx_xani_input input = {.signal = at(sx_folder("a:b.h5"), "/t1"),
                                 .delay = at(sx_folder("a:b.h5"), "/ps")};
    sxi_source *source = NULL;
    ck_ok(sxi_source_open(&input, NULL, &source));
    sxi_source_close(&source);
}
END_TEST

/* Our cube, with what is asked for. */
static const char *cube(bool sigma, bool count, bool mask) {
    static const int64_t trace[] = {T}, image[] = {T, H, W};
    sx_folder_empty();
    sxi_h5_writer *writer = create("cube.h5");
    sx_put(writer, "/cube/signal", SX_F32, 3, image, "", index_of);
    sx_put(writer, "/cube/delay", SX_F64, 1, trace, "", tenth);
    if (sigma) {
        sx_put(writer, "/cube/sigma", SX_F32, 3, image, "", one);
    }
    if (count) {
        sx_put(writer, "/cube/count", SX_I64, 1, trace, "", shots);
    }
    if (mask) {
        sx_put(writer, "/cube/mask", SX_U8, 2, image + 1, "", second_bad);
    }
    ck_ok(sxi_h5_commit(&writer));
    return sx_folder("cube.h5");
}

START_TEST(our_own_cube) {
    for (int i = 0; i < 2; i++) {
        const sx_xani_input input = {.cube = cube(i == 0, true, true)};
        sxi_source *source = NULL;
        ck_ok(sxi_source_open(&input, NULL, &source));
        const sxi_source_info *info = sxi_source_describe(source);
        ck_assert_str_eq(info->layout, "sextant cube");
        ck_assert(info->has_sigma == (i == 0));
        ck_near(info->delay_ps[5], 0.5, 1e-15, 0); /* ps without a unit */
        band all;
        read_by(source, 2, &all);
        ck_assert(isnan(get3(&all.y, 2, 1, 1)) && !isnan(get3(&all.y, 3, 1, 1))); /* no shots */
        ck_assert(isnan(get3(&all.y, 0, 0, 1)));                                  /* masked */
        if (i == 0) {
            ck_assert_ptr_null(info->weight);
            ck_assert(get3(&all.sigma, 4, 1, 1) == 1);
        } else {
            ck_assert(info->weight[1] == 11 && info->weight[2] == 0);
        }
        band_free(&all);
        sxi_source_close(&source);
    }
    sxi_source *source = NULL;
    const sx_xani_input off = {.cube = cube(false, false, false), .off = "x.h5"};
    ck_fails(sxi_source_open(&off, NULL, &source), SX_ERR_ARGUMENT, "--off x.h5 has no meaning");
}
END_TEST

START_TEST(a_trace_as_text) {
    sx_folder_empty();
    const char text[] = "# t_fs,y,sigma\n100,1.5,0.1\n200,nan,0.2\n300,2.5,0.3\n";
    const char *path = sx_folder_write("t.csv", text, sizeof text - 1);
    sx_xani_input input = {.cube = path};
    sxi_source *source = NULL;
    ck_ok(sxi_source_open(&input, NULL, &source));
    const sxi_source_info *info = sxi_source_describe(source);
    ck_assert(info->nt == 3 && info->rows == 1 && info->width == 1 && info->has_sigma);
    ck_near(info->delay_ps[1], 0.2, 1e-15, 0);
    ck_assert_str_eq(info->paths[0], path);
    band all;
    read_by(source, 1, &all);
    ck_assert(get3(&all.y, 2, 0, 0) == 2.5 && isnan(get3(&all.y, 1, 0, 0)));
    ck_assert(get3(&all.sigma, 2, 0, 0) == 0.3);
    band_free(&all);
    sxi_source_close(&source);
    input.delay_scale = -1;
    ck_ok(sxi_source_open(&input, NULL, &source));
    read_by(source, 1, &all);
    ck_assert(get3(&all.y, 0, 0, 0) == 2.5 && get3(&all.sigma, 0, 0, 0) == 0.3);
    band_free(&all);
    sxi_source_close(&source);
    input = (sx_xani_input){.cube = sx_folder_write("u.txt", "1 2\n2 3\n", 8)};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_UNIT, "--delay-scale");
    input = (sx_xani_input){.cube = sx_folder_write("v.txt", "1\n2\n", 4), .delay_scale = 1};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_SHAPE, "has 1 columns");
    input = (sx_xani_input){.cube = sx_folder_write("w", "1 2\n2 3\n", 8)};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_FORMAT, "known by .csv");
}
END_TEST

START_TEST(a_real_trace) {
    const char *path = sx_data("musr/trace_left.csv");
    if (!path) {
        return;
    }
    const sx_xani_input input = {.cube = path};
    sxi_source *source = NULL;
    ck_ok(sxi_source_open(&input, NULL, &source));
    ck_assert_int_eq(sxi_source_describe(source)->nt, 262);
    ck_near(sxi_source_describe(source)->delay_ps[0], 0.01875e6, 1e-15, 0); /* microseconds */
    sxi_source_close(&source);
}
END_TEST

START_TEST(bands_that_cannot_be_read) {
    const sx_xani_input input = {.cube = cube(false, false, false)};
    const int64_t shape[] = {T, 2, W};
    sxi_source *source = NULL;
    sx_array y, mask, wrong;
    ck_ok(sxi_source_open(&input, NULL, &source));
    ck_ok(sx_array_create(SX_F32, 3, shape, &y));
    ck_ok(sx_array_create(SX_F64, 3, shape, &wrong));
    ck_ok(sx_array_create(SX_U8, 2, shape + 1, &mask));
    ck_fails(sxi_source_read(source, 4, 2, &y, NULL, &mask), SX_ERR_RANGE, "there are 5");
    ck_fails(sxi_source_read(source, 0, 2, &wrong, NULL, &mask), SX_ERR_SHAPE, "float32 [6, 2, 3]");
    ck_fails(sxi_source_read(source, 0, 2, &y, &y, &mask), SX_ERR_ARGUMENT, "there is no sigma");
    ck_ok(sxi_source_read(source, 3, 2, &y, NULL, &mask));
    sx_array_destroy(&y);
    sx_array_destroy(&wrong);
    sx_array_destroy(&mask);
    sxi_source_close(&source);
}
END_TEST

SX_TEST_MAIN("source", every_rank_and_type, units_and_scales_of_delays, a_scale_beside_a_unit,
             a_negative_scale_turns_delays_and_frames, sigma_and_mask, marks_of_missing_samples,
             one_sigma_for_all, what_does_not_fit_is_refused, a_colon_in_the_name_of_a_file,
             our_own_cube, a_trace_as_text, a_real_trace, bands_that_cannot_be_read)
