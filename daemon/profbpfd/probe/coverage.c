/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/coverage.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/trace.pb-c.h"

struct coverage_row coverage_row(pid_t pid, uint32_t functions, uint64_t mapped_ns, uint64_t probed_ns)
{
	return (struct coverage_row){ .tgid = (uint32_t)pid,
				      .functions = functions,
				      .mapped_ns = mapped_ns,
				      .probed_ns = probed_ns,
				      .state = PROFBPF__COVERAGE__STATE__PROBED };
}

void coverage_add(struct item *coverage, struct coverage_row row, const char *path)
{
	row.path = strdup(path);
	if (!row.path || item_append(coverage, &row, sizeof(row)))
		free(row.path);
}

static void tell(struct item_queue *queue, struct coverage_row row, const char *path)
{
	struct item *coverage = item_new(ITEM_COVERAGE, sizeof(struct coverage_row));

	if (!coverage)
		return;
	coverage_add(coverage, row, path);
	if (coverage->count)
		item_queue_push(queue, coverage);
	else
		item_free(coverage);
}

void coverage_mapped(struct item_queue *queue, pid_t pid, const char *path, uint32_t functions, uint64_t now_ns)
{
	struct coverage_row row = coverage_row(pid, functions, now_ns, now_ns);

	row.state = PROFBPF__COVERAGE__STATE__MAPPED;
	tell(queue, row, path);
}

void coverage_missed(struct item_queue *queue, pid_t pid, uint64_t since_ns, uint64_t ended_ns)
{
	tell(queue, coverage_row(pid, 0, since_ns, ended_ns), "");
}

bool coverage_nameless(struct item_queue *queue, pid_t pid, const char *path, uint64_t mapped_ns,
		       uint64_t looked_ns)
{
	struct coverage_row row = coverage_row(pid, 0, mapped_ns, looked_ns);
	char link[64], program[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	if (strcmp(program, path) != 0)
		return false;
	row.state = PROFBPF__COVERAGE__STATE__NO_SYMBOLS;
	tell(queue, row, path);
	return true;
}
