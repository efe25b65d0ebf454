/* SPDX-License-Identifier: Apache-2.0
 * What web/ was built into, as bytes; the file with them is made by cmake/assets.cmake. */
#ifndef SXI_REPORT_ASSETS_H
#define SXI_REPORT_ASSETS_H

#include <stddef.h>

extern const char sxi_report_js[], sxi_report_css[];
extern const size_t sxi_report_js_size, sxi_report_css_size;

#endif
