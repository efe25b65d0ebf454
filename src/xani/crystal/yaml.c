/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/crystal/yaml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/load.h"
#include "base/text.h"
#include "io/table/slurp.h"
#include "xani/crystal/yaml_words.h"

static const char LIBRARY[] = "libcyaml.so.1";

typedef struct library {
    cyaml_err_t (*load)(const uint8_t *, size_t, const cyaml_config_t *,
                        const cyaml_schema_value_t *, cyaml_data_t **, unsigned *);
    cyaml_err_t (*free)(const cyaml_config_t *, const cyaml_schema_value_t *, cyaml_data_t *,
                        unsigned);
} library;

/* It stays open: a second time costs nothing, and no state of ours has to know. */
static sx_status library_open(library *yaml) {
    void *found = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!found || !SXI_LOAD(found, "cyaml_load_data", yaml->load) ||
        !SXI_LOAD(found, "cyaml_free", yaml->free)) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "YAML files need LibCYAML (%s); Debian: libcyaml1",
                        LIBRARY);
    }
    return SX_OK;
}

/* Ours, since theirs is not linked. */
static void *memory(void *context, void *bytes, size_t size) {
    (void)context;
    if (size == 0) {
        free(bytes);
        return NULL;
    }
    return realloc(bytes, size);
}

static void log_line(cyaml_log_t level, void *text, const char *format, va_list arguments)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 0)))
#endif
    ;

static void log_line(cyaml_log_t level, void *text, const char *format, va_list arguments) {
    char line[256];
    (void)level;
    vsnprintf(line, sizeof line, format, arguments);
    sxi_text_add(text, "%s", line);
}

static cyaml_config_t configure(sxi_text *log) {
    return (cyaml_config_t){.log_fn = log_line,
                            .log_ctx = log,
                            .log_level = CYAML_LOG_WARNING,
                            .mem_fn = memory,
                            .flags = CYAML_CFG_NO_ALIAS};
}

sx_status sxi_yaml_read(const char *path, const char *what, const cyaml_schema_value_t *schema,
                        void **data) {
    sx_status status = SX_OK;
    char *bytes = NULL;
    sxi_text log = {0};
    library yaml;
    const cyaml_config_t config = configure(&log);
    *data = NULL;
    SXI_TRY(library_open(&yaml));
    SXI_TRY(sxi_slurp(path, what, &bytes));
    const cyaml_err_t error =
        yaml.load((const uint8_t *)bytes, strlen(bytes), &config, schema, data, NULL);
    if (error != CYAML_OK || log.length > 0 || log.failed) {
        yaml.free(&config, schema, *data, 0);
        *data = NULL;
        status = sxi_yaml_fail(path, schema->mapping.fields, &log);
    }
    free(sxi_text_take(&log));
    free(bytes);
    return status;
}

void sxi_yaml_free(const cyaml_schema_value_t *schema, void *data) {
    sxi_text log = {0};
    library yaml;
    const cyaml_config_t config = configure(&log);
    if (data && library_open(&yaml) == SX_OK) {
        yaml.free(&config, schema, data, 0);
    }
    free(sxi_text_take(&log));
}
