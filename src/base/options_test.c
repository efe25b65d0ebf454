/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdint.h>
#include <string.h>

#include <sextant/options.h>

#include "sx_check.h"

typedef struct values {
    bool json, has_t0, has_roi;
    int64_t threads, memory;
    double t0, scale;
    const char *output, *off;
    int background;
    int64_t bin[2], roi[4], pixel[2];
    sx_option_axes box;
} values;

#define AT(field) offsetof(values, field)
static const sx_option table[] = {
    {"output", 'o', SX_OPTION_TEXT, AT(output), -1, "FILE", "where to write", 0, 0},
    {"off", 0, SX_OPTION_TEXT, AT(off), -1, "FILE", "laser-off file", 0, 0},
    {"json", 0, SX_OPTION_FLAG, AT(json), -1, "", "figures as JSON", 0, 0},
    {"threads", 0, SX_OPTION_INT, AT(threads), -1, "N", "at most N threads", 1, 4096},
    {"memory", 0, SX_OPTION_BYTES, AT(memory), -1, "SIZE", "memory", 0, 0},
    {"t0", 0, SX_OPTION_REAL, AT(t0), AT(has_t0), "PS", "time zero, ps", 0, 0},
    {"scale", 0, SX_OPTION_REAL, AT(scale), -1, "X", "a factor", -2, 2},
    {"background", 0, SX_OPTION_CHOICE, AT(background), -1, "none|constant|linear|exp",
     "what the oscillation sits on; the default is constant, which is the second of the four", 0,
     0},
    {"bin", 0, SX_OPTION_SIZE, AT(bin), -1, "NyxNx", "pixels added", 0, 0},
    {"roi", 0, SX_OPTION_BOX, AT(roi), AT(has_roi), "y0:y1,x0:x1", "part of the frame", 0, 0},
    {"pixel", 0, SX_OPTION_POINT, AT(pixel), -1, "y,x", "a pixel", 0, 0},
    {"box", 0, SX_OPTION_AXES, AT(box), -1, "a:b,c:d,...", "a part", 0, 0},
    {0}};
static const sx_command_help command = {"sextant try", "try things", "FILE -o OUT", "A line.",
                                        table};

static const char *arguments[16];
static int count;

#define PARSE(v, ...) parse((v), (char *[]){(char *)(uintptr_t) "try", __VA_ARGS__, NULL})
#define W(word) (char *)(uintptr_t)(word)

static sx_status parse(values *v, char **argv) {
    int argc = 0;
    while (argv[argc]) {
        argc++;
    }
    return sx_options_parse(&command, argc, argv, v, arguments, &count);
}

START_TEST(every_kind_is_read) {
    values v = {.background = 1, .bin = {1, 1}};
    ck_ok(PARSE(&v, W("a.h5"), W("--json"), W("-o"), W("b.h5"), W("--threads=3"), W("--t0"),
                W("-1.5"), W("--background"), W("exp"), W("--bin"), W("2x3"), W("--roi"),
                W("0:128,64:256"), W("--scale"), W("-.5"), W("--pixel=0,7"), W("--"), W("--off")));
    ck_assert(v.json && v.has_t0 && v.has_roi);
    ck_assert_str_eq(v.output, "b.h5");
    ck_assert_ptr_null(v.off);
    ck_assert_int_eq(v.threads, 3);
    ck_near(v.t0, -1.5, 0, 0);
    ck_near(v.scale, -0.5, 0, 0);
    ck_assert_int_eq(v.background, 3);
    ck_assert(v.bin[0] == 2 && v.bin[1] == 3);
    ck_assert(v.roi[0] == 0 && v.roi[1] == 128 && v.roi[2] == 64 && v.roi[3] == 256);
    ck_assert(v.pixel[0] == 0 && v.pixel[1] == 7);
    ck_assert_int_eq(count, 2);
    ck_assert_str_eq(arguments[0], "a.h5");
    ck_assert_str_eq(arguments[1], "--off");
}
END_TEST

START_TEST(a_mistake_leaves_the_values_alone) {
    values v = {.background = 1, .threads = 7};
    const values before = v;
    ck_fails(PARSE(&v, W("--threads"), W("2"), W("--json"), W("--off")), SX_ERR_USAGE,
             "--off needs a value: --off FILE");
    ck_assert(memcmp(&v, &before, sizeof v) == 0);
}
END_TEST

