/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/encode_records.h"

#include <errno.h>
#include <string.h>

#include "daemon/profbpfd/encode/trace_values.h"

/* Messages begin with the CPU and, for seeking, the first and the last instant. */
static int start(struct encode_records *e, const struct item *item, int columns,
		 const ProtobufCMessageDescriptor *type)
{
	packed_message_start(&e->message, type);
	for (int i = 0; i < columns; i++)
		if (packed_start(&e->column[i], item->count))
			return -ENOMEM;
	if (coder_start(&e->shapes, item->count))
		return -ENOMEM;
	return packed_message_value(&e->message, "cpu", item->cpu);
}

/* Adds the columns under the names of their fields; columns of zeros only if their bit is in @always. */
static int finish(struct encode_records *e, const char *const *fields, int columns,
		  unsigned int always, Profbpf__Packet__Kind kind, struct encoded *out)
{
	for (int i = 0; i < columns; i++) {
		int err = packed_message_column(&e->message, fields[i], &e->column[i],
						always >> i & 1);

		if (err)
			return err;
	}
	out->kind = kind;
	out->data = e->message.data;
	out->size = e->message.size;
	return 0;
}

static uint32_t text_id(uint64_t key, struct string_table *strings, struct texts *texts)
{
	char text[REC_STRING_LEN];
	size_t length = texts_get(texts, key, text, sizeof(text));
	uint32_t id = string_table_add(strings, text, length);

	return id == STRING_NONE ? 0 : id;
}

static uint32_t call_text(struct recent_texts *recent, const struct rec_call *r,
			  struct string_table *strings, struct texts *texts)
{
	size_t place = r->text & (RECENT_TEXTS - 1);

	if (!(r->header.flags & CALL_HAS_STRING))
		return 0;
	if (recent->key[place] != r->text || !r->text) {
		recent->key[place] = r->text;
		recent->id[place] = text_id(r->text, strings, texts);
	}
	return recent->id[place];
}

static uint64_t end_ns(const struct rec_call *r)
{
	return r->header.ts_ns + r->dur_ns;
}

static uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Adds @value to the column of codes and, if it is new in this batch, to that of values. */
static void put_value(struct coder *coder, struct packed *codes, struct packed *values,
		      uint64_t value)
{
	uint32_t code = 0;

	if (value) {
		code = coder_code_word(coder, value) + 1;
		if (code == 1)
			packed_put_delta(values, value);
	}
	packed_put(codes, code);
}

int encode_calls(struct encode_records *e, const struct item *item, struct string_table *strings,
		 struct texts *texts, struct encoded *out)
{
	static const char *const fields[] = { "end_ns",	  "dur_ns", "shape", "tid",	  "tgid",
					      "function", "flags",  "text",  "ret_value", "value0",
					      "value1",	  "value2", "values" };
	enum {
		END,
		DUR,
		SHAPE,
		TID,
		TGID,
		FUNCTION,
		FLAGS,
		TEXT,
		RET,
		ARG0,
		ARG1,
		ARG2,
		VALUES,
		COLUMNS
	};
	const struct rec_call *r = item->data;
	struct packed *c = e->column;

	if (start(e, item, COLUMNS, &profbpf__calls__descriptor) ||
	    packed_start(&c[VALUES], (REC_ARGS + 1) * (size_t)item->count) ||
	    coder_start(&e->values, (REC_ARGS + 1) * (size_t)item->count) ||
	    packed_message_value(&e->message, "first_end_ns", end_ns(&r[0])) ||
	    packed_message_value(&e->message, "last_end_ns", end_ns(&r[item->count - 1])))
		return -ENOMEM;
	memset(e->texts.key, 0, sizeof(e->texts.key));
	for (uint32_t i = 0; i < item->count; i++, r++) {
		uint32_t text = call_text(&e->texts, r, strings, texts), shape;

		packed_put_time_delta(&c[END], end_ns(r));
		packed_put_time(&c[DUR], r->dur_ns);
		shape = coder_code(&e->shapes, &(struct coder_key){ { pair(r->tid, r->tgid),
								      pair(r->probe, text),
								      r->header.flags } });
		packed_put(&c[SHAPE], shape);
		if (!shape) {
			packed_put_delta(&c[TID], r->tid);
			packed_put_delta(&c[TGID], r->tgid);
			packed_put(&c[FUNCTION], r->probe);
			packed_put(&c[FLAGS], trace_call_flags(r->header.flags));
			packed_put(&c[TEXT], text);
		}
		put_value(&e->values, &c[RET], &c[VALUES], r->ret);
		put_value(&e->values, &c[ARG0], &c[VALUES], r->args[0]);
		put_value(&e->values, &c[ARG1], &c[VALUES], r->args[1]);
		put_value(&e->values, &c[ARG2], &c[VALUES], r->args[2]);
	}
	return finish(e, fields, COLUMNS, 1 << END | 1 << SHAPE | 1 << TID,
		      PROFBPF__PACKET__KIND__CALLS, out);
}

