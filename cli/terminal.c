/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stop.h"

enum { BAR = 24 };
static const double DRAW_EVERY = 0.1; /* seconds */

struct cli_terminal {
    const char *command;
    bool quiet, bar, lines, drawn;
    char what[32];         /* what is being counted */
    double started, shown; /* when that began, when it was last drawn; s */
    bool complete;         /* the last line said that all is done */
    pthread_mutex_t lock;  /* a log and a progress call may meet */
};

/* A process has one terminal. */
static cli_terminal the_terminal;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cli_terminal *cli_terminal_open(const char *command, bool quiet, cli_progress progress) {
    the_terminal = (cli_terminal){.command = command,
                                  .quiet = quiet,
                                  .lines = progress == CLI_LINES,
                                  .bar = progress == CLI_BAR && !quiet && isatty(STDERR_FILENO),
                                  .lock = PTHREAD_MUTEX_INITIALIZER};
    /* A write beyond the allowed size of a file shall fail and be told, not kill. */
    signal(SIGXFSZ, SIG_IGN);
    return &the_terminal;
}

static void wipe(cli_terminal *terminal) {
    if (terminal->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        terminal->drawn = false;
    }
}

void cli_terminal_close(cli_terminal *terminal) { wipe(terminal); }

void cli_print_text(FILE *stream, const char *text) {
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        putc(c < ' ' || c == 127 ? '?' : c, stream);
    }
}

void cli_terminal_log(void *data, sx_log_level level, const char *sentence) {
    cli_terminal *terminal = data;
    if (level == SX_LOG_DEBUG || (level == SX_LOG_INFO && terminal->quiet)) {
        return;
    }
    pthread_mutex_lock(&terminal->lock);
    wipe(terminal);
    fprintf(stderr, "%s: %s", terminal->command, level == SX_LOG_WARNING ? "warning: " : "");
    cli_print_text(stderr, sentence);
    putc('\n', stderr);
    pthread_mutex_unlock(&terminal->lock);
}

static void time_left(char *text, size_t size, double seconds) {
    if (seconds < 100) {
        snprintf(text, size, "%.0f s left", ceil(seconds));
    } else if (seconds < 6000) {
        snprintf(text, size, "%.0f min left", ceil(seconds / 60));
    } else {
        snprintf(text, size, "%.1f h left", seconds / 3600);
    }
}

static void draw(const cli_terminal *terminal, int64_t done, int64_t total, double seconds) {
    static const char full[] = "########################", none[] = "........................";
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    char speed[32] = "", left[32] = "";
    if (rate > 0) {
        snprintf(speed, sizeof speed,
                 rate < 10    ? " %.1f/s"
                 : rate < 1e7 ? " %.0f/s"
                              : " %.3g/s",
                 rate);
        time_left(left, sizeof left, (double)(total - done) / rate);
    }
    if (total <= 0) {
        fprintf(stderr, "\r%s %lld%s\033[K", terminal->what, (long long)done, speed);
        return;
    }
    const double part = done < total ? (double)done / (double)total : 1;
    const int n = (int)(part * BAR);
    fprintf(stderr, "\r%s %3d %% [%.*s%.*s]%s%s%s\033[K", terminal->what, (int)(100 * part), n,
            full, BAR - n, none, speed, *left ? ", " : "", left);
}

/* For programs: one object a line. */
static void print_line(const cli_terminal *terminal, int64_t done, int64_t total, double seconds) {
    fprintf(stderr, "{\"progress\": \"%s\", \"done\": %lld, \"total\": %lld, \"seconds\": %.3f}\n",
            terminal->what, (long long)done, (long long)total, seconds);
}

void cli_terminal_progress(void *data, const char *what, int64_t done, int64_t total) {
    cli_terminal *terminal = data;
    if (!terminal->bar && !terminal->lines) {
        return;
    }
    pthread_mutex_lock(&terminal->lock);
    const double t = now();
    if (strncmp(terminal->what, what, sizeof terminal->what - 1) != 0) {
        snprintf(terminal->what, sizeof terminal->what, "%s", what);
        terminal->started = t;
        terminal->shown = 0;
        terminal->complete = false;
    }
    const bool due = t - terminal->shown >= DRAW_EVERY || done == total;
    if (terminal->lines && due && !terminal->complete) {
        print_line(terminal, done, total, t - terminal->started);
        terminal->shown = t;
        terminal->complete = done == total;
    } else if (terminal->bar && t - terminal->shown >= DRAW_EVERY) {
        draw(terminal, done, total, t - terminal->started);
        fflush(stderr);
        terminal->shown = t;
        terminal->drawn = true;
    }
    pthread_mutex_unlock(&terminal->lock);
}

bool cli_terminal_cancelled(void *data) {
    (void)data;
    return cli_stop_asked();
}
