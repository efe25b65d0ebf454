/* SPDX-License-Identifier: Apache-2.0
 * How bytes get from one rank to another: MPI, behind libsextant_mpi.so, or a stand-in of tests. A
 * table of functions, so that the library does not need MPI to be there. */
#ifndef SXI_WIRE_H
#define SXI_WIRE_H

#include <stdbool.h>
#include <stddef.h>

enum { SXI_WIRE_ANY = -1, SXI_WIRE_WHY = 512 };

/* Something under way on the wire. */
typedef struct sxi_wire_op {
    _Alignas(8) unsigned char handle[8];
} sxi_wire_op;

/* What came of it. */
typedef struct sxi_wire_end {
    bool ended;
    int from;     /* receive */
    size_t count; /* receive: bytes */
} sxi_wire_end;

/* All are called by the thread that opened it. They return 0, or what is wrong in why
 * [SXI_WIRE_WHY]. Messages between two ranks with one tag keep their order. */
typedef struct sxi_wire {
    int rank, size;
    int tag_most; /* tags are 0 .. tag_most, at least 32767 */
    void *data;   /* handed to each */
    /* At most INT_MAX bytes, which stay until the operation has ended. */
    int (*send)(void *data, int to, int tag, const void *bytes, size_t count, sxi_wire_op *op,
                char *why);
    int (*receive)(void *data, int from, int tag, void *bytes, size_t room, sxi_wire_op *op,
                   char *why);
    int (*test)(void *data, sxi_wire_op *op, sxi_wire_end *end, char *why);
    /* A receive for which no message has come; it has then ended. */
    int (*cancel)(void *data, sxi_wire_op *op, char *why);
    /* All ranks are there and silent; else it is just left. */
    void (*close)(void *data);
} sxi_wire;

/* Of libsextant_mpi.so. The layout is a number that changes with this header. */
#define SXI_WIRE_LAYOUT ((size_t)1 * 1000 + sizeof(sxi_wire) + sizeof(sxi_wire_end))
typedef size_t sxi_mpi_layout_fn(void);
typedef int sxi_mpi_open_fn(sxi_wire *wire, char *why);
typedef void sxi_mpi_version_fn(char *text, size_t size);

/* sxi_wire_load - the functions of libsextant_mpi.so. false: it is not there, or not of this version;
 * why says which [SXI_WIRE_WHY]. */
bool sxi_wire_load(sxi_mpi_open_fn **open, sxi_mpi_version_fn **version, char *why);

/* sxi_wire_version - which MPI there is, or why none [size]; false: none. Does not start it. */
bool sxi_wire_version(char *text, size_t size);

#endif
