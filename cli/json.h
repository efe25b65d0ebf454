/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

#include <sextant/status.h>

/* cli_print_json - prints an object on one line of stdout and lets it go. SX_ERR_MEMORY for NULL,
 * which is what json_pack gives without memory. */
sx_status cli_print_json(json_t *object);

/* cli_json_real - a number; null for what JSON cannot say (NaN, infinity). */
json_t *cli_json_real(double value);

/* cli_json_text - a text; of one that is no UTF-8, as older files hold in Latin-1, '?' for what is not
 * ASCII. */
json_t *cli_json_text(const char *text);

#endif
