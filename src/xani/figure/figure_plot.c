/* SPDX-License-Identifier: Apache-2.0
 * The files of a picture and the run of gnuplot that draws it. */
#include "xani/figure/figure.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"

extern char **environ;

/* Of the picture: .png or .pdf, as the output has it. */
static const char *const suffixes[SXI_PLOT_PICTURE] = {".maps.dat", ".trace.dat", ".gnuplot"};
static const char *const pictures[] = {".png", ".pdf"};
static const char *const LOG = "gnuplot.log";

struct sxi_plot {
    char *base;          /* output without its ending */
    const char *picture; /* one of pictures */
    const char *stem;    /* its last part */
    char *folder;
    bool overwrite;
    FILE *stream[SXI_PLOT_FILES];
    int failed; /* errno of the first file that could not be opened or written */
};

/* malloc'd front + middle + back; NULL without memory. */
static char *join(const char *front, const char *middle, const char *back) {
    size_t size = strlen(front) + strlen(middle) + strlen(back) + 1;
    char *text = malloc(size);
    if (text) {
        snprintf(text, size, "%s%s%s", front, middle, back);
    }
    return text;
}

static char *final_name(const sxi_plot *plot, const char *suffix) {
    return join(plot->base, "", suffix);
}

static char *stage_name(const sxi_plot *plot, const char *suffix) {
    char *folder = join(plot->folder, "/", "");
    char *name = folder ? join(folder, plot->stem, suffix) : NULL;
    free(folder);
    return name;
}

static sx_status no_memory(void) { return SXI_FAIL(SX_ERR_MEMORY, "no memory for a file name"); }

static const char *suffix_of(const sxi_plot *plot, unsigned file) {
    return file == SXI_PLOT_PICTURE ? plot->picture : suffixes[file];
}

/* The ending of the output, if it is one of a picture. */
static const char *picture_of(const char *output) {
    const size_t length = output ? strlen(output) : 0;
    const char *slash = output ? strrchr(output, '/') : NULL;
    const char *name = slash ? slash + 1 : output;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        const size_t size = strlen(pictures[i]);
        if (length > size && strcmp(output + length - size, pictures[i]) == 0 &&
            strlen(name) > size) {
            return pictures[i];
        }
    }
    return NULL;
}

static sx_status check_output(const char *output) {
    if (!picture_of(output)) {
        return SXI_FAIL(
            SX_ERR_ARGUMENT,
            "a picture cannot be written to '%s': give a name that ends in .png or .pdf",
            output ? output : "");
    }
    if (strpbrk(output, "\n\r")) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "the name of the picture contains a line break: give one without");
    }
    return SX_OK;
}

static sx_status check_existing(const sxi_plot *plot) {
    for (unsigned i = 0; i < SXI_PLOT_FILES; i++) {
        char *name = final_name(plot, suffix_of(plot, i));
        if (!name) {
            return no_memory();
        }
        struct stat info;
        sx_status status = SX_OK;
        if (lstat(name, &info) == 0) {
            status = SXI_FAIL(SX_ERR_EXISTS,
                              "%s exists and is kept: give another name, or --overwrite", name);
        }
        free(name);
        SXI_TRY(status);
    }
    return SX_OK;
}

sx_status sxi_plot_create(const char *output, bool overwrite, sxi_plot **plot) {
    *plot = NULL;
    SXI_TRY(check_output(output));
    sx_status status = SX_OK;
    sxi_plot *made = calloc(1, sizeof *made);
    if (!made || !(made->base = join(output, "", ""))) {
        free(made);
        return no_memory();
    }
    made->picture = picture_of(output);
    made->base[strlen(output) - strlen(made->picture)] = '\0';
    const char *slash = strrchr(made->base, '/');
    made->stem = slash ? slash + 1 : made->base;
    made->overwrite = overwrite;
    if (!overwrite) {
        SXI_GO(check_existing(made));
    }
    char *folder = join(output, "", ".XXXXXX");
    if (!folder) {
        status = no_memory();
        goto out;
    }
    if (!mkdtemp(folder)) {
        status = SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", output, strerror(errno));
        free(folder);
        goto out;
    }
    made->folder = folder;
    *plot = made;
out:
    if (status != SX_OK) {
        sxi_plot_abandon(&made);
    }
    return status;
}

