/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/version.h>

/* Written by cmake/commit.cmake at every build, only if it changed: this file alone is compiled
 * again after a commit. */
#include "sextant_commit.h"

/* NOLINTNEXTLINE(misc-redundant-expression): two of the numbers are equal by chance */
_Static_assert(SX_VERSION_MAJOR == SEXTANT_BUILD_MAJOR && SX_VERSION_MINOR == SEXTANT_BUILD_MINOR &&
                   SX_VERSION_PATCH == SEXTANT_BUILD_PATCH,
               "include/sextant/version.h and the project line of CMakeLists.txt differ");

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char *sx_version(void) {
    return TEXT(SX_VERSION_MAJOR) "." TEXT(SX_VERSION_MINOR) "." TEXT(SX_VERSION_PATCH);
}

const char *sx_commit(void) { return SEXTANT_BUILD_COMMIT; }
