/* SPDX-License-Identifier: Apache-2.0
 * Which sextant this is. */
#ifndef SEXTANT_VERSION_H
#define SEXTANT_VERSION_H

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SX_VERSION_MAJOR 0
#define SX_VERSION_MINOR 1
#define SX_VERSION_PATCH 0

/* sx_version - "0.1.0" of the library that runs, which may differ from the headers it was compiled
 * with. sx_commit - the commit it was built from, with "-dirty" after local changes; "unknown"
 * where it was not built from a repository. */
SX_API const char *sx_version(void);
SX_API const char *sx_commit(void);

#ifdef __cplusplus
}
#endif
#endif