START_TEST(each_mistake_has_its_sentence) {
    values v = {0};
    ck_fails(PARSE(&v, W("--thraeds"), W("2")), SX_ERR_USAGE,
             "unknown option --thraeds, did you mean --threads?");
    ck_fails(PARSE(&v, W("--jsn=1")), SX_ERR_USAGE, "unknown option --jsn, did you mean --json?");
    ck_fails(PARSE(&v, W("--xyzzy")), SX_ERR_USAGE, "'sextant try --help' lists");
    ck_fails(PARSE(&v, W("-x")), SX_ERR_USAGE, "unknown option -x");
    ck_fails(PARSE(&v, W("-ob.h5")), SX_ERR_USAGE, "unknown option -ob.h5");
    ck_fails(PARSE(&v, W("--off"), W("--json")), SX_ERR_USAGE, "--off needs a value");
    ck_fails(PARSE(&v, W("--off=")), SX_ERR_USAGE, "--off FILE: the value is empty");
    ck_fails(PARSE(&v, W("--json=yes")), SX_ERR_USAGE, "--json takes no value, 'yes' was given");
    ck_fails(PARSE(&v, W("--t0"), W("5.4x")), SX_ERR_USAGE, "--t0 PS: '5.4x' is not a number");
    ck_fails(PARSE(&v, W("--scale"), W("2.1")), SX_ERR_USAGE,
             "--scale X: '2.1' is out of range, allowed is -2 to 2");
    ck_fails(PARSE(&v, W("--threads"), W("0")), SX_ERR_USAGE, "allowed is 1 to 4096");
    ck_fails(PARSE(&v, W("--threads"), W("2.0")), SX_ERR_USAGE, "'2.0' is not a whole number");
    ck_fails(PARSE(&v, W("--background"), W("liner")), SX_ERR_USAGE,
             "--background: 'liner' is none of none|constant|linear|exp (did you mean linear?)");
    ck_fails(PARSE(&v, W("--t0"), W("1"), W("--t0=1")), SX_ERR_USAGE, "--t0 was given twice");
    ck_fails(PARSE(&v, W("-o"), W("a"), W("--output"), W("b")), SX_ERR_USAGE, "given twice");
}
END_TEST

START_TEST(sizes_and_boxes_are_strict) {
    const char *sizes[] = {"2", "2x", "x2", "0x1", "1x0", "-1x2", "2x3x4", "2X3", "2x3 ", "2.0x3"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        values v = {0};
        ck_fails(PARSE(&v, W("--bin"), W(sizes[i])), SX_ERR_USAGE, "is not a size such as 2x4");
    }
    const char *points[] = {"1", "1,", "-1,2", "1,2,3", "1:2"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        values v = {0};
        ck_fails(PARSE(&v, W("--pixel"), W(points[i])), SX_ERR_USAGE, "is not a pixel such as");
    }
    const char *boxes[] = {"0:1",
                           "0:1,0",
                           "1:1,0:1",
                           "2:1,0:1",
                           "-1:1,0:1",
                           "0:1,0:1,2",
                           "0:1,0:99999999999999999999",
                           "a:b,c:d",
                           ":,:"};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        values v = {0};
        ck_fails(PARSE(&v, W("--roi"), W(boxes[i])), SX_ERR_USAGE, "is not a box such as");
    }
}
END_TEST

START_TEST(amounts_of_memory) {
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"1", 1},
                {"3k", 3072},
                {"512M", 512LL << 20},
                {"8G", 8LL << 30},
                {"8388607T", 8388607LL << 40}};
    static const char *const bad[] = {"0", "", "G", "-1G", "8 G", "8g", "1.5G", "8GB", "8388608T"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        values v = {0};
        ck_ok(PARSE(&v, W("--memory"), W(good[i].text)));
        ck_assert_int_eq(v.memory, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char word[32];
        values v = {0};
        snprintf(word, sizeof word, "--memory=%s", bad[i]);
        ck_fails(PARSE(&v, word), SX_ERR_USAGE, "is not an amount of memory such as 8G or 512M");
    }
}
END_TEST

START_TEST(parts_of_any_rank) {
    const int64_t start[] = {0, 5, 0, 7, 0}, stop[] = {10, 6, -1, -1, 3};
    values v = {0};
    ck_ok(PARSE(&v, W("--box"), W("0:10,5,:,7:,:3")));
    ck_assert_int_eq(v.box.count, 5);
    ck_assert(memcmp(v.box.start, start, sizeof start) == 0);
    ck_assert(memcmp(v.box.stop, stop, sizeof stop) == 0);
    const char *wrong[] = {"",
                           ",",
                           "1,",
                           ",1",
                           "3:3",
                           "4:3",
                           "-1:3",
                           "1:-1",
                           "1:2:3",
                           "a",
                           "1.5",
                           "1:b",
                           "1 ",
                           "0x1",
                           "1;2",
                           "::",
                           "9223372036854775807",
                           "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        values w = {0};
        ck_fails(PARSE(&w, W("--box"), W(wrong[i])), SX_ERR_USAGE, "is no part of an axis");
    }
    ck_fails(PARSE(&v, W("--box"), W("1,2,3,4,5,6,7,8,9")), SX_ERR_USAGE, "more than 8 axes");
}
END_TEST

