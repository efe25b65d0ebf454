/* SPDX-License-Identifier: Apache-2.0
 * A head that names the run, then records, each with its length and checksum. A record is written
 * and synced as one; what a killed process left of the last one is cut off. */
#include "engine/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/ranks.h"
#include "engine/tile.h"

static const double FLUSH_SECONDS = 0.1;
static const char MAGIC[8] = "SXTJRN1";

typedef struct head {
    char magic[8];
    uint64_t run; /* of the words of the task and what it is given */
} head;

/* In front of the tiles: number, then values, of each. */
typedef struct record {
    uint64_t bytes;
    uint64_t checksum;
} record;

typedef struct buffer {
    char *bytes;
    size_t used, room;
} buffer;

struct sxi_journal {
    const sxi_plan *plan;
    char path[PATH_MAX];
    uint64_t run;
    int fd;
    int64_t end;            /* of what is good in the file */
    unsigned char *resumed; /* [tiles] bits */
    int64_t resumed_tiles;
    pthread_mutex_t lock; /* around added */
    buffer added;         /* room for a record in front */
    buffer writing;
    double flushed;
};

static void name_of(const char *path, int rank, char name[PATH_MAX]) {
    if (rank == 0) {
        snprintf(name, PATH_MAX, "%s", path);
    } else {
        snprintf(name, PATH_MAX, "%s.%d", path, rank);
    }
}

/* --- reading what is there --- */

static sx_status read_error(const char *name) {
    return SXI_FAIL(SX_ERR_IO, "%s cannot be read: %s", name, strerror(errno));
}

/* All of them, or as many as there are: *got. */
static sx_status read_bytes(int fd, const char *name, void *bytes, size_t count, size_t *got) {
    char *to = bytes;
    for (*got = 0; *got < count;) {
        const ssize_t n = read(fd, to + *got, count - *got);
        if (n < 0 && errno != EINTR) {
            return read_error(name);
        }
        if (n == 0) {
            break;
        }
        *got += n > 0 ? (size_t)n : 0;
    }
    return SX_OK;
}

static sx_status damaged(const char *name, int64_t at) {
    return SXI_FAIL(SX_ERR_FORMAT,
                    "%s is damaged at byte %lld: remove it, and start without --resume", name,
                    (long long)at);
}

/* The tiles of a record with a good checksum. */
static sx_status take_record(sxi_journal *j, const char *name, int64_t at, char *bytes,
                             size_t count) {
    const bool keeps = sx_cluster_rank(j->plan->cluster) == 0;
    for (size_t used = 0; used < count;) {
        int64_t tile = -1;
        if (count - used >= sizeof tile) {
            memcpy(&tile, bytes + used, sizeof tile);
        }
        if (tile < 0 || tile >= j->plan->tiles) {
            return damaged(name, at);
        }
        used += sizeof tile;
        const size_t size = (size_t)sxi_tile_bytes(j->plan, tile);
        if (size > count - used) {
            return damaged(name, at);
        }
        if (keeps) {
            SXI_TRY(sxi_tile_unpack(j->plan, tile, bytes + used));
        }
        used += size;
        j->resumed_tiles += !sxi_journal_has(j, tile);
        j->resumed[tile / 8] |= (unsigned char)(1 << tile % 8);
    }
    return SX_OK;
}

/* The next record; *more is false at the end, also at one that was not finished. */
static sx_status read_record(sxi_journal *j, int fd, const char *name, int64_t size, int64_t *at,
                             bool *more) {
    record r;
    size_t got = 0;
    sx_status status = SX_OK;
    *more = false;
    SXI_TRY(read_bytes(fd, name, &r, sizeof r, &got));
    const int64_t left = size - *at - (int64_t)sizeof r;
    if (got < sizeof r || r.bytes > (uint64_t)left) {
        return SX_OK;
    }
    char *bytes = malloc((size_t)r.bytes + 1);
    if (!bytes) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %llu bytes of %s",
                        (unsigned long long)r.bytes, name);
    }
    SXI_GO(read_bytes(fd, name, bytes, (size_t)r.bytes, &got));
    if (got == r.bytes && XXH64(bytes, got, j->run) == r.checksum) {
        SXI_GO(take_record(j, name, *at, bytes, got));
        *at += (int64_t)(sizeof r + got);
        *more = true;
    } else if ((int64_t)r.bytes < left) {
        status = damaged(name, *at);
    }
