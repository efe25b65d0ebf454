/* SPDX-License-Identifier: Apache-2.0
 * What sextant xani fit prints at its end: for people, or as one JSON object. */
#ifndef CLI_FIT_SUMMARY_H
#define CLI_FIT_SUMMARY_H

#include <sextant/xani.h>

sx_status cli_fit_summary_print(const sx_xani_fit_summary *summary, const char *input,
                                const char *output);
sx_status cli_fit_summary_json(const sx_xani_fit_summary *summary, const char *input,
                               const char *output);

#endif
