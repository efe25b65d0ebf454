/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LINE_H
#define CLI_LINE_H

/* cli_line - the command line as a shell would read it again, with quotes where they are needed:
 * name, then argv[1..argc-1]. To be freed; NULL without memory. */
char *cli_line(const char *name, int argc, char **argv);

#endif
