/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/profbpfd/encode/encode_block.h"
#include "daemon/profbpfd/encode/encode_records.h"
#include "daemon/profbpfd/encode/encode_stack.h"
#include "daemon/profbpfd/encode/trace_values.h"
#include "lib/trace/column.h"

#define COLUMNS 16

/* Columns are reused from batch to batch; a batch uses as many as it needs, in order. */
struct encode {
	struct column_u64 u64[COLUMNS];
	struct column_s64 s64[COLUMNS];
	struct column_u32 u32[COLUMNS];
	struct column_s32 s32[COLUMNS];
	struct encode_records records;
	struct mapped_files *mappings;
	struct message_buffer packed;
};

struct encode *encode_new(void)
{
	struct encode *encode = calloc(1, sizeof(*encode));

	if (encode)
		encode->records.objects = sleep_objects_new();
	if (encode)
		encode->mappings = mapped_files_new();
	if (encode && (!encode->records.objects || !encode->mappings)) {
		encode_free(encode);
		return NULL;
	}
	return encode;
}

void encode_limit(struct encode *encode, const struct right *right)
{
	mapped_files_limit(encode->mappings, right);
}

void encode_free(struct encode *encode)
{
	if (!encode)
		return;
	for (int i = 0; i < COLUMNS; i++) {
		column_u64_free(&encode->u64[i]);
		column_s64_free(&encode->s64[i]);
		column_u32_free(&encode->u32[i]);
		column_s32_free(&encode->s32[i]);
	}
	encode_records_free(&encode->records);
	mapped_files_free(encode->mappings);
	message_buffer_free(&encode->packed);
	free(encode);
}

static int prepare(struct encode *e, size_t rows, int u64, int s64, int u32, int s32)
{
	int err = 0;

	for (int i = 0; i < COLUMNS; i++) {
		column_u64_clear(&e->u64[i]);
		column_s64_clear(&e->s64[i]);
		column_u32_clear(&e->u32[i]);
		column_s32_clear(&e->s32[i]);
		err |= i < u64 ? column_u64_reserve(&e->u64[i], rows) : 0;
		err |= i < s64 ? column_s64_reserve(&e->s64[i], rows) : 0;
		err |= i < u32 ? column_u32_reserve(&e->u32[i], rows) : 0;
		err |= i < s32 ? column_s32_reserve(&e->s32[i], rows) : 0;
	}
	return err ? -ENOMEM : 0;
}

static int encode_ioctls(struct encode *e, const struct item *item, struct encoded *out)
{
	Profbpf__Ioctls m = PROFBPF__IOCTLS__INIT;
	const struct rec_ioctl *r = item->data;

	if (prepare(e, item->count, 1, 1, 4, 2))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		column_s64_push_delta(&e->s64[0], r->header.ts_ns + r->dur_ns);
		column_u64_push(&e->u64[0], r->dur_ns);
		column_s32_push_delta(&e->s32[0], r->tid);
		column_u32_push(&e->u32[0], r->tgid);
		column_u32_push(&e->u32[1], r->cmd);
		column_u32_push(&e->u32[2], trace_device_number(r->rdev));
		column_s32_push(&e->s32[1], r->ret);
		column_u32_push(&e->u32[3], trace_ioctl_flags(r->header.flags));
	}
	r = item->data;
	m.cpu = item->cpu;
	m.first_end_ns = r[0].header.ts_ns + r[0].dur_ns;
	m.last_end_ns = r[item->count - 1].header.ts_ns + r[item->count - 1].dur_ns;
	COLUMN_EXPORT_ALWAYS(&e->s64[0], &m, end_ns);
	COLUMN_EXPORT(&e->u64[0], &m, dur_ns);
	COLUMN_EXPORT(&e->s32[0], &m, tid);
	COLUMN_EXPORT(&e->u32[0], &m, tgid);
	COLUMN_EXPORT(&e->u32[1], &m, cmd);
	COLUMN_EXPORT(&e->u32[2], &m, rdev);
	COLUMN_EXPORT(&e->s32[1], &m, ret);
	COLUMN_EXPORT(&e->u32[3], &m, flags);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__IOCTLS, &m.base, out);
}

