/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stop.h"

static struct {
    bool child;
    bool limited;        /* this is a child whose time of computing is limited */
    struct rlimit usual; /* the limit that it was started with */
} guard;

/* Seconds of computing that the user's own limit leaves; the hard limit is not touched. */
static void limit(rlim_t seconds) {
    struct rlimit now = guard.usual;
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > seconds) {
        now.rlim_cur = seconds;
    }
    setrlimit(RLIMIT_CPU, &now);
}

void cli_guard_renew(void) {
    struct rusage used;
    if (guard.limited && getrusage(RUSAGE_SELF, &used) == 0) {
        limit((rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + CLI_GUARD_SECONDS));
    }
}

void cli_guard_lift(void) {
    if (guard.limited) {
        setrlimit(RLIMIT_CPU, &guard.usual);
        guard.limited = false;
    }
}

/* The child does not outlive its parent, writes no core file where it crashes as feared, and gets
 * its time. */
static void begin(pid_t parent) {
    const struct rlimit none = {0, 0};
    cli_stop_leave();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        raise(SIGKILL); /* it died before it could be asked to tell */
    }
    guard.child = true;
    setrlimit(RLIMIT_CORE, &none);
    guard.limited = getrlimit(RLIMIT_CPU, &guard.usual) == 0;
    cli_guard_renew();
}

void cli_guard_silence(void) {
    const int nowhere = guard.child ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere >= 0) {
        fflush(stderr);
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
}

/* A signal that somebody sent on purpose, or that says "nobody reads on", ends us as well. */
static bool is_wish(int number) {
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT ||
           number == SIGPIPE;
}

static void explain(const char *command, const char *file, int number) {
    if (number == SIGXCPU) {
        fprintf(
            stderr,
            "%s: %s: gave up, as the HDF5 library computes without an end on its structure; the "
            "file is damaged, copy or write it again\n",
            command, file);
    } else if (number == SIGKILL) {
        fprintf(stderr,
                "%s: %s: reading was killed from outside (signal 9), as happens where memory runs "
                "out; dmesg may say more\n",
                command, file);
    } else {
        fprintf(stderr,
                "%s: %s: the HDF5 library crashed on it (signal %d, %s); the file is damaged, copy "
                "or write it again\n",
                command, file, number, strsignal(number));
    }
}

bool cli_guard_fork(const char *command, const char *file, cli_guard_fn clean, void *data,
                    int *code) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        return true;
    }
    if (child == 0) {
        begin(parent);
        return true;
    }
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
    }
    if (!WIFSIGNALED(state)) {
        *code = WEXITSTATUS(state);
        return false;
    }
    if (clean) {
        clean(data, (long)child);
    }
    const int number = WTERMSIG(state);
    if (is_wish(number)) {
        signal(number, SIG_DFL);
        raise(number);
    }
    explain(command, file, number);
    *code = 1;
    return false;
}
