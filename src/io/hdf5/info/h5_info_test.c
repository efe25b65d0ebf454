/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include <sextant/info.h>

#include "io/hdf5/h5_locked.h"
#include "sx_check.h"

static char path[64];

/* Every object as one line, so that a whole file is one known answer. */
static char lines[65536];

static bool note(void *data, const sx_info_object *o) {
    char *to = lines + strlen(lines);
    const size_t room = sizeof lines - strlen(lines);
    int n = snprintf(to, room, "%c %s %s", "gdla"[o->kind], o -> name, o -> type);
    for (int d = 0; d < o->rank; d++) {
        n += snprintf(to + n, room - (size_t)n, "%c%lld", d ? 'x' : ' ', (long long)o->shape[d]);
    }
    for (int d = 0; o->chunked && d < o->rank; d++) {
        n += snprintf(to + n, room - (size_t)n, "%c%lld", d ? 'x' : '/', (long long)o->chunk[d]);
    }
    snprintf(to + n, room - (size_t)n, "|%s|%s|%s|%s\n", o->unit, o->sentence, o->storage,
             o->value);
    int *left = data;
    return !left || --*left > 0;
}

static void write_file(void) {
    sxi_h5_writer *writer = NULL;
    sx_array a;
    double number = 9.5;
    snprintf(path, sizeof path, "/tmp/sextant-info-XXXXXX");
    close(mkstemp(path));
    ck_ok(sxi_h5_create(path, true, &writer));
    ck_ok(sx_array_view(SX_F64, 0, NULL, &number, &a));
    ck_ok(sxi_h5_write(writer, "/cube/energy", &a, "keV", "Photon energy"));
    ck_ok(sxi_h5_set_text(writer, "/", "default", "cube"));
    ck_ok(sxi_h5_set_reals(writer, "/cube", "window", 2, (const double[]){0.25, 6.5}));
    ck_ok(sxi_h5_set_ints(writer, "/cube/energy", "bin", 1, (const int64_t[]){3}));
    ck_ok(sxi_h5_set_texts(writer, "/cube/energy", "names", 2, (const char *[]){"ok", "masked"}));
    ck_ok(sxi_h5_write_text(writer, "/provenance/command", "sextant try"));
    ck_ok(sxi_h5_write_texts(writer, "/provenance/inputs", 2, (const char *[]){"a.h5", "b.h5"}));
    ck_ok(sxi_h5_commit(&writer));
    sxi_h5_enter();
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Lcreate_soft("/cube/energy", file, "/cube/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("gone.h5", "/x", file, "/outside", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "/", file, "/cube/loop", H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, (hsize_t[]){40, 30}, NULL);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(created, 2, (hsize_t[]){8, 30});
    H5Pset_shuffle(created);
    H5Pset_deflate(created, 4);
    H5Dclose(
        H5Dcreate2(file, "/cube/raw", H5T_STD_U16BE, space, H5P_DEFAULT, created, H5P_DEFAULT));
    H5Pclose(created);
    H5Sclose(space);
    H5Fclose(file);
    sxi_h5_leave();
}

START_TEST(every_object_is_told_once) {
    write_file();
    lines[0] = '\0';
    ck_ok(sx_info_run(path, note, NULL));
    ck_assert_str_eq(lines, "a /@default text||||cube\n"
                            "l /outside link|||to /x in gone.h5, which is not there|\n"
                            "g /cube ||||\n"
                            "a /cube@window float64 2||||0.25\n6.5\n"
                            "l /cube/soft link|||to /cube/energy|\n"
                            "d /cube/energy float64|keV|Photon energy||9.5\n"
                            "a /cube/energy@bin int64||||3\n"
                            "a /cube/energy@names text 2||||ok\nmasked\n"
                            "d /cube/raw uint16 40x30/8x30|||shuffle, deflate|\n"
                            "g /provenance ||||\n"
                            "d /provenance/command text||||sextant try\n"
                            "d /provenance/inputs text 2||||a.h5\nb.h5\n");
    int left = 3;
    lines[0] = '\0';
    ck_ok(sx_info_run(path, note, &left));
    ck_assert_str_eq(strrchr(lines, 'g'), "g /cube ||||\n");
    left = 4;
    lines[0] = '\0';
    ck_ok(sx_info_run(path, note, &left));
    ck_assert_str_eq(strstr(lines, "a /cube"), "a /cube@window float64 2||||0.25\n6.5\n");
    unlink(path);
}
END_TEST

START_TEST(other_files_are_refused) {
    ck_fails(sx_info_run("/nowhere.h5", note, NULL), SX_ERR_IO, "/nowhere.h5: no such file");
    ck_fails(sx_info_run("/proc/self/exe", note, NULL), SX_ERR_FORMAT, "is not an HDF5 file");
}
END_TEST

START_TEST(a_file_of_a_beamline) {
    const char *real = sx_data("facility/Therm_6_2.nxs");
    if (!real) {
        return;
    }
    lines[0] = '\0';
    ck_ok(sx_info_run(real, note, NULL));
    const char *line = strstr(lines, "d /entry/data/data int64 488x4362x4148");
    ck_assert_ptr_nonnull(line);
    ck_assert(strncmp(strchr(line, '|'), "|||virtual, ", 12) == 0);
}
END_TEST

SX_TEST_MAIN("h5_info", every_object_is_told_once, other_files_are_refused, a_file_of_a_beamline)