static int encode_interrupts(struct encode *e, const struct item *item, struct string_table *strings,
			     struct encoded *out)
{
	Profbpf__Interrupts m = PROFBPF__INTERRUPTS__INIT;
	const struct rec_interrupt *r = item->data;

	if (prepare(e, item->count, 1, 1, 3, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		column_s64_push_delta(&e->s64[0], r->header.ts_ns);
		column_u64_push(&e->u64[0], r->dur_ns);
		column_u32_push(&e->u32[0], r->tid);
		column_u32_push(&e->u32[1], trace_wake_flags(r->header.flags));
		column_u32_push(&e->u32[2],
				interrupt_name(&e->records.interrupts, r->source, strings));
	}
	m.cpu = item->cpu;
	COLUMN_EXPORT_ALWAYS(&e->s64[0], &m, ts_ns);
	COLUMN_EXPORT(&e->u64[0], &m, dur_ns);
	COLUMN_EXPORT(&e->u32[0], &m, tid);
	COLUMN_EXPORT(&e->u32[1], &m, flags);
	COLUMN_EXPORT(&e->u32[2], &m, interrupt);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__INTERRUPTS, &m.base, out);
}

static int encode_accounts(struct encode *e, const struct item *item, struct encoded *out)
{
	Profbpf__Accounts m = PROFBPF__ACCOUNTS__INIT;
	const struct rec_account *r = item->data;

	if (prepare(e, item->count, 14, 1, 4, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		column_s64_push_delta(&e->s64[0], r->header.ts_ns);
		column_u32_push(&e->u32[0], r->tid);
		column_u32_push(&e->u32[1], r->tgid);
		column_u32_push(&e->u32[2], trace_account_flags(r->header.flags));
		column_u64_push(&e->u64[0], r->run_ns);
		column_u64_push(&e->u64[1], r->runnable_ns);
		column_u64_push(&e->u64[2], r->user_ns);
		column_u64_push(&e->u64[3], r->system_ns);
		column_u64_push(&e->u64[4], r->voluntary);
		column_u64_push(&e->u64[5], r->involuntary);
		column_u64_push(&e->u64[6], r->migrations);
		column_u64_push(&e->u64[7], r->minor_faults);
		column_u64_push(&e->u64[8], r->major_faults);
		column_u64_push(&e->u64[9], r->io_ns);
		column_u32_push(&e->u32[3], r->syscall + 1);
		column_u64_push(&e->u64[10], r->read_bytes);
		column_u64_push(&e->u64[11], r->write_bytes);
		column_u64_push(&e->u64[12], r->read_chars);
		column_u64_push(&e->u64[13], r->write_chars);
	}
	COLUMN_EXPORT_ALWAYS(&e->s64[0], &m, ts_ns);
	COLUMN_EXPORT(&e->u32[0], &m, tid);
	COLUMN_EXPORT(&e->u32[1], &m, tgid);
	COLUMN_EXPORT(&e->u32[2], &m, flags);
	COLUMN_EXPORT(&e->u64[0], &m, run_ns);
	COLUMN_EXPORT(&e->u64[1], &m, runnable_ns);
	COLUMN_EXPORT(&e->u64[2], &m, user_ns);
	COLUMN_EXPORT(&e->u64[3], &m, system_ns);
	COLUMN_EXPORT(&e->u64[4], &m, voluntary);
	COLUMN_EXPORT(&e->u64[5], &m, involuntary);
	COLUMN_EXPORT(&e->u64[6], &m, migrations);
	COLUMN_EXPORT(&e->u64[7], &m, minor_faults);
	COLUMN_EXPORT(&e->u64[8], &m, major_faults);
	COLUMN_EXPORT(&e->u64[9], &m, io_ns);
	COLUMN_EXPORT(&e->u32[3], &m, syscall);
	COLUMN_EXPORT(&e->u64[10], &m, read_bytes);
	COLUMN_EXPORT(&e->u64[11], &m, write_bytes);
	COLUMN_EXPORT(&e->u64[12], &m, read_chars);
	COLUMN_EXPORT(&e->u64[13], &m, write_chars);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__ACCOUNTS, &m.base, out);
}

