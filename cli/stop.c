/* SPDX-License-Identifier: Apache-2.0 */
#include "stop.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* A process has one Ctrl-C. The flag lies in memory that a forked process shares. */
static volatile sig_atomic_t lonely;
static volatile sig_atomic_t *stop = &lonely;

static void on_signal(int number) {
    (void)number;
    *stop = 1;
}

/* Whoever started us under nohup wants us to outlive the terminal. */
static bool ignored(int number) {
    struct sigaction before;
    return sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
}

void cli_stop_listen(void) {
    void *shared =
        mmap(NULL, sizeof *stop, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED) {
        stop = shared;
    }
    for (int i = 0; i < SIGNALS; i++) {
        /* RESETHAND: the second signal finds the default action. RESTART: the first does not disturb
         * reads and writes, which would look like failures of the disk. */
        struct sigaction action = {.sa_handler = on_signal,
                                   .sa_flags = (int)SA_RESETHAND | SA_RESTART};
        sigemptyset(&action.sa_mask);
        if (signals[i] != SIGHUP || !ignored(SIGHUP)) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

/* A terminal sends Ctrl-C to all processes of a job: the second of two would end this one at once. */
void cli_stop_leave(void) {
    for (int i = 0; i < SIGNALS; i++) {
        signal(signals[i], SIG_IGN);
    }
}

bool cli_stop_asked(void) { return *stop != 0; }
