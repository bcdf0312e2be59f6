/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode_records.h"

#include <errno.h>

/* Messages begin with the CPU and, for seeking, the first and the last instant. */
static int start(struct encode_records *e, const struct item *item, int columns,
		 const ProtobufCMessageDescriptor *type)
{
	packed_message_start(&e->message, type);
	for (int i = 0; i < columns; i++)
		if (packed_start(&e->column[i], item->count))
			return -ENOMEM;
	return packed_message_value(&e->message, "cpu", item->cpu);
}

/* Adds the columns under the names of their fields; the first one is always there. */
static int finish(struct encode_records *e, const char *const *fields, int columns,
		  Profbpf__Packet__Kind kind, struct encoded *out)
{
	for (int i = 0; i < columns; i++) {
		int err = packed_message_column(&e->message, fields[i], &e->column[i], i == 0);

		if (err)
			return err;
	}
	out->kind = kind;
	out->data = e->message.data;
	out->size = e->message.size;
	return 0;
}

static uint32_t call_text(const struct rec_call *r, struct string_table *strings,
			  struct texts *texts)
{
	char text[REC_STRING_LEN];
	size_t length;
	uint32_t id;

	if (!(r->header.flags & CALL_HAS_STRING))
		return 0;
	length = texts_take(texts, r->tid, r->header.ts_ns, text, sizeof(text));
	id = string_table_add(strings, text, length);
	return id == STRING_NONE ? 0 : id;
}

static uint64_t end_ns(const struct rec_call *r)
{
	return r->header.ts_ns + r->dur_ns;
}

int encode_calls(struct encode_records *e, const struct item *item, struct string_table *strings,
		 struct texts *texts, struct encoded *out)
{
	static const char *const fields[] = { "end_ns", "dur_ns", "tid",  "tgid", "function", "flags",
					      "ret",	"text",	  "arg0", "arg1", "arg2" };
	enum { END, DUR, TID, TGID, FUNCTION, FLAGS, RET, TEXT, ARG0, ARG1, ARG2, COLUMNS };
	const struct rec_call *r = item->data;
	struct packed *c = e->column;

	if (start(e, item, COLUMNS, &profbpf__calls__descriptor) ||
	    packed_message_value(&e->message, "first_end_ns", end_ns(&r[0])) ||
	    packed_message_value(&e->message, "last_end_ns", end_ns(&r[item->count - 1])))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		packed_put_delta(&c[END], end_ns(r));
		packed_put(&c[DUR], r->dur_ns);
		packed_put_delta(&c[TID], r->tid);
		packed_put_delta(&c[TGID], r->tgid);
		packed_put(&c[FUNCTION], r->probe);
		packed_put(&c[FLAGS], r->header.flags);
		packed_put(&c[RET], r->ret);
		packed_put(&c[TEXT], call_text(r, strings, texts));
		packed_put_delta(&c[ARG0], r->args[0]);
		packed_put_delta(&c[ARG1], r->args[1]);
		packed_put_delta(&c[ARG2], r->args[2]);
	}
	return finish(e, fields, COLUMNS, PROFBPF__PACKET__KIND__CALLS, out);
}

int encode_switches(struct encode_records *e, const struct item *item, struct encoded *out)
{
	static const char *const fields[] = { "ts_ns", "prev_tid", "next_tid",
					      "state", "flags",	   "syscall" };
	enum { TS, PREV, NEXT, STATE, FLAGS, SYSCALL, COLUMNS };
	const struct rec_switch *r = item->data;
	struct packed *c = e->column;

	if (start(e, item, COLUMNS, &profbpf__switches__descriptor) ||
	    packed_message_value(&e->message, "first_ns", r[0].header.ts_ns) ||
	    packed_message_value(&e->message, "last_ns", r[item->count - 1].header.ts_ns))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		packed_put_growth(&c[TS], r->header.ts_ns);
		packed_put(&c[PREV], r->prev_tid);
		packed_put(&c[NEXT], r->next_tid);
		packed_put(&c[STATE], r->state);
		packed_put(&c[FLAGS], r->header.flags);
		packed_put_signed(&c[SYSCALL], r->syscall);
	}
	return finish(e, fields, COLUMNS, PROFBPF__PACKET__KIND__SWITCHES, out);
}

int encode_wakes(struct encode_records *e, const struct item *item, struct encoded *out)
{
	static const char *const fields[] = { "ts_ns", "waker_tid", "tid", "target_cpu", "flags" };
	enum { TS, WAKER, TID, CPU, FLAGS, COLUMNS };
	const struct rec_wake *r = item->data;
	struct packed *c = e->column;

	if (start(e, item, COLUMNS, &profbpf__wakes__descriptor) ||
	    packed_message_value(&e->message, "first_ns", r[0].header.ts_ns) ||
	    packed_message_value(&e->message, "last_ns", r[item->count - 1].header.ts_ns))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		packed_put_growth(&c[TS], r->header.ts_ns);
		packed_put(&c[WAKER], r->waker_tid);
		packed_put(&c[TID], r->tid);
		packed_put(&c[CPU], r->target_cpu);
		packed_put(&c[FLAGS], r->header.flags);
	}
	return finish(e, fields, COLUMNS, PROFBPF__PACKET__KIND__WAKES, out);
}

void encode_records_free(struct encode_records *e)
{
	for (int i = 0; i < RECORD_COLUMNS; i++)
		packed_free(&e->column[i]);
	packed_message_free(&e->message);
}