static int encode_processes(struct encode *e, const struct item *item, struct encoded *out)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	Profbpf__Processes m = PROFBPF__PROCESSES__INIT;
	const struct rec_process *r = item->data;

	if (prepare(e, item->count, 6, 1, 5, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		column_s64_push_delta(&e->s64[0], r->header.ts_ns);
		column_u32_push(&e->u32[0], r->tgid);
		column_u32_push(&e->u32[1], trace_process_flags(r->header.flags));
		column_u32_push(&e->u32[2], r->threads);
		column_u32_push(&e->u32[3], r->ns_pid);
		column_u32_push(&e->u32[4], r->ns_inode);
		column_u64_push(&e->u64[0], r->cgroup);
		column_u64_push(&e->u64[1], r->rss_pages * page);
		column_u64_push(&e->u64[2], r->peak_pages * page);
		column_u64_push(&e->u64[3], r->gone_run_ns);
		column_u64_push(&e->u64[4], r->gone_user_ns);
		column_u64_push(&e->u64[5], r->gone_system_ns);
	}
	COLUMN_EXPORT_ALWAYS(&e->s64[0], &m, ts_ns);
	COLUMN_EXPORT(&e->u32[0], &m, tgid);
	COLUMN_EXPORT(&e->u32[1], &m, flags);
	COLUMN_EXPORT(&e->u32[2], &m, threads);
	COLUMN_EXPORT(&e->u32[3], &m, ns_pid);
	COLUMN_EXPORT(&e->u32[4], &m, ns_inode);
	COLUMN_EXPORT(&e->u64[0], &m, cgroup);
	COLUMN_EXPORT(&e->u64[1], &m, rss_bytes);
	COLUMN_EXPORT(&e->u64[2], &m, peak_rss_bytes);
	COLUMN_EXPORT(&e->u64[3], &m, gone_run_ns);
	COLUMN_EXPORT(&e->u64[4], &m, gone_user_ns);
	COLUMN_EXPORT(&e->u64[5], &m, gone_system_ns);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__PROCESSES, &m.base, out);
}

static uint32_t text_id(struct string_table *strings, const char *text)
{
	uint32_t id = string_table_add_text(strings, text);

	return id == STRING_NONE ? 0 : id;
}

static int encode_tasks(struct encode *e, const struct item *item, struct string_table *strings,
			struct encoded *out)
{
	Profbpf__Tasks m = PROFBPF__TASKS__INIT;
	const struct task_row *row = item->data;

	if (prepare(e, item->count, 1, 1, 10, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, row++) {
		const struct rec_task *r = &row->record;

		column_s64_push_delta(&e->s64[0], r->header.ts_ns);
		column_u64_push(&e->u64[0], r->start_ns);
		column_u32_push(&e->u32[0], r->tid);
		column_u32_push(&e->u32[1], r->tgid);
		column_u32_push(&e->u32[2], r->parent_tgid);
		column_u32_push(&e->u32[3], r->parent_tid);
		column_u32_push(&e->u32[4], trace_task_event(r->event));
		column_u32_push(&e->u32[5], r->exit_code);
		column_u32_push(&e->u32[6], text_id(strings, r->comm));
		column_u32_push(&e->u32[7], text_id(strings, row->cmdline));
		column_u32_push(&e->u32[8], text_id(strings, row->exe));
		column_u32_push(&e->u32[9], trace_task_flags(r->header.flags));
	}
	COLUMN_EXPORT_ALWAYS(&e->s64[0], &m, ts_ns);
	COLUMN_EXPORT(&e->u64[0], &m, start_ns);
	COLUMN_EXPORT(&e->u32[0], &m, tid);
	COLUMN_EXPORT(&e->u32[1], &m, tgid);
	COLUMN_EXPORT(&e->u32[2], &m, parent_tgid);
	COLUMN_EXPORT(&e->u32[3], &m, parent_tid);
	COLUMN_EXPORT_ENUM(&e->u32[4], &m, event);
	COLUMN_EXPORT(&e->u32[5], &m, exit_code);
	COLUMN_EXPORT(&e->u32[6], &m, name);
	COLUMN_EXPORT(&e->u32[7], &m, cmdline);
	COLUMN_EXPORT(&e->u32[8], &m, exe);
	COLUMN_EXPORT(&e->u32[9], &m, flags);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__TASKS, &m.base, out);
}

