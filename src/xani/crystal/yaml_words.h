/* SPDX-License-Identifier: Apache-2.0
 * What LibCYAML says of a wrong file, in our words. */
#ifndef SXI_YAML_WORDS_H
#define SXI_YAML_WORDS_H

#include <cyaml/cyaml.h>

#include <sextant/status.h>

#include "base/text.h"

/* sxi_yaml_fail - one sentence from that log: file, line, field, what was found and expected.
 * Takes the text. Returns SX_ERR_FORMAT, or SX_ERR_MEMORY. */
sx_status sxi_yaml_fail(const char *path, const cyaml_schema_field_t *fields, sxi_text *log);

#endif
