/* SPDX-License-Identifier: Apache-2.0
 * Part of libsextant where HDF5 is linked into it as an archive that was compiled for programs: such
 * code takes the three streams for variables of its own program, which a shared library has not got.
 * The linker leads it to these (--wrap). HDF5 uses them if it is asked to print, which we never do. */
#include <stdio.h>

/* NOLINTBEGIN(cert-dcl37-c,cert-dcl51-cpp): the names are the linker's */
extern FILE *__real_stdin, *__real_stdout, *__real_stderr;
extern FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;

FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;
/* NOLINTEND(cert-dcl37-c,cert-dcl51-cpp) */

__attribute__((constructor)) static void lend_streams(void) {
    __wrap_stdin = __real_stdin;
    __wrap_stdout = __real_stdout;
    __wrap_stderr = __real_stderr;
}
