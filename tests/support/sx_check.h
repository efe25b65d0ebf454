/* SPDX-License-Identifier: Apache-2.0
 * Check with our float macros (its own break -Wdouble-promotion) and one main per test program. */
#ifndef SX_CHECK_H
#define SX_CHECK_H

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <sextant/status.h>

/* |a - b| <= absolute + relative |b|. NaN fails. */
#define ck_near(a, b, relative, absolute)                                                          \
    do {                                                                                           \
        double a_ = (double)(a), b_ = (double)(b);                                                 \
        ck_assert_msg(fabs(a_ - b_) <= (absolute) + (relative)*fabs(b_),                           \
                      "%s = %.17g, expected %s = %.17g (relative %g, absolute %g)", #a, a_, #b,    \
                      b_, (double)(relative), (double)(absolute));                                 \
    } while (0)

#define ck_ok(call)                                                                                \
    do {                                                                                           \
        sx_status status_ = (call);                                                                \
        ck_assert_msg(status_ == SX_OK, "%s: %s: %s", #call, sx_status_name(status_),              \
                      sx_error_message());                                                         \
    } while (0)

/* The call fails with this status and its sentence contains words. */
#define ck_fails(call, expected, words)                                                            \
    do {                                                                                           \
        sx_status status_ = (call);                                                                \
        ck_assert_msg(status_ == (expected), "%s: %s instead of %s (%s)", #call,                   \
                      sx_status_name(status_), #expected, sx_error_message());                     \
        ck_assert_msg(strstr(sx_error_message(), (words)) != NULL, "%s says '%s', not '%s'",       \
                      #call, sx_error_message(), (words));                                         \
    } while (0)

/* Path of a file of foreign data, or NULL (said once) where the folder is absent. Not reentrant. */
static inline const char *sx_data(const char *name) {
    static char path[4096];
    const char *root = getenv("SEXTANT_DATA");
    snprintf(path, sizeof path, "%s/%s", root ? root : "../shared/data", name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("skipped: %s is not here\n", path);
        return NULL;
    }
    fclose(file);
    return path;
}

/* SX_TEST_RUNNER("lm", run, first, second, ...): a function that runs the tests in this process,
 * prints Check's closing line and returns whether one failed. SX_TEST_MAIN: the main of a program
 * that does no more. */
#define SX_TEST_RUNNER(name, run, ...)                                                             \
    static int run(void) {                                                                         \
        const TTest *tests[] = {__VA_ARGS__};                                                      \
        Suite *suite = suite_create(name);                                                         \
        TCase *cases = tcase_create(name);                                                         \
        tcase_set_timeout(cases, 0);                                                               \
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {                                \
            tcase_add_test(cases, tests[i]);                                                       \
        }                                                                                          \
        suite_add_tcase(suite, cases);                                                             \
        SRunner *runner = srunner_create(suite);                                                   \
        srunner_set_fork_status(runner, CK_NOFORK);                                                \
        srunner_run_all(runner, CK_NORMAL);                                                        \
        int failed = srunner_ntests_failed(runner);                                                \
        srunner_free(runner);                                                                      \
        return failed != 0;                                                                        \
    }

#define SX_TEST_MAIN(name, ...)                                                                    \
    SX_TEST_RUNNER(name, run_tests, __VA_ARGS__)                                                   \
    int main(void) { return run_tests(); }

#endif