out:
    free(bytes);
    return status;
}

static sx_status read_head(const sxi_journal *j, int fd, const char *name, bool *good) {
    head h;
    size_t got = 0;
    SXI_TRY(read_bytes(fd, name, &h, sizeof h, &got));
    *good = got == sizeof h; /* else it was killed before it began */
    if (got > 0 && memcmp(h.magic, MAGIC, got < sizeof MAGIC ? got : sizeof MAGIC) != 0) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%s is not a journal: give another name, or remove it",
                        name);
    }
    if (*good && h.run != j->run) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%s belongs to another run, with other inputs or options: repeat its "
                        "command to go on with it, or remove it and start without --resume",
                        name);
    }
    return SX_OK;
}

/* One journal of the last run. found: whether there is one. */
static sx_status read_one(sxi_journal *j, int rank, bool *found) {
    char name[PATH_MAX];
    struct stat about;
    sx_status status = SX_OK;
    bool more = false;
    name_of(j->plan->task->journal, rank, name);
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    *found = fd >= 0;
    if (fd < 0) {
        return errno == ENOENT ? SX_OK : read_error(name);
    }
    int64_t at = (int64_t)sizeof(head);
    if (fstat(fd, &about) != 0) {
        SXI_GO(read_error(name));
    }
    SXI_GO(read_head(j, fd, name, &more));
    const bool begun = more;
    while (more) {
        SXI_GO(read_record(j, fd, name, (int64_t)about.st_size, &at, &more));
    }
    if (rank == sx_cluster_rank(j->plan->cluster)) {
        j->end = begun ? at : 0;
    }
out:
    close(fd);
    return status;
}

static sx_status read_all(sxi_journal *j) {
    bool found = true;
    for (int r = 0; found || r < sx_cluster_size(j->plan->cluster); r++) {
        SXI_TRY(read_one(j, r, &found));
    }
    return SX_OK;
}

/* --- writing --- */

static sx_status write_error(const sxi_journal *j) {
    return SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", j->path, strerror(errno));
}

static sx_status write_synced(sxi_journal *j, const char *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        const ssize_t n = pwrite(j->fd, bytes + done, count - done, (off_t)j->end + (off_t)done);
        if (n < 0 && errno != EINTR) {
            return write_error(j);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    if (fdatasync(j->fd) != 0 && errno != EINVAL && errno != ENOSYS) {
        return write_error(j);
    }
    j->end += (int64_t)count;
    return SX_OK;
}

static sx_status begin_writing(sxi_journal *j) {
    const bool resume = j->plan->task->resume;
    j->fd = open(j->path, O_WRONLY | O_CREAT | O_CLOEXEC | (resume ? 0 : O_EXCL), 0666);
    if (j->fd < 0 && errno == EEXIST) {
        return SXI_FAIL(SX_ERR_EXISTS,
                        "%s holds results of a run that did not end: go on with --resume, or "
                        "remove it",
                        j->path);
    }
    /* Two runs would write over each other. File systems without locks let both go on. */
    if (j->fd >= 0 && flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return SXI_FAIL(SX_ERR_EXISTS,
                        "%s is being written by another run of the same output: let it end first",
                        j->path);
    }
    if (j->fd < 0 || ftruncate(j->fd, (off_t)j->end) != 0) {
        return write_error(j);
    }
    if (j->end == 0) {
        head h = {.run = j->run};
        memcpy(h.magic, MAGIC, sizeof MAGIC);
        return write_synced(j, (const char *)&h, sizeof h);
    }
    return SX_OK;
}

static sx_status make(const sxi_plan *plan, sxi_journal **journal) {
    sxi_journal *made = calloc(1, sizeof *made);
    *journal = made;
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a journal");
    }
    made->plan = plan;
    made->fd = -1;
    made->flushed = sxi_now();
    pthread_mutex_init(&made->lock, NULL);
    name_of(plan->task->journal, sx_cluster_rank(plan->cluster), made->path);
    made->resumed = calloc((size_t)plan->tiles / 8 + 1, 1);
    if (!made->resumed) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a journal of %lld tiles",
                        (long long)plan->tiles);
    }
    return sxi_plan_identify(plan, &made->run);
}

