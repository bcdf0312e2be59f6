/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/encode_block.h"

#include <errno.h>

#include "daemon/profbpfd/encode/trace_values.h"
#include "lib/trace/column.h"

#define PAGE_MASK 0xfffull /* for the smallest page size */

/* Some thousand rows per second: columns are allocated for each batch. */
struct fault_columns {
	struct column_s64 end_ns;
	struct column_u64 dur_ns, address, offset;
	struct column_u32 tid, tgid, file;
};

static int fill_faults(struct fault_columns *c, const struct item *item,
		       struct mapped_files *files, struct string_table *strings)
{
	const struct rec_fault *r = item->data;
	int err = 0;

	for (uint32_t i = 0; i < item->count; i++, r++) {
		uint64_t offset;
		uint32_t file = string_table_add_text(
			strings, mapped_files_find(files, (pid_t)r->tgid, r->address, &offset));

		err |= column_s64_push_delta(&c->end_ns, r->header.ts_ns + r->dur_ns) |
		       column_u64_push(&c->dur_ns, r->dur_ns) | column_u32_push(&c->tid, r->tid) |
		       column_u32_push(&c->tgid, r->tgid) |
		       column_u64_push(&c->address, r->address) |
		       column_u32_push(&c->file, file == STRING_NONE ? 0 : file) |
		       column_u64_push(&c->offset, offset & ~PAGE_MASK);
	}
	return err ? -ENOMEM : 0;
}

int encode_faults(struct message_buffer *buffer, const struct item *item, struct mapped_files *files,
		  struct string_table *strings, struct encoded *out)
{
	Profbpf__Faults m = PROFBPF__FAULTS__INIT;
	struct fault_columns c = { 0 };
	int err = fill_faults(&c, item, files, strings);

	COLUMN_EXPORT_ALWAYS(&c.end_ns, &m, end_ns);
	COLUMN_EXPORT(&c.dur_ns, &m, dur_ns);
	COLUMN_EXPORT(&c.tid, &m, tid);
	COLUMN_EXPORT(&c.tgid, &m, tgid);
	COLUMN_EXPORT(&c.address, &m, address);
	COLUMN_EXPORT(&c.file, &m, file);
	COLUMN_EXPORT(&c.offset, &m, offset);
	if (!err)
		err = message_pack(buffer, PROFBPF__PACKET__KIND__FAULTS, &m.base, out);
	column_s64_free(&c.end_ns);
	column_u64_free(&c.dur_ns);
	column_u32_free(&c.tid);
	column_u32_free(&c.tgid);
	column_u64_free(&c.address);
	column_u32_free(&c.file);
	column_u64_free(&c.offset);
	return err;
}

struct block_columns {
	struct column_s64 end_ns;
	struct column_u64 dur_ns, wait_ns, sector;
	struct column_u32 tid, tgid, rdev, operation, bytes, flags;
};

static int fill_blocks(struct block_columns *c, const struct item *item)
{
	const struct rec_block *r = item->data;
	int err = 0;

	for (uint32_t i = 0; i < item->count; i++, r++)
		err |= column_s64_push_delta(&c->end_ns, r->header.ts_ns + r->dur_ns) |
		       column_u64_push(&c->dur_ns, r->dur_ns) |
		       column_u64_push(&c->wait_ns, r->wait_ns) |
		       column_u64_push(&c->sector, r->sector) | column_u32_push(&c->tid, r->tid) |
		       column_u32_push(&c->tgid, r->tgid) |
		       column_u32_push(&c->rdev, trace_device_number(r->rdev)) |
		       column_u32_push(&c->operation, trace_block_operation(r->operation)) |
		       column_u32_push(&c->bytes, r->bytes) |
		       column_u32_push(&c->flags, trace_block_flags(r->header.flags));
	return err ? -ENOMEM : 0;
}

int encode_blocks(struct message_buffer *buffer, const struct item *item, struct encoded *out)
{
	Profbpf__BlockRequests m = PROFBPF__BLOCK_REQUESTS__INIT;
	struct block_columns c = { 0 };
	int err = fill_blocks(&c, item);

	COLUMN_EXPORT_ALWAYS(&c.end_ns, &m, end_ns);
	COLUMN_EXPORT(&c.dur_ns, &m, dur_ns);
	COLUMN_EXPORT(&c.wait_ns, &m, wait_ns);
	COLUMN_EXPORT(&c.tid, &m, tid);
	COLUMN_EXPORT(&c.tgid, &m, tgid);
	COLUMN_EXPORT(&c.rdev, &m, rdev);
	COLUMN_EXPORT_ENUM(&c.operation, &m, operation);
	COLUMN_EXPORT(&c.sector, &m, sector);
	COLUMN_EXPORT(&c.bytes, &m, bytes);
	COLUMN_EXPORT(&c.flags, &m, flags);
	if (!err)
		err = message_pack(buffer, PROFBPF__PACKET__KIND__BLOCK_REQUESTS, &m.base, out);
	column_s64_free(&c.end_ns);
	column_u64_free(&c.dur_ns);
	column_u64_free(&c.wait_ns);
	column_u64_free(&c.sector);
	column_u32_free(&c.tid);
	column_u32_free(&c.tgid);
	column_u32_free(&c.rdev);
	column_u32_free(&c.operation);
	column_u32_free(&c.bytes);
	column_u32_free(&c.flags);
	return err;
}