int encode_switches(struct encode_records *e, const struct item *item,
		    struct string_table *strings, struct encoded *out)
{
	static const char *const fields[] = { "ts_ns", "shape", "prev_change", "next_tid",
					      "state", "flags", "syscall",     "object",
					      "refill_ns" };
	enum { TS, SHAPE, PREV, NEXT, STATE, FLAGS, SYSCALL, OBJECT, REFILL, COLUMNS };
	const struct rec_switch *r = item->data;
	struct packed *c = e->column;
	uint32_t running = 0;

	if (start(e, item, COLUMNS, &profbpf__switches__descriptor) ||
	    packed_message_value(&e->message, "first_ns", r[0].header.ts_ns) ||
	    packed_message_value(&e->message, "last_ns", r[item->count - 1].header.ts_ns))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		uint32_t shape, object, flags, refill_ns;

		packed_put_growth(&c[TS], r->header.ts_ns);
		packed_put(&c[PREV], r->prev_tid ^ running);
		running = r->next_tid;
		object = sleep_objects_add(e->objects, r, strings);
		flags = r->header.flags & SWITCH_FLAGS;
		refill_ns = flags & SWITCH_THROTTLED ? r->refill_ns : 0;
		/* A throttled thread is ready to run: it waits for no object. */
		shape = coder_code(&e->shapes,
				   &(struct coder_key){ { r->next_tid, pair(r->state, flags),
							  pair((uint16_t)r->syscall,
							       refill_ns ? refill_ns : object) } });
		packed_put(&c[SHAPE], shape);
		if (!shape) {
			packed_put(&c[NEXT], r->next_tid);
			packed_put(&c[STATE], trace_switch_state(r->state));
			packed_put(&c[FLAGS], trace_switch_flags(flags));
			packed_put_signed(&c[SYSCALL], r->syscall);
			packed_put(&c[OBJECT], refill_ns ? 0 : object);
			packed_put(&c[REFILL], refill_ns);
		}
	}
	return finish(e, fields, COLUMNS, 1 << TS | 1 << SHAPE | 1 << NEXT,
		      PROFBPF__PACKET__KIND__SWITCHES, out);
}

int encode_wakes(struct encode_records *e, const struct item *item, struct string_table *strings,
		 struct encoded *out)
{
	static const char *const fields[] = { "ts_ns", "shape",	     "waker_tid",
					      "tid",   "target_cpu", "flags",
					      "interrupt", "object" };
	enum { TS, SHAPE, WAKER, TID, CPU, FLAGS, INTERRUPT, OBJECT, COLUMNS };
	const struct rec_wake *r = item->data;
	struct packed *c = e->column;

	if (start(e, item, COLUMNS, &profbpf__wakes__descriptor) ||
	    packed_message_value(&e->message, "first_ns", r[0].header.ts_ns) ||
	    packed_message_value(&e->message, "last_ns", r[item->count - 1].header.ts_ns))
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++, r++) {
		uint32_t object = sleep_objects_add_ready(e->objects, r, strings);
		uint32_t flags = r->header.flags & SWITCH_FLAGS, shape;

		packed_put_growth(&c[TS], r->header.ts_ns);
		shape = coder_code(&e->shapes,
				   &(struct coder_key){ { pair(r->waker_tid, r->tid),
							  pair(r->source, r->target_cpu),
							  pair(flags, object) } });
		packed_put(&c[SHAPE], shape);
		if (!shape) {
			packed_put(&c[WAKER], r->waker_tid);
			packed_put(&c[TID], r->tid);
			packed_put(&c[CPU], r->target_cpu);
			packed_put(&c[FLAGS], trace_wake_flags(flags));
			packed_put(&c[INTERRUPT],
				   interrupt_name(&e->interrupts, r->source, strings));
			packed_put(&c[OBJECT], object);
		}
	}
	return finish(e, fields, COLUMNS, 1 << TS | 1 << SHAPE | 1 << TID,
		      PROFBPF__PACKET__KIND__WAKES, out);
}

void encode_records_free(struct encode_records *e)
{
	for (int i = 0; i < RECORD_COLUMNS; i++)
		packed_free(&e->column[i]);
	coder_free(&e->shapes);
	coder_free(&e->values);
	packed_message_free(&e->message);
	sleep_objects_free(e->objects);
	interrupt_names_free(&e->interrupts);
}