sx_status sxi_journal_open(const sxi_plan *plan, sxi_journal **journal) {
    sxi_journal *made = NULL;
    sx_status status = make(plan, &made);
    if (status == SX_OK && plan->task->resume) {
        status = read_all(made);
    }
    /* All have read before one goes on writing. */
    status = sxi_ranks_agree(plan->cluster, status);
    if (status == SX_OK) {
        status = sxi_ranks_agree(plan->cluster, begin_writing(made));
    }
    if (status != SX_OK) {
        sxi_journal_close(&made);
    }
    *journal = made;
    return status;
}

bool sxi_journal_has(const sxi_journal *journal, int64_t tile) {
    return journal && (journal->resumed[tile / 8] >> tile % 8 & 1);
}

int64_t sxi_journal_resumed(const sxi_journal *journal) {
    return journal ? journal->resumed_tiles : 0;
}

static sx_status make_room(buffer *b, size_t bytes) {
    if (b->used == 0) {
        b->used = sizeof(record);
    }
    if (b->room - b->used < bytes || b->room < b->used) {
        const size_t room = 2 * (b->used + bytes);
        char *grown = realloc(b->bytes, room);
        if (!grown) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory to keep results for the journal");
        }
        b->bytes = grown;
        b->room = room;
    }
    return SX_OK;
}

sx_status sxi_journal_add(sxi_journal *journal, int64_t tile) {
    const size_t size = (size_t)sxi_tile_bytes(journal->plan, tile);
    buffer *b = &journal->added;
    pthread_mutex_lock(&journal->lock);
    sx_status status = make_room(b, sizeof tile + size);
    if (status == SX_OK) {
        memcpy(b->bytes + b->used, &tile, sizeof tile);
        status = sxi_tile_pack(journal->plan, tile, b->bytes + b->used + sizeof tile);
        b->used += sizeof tile + size;
    }
    pthread_mutex_unlock(&journal->lock);
    return status;
}

sx_status sxi_journal_flush(sxi_journal *journal, bool now) {
    if (!now && sxi_now() - journal->flushed < FLUSH_SECONDS) {
        return SX_OK;
    }
    pthread_mutex_lock(&journal->lock);
    const buffer full = journal->added;
    journal->added = journal->writing;
    journal->added.used = 0;
    pthread_mutex_unlock(&journal->lock);
    journal->writing = full;
    sx_status status = SX_OK;
    if (full.used > sizeof(record)) {
        record r = {.bytes = full.used - sizeof r};
        r.checksum = XXH64(full.bytes + sizeof r, full.used - sizeof r, journal->run);
        memcpy(full.bytes, &r, sizeof r);
        status = write_synced(journal, full.bytes, full.used);
    }
    journal->flushed = sxi_now();
    return status;
}

void sxi_journal_close(sxi_journal **journal) {
    sxi_journal *gone = *journal;
    if (!gone) {
        return;
    }
    if (gone->fd >= 0) {
        close(gone->fd);
    }
    pthread_mutex_destroy(&gone->lock);
    free(gone->resumed);
    free(gone->added.bytes);
    free(gone->writing.bytes);
    free(gone);
    *journal = NULL;
}

void sx_journal_remove(const char *journal) {
    enum { GAP = 64 }; /* some rank may have had nothing to keep */
    char name[PATH_MAX];
    for (int r = 0, missed = 0; missed < GAP; r++) {
        name_of(journal, r, name);
        missed = unlink(name) == 0 ? 0 : missed + 1;
    }
}
