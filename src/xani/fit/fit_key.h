/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_XANI_FIT_KEY_H
#define SXI_XANI_FIT_KEY_H

#include "xani/source/source.h"

/* sxi_fit_key - all that the result of a fit depends on in words: the options, the inputs with bytes and
 * time of change, the version. Whoever has the same key may go on with a journal.
 *
 * out  key  to be freed by the caller; NULL on failure
 *
 * SX_ERR_MEMORY, SX_ERR_IO. */
sx_status sxi_fit_key(const sx_xani_input *input, const sx_xani_fit_options *options,
                      const sxi_source_info *info, char **key);

#endif
