/* SPDX-License-Identifier: Apache-2.0
 * libsextant_mpi.so: the only file that knows MPI. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

#include "engine/wire.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert(sizeof(MPI_Request) <= sizeof(sxi_wire_op), "a request fits");

/* One process has one MPI. */
static MPI_Comm ours = MPI_COMM_NULL;

static int outcome(int code, char *why) {
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING] = "?";
        int length = 0;
        MPI_Error_string(code, text, &length);
        snprintf(why, SXI_WIRE_WHY, "MPI: %s", text);
        return 1;
    }
    return 0;
}

/* NOLINTBEGIN(bugprone-sizeof-expression): a request is a pointer with Open MPI, a number with MPICH */
static MPI_Request get(const sxi_wire_op *op) {
    MPI_Request request;
    memcpy(&request, op->handle, sizeof request);
    return request;
}

static void put(sxi_wire_op *op, MPI_Request request) {
    memcpy(op->handle, &request, sizeof request);
}
/* NOLINTEND(bugprone-sizeof-expression) */

/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): what begins in one function ends in another */

static int mpi_send(void *data, int to, int tag, const void *bytes, size_t count, sxi_wire_op *op,
                    char *why) {
    MPI_Request request = MPI_REQUEST_NULL;
    (void)data;
    const int code = MPI_Isend(bytes, (int)count, MPI_BYTE, to, tag, ours, &request);
    put(op, request);
    return outcome(code, why);
}

static int mpi_receive(void *data, int from, int tag, void *bytes, size_t room, sxi_wire_op *op,
                       char *why) {
    MPI_Request request = MPI_REQUEST_NULL;
    (void)data;
    const int source = from == SXI_WIRE_ANY ? MPI_ANY_SOURCE : from;
    const int code = MPI_Irecv(bytes, (int)room, MPI_BYTE, source, tag, ours, &request);
    put(op, request);
    return outcome(code, why);
}

static int mpi_test(void *data, sxi_wire_op *op, sxi_wire_end *end, char *why) {
    MPI_Request request = get(op);
    MPI_Status status;
    int ended = 0, count = 0;
    (void)data;
    int code = MPI_Test(&request, &ended, &status);
    put(op, request);
    if (code == MPI_SUCCESS && ended) {
        code = MPI_Get_count(&status, MPI_BYTE, &count);
        end->from = status.MPI_SOURCE;
        end->count = count > 0 ? (size_t)count : 0;
    }
    end->ended = ended != 0;
    return outcome(code, why);
}

static int mpi_cancel(void *data, sxi_wire_op *op, char *why) {
    MPI_Request request = get(op);
    (void)data;
    int code = MPI_Cancel(&request);
    if (code == MPI_SUCCESS) {
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    put(op, request);
    return outcome(code, why);
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

static void mpi_close(void *data) {
    (void)data;
    MPI_Comm_free(&ours);
    MPI_Finalize();
}

EXPORT size_t sxi_mpi_layout(void);
EXPORT int sxi_mpi_open(sxi_wire *wire, char *why);
EXPORT void sxi_mpi_version(char *text, size_t size);

size_t sxi_mpi_layout(void) { return SXI_WIRE_LAYOUT; }

/* May be called before MPI has started. */
void sxi_mpi_version(char *text, size_t size) {
    char words[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(words, &length);
    words[strcspn(words, ",\n")] = '\0';
    snprintf(text, size, "%s", words);
}

int sxi_mpi_open(sxi_wire *wire, char *why) {
    int before = 0, level = 0, found = 0;
    int *most = NULL;
    MPI_Initialized(&before);
    if (before) {
        snprintf(why, SXI_WIRE_WHY, "this process has started MPI already; it can be done once");
        return -1;
    }
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (code == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        code = MPI_Comm_dup(MPI_COMM_WORLD, &ours);
    }
    if (code != MPI_SUCCESS) {
        return outcome(code, why);
    }
    MPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN);
    MPI_Comm_rank(ours, &wire->rank);
    MPI_Comm_size(ours, &wire->size);
    MPI_Comm_get_attr(ours, MPI_TAG_UB, &most, &found);
    wire->tag_most = found ? *most : 32767;
    wire->send = mpi_send;
    wire->receive = mpi_receive;
    wire->test = mpi_test;
    wire->cancel = mpi_cancel;
    wire->close = mpi_close;
    if (level < MPI_THREAD_SERIALIZED) {
        snprintf(why, SXI_WIRE_WHY, "this MPI bears no threads (it was built without them)");
        mpi_close(NULL);
        return 1;
    }
    return 0;
}