static int encode_device(struct encode *e, const struct item *item, struct string_table *strings,
			 struct encoded *out)
{
	Profbpf__DeviceTasks m = PROFBPF__DEVICE_TASKS__INIT;
	const struct device_row *row = item->data;

	if (prepare(e, item->count, 4, 5, 3, 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, row++) {
		const struct stream_task *t = &row->task;

		column_s64_push_delta(&e->s64[0], t->queued_ns);
		column_s64_push(&e->s64[1], t->submit_ns - t->queued_ns);
		column_s64_push(&e->s64[2], t->start_ns - t->queued_ns);
		column_s64_push(&e->s64[3], t->end_ns - t->start_ns);
		column_s64_push_delta(&e->s64[4], t->enqueue_ns);
		column_u64_push(&e->u64[0], t->stream);
		column_u64_push(&e->u64[1], t->bytes);
		column_u64_push(&e->u64[2], t->correlation);
		column_u64_push(&e->u64[3], t->enqueue_dur_ns);
		column_u32_push(&e->u32[0], trace_device_kind(t->kind));
		column_u32_push(&e->u32[1], text_id(strings, row->name));
		column_u32_push(&e->u32[2], row->tid);
		column_s32_push(&e->s32[0], t->status);
	}
	m.device = item->device;
	COLUMN_EXPORT_ALWAYS(&e->s64[0], &m, queued_ns);
	COLUMN_EXPORT(&e->s64[1], &m, submit_ns);
	COLUMN_EXPORT(&e->s64[2], &m, start_ns);
	COLUMN_EXPORT(&e->s64[3], &m, end_ns);
	COLUMN_EXPORT(&e->s64[4], &m, enqueue_ns);
	COLUMN_EXPORT(&e->u64[0], &m, stream);
	COLUMN_EXPORT(&e->u64[1], &m, bytes);
	COLUMN_EXPORT(&e->u64[2], &m, correlation);
	COLUMN_EXPORT(&e->u64[3], &m, enqueue_dur_ns);
	COLUMN_EXPORT_ENUM(&e->u32[0], &m, kind);
	COLUMN_EXPORT(&e->u32[1], &m, name);
	COLUMN_EXPORT(&e->u32[2], &m, tid);
	COLUMN_EXPORT(&e->s32[0], &m, status);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__DEVICE_TASKS, &m.base, out);
}

static int encode_coverage(struct encode *e, const struct item *item, struct string_table *strings,
			   struct encoded *out)
{
	Profbpf__Coverage m = PROFBPF__COVERAGE__INIT;
	const struct coverage_row *row = item->data;

	if (prepare(e, item->count, 2, 0, 4, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, row++) {
		column_u32_push(&e->u32[0], row->tgid);
		column_u32_push(&e->u32[1], text_id(strings, row->path));
		column_u32_push(&e->u32[2], row->functions);
		column_u32_push(&e->u32[3], row->state);
		column_u64_push(&e->u64[0], row->mapped_ns);
		column_u64_push(&e->u64[1], row->probed_ns);
	}
	COLUMN_EXPORT(&e->u32[0], &m, tgid);
	COLUMN_EXPORT(&e->u32[1], &m, file);
	COLUMN_EXPORT(&e->u32[2], &m, functions);
	COLUMN_EXPORT_ENUM(&e->u32[3], &m, state);
	COLUMN_EXPORT(&e->u64[0], &m, mapped_ns);
	COLUMN_EXPORT_ALWAYS(&e->u64[1], &m, probed_ns);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__COVERAGE, &m.base, out);
}