FILE *sxi_plot_open(sxi_plot *plot, sxi_plot_file file) {
    if (!plot->stream[file] && !plot->failed) {
        char *name = stage_name(plot, suffix_of(plot, file));
        plot->stream[file] = name ? fopen(name, "wb") : NULL;
        if (!plot->stream[file]) {
            plot->failed = name ? errno : ENOMEM;
        }
        free(name);
    }
    return plot->stream[file];
}

/* A pixel is a hundredth of an inch on paper; letters are made to fit. */
void sxi_plot_terminal(sxi_plot *plot, double width, double height) {
    FILE *script = sxi_plot_open(plot, SXI_PLOT_SCRIPT);
    if (script && plot->picture == pictures[1]) {
        fprintf(script,
                "set terminal pdfcairo size %.2fin,%.2fin font 'sans,12' fontscale 0.72 background "
                "'#ffffff'\n",
                width / 100, height / 100);
    } else if (script) {
        fprintf(script,
                "set terminal pngcairo size %.0f,%.0f font 'sans,12' background '#ffffff'\n", width,
                height);
    }
}

/* Inside '...' gnuplot knows one escape: a doubled quote. */
static void write_quoted(FILE *stream, const char *front, const char *back) {
    fputc('\'', stream);
    for (const char *part = front; part; part = part == front ? back : NULL) {
        for (const char *c = part; *c; c++) {
            if (*c == '\'') {
                fputc('\'', stream);
            }
            fputc(*c, stream);
        }
    }
    fputc('\'', stream);
}

void sxi_plot_quote(sxi_plot *plot, sxi_plot_file file) {
    FILE *script = sxi_plot_open(plot, SXI_PLOT_SCRIPT);
    if (script) {
        write_quoted(script, plot->stem, suffix_of(plot, file));
    }
}

/* --- gnuplot --- */

/* "cd 'FOLDER'", for -e; NULL without memory. */
static char *change_folder(const char *folder) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) {
        return NULL;
    }
    fputs("cd ", stream);
    write_quoted(stream, folder, "");
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* The first line that says what is wrong; "" if gnuplot said nothing. */
static void first_complaint(const char *log, char *line, size_t size) {
    line[0] = '\0';
    FILE *stream = fopen(log, "r");
    if (!stream) {
        return;
    }
    char text[512];
    while (fgets(text, sizeof text, stream)) {
        text[strcspn(text, "\n")] = '\0';
        const char *start = text + strspn(text, " \t");
        /* gnuplot first repeats the line with a caret below it, then says 'FILE line N: reason'. */
        bool reason = strstr(start, " line ") && strchr(start, ':');
        if ((*start && !line[0]) || reason) {
            snprintf(line, size, "%s", start);
        }
        if (reason) {
            break;
        }
    }
    fclose(stream);
}

static sx_status wait_for(pid_t child, const char *log) {
    int code = 0;
    while (waitpid(child, &code, 0) < 0) {
        /* A host that ignores SIGCHLD takes the status away; the picture then is the witness. */
        if (errno != EINTR) {
            code = 0;
            break;
        }
    }
    if (WIFEXITED(code) && WEXITSTATUS(code) == 0) {
        return SX_OK;
    }
    char line[512];
    first_complaint(log, line, sizeof line);
    if (WIFSIGNALED(code)) {
        return SXI_FAIL(SX_ERR_IO, "gnuplot was ended by signal %d: %s", WTERMSIG(code), line);
    }
    return SXI_FAIL(SX_ERR_IO, "gnuplot failed: %s", line);
}

static sx_status spawn(char *const arguments[], const char *log, pid_t *child) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return no_memory();
    }
    int error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) {
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (!error) {
        error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT,
                                                 0600);
    }
    if (!error) {
        error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "gnuplot cannot be started (%s): install it with 'apt-get install "
                        "gnuplot-nox', or put it on the PATH",
                        strerror(error));
    }
    return SX_OK;
}

