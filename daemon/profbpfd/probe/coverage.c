/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/coverage.h"

#include <stdlib.h>
#include <string.h>

void coverage_add(struct item *coverage, pid_t pid, const char *path, uint32_t functions,
		  uint64_t mapped_ns, uint64_t probed_ns)
{
	struct coverage_row row = { .tgid = pid,
				    .functions = functions,
				    .mapped_ns = mapped_ns,
				    .probed_ns = probed_ns,
				    .path = strdup(path) };

	if (!row.path || item_append(coverage, &row, sizeof(row)))
		free(row.path);
}

void coverage_missed(struct item_queue *queue, pid_t pid, uint64_t since_ns, uint64_t ended_ns)
{
	struct item *coverage = item_new(ITEM_COVERAGE, sizeof(struct coverage_row));

	if (!coverage)
		return;
	coverage_add(coverage, pid, "", 0, since_ns, ended_ns);
	if (coverage->count)
		item_queue_push(queue, coverage);
	else
		item_free(coverage);
}
