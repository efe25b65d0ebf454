/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/options.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { COLUMN = 26, WIDTH = 80 }; /* of --help: where the sentences start, where lines end */

/* Adds a sentence from the given column on, broken at blanks, continued at indent. */
static void add_wrapped(sxi_text *text, const char *sentence, int column, int indent) {
    bool first = true;
    while (*sentence) {
        const int length = (int)strcspn(sentence, " ");
        if (!first && column + 1 + length > WIDTH) {
            sxi_text_add(text, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            sxi_text_add(text, " ");
            column++;
        }
        sxi_text_add_bytes(text, sentence, (size_t)length);
        column += length;
        sentence += length;
        sentence += *sentence == ' ';
        first = false;
    }
    sxi_text_add(text, "\n");
}

static void add_help_line(sxi_text *text, const sx_option *o) {
    char left[256];
    int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                      : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->kind != SX_OPTION_FLAG) {
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->value);
    }
    /* A long name gets a line of its own. */
    sxi_text_add(text, n > COLUMN - 2 ? "%s\n%*s" : "%s%*s", left,
                 n > COLUMN - 2 ? COLUMN : COLUMN - n, "");
    add_wrapped(text, o->help, COLUMN, COLUMN);
}

char *sx_options_help(const sx_command_help *help) {
    sxi_text text = {0};
    sxi_text_add(&text, "%s - %s\n\nusage: %s %s\n", help->name, help->summary, help->name,
                 help->arguments);
    if (*help->text) {
        sxi_text_add(&text, "\n%s\n", help->text);
    }
    sxi_text_add(&text, "\noptions:\n");
    for (const sx_option *o = help->options; o->name; o++) {
        add_help_line(&text, o);
    }
    return sxi_text_take(&text);
}

/* Adds words with the characters escaped that scdoc takes for marks. */
static void add_scdoc(sxi_text *text, const char *words) {
    for (; *words; words++) {
        const bool mark = strchr("\\*_+~#[]`", *words) != NULL;
        sxi_text_add(text, mark ? "\\%c" : "%c", *words);
    }
}

char *sx_options_man(const sx_command_help *help) {
    sxi_text text = {0};
    for (const char *c = help->name; *c; c++) {
        sxi_text_add(&text, "%c", *c == ' ' ? '-' : *c);
    }
    sxi_text_add(&text, "(1)\n\n# NAME\n\n");
    for (const char *c = help->name; *c; c++) {
        sxi_text_add(&text, "%c", *c == ' ' ? '-' : *c);
    }
    sxi_text_add(&text, " - ");
    add_scdoc(&text, help->summary);
    sxi_text_add(&text, "\n\n# SYNOPSIS\n\n*%s* ", help->name);
    add_scdoc(&text, help->arguments);
    sxi_text_add(&text, "\n");
    if (*help->text) {
        sxi_text_add(&text, "\n# DESCRIPTION\n\n");
        add_scdoc(&text, help->text);
        sxi_text_add(&text, "\n");
    }
    sxi_text_add(&text, "\n# OPTIONS\n");
    for (const sx_option *o = help->options; o->name; o++) {
        sxi_text_add(&text, "\n");
        if (o->letter) {
            sxi_text_add(&text, "*-%c*, ", o->letter);
        }
        sxi_text_add(&text, "*--%s*", o->name);
        if (o->kind != SX_OPTION_FLAG) {
            sxi_text_add(&text, " ");
            add_scdoc(&text, o->value);
        }
        sxi_text_add(&text, "\n\t");
        add_scdoc(&text, o->help);
        sxi_text_add(&text, "\n");
    }
    return sxi_text_take(&text);
}

char *sx_options_complete(const sx_command_help *help) {
    sxi_text text = {0};
    sxi_text_add(&text, "    \"%s \"*)\n        case $previous in\n", help->name);
    for (const sx_option *o = help->options; o->name; o++) {
        if (o->kind == SX_OPTION_FLAG) {
            continue;
        }
        sxi_text_add(&text, "        --%s", o->name);
        if (o->letter) {
            sxi_text_add(&text, "|-%c", o->letter);
        }
        sxi_text_add(&text, ") list=\"");
        for (const char *c = o->kind == SX_OPTION_CHOICE ? o->value : ""; *c; c++) {
            sxi_text_add(&text, "%c", *c == '|' ? ' ' : *c);
        }
        sxi_text_add(&text, "\" ;;\n");
    }
    /* Files are offered where a word does not begin with a dash, as bash does without a list. */
    sxi_text_add(&text, "        *) [[ $word == -* ]] && list=\"");
    for (const sx_option *o = help->options; o->name; o++) {
        sxi_text_add(&text, "%s--%s", o == help->options ? "" : " ", o->name);
    }
    sxi_text_add(&text, "\" ;;\n        esac ;;\n");
    return sxi_text_take(&text);
}
