/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/io_kind.h"

#include <string.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/join/thread/sleep_causes.h"
#include "lib/base/bisect.h"
#include "proto/trace.pb-c.h"

/* Synchronises a file, or makes room for one. */
static bool synchronises(struct syscall_table *syscalls, int16_t number)
{
	const char *name = syscall_name(syscalls, number);

	return name && (strstr(name, "sync") || strcmp(name, "fallocate") == 0);
}

static enum io_kind kind_of_sleep(const struct model *model, struct syscall_table *syscalls, const struct span *span)
{
	enum syscall_class class = syscall_class(syscalls, span->syscall);
	const struct block_request *request;

	if (class == SYSCALL_WRITE || synchronises(syscalls, span->syscall))
		return IO_WRITE;
	if (class == SYSCALL_READ)
		return IO_READ;
	request = sleep_request(model, span);
	if (!request)
		return IO_UNKNOWN;
	switch (request->operation) {
	case PROFBPF__BLOCK_REQUESTS__OPERATION__READ: return IO_READ;
	case PROFBPF__BLOCK_REQUESTS__OPERATION__WRITE:
	case PROFBPF__BLOCK_REQUESTS__OPERATION__FLUSH: return IO_WRITE;
	default: return IO_UNKNOWN;
	}
}

enum io_kind io_kind_of(const struct model *model, struct syscall_table *syscalls, const struct root *root)
{
	const struct timeline *line =
		root->thread < model->timelines.count ? &model->timelines.row[root->thread] : NULL;
	const struct analysis_window stretch = { root->start_ns, root->end_ns };
	uint64_t ns[IO_WRITE + 1] = { 0 };
	uint32_t at;

	if (!line)
		return IO_UNKNOWN;
	at = BISECT(i, line->first, line->first + line->count, model->spans.row[i].end_ns <= root->start_ns);
	for (; at < line->first + line->count && model->spans.row[at].start_ns < root->end_ns; at++) {
		const struct span *span = &model->spans.row[at];

		if (span->state == STATE_SLEEP || span->state == STATE_DISK)
			ns[kind_of_sleep(model, syscalls, span)] +=
				analysis_clipped(span->start_ns, span->end_ns, &stretch);
	}
	if (ns[IO_READ] == ns[IO_WRITE])
		return IO_UNKNOWN;
	return ns[IO_WRITE] > ns[IO_READ] ? IO_WRITE : IO_READ;
}
