/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sextant/doctor.h>

#include "report/doctor_load.h"
#include "sx_check.h"

typedef struct seen {
    int count;
    char topics[256];
} seen;

static void note(void *data, const sx_doctor_finding *f) {
    seen *s = data;
    printf("%s: %s: %s: %s\n", f->topic, sx_doctor_state_word(f->state), f->found, f->remedy);
    ck_assert(*f->topic && *f->found && f->remedy);
    /* A remedy where something is to be done, and only there. */
    ck_assert_int_eq(*f->remedy != '\0',
                     f->state == SX_DOCTOR_POOR || f->state == SX_DOCTOR_MISSING);
    const size_t length = strlen(s->topics);
    snprintf(s->topics + length, sizeof s->topics - length, "%s;", f->topic);
    s->count++;
}

START_TEST(every_topic_is_reported) {
    seen s = {0};
    ck_ok(sx_doctor_run(note, &s));
    ck_assert_str_eq(s.topics, "cpu;simd;memory;openmp;hdf5;decoders;hdf5 filters;blas;gpu;gpu "
                               "kernels;cufile;mpi;gnuplot;");
    ck_fails(sx_doctor_run(NULL, NULL), SX_ERR_ARGUMENT, "nobody");
}
END_TEST

START_TEST(programs_are_found_on_the_path) {
    char folder[] = "/tmp/sextant-doctor-XXXXXX", program[64], path[128];
    const char *before = getenv("PATH");
    char *kept = strdup(before ? before : "");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(program, sizeof program, "%s/xyzzy", folder);
    snprintf(path, sizeof path, "/nowhere:%s", folder);
    setenv("PATH", path, 1);
    ck_assert(!sxi_program_find("xyzzy", path, sizeof path));
    fclose(fopen(program, "w"));
    ck_assert(!sxi_program_find("xyzzy", path, sizeof path)); /* not executable */
    chmod(program, 0700);
    ck_assert(sxi_program_find("xyzzy", path, sizeof path));
    ck_assert_str_eq(path, program);
    setenv("PATH", kept, 1);
    free(kept);
    unlink(program);
    rmdir(folder);
}
END_TEST

START_TEST(words_of_states) {
    ck_assert_str_eq(sx_doctor_state_word(SX_DOCTOR_MISSING), "missing");
    ck_assert_str_eq(sx_doctor_state_word((sx_doctor_state)99), "?");
}
END_TEST

SX_TEST_MAIN("doctor", every_topic_is_reported, programs_are_found_on_the_path, words_of_states)