START_TEST(numbers_are_strict) {
    const char *reals[] = {"",    " 1",  "1 ",    "5.4x", "nan", "inf",   "0x10", "1e",
                           "1,5", "--1", "1.2.3", "+",    "-",   "1e999", "e5",   "."};
    double real = 7;
    int64_t integer = 7;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        ck_assert_int_eq(sx_parse_real(reals[i], &real), SX_ERR_USAGE);
        ck_assert_int_eq(sx_parse_int(reals[i], &integer), SX_ERR_USAGE);
    }
    ck_assert_int_eq(sx_parse_int("1.0", &integer), SX_ERR_USAGE);
    ck_fails(sx_parse_int("9223372036854775808", &integer), SX_ERR_USAGE, "too large");
    ck_fails(sx_parse_real("1e999", &real), SX_ERR_USAGE, "too large");
    ck_near(real, 7, 0, 0);
    ck_assert_int_eq(integer, 7);
    ck_ok(sx_parse_int("-9223372036854775808", &integer));
    ck_assert(integer == INT64_MIN);
    ck_ok(sx_parse_real("-1.25e-3", &real));
    ck_near(real, -1.25e-3, 0, 0);
    ck_ok(sx_parse_real("+.5", &real));
    ck_near(real, 0.5, 0, 0);
}
END_TEST

START_TEST(a_comma_locale_changes_nothing) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        printf("skipped: the locale de_DE.UTF-8 is not installed\n");
        return;
    }
    double real = 0;
    ck_ok(sx_parse_real("1.5", &real));
    ck_near(real, 1.5, 0, 0);
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(nearest_word) {
    const char *words[] = {"fit", "simulate", "figure"};
    ck_assert_str_eq(sx_nearest("fti", words, 3), "fit");
    ck_assert_str_eq(sx_nearest("simluate", words, 3), "simulate");
    ck_assert_str_eq(sx_nearest("figur", words, 3), "figure");
    ck_assert_ptr_null(sx_nearest("reduce", words, 3));
    ck_assert_ptr_null(sx_nearest("", words, 3));
    ck_assert_ptr_null(sx_nearest("fit", NULL, 0));
    ck_assert_ptr_null(sx_nearest("5", (const char *[]){"0", "1"}, 2));
    ck_assert_str_eq(sx_nearest("tf", (const char *[]){"ft", "x"}, 2), "ft");
}
END_TEST

START_TEST(help_says_every_option_once) {
    char *text = sx_options_help(&command);
    ck_assert_ptr_nonnull(text);
    ck_assert(strncmp(text, "sextant try - try things\n\nusage: sextant try FILE -o OUT\n", 56) ==
              0);
    for (const sx_option *o = table; o->name; o++) {
        char name[32];
        snprintf(name, sizeof name, "--%s", o->name);
        const char *first = strstr(text, name);
        ck_assert_ptr_nonnull(first);
        ck_assert_ptr_null(strstr(first + 1, name));
    }
    ck_assert_ptr_nonnull(strstr(text, "  -o, --output FILE       where to write\n"));
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        ck_assert_uint_le(strcspn(line, "\n"), 80);
    }
    free(text);
}
END_TEST

START_TEST(man_and_completion_come_from_the_table) {
    char *man = sx_options_man(&command);
    ck_assert(strncmp(man, "sextant-try(1)\n\n# NAME\n\nsextant-try - try things\n", 49) == 0);
    ck_assert_ptr_nonnull(strstr(man, "\n*-o*, *--output* FILE\n\twhere to write\n"));
    free(man);
    char *complete = sx_options_complete(&command);
    ck_assert_ptr_nonnull(strstr(complete, "\"sextant try \"*)"));
    ck_assert_ptr_nonnull(strstr(complete, "--background) list=\"none constant linear exp\" ;;"));
    ck_assert_ptr_nonnull(strstr(complete, "--output|-o) list=\"\" ;;"));
    free(complete);
}
END_TEST

SX_TEST_MAIN("options", every_kind_is_read, a_mistake_leaves_the_values_alone,
             each_mistake_has_its_sentence, sizes_and_boxes_are_strict, amounts_of_memory,
             parts_of_any_rank, numbers_are_strict, a_comma_locale_changes_nothing, nearest_word,
             help_says_every_option_once, man_and_completion_come_from_the_table)