static int encode_ends(struct encode *e, const struct item *item, struct encoded *out)
{
	Profbpf__Ends m = PROFBPF__ENDS__INIT;
	const struct ends_row *row = item->data;

	if (prepare(e, item->count, 0, 1, 3, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, row++) {
		column_u32_push(&e->u32[0], row->function);
		column_s64_push_delta(&e->s64[0], row->ts_ns);
		column_u32_push(&e->u32[1], row->seen);
		column_u32_push(&e->u32[2], row->calls_per_second);
	}
	COLUMN_EXPORT(&e->u32[0], &m, function);
	COLUMN_EXPORT_ALWAYS(&e->s64[0], &m, ts_ns);
	COLUMN_EXPORT(&e->u32[1], &m, seen);
	COLUMN_EXPORT(&e->u32[2], &m, calls_per_second);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__ENDS, &m.base, out);
}

static int encode_shed(struct encode *e, const struct item *item, struct encoded *out)
{
	Profbpf__Shed m = PROFBPF__SHED__INIT;
	const struct shed_row *row = item->data;

	if (prepare(e, item->count, 0, 1, 4, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, row++) {
		column_u32_push(&e->u32[0], row->what);
		column_s64_push_delta(&e->s64[0], row->ts_ns);
		column_u32_push(&e->u32[1], row->kept_permille);
		column_u32_push(&e->u32[2], row->reason);
		column_u32_push(&e->u32[3], row->cost_ppm);
	}
	COLUMN_EXPORT_ENUM(&e->u32[0], &m, what);
	COLUMN_EXPORT_ALWAYS(&e->s64[0], &m, ts_ns);
	COLUMN_EXPORT(&e->u32[1], &m, kept_permille);
	COLUMN_EXPORT_ENUM(&e->u32[2], &m, reason);
	COLUMN_EXPORT(&e->u32[3], &m, cost_ppm);
	return message_pack(&e->packed, PROFBPF__PACKET__KIND__SHED, &m.base, out);
}

int encode_item(struct encode *encode, const struct item *item, struct string_table *strings,
		struct texts *texts, struct encoded *out)
{
	if (!item->count)
		return -EINVAL;
	switch (item->kind) {
	case ITEM_TASKS: return encode_tasks(encode, item, strings, out);
	case ITEM_DEVICE: return encode_device(encode, item, strings, out);
	case ITEM_COVERAGE: return encode_coverage(encode, item, strings, out);
	case ITEM_ENDS: return encode_ends(encode, item, out);
	case ITEM_SHED: return encode_shed(encode, item, out);
	case ITEM_STACKS: return encode_stacks(&encode->packed, item, out);
	case ITEM_RECORDS: break;
	default: return -EINVAL;
	}
	switch (item->type) {
	case REC_CALL: return encode_calls(&encode->records, item, strings, texts, out);
	case REC_IOCTL: return encode_ioctls(encode, item, out);
	case REC_SWITCH: return encode_switches(&encode->records, item, strings, out);
	case REC_INTERRUPT: return encode_interrupts(encode, item, strings, out);
	case REC_WAKE: return encode_wakes(&encode->records, item, strings, out);
	case REC_ACCOUNT: return encode_accounts(encode, item, out);
	case REC_PROCESS: return encode_processes(encode, item, out);
	case REC_FAULT: return encode_faults(&encode->packed, item, encode->mappings, strings, out);
	case REC_BLOCK: return encode_blocks(&encode->packed, item, out);
	default: return -EINVAL;
	}
}

bool encode_objects(struct encode *encode, struct encoded *out)
{
	Profbpf__SleepObjects m;

	return sleep_objects_take(encode->records.objects, &m) &&
	       !message_pack(&encode->packed, PROFBPF__PACKET__KIND__SLEEP_OBJECTS, &m.base, out);
}

void encode_segment(struct encode *encode)
{
	sleep_objects_clear(encode->records.objects);
}
