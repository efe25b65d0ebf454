/* SPDX-License-Identifier: Apache-2.0
 * What all kinds of geometries share, and damaged files of each. */
#include "sx_geometry.h"

#include "base/rng.h"

START_TEST(the_kind_is_told_by_content) {
    sx_geometry *g = NULL;
    ck_fails(sx_geometry_read(sx_folder("nowhere"), NULL, &g), SX_ERR_IO, "no such file");
    ck_fails(sx_geometry_read("/tmp", NULL, &g), SX_ERR_IO, "not a regular file");
    ck_geometry_fails("", SX_ERR_FORMAT, "is no geometry that is known");
    ck_geometry_fails("two words\n", SX_ERR_FORMAT, "neither PONI");
    const char *path = sx_folder_write("binary", "ab\0cd", 5);
    ck_fails(sx_geometry_read(path, NULL, &g), SX_ERR_FORMAT, "not an HDF5 file");
    ck_assert_ptr_null(g);
}
END_TEST

START_TEST(an_energy_that_is_given_counts) {
    const char *text = "Detector: Pilatus100k\nDistance: 0.1\nPoni1: 0\nPoni2: 0\n"
                       "Wavelength: 1e-10\n";
    sx_geometry *g = sx_geometry_text(text);
    ck_near(sx_geometry_facts_of(g)->photon_energy, 12398.41984332, 1e-12, 0);
    sx_geometry_destroy(&g);
    const sx_geometry_options options = {.photon_energy = 8000};
    g = sx_geometry_of(sx_folder("geometry"), &options);
    ck_near(sx_geometry_facts_of(g)->photon_energy, 8000, 0, 0);
    ck_near(sx_geometry_facts_of(g)->wavelength, 1.549802480415e-10, 1e-12, 0);
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(rows_in_pieces_are_rows_at_once) {
    sx_geometry *g =
        sx_geometry_text("Detector: Pilatus100k\nDistance: 0.1\nPoni1: 0.01\nPoni2: 0\n"
                         "Rot1: 0.2\nRot2: 0.1\nRot3: -0.3\n");
    enum { ROWS = 195, COLUMNS = 487, ALL = ROWS * COLUMNS };
    double *at = malloc(6 * (size_t)ALL * sizeof *at);
    ck_ok(sx_geometry_place(g, 0, ROWS, at, at + ALL, at + 2 * ALL));
    for (int64_t first = 0; first < ROWS; first += 39) {
        double *to = at + 3 * ALL + first * COLUMNS;
        ck_ok(sx_geometry_place(g, first, 39, to, to + ALL, to + 2 * ALL));
    }
    ck_assert_mem_eq(at, at + 3 * ALL, 3 * (size_t)ALL * sizeof *at);
    ck_fails(sx_geometry_place(g, 190, 6, at, at, at), SX_ERR_RANGE, "rows 190 to 196");
    ck_fails(sx_geometry_place(g, -1, 1, at, at, at), SX_ERR_RANGE, "195 rows");
    free(at);
    sx_geometry_destroy(&g);
}
END_TEST

/* --- damage --- */

/* Reads a file that may be anything: a geometry, or one sentence. */
static void read_any(const char *bytes, size_t count) {
    sx_geometry *g = NULL;
    sx_error_clear();
    const char *path = sx_folder_write("damaged", bytes, count);
    const sx_status status = sx_geometry_read(path, NULL, &g);
    if (status != SX_OK) {
        ck_assert_ptr_null(g);
        ck_assert_msg(strlen(sx_error_message()) > 10, "no sentence");
        ck_assert_ptr_null(strchr(sx_error_message(), '\n'));
    }
    sx_geometry_destroy(&g);
}

static const char *const FILES[] = {"geometry/pyfai_rot.poni",
                                    "geometry/simple.geom",
                                    "geometry/crystfel-ev_enum1.geom",
                                    "geometry/Eiger16M-binning2-nativefiles.geom",
                                    "geometry/geometry-def-jungfrau1M.data",
                                    "geometry/geometry-def-epix100a.data"};
enum { FILE_COUNT = sizeof FILES / sizeof *FILES };

START_TEST(cut_files_are_read_or_refused) {
    for (int f = 0; f < FILE_COUNT; f++) {
        const char *path = sx_data(FILES[f]);
        size_t count;
        char *bytes = path ? sx_folder_slurp(path, &count) : NULL;
        for (size_t n = 0; bytes && n < count; n += 1 + count / 60) {
            read_any(bytes, n);
        }
        free(bytes);
    }
}
END_TEST

/* What turns numbers into absurd ones, and lines into others. */
START_TEST(changed_files_are_read_or_refused) {
    static const char *const pieces[] = {"nan", "inf", "-1", "1e308", "999999999", "0",
                                         "%",   "=",   ":",  "x",     "-",         "\n",
                                         "/",   "{",   "[",  "1e-308"};
    enum { TRIES = 60, PIECES = sizeof pieces / sizeof *pieces };
    for (int f = 0; f < FILE_COUNT; f++) {
        const char *path = sx_data(FILES[f]);
        size_t count;
        char *bytes = path ? sx_folder_slurp(path, &count) : NULL;
        char *changed = bytes ? malloc(count + 64) : NULL;
        for (int t = 0; changed && t < TRIES; t++) {
            uint32_t random[4];
            sxi_rng_bits(1, 2, (uint64_t)(f * TRIES + t), 0, random);
            const char *piece = pieces[random[0] % PIECES];
            const size_t at = random[1] % count, length = strlen(piece);
            const size_t skip = random[2] % 8 < count - at ? random[2] % 8 : 0;
            memcpy(changed, bytes, at);
            memcpy(changed + at, piece, length);
            memcpy(changed + at + length, bytes + at + skip, count - at - skip);
            read_any(changed, count + length - skip);
        }
        free(changed);
        free(bytes);
    }
}
END_TEST

SX_TEST_MAIN("geometry", the_kind_is_told_by_content, an_energy_that_is_given_counts,
             rows_in_pieces_are_rows_at_once, cut_files_are_read_or_refused,
             changed_files_are_read_or_refused)
