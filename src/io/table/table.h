/* SPDX-License-Identifier: Apache-2.0
 * Small tables of numbers in text files. */
#ifndef SXI_TABLE_H
#define SXI_TABLE_H

#include <stdint.h>

#include <sextant/status.h>

enum { SXI_TABLE_COLUMNS = 64, SXI_TABLE_NAME = 64 };

typedef struct sxi_table {
    int columns;
    int64_t rows;
    double *value;                                /* [rows][columns] */
    char name[SXI_TABLE_COLUMNS][SXI_TABLE_NAME]; /* "" where the file gives none */
} sxi_table;

/* sxi_table_read - lines of numbers, the same count in each, separated by comma, semicolon, tab or
 * blanks (decided by the first line of numbers); "nan" is allowed, decimal commas are not. Names
 * stand in a line before the numbers, alone or as a comment; lines that start with '#' or are empty
 * are skipped.
 *
 * SX_ERR_IO, SX_ERR_FORMAT (with the line), SX_ERR_MEMORY. Files above 64 MiB are refused. */
sx_status sxi_table_read(const char *path, sxi_table *table);
void sxi_table_destroy(sxi_table *table);

/* sxi_table_unit - the unit in a column's name: t_ps, "delay (ps)", "delay [ns]"; "" without. */
const char *sxi_table_unit(const char *name, char *unit, int size);

#endif
