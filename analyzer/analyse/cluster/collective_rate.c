/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/cluster/collective_rate.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* "_reduce_scatter_base", "ncclDevKernel_ReduceScatter_..." and "hcom_reduceScatter_" as "reducescatterbase", ... */
static void letters_of(const char *name, char *into, size_t size)
{
	size_t used = 0;

	for (; *name && used + 1 < size; name++)
		if (isalpha((unsigned char)*name))
			into[used++] = (char)tolower((unsigned char)*name);
	into[used] = '\0';
}

double collective_bus_factor(const char *name, uint32_t ranks)
{
	/* The first row whose text is part of the name counts. */
	static const struct {
		const char *part;
		int times; /* (n - 1) / n; 0: 1 whatever n is */
	} KINDS[] = {
		{ "allreduce", 2 },	{ "allgather", 1 }, { "reducescatter", 1 }, { "alltoall", 1 },
		{ "broadcast", 0 },	{ "sendrecv", 0 },  { "send", 0 },	    { "recv", 0 },
		{ "receive", 0 },	{ "reduce", 0 },
	};
	char letters[256];

	letters_of(name, letters, sizeof(letters));
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++) {
		if (!strstr(letters, KINDS[i].part))
			continue;
		if (!KINDS[i].times)
			return 1;
		return ranks ? KINDS[i].times * (double)(ranks - 1) / (double)ranks : 0;
	}
	return 0;
}
