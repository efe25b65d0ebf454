/* SPDX-License-Identifier: Apache-2.0
 * What the Python module declares: the public headers, through the preprocessor, so that the two
 * cannot drift. Standard headers are replaced by the empty ones beside this file; cffi knows their types. */
#include <sextant/dcos.h>
#include <sextant/reduce.h>
#include <sextant/version.h>
