/* SPDX-License-Identifier: Apache-2.0
 * One table of options per command. From it come parsing, --help, the OPTIONS of the man page and
 * the shell completion. */
#ifndef SEXTANT_OPTIONS_H
#define SEXTANT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sx_option_kind {
    SX_OPTION_FLAG,   /* bool                                    --json */
    SX_OPTION_INT,    /* int64_t                                 --threads N */
    SX_OPTION_REAL,   /* double, strict: "5.4x", "nan" are errors */
    SX_OPTION_TEXT,   /* const char * (points into argv) */
    SX_OPTION_CHOICE, /* int, index into choices "a|b|c" */
    SX_OPTION_SIZE,   /* int64_t[2], "NyxNx", both >= 1 */
    SX_OPTION_POINT,  /* int64_t[2], "y,x", both >= 0 */
    SX_OPTION_BOX,    /* int64_t[4], "y0:y1,x0:x1", half-open, 0 <= start < stop */
    SX_OPTION_BYTES,  /* int64_t, "8G": a whole number >= 1, times 1024 for k, 1024^2 for M, G, T */
    SX_OPTION_AXES    /* sx_option_axes, "0:10,5,:", for each axis a range, an index or all */
} sx_option_kind;

enum { SX_OPTION_MAX_AXES = 8 };

/* A part of an array of any rank: start <= index < stop of each axis, 0 <= start < stop. A single
 * index is a range of one. */
typedef struct sx_option_axes {
    int count;
    int64_t start[SX_OPTION_MAX_AXES];
    int64_t stop[SX_OPTION_MAX_AXES]; /* -1: to the end */
} sx_option_axes;

typedef struct sx_option {
    const char *name; /* "threads" for --threads; NULL name ends the table */
    char letter;      /* 'o' for -o, or 0 */
    sx_option_kind kind;
    size_t offset;      /* offsetof(struct, field) of the value */
    ptrdiff_t given;    /* offsetof of a bool set where the option was given; -1: none */
    const char *value;  /* "N", "FILE:/path" in help; for a choice "none|constant|linear" */
    const char *help;   /* one sentence, with unit and default */
    double least, most; /* allowed range of INT and REAL where least < most */
} sx_option;

typedef struct sx_command_help {
    const char *name;      /* "sextant xani fit" */
    const char *summary;   /* one line */
    const char *arguments; /* "CUBE -o fit.h5" */
    const char *text;      /* a few lines; "" allowed */
    const sx_option *options;
} sx_command_help;

/* sx_options_parse - reads argv[1..argc-1] into the struct values, which holds the defaults.
 *
 * in   help       its option table; --help is an option like another, and the caller's business
 * out  values     struct the offsets refer to; as before on failure
 * out  arguments  [argc]  what is not an option, in order; "--" ends options
 * out  count      of arguments
 *
 * "--name value", "--name=value", "-o value". A value after a space may begin with "-" only where
 * it is a number (-1.5) or "-" alone. Each option may be given once: a second time is more often a
 * slip than a wish. SX_ERR_USAGE with a sentence that names the option, what was found and what was
 * expected, and the nearest name for an unknown one. Tables of more than 64 options are too long.
 */
SX_API sx_status sx_options_parse(const sx_command_help *help, int argc, char **argv, void *values,
                                  const char **arguments, int *count);

/* sx_options_help - the text of --help. sx_options_man - a man page in scdoc, up to and with its
 * OPTIONS. sx_options_complete - the branch for this command of a bash "case" over the words typed,
 * which sets `list` to what may come next ($word is being typed, $previous stands before it). Each
 * returns malloc'd text to be freed by the caller, NULL without memory. */
SX_API char *sx_options_help(const sx_command_help *help);
SX_API char *sx_options_man(const sx_command_help *help);
SX_API char *sx_options_complete(const sx_command_help *help);

/* sx_parse_real, sx_parse_int - the whole text is one finite decimal number (no blanks, no "0x", no
 * "inf", a point in every locale), else SX_ERR_USAGE. */
SX_API sx_status sx_parse_real(const char *text, double *value);
SX_API sx_status sx_parse_int(const char *text, int64_t *value);

/* sx_nearest - which of count words a mistyped word may have meant; NULL if none is like it. */
SX_API const char *sx_nearest(const char *word, const char *const *words, int count);

#ifdef __cplusplus
}
#endif
#endif
