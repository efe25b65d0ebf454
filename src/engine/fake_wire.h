/* SPDX-License-Identifier: Apache-2.0
 * A wire within one process, for tests: each rank is a thread. */
#ifndef SXI_FAKE_WIRE_H
#define SXI_FAKE_WIRE_H

#include "engine/wire.h"

typedef struct fake_net fake_net;

fake_net *fake_net_create(int size);
void fake_net_destroy(fake_net **net);

/* fake_net_wire - the end of one rank. */
sxi_wire fake_net_wire(fake_net *net, int rank);

/* fake_net_kill - nothing comes from this rank or gets to it any more. */
void fake_net_kill(fake_net *net, int rank);

/* fake_net_break - every operation of this rank fails from now on. */
void fake_net_break(fake_net *net, int rank);

#endif
