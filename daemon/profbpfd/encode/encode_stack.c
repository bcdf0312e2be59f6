/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/encode_stack.h"

#include <errno.h>

#include "lib/trace/column.h"

/* At most a few thousand rows per second: columns are allocated for each batch. */
struct columns {
	struct column_s64 ts_ns;
	struct column_u64 dur_ns;
	struct column_u32 tid, tgid, stack, flags, cpu, waker;
};

static int fill(struct columns *c, const struct item *item)
{
	const struct stack_row *row = item->data;
	int err = 0;

	for (uint32_t i = 0; i < item->count; i++, row++)
		err |= column_s64_push_delta(&c->ts_ns, row->ts_ns) |
		       column_u64_push(&c->dur_ns, row->dur_ns) |
		       column_u32_push(&c->tid, row->tid) | column_u32_push(&c->tgid, row->tgid) |
		       column_u32_push(&c->stack, row->stack) |
		       column_u32_push(&c->flags, row->flags) |
		       column_u32_push(&c->cpu, row->cpu) |
		       column_u32_push(&c->waker, row->waker);
	return err ? -ENOMEM : 0;
}

int encode_stacks(struct message_buffer *buffer, const struct item *item, struct encoded *out)
{
	Profbpf__StackSamples m = PROFBPF__STACK_SAMPLES__INIT;
	const struct stack_row *row = item->data;
	struct columns c = { 0 };
	int err = fill(&c, item);

	COLUMN_EXPORT_ALWAYS(&c.ts_ns, &m, ts_ns);
	COLUMN_EXPORT(&c.dur_ns, &m, dur_ns);
	COLUMN_EXPORT(&c.tid, &m, tid);
	COLUMN_EXPORT(&c.tgid, &m, tgid);
	COLUMN_EXPORT(&c.stack, &m, stack);
	COLUMN_EXPORT(&c.flags, &m, flags);
	COLUMN_EXPORT(&c.cpu, &m, cpu);
	COLUMN_EXPORT(&c.waker, &m, waker);
	m.rate = row[0].rate;
	if (!err)
		err = message_pack(buffer, PROFBPF__PACKET__KIND__STACK_SAMPLES, &m.base, out);
	column_s64_free(&c.ts_ns);
	column_u64_free(&c.dur_ns);
	column_u32_free(&c.tid);
	column_u32_free(&c.tgid);
	column_u32_free(&c.stack);
	column_u32_free(&c.flags);
	column_u32_free(&c.cpu);
	column_u32_free(&c.waker);
	return err;
}
