/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_calls.h"

#include <stdlib.h>

#include "lib/trace/column.h"
#include "proto/trace.pb-c.h"

/* Calls.flags of the file */
#define FILE_CALL_OPEN 1
#define FILE_CALL_END_UNKNOWN (32 | 64) /* left, or only its entry seen */

struct values {
	const Profbpf__Calls *m;
	struct column_table table;
	uint64_t *value; /* added up */
};

/* The value for a row's code; returns false for a damaged batch. */
static bool value_at(struct values *values, size_t count, const uint32_t *codes, size_t row,
		     uint64_t *value)
{
	size_t entry;

	*value = 0;
	if (!count || !codes[row])
		return true;
	if (!column_table_at(&values->table, codes[row] - 1, &entry))
		return false;
	*value = values->value[entry];
	return true;
}

static bool check_calls(const Profbpf__Calls *m, size_t *rows, size_t *shapes)
{
	return m->n_shape &&
	       !COLUMN_ROWS(rows, m->n_end_ns, m->n_dur_ns, m->n_shape, m->n_ret_value,
			    m->n_value0, m->n_value1, m->n_value2) &&
	       !COLUMN_ROWS(shapes, m->n_tid, m->n_tgid, m->n_function, m->n_flags, m->n_text);
}

static void take_rows(const Profbpf__Calls *m, size_t rows, size_t shapes, struct values *values, uint32_t *ids,
		      const struct top_counting *counting)
{
	uint32_t *tgids = ids, *tids = ids + shapes;
	struct column_table table = { .count = shapes };
	uint64_t end_ns = 0, ret;
	int32_t tgid = 0, tid = 0;

	for (size_t i = 0; i < shapes; i++) {
		tgids[i] = (uint32_t)(tgid = column_s32_next(tgid, COLUMN_AT(m, tgid, i)));
		tids[i] = (uint32_t)(tid = column_s32_next(tid, COLUMN_AT(m, tid, i)));
	}
	for (size_t i = 0; i < rows; i++) {
		struct live_called call = { 0 };
		uint32_t flags;
		size_t shape;

		end_ns = (uint64_t)column_s64_next((int64_t)end_ns, COLUMN_AT(m, end_ns, i));
		if (!column_table_at(&table, m->shape[i], &shape) ||
		    !value_at(values, m->n_ret_value, m->ret_value, i, &ret) ||
		    !value_at(values, m->n_value0, m->value0, i, &call.args[0]) ||
		    !value_at(values, m->n_value1, m->value1, i, &call.args[1]) ||
		    !value_at(values, m->n_value2, m->value2, i, &call.args[2]))
			return;
		flags = COLUMN_AT(m, flags, shape);
		/* Open calls have not returned. */
		if (flags & FILE_CALL_OPEN)
			continue;
		call.function = COLUMN_AT(m, function, shape);
		call.pid = tgids[shape];
		call.tid = tids[shape];
		call.depth = flags >> 8 & 0xff;
		call.end_ns = end_ns;
		call.end_unknown = flags & FILE_CALL_END_UNKNOWN;
		call.dur_ns = call.end_unknown ? 0 : COLUMN_AT(m, dur_ns, i);
		counting->count(counting->context, &call, COLUMN_AT(m, text, shape));
	}
}

void top_calls_read(const struct pbt_packet *packet, const struct top_counting *counting)
{
	Profbpf__Calls *m = profbpf__calls__unpack(NULL, packet->size, packet->body);
	struct values values = { 0 };
	uint32_t *ids = NULL;
	size_t rows, shapes;
	int64_t sum = 0;

	if (!m || !check_calls(m, &rows, &shapes))
		goto cleanup;
	values = (struct values){ .m = m, .table = { .count = m->n_values } };
	values.value = calloc(m->n_values + 1, sizeof(*values.value));
	ids = calloc(2 * shapes + 1, sizeof(*ids));
	if (!values.value || !ids)
		goto cleanup;
	for (size_t i = 0; i < m->n_values; i++) {
		sum = column_s64_next(sum, m->values[i]);
		values.value[i] = (uint64_t)sum;
	}
	take_rows(m, rows, shapes, &values, ids, counting);
cleanup:
	free(values.value);
	free(ids);
	profbpf__calls__free_unpacked(m, NULL);
}
