/* SPDX-License-Identifier: Apache-2.0 */
#include "io/table/table.h"
#include "sx_check.h"
#include "sx_folder.h"

#include <locale.h>
#include <string.h>

static sx_status read_text(const char *text, sxi_table *table) {
    return sxi_table_read(sx_folder_write("t.csv", text, strlen(text)), table);
}

START_TEST(every_separator_and_header) {
    static const char *const texts[] = {
        "t_ps,y\n1,2\n3,-4e-1\n",
        "# a comment\r\n# t_ps,y\r\n1,2\r\n\r\n3,-4e-1",
        "t_ps;y\n 1 ; 2\n3;-0.4\n",
        "# t_ps y\n1 2\n  3\t -.4 \n",
        "t_ps\ty\n1\t2\n# in between\n3\t-0.4\n",
        "\xef\xbb\xbft_ps,y\r\n1,2\r\n3,-0.4\r\n", /* as spreadsheets save UTF-8 */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sxi_table table;
        ck_ok(read_text(texts[i], &table));
        ck_assert_msg(table.columns == 2 && table.rows == 2, "text %zu", i);
        ck_assert(table.value[0] == 1 && table.value[1] == 2 && table.value[2] == 3);
        ck_assert(table.value[3] == -0.4);
        ck_assert_str_eq(table.name[0], "t_ps");
        ck_assert_str_eq(table.name[1], "y");
        sxi_table_destroy(&table);
    }
}
END_TEST

START_TEST(numbers_without_names_and_missing_ones) {
    sxi_table table;
    ck_ok(read_text("# two columns of numbers\n1,nan\n2,NaN\n", &table));
    ck_assert(table.rows == 2 && isnan(table.value[1]) && isnan(table.value[3]));
    ck_assert_str_eq(table.name[0], "");
    sxi_table_destroy(&table);
}
END_TEST

START_TEST(bad_lines_are_told_by_number) {
    static const struct {
        const char *text;
        const char *words;
    } cases[] = {{"1,2\n3,x\n", "line 2: 'x' is not a number"},
                 {"1,2\n3\n", "line 2 has 1 numbers, the lines before it 2"},
                 {"1,2\n3,4,5\n", "line 2 has 3 numbers"},
                 {"1,2\n3,\n", "line 2"},
                 {"1;2,5\n", "line"},
                 {"1,2\n3,inf\n", "'inf' is not a number"},
                 {"1,2\n3,0x10\n", "'0x10' is not a number"},
                 {"1,2\n3,4 5\n", "'4 5' is not a number"},
                 {"a,b,c\n1,2\n", "line 1 should name 2 columns"},
                 {"a,b\nc,d\n1,2\n", "line 2: 'c' is not a number"},
                 {"# nothing\n", "no line of numbers"},
                 {"", "no line of numbers"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sxi_table table;
        ck_fails(read_text(cases[i].text, &table), SX_ERR_FORMAT, cases[i].words);
        ck_assert_ptr_null(table.value);
    }
    sxi_table table;
    ck_fails(sxi_table_read(sx_folder_write("b", "1,2\n\0\1", 6), &table), SX_ERR_FORMAT,
             "binary data");
    ck_fails(sxi_table_read(sx_folder("none.csv"), &table), SX_ERR_IO, "no such file");
    ck_fails(sxi_table_read("/tmp", &table), SX_ERR_IO, "not a regular file");
}
END_TEST

START_TEST(units_in_names) {
    static const char *const cases[][2] = {{"t_ps", "ps"},
                                           {"time_fs", "fs"},
                                           {"delay(ps)", "ps"},
                                           {"delay [ns]", "ns"},
                                           {"pump_delay_us", "us"},
                                           {"t", ""},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char unit[16];
        ck_assert_str_eq(sxi_table_unit(cases[i][0], unit, sizeof unit), cases[i][1]);
    }
}
END_TEST

START_TEST(a_real_trace) {
    const char *path = sx_data("musr/trace_left.csv");
    if (!path) {
        return;
    }
    sxi_table table;
    ck_ok(sxi_table_read(path, &table));
    ck_assert_int_eq(table.columns, 3);
    ck_assert_int_eq(table.rows, 262);
    ck_assert_str_eq(table.name[0], "t_us");
    ck_assert_str_eq(table.name[2], "sigma");
    ck_assert(table.value[0] == 0.01875 && table.value[2] == 0.00487501243);
    sxi_table_destroy(&table);
}
END_TEST

SX_TEST_MAIN("table", every_separator_and_header, numbers_without_names_and_missing_ones,
             bad_lines_are_told_by_number, units_in_names, a_real_trace)
