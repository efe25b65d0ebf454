/* SPDX-License-Identifier: Apache-2.0
 * YAML files by schema. LibCYAML is loaded when the first is read: no other command waits for it. */
#ifndef SXI_YAML_H
#define SXI_YAML_H

#include <cyaml/cyaml.h>

#include <sextant/status.h>

/* sxi_yaml_read - a file whose schema is a mapping.
 *
 * in   what  for the sentence: "a crystal (YAML)"
 * out  data  as the schema lays it out; NULL for an empty file
 *
 * SX_ERR_IO; SX_ERR_FORMAT with file, line, field, what was found and what was expected;
 * SX_ERR_UNSUPPORTED without LibCYAML; SX_ERR_MEMORY. */
sx_status sxi_yaml_read(const char *path, const char *what, const cyaml_schema_value_t *schema,
                        void **data);

/* sxi_yaml_free - what sxi_yaml_read gave; NULL is allowed. */
void sxi_yaml_free(const cyaml_schema_value_t *schema, void *data);

#endif
