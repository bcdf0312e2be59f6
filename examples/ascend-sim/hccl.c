/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hccl.c - collectives of the simulated Ascend, libhccl.so (hccl/hccl.h). Only this rank
 * exists; a collective consists of a simulated wait for the other ranks and two transfers.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

typedef void *HcclComm;

#define PARTS 3 /* tasks of a collective: a wait and two transfers */
#define RING_NS 20000 /* length of the wait for the other ranks */
#define LINK_BYTES_PER_NS 10

struct communicator {
	uint32_t ranks, rank;
};

SIM_EXPORT int HcclGetRootInfo(void *root)
{
	memset(root, 0, 4108);
	return 0;
}

SIM_EXPORT int HcclCommInitRootInfo(uint32_t ranks, const void *root, uint32_t rank, HcclComm *comm)
{
	struct communicator *new = calloc(1, sizeof(*new));

	if (!new)
		return 1;
	new->ranks = ranks;
	new->rank = rank;
	*comm = new;
	return 0;
}

SIM_EXPORT int HcclCommDestroy(HcclComm comm)
{
	free(comm);
	return 0;
}

SIM_EXPORT int HcclGetRankSize(HcclComm comm, uint32_t *ranks)
{
	*ranks = ((struct communicator *)comm)->ranks;
	return 0;
}

SIM_EXPORT int HcclGetRankId(HcclComm comm, uint32_t *rank)
{
	*rank = ((struct communicator *)comm)->rank;
	return 0;
}

static uint64_t bytes_of(int type)
{
	static const uint8_t BYTES[] = { 1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2 };

	return type >= 0 && type < (int)sizeof(BYTES) ? BYTES[type] : 4;
}

static int collective(const char *name, uint64_t bytes, void *stream)
{
	struct sim_call *call = sim_call_begin("Communication", name, true);
	struct sim_task wait = { .kind = SIM_COLLECTIVE,
				 .name = "Notify_Wait",
				 .core = "NOTIFY_WAIT_SQE",
				 .parts = PARTS,
				 .set_ns = RING_NS };
	struct sim_task move = { .kind = SIM_COLLECTIVE,
				 .name = "Memcpy",
				 .core = "SDMA_SQE",
				 .parts = PARTS,
				 .bytes = bytes / 2,
				 .set_ns = bytes / 2 / LINK_BYTES_PER_NS };
	int err;

	sim_set_call(call);
	err = sim_submit(stream, &wait);
	if (!err)
		err = sim_submit(stream, &move);
	if (!err)
		err = sim_submit(stream, &move);
	sim_set_call(NULL);
	sim_call_end(call);
	return err;
}

SIM_EXPORT int HcclAllReduce(void *send, void *receive, uint64_t count, int type, int operation,
			     HcclComm comm, void *stream)
{
	return collective("hcom_allReduce_", count * bytes_of(type), stream);
}

SIM_EXPORT int HcclAllGather(void *send, void *receive, uint64_t count, int type, HcclComm comm,
			     void *stream)
{
	return collective("hcom_allGather_",
			  count * bytes_of(type) * ((struct communicator *)comm)->ranks, stream);
}

SIM_EXPORT int HcclBroadcast(void *buffer, uint64_t count, int type, uint32_t root, HcclComm comm,
			     void *stream)
{
	return collective("hcom_broadcast_", count * bytes_of(type), stream);
}