/* gnuplot ends with 0 also where the disk was full: only a picture that has its last bytes is whole. */
static bool is_whole(const char *picture, bool pdf) {
    static const char png[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', '\xae', 'B', '`', '\x82'};
    static const char eof[] = {'%', '%', 'E', 'O', 'F', '\n'};
    const char *end = pdf ? eof : png;
    const size_t size = pdf ? sizeof eof : sizeof png;
    char last[sizeof png];
    FILE *stream = fopen(picture, "rb");
    const bool whole = stream && fseek(stream, -(long)size, SEEK_END) == 0 &&
                       fread(last, 1, size, stream) == size && memcmp(last, end, size) == 0;
    if (stream) {
        fclose(stream);
    }
    return whole;
}

static sx_status draw(const sxi_plot *plot) {
    sx_status status = SX_OK;
    char *folder = change_folder(plot->folder);
    /* "./" so that a name with a dash in front is no option. */
    char *script = join("./", plot->stem, suffixes[SXI_PLOT_SCRIPT]);
    char *log = join(plot->folder, "/", LOG);
    char program[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
    if (!folder || !script || !log) {
        status = no_memory();
        goto out;
    }
    char *const arguments[] = {program, defaults, execute, folder, script, NULL};
    pid_t child;
    SXI_GO(spawn(arguments, log, &child));
    SXI_GO(wait_for(child, log));
    char *picture = stage_name(plot, plot->picture);
    if (!picture || !is_whole(picture, plot->picture == pictures[1])) {
        status =
            SXI_FAIL(SX_ERR_IO, "gnuplot ended before the picture was complete; is the disk full?");
    }
    free(picture);
out:
    free(folder);
    free(script);
    free(log);
    return status;
}

/* --- the end --- */

static sx_status close_streams(sxi_plot *plot) {
    for (unsigned i = 0; i < SXI_PLOT_FILES; i++) {
        if (plot->stream[i]) {
            bool bad = ferror(plot->stream[i]) != 0;
            if (fclose(plot->stream[i]) != 0 || bad) {
                plot->failed = plot->failed ? plot->failed : errno ? errno : EIO;
            }
            plot->stream[i] = NULL;
        }
    }
    return plot->failed ? SXI_FAIL(SX_ERR_IO, "the data of %s%s cannot be written: %s", plot->base,
                                   plot->picture, strerror(plot->failed))
                        : SX_OK;
}

/* A file that this picture does not have is removed: with overwrite it belonged to the old one. */
static sx_status move(const sxi_plot *plot, const char *suffix) {
    char *from = stage_name(plot, suffix), *to = final_name(plot, suffix);
    sx_status status = SX_OK;
    if (!from || !to) {
        status = no_memory();
    } else if (rename(from, to) != 0) {
        if (errno != ENOENT) {
            status = SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", to, strerror(errno));
        } else if (plot->overwrite) {
            unlink(to);
        }
    }
    free(from);
    free(to);
    return status;
}

sx_status sxi_plot_commit(sxi_plot **plot, const sx_context *context) {
    sx_status status = SX_OK;
    SXI_GO(close_streams(*plot));
    SXI_GO(draw(*plot));
    if (sx_cancelled(context)) {
        status = SXI_FAIL(SX_ERR_CANCELLED, "cancelled before %s%s was complete", (*plot)->base,
                          (*plot)->picture);
        goto out;
    }
    if (!(*plot)->overwrite) {
        SXI_GO(check_existing(*plot));
    }
    for (unsigned i = 0; i < SXI_PLOT_FILES; i++) {
        SXI_GO(move(*plot, suffix_of(*plot, i)));
    }
out:
    sxi_plot_abandon(plot);
    return status;
}

void sxi_plot_abandon(sxi_plot **plot) {
    sxi_plot *p = *plot;
    if (!p) {
        return;
    }
    for (unsigned i = 0; i < SXI_PLOT_FILES; i++) {
        if (p->stream[i]) {
            fclose(p->stream[i]);
        }
    }
    if (p->folder) {
        for (unsigned i = 0; i <= SXI_PLOT_FILES; i++) {
            char *name =
                i < SXI_PLOT_FILES ? stage_name(p, suffix_of(p, i)) : join(p->folder, "/", LOG);
            if (name) {
                unlink(name);
            }
            free(name);
        }
        rmdir(p->folder);
    }
    free(p->folder);
    free(p->base);
    free(p);
    *plot = NULL;
}
