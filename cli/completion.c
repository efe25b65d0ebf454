/* SPDX-License-Identifier: Apache-2.0 */
#include "completion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/dcos.h>

static int print(char *text) {
    if (!text) {
        fputs("sextant: out of memory\n", stderr);
        return 1;
    }
    fputs(text, stdout);
    free(text);
    return 0;
}

int cli_print_man(const cli_command *command) { return print(sx_options_man(&command->help)); }

void cli_print_states(void) {
    for (int state = 0; sx_dcos_state_word(state); state++) {
        printf("%s%d ", state == 0 ? "\t" : "", state);
        for (const char *c = sx_dcos_state_word(state); *c; c++) {
            printf(*c == '_' ? "\\%c" : "%c", *c);
        }
        printf(": %s%s\n", sx_dcos_state_sentence(state),
               sx_dcos_state_word(state + 1) ? "++" : "");
    }
}

/* Whether a group was met before in the table. */
static bool is_first(const cli_command *const *commands, int i) {
    for (int k = 0; k < i; k++) {
        if (strcmp(commands[k]->group, commands[i]->group) == 0) {
            return false;
        }
    }
    return true;
}

/* The branch for the words that may follow a group, or the program. */
static void print_branch(const cli_command *const *commands, int count, const char *group) {
    printf("    \"sextant %s%s\") list=\"", group, *group ? " " : "");
    for (int i = 0; i < count; i++) {
        if (strcmp(commands[i]->group, group) == 0) {
            printf("%s ", commands[i]->name);
        } else if (!*group && is_first(commands, i)) {
            printf("%s ", commands[i]->group);
        }
    }
    printf("--help%s\" ;;\n", *group ? "" : " --version");
}

int cli_print_completion(const cli_command *const *commands, int count) {
    int code = 0;
    puts("# bash completion of sextant; made by 'sextant --completion'\n"
         "_sextant() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    local list='' line='sextant ' i\n"
         "    for ((i = 1; i < COMP_CWORD; i++)); do line+=\"${COMP_WORDS[i]} \"; done\n"
         "    case $line in");
    for (int i = 0; i < count && code == 0; i++) {
        code = print(sx_options_complete(&commands[i]->help));
    }
    print_branch(commands, count, "");
    for (int i = 0; i < count; i++) {
        if (*commands[i]->group && is_first(commands, i)) {
            print_branch(commands, count, commands[i]->group);
        }
    }
    puts("    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$word\")\n"
         "}\n"
         "complete -o default -F _sextant sextant");
    return code;
}
