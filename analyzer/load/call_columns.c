/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/call_columns.h"

#include "lib/trace/column.h"

bool shapes_resolve(uint32_t *shape, size_t rows, size_t entries)
{
	struct column_table table = { .count = entries };

	for (size_t i = 0; i < rows; i++) {
		size_t entry;

		if (!column_table_at(&table, shape[i], &entry))
			return false;
		shape[i] = (uint32_t)entry;
	}
	return true;
}

static void add_up(int64_t *value, size_t count)
{
	for (size_t i = 1; i < count; i++)
		value[i] = column_s64_next(value[i - 1], value[i]);
}

static void add_up_ids(int32_t *value, size_t count)
{
	for (size_t i = 1; i < count; i++)
		value[i] = column_s32_next(value[i - 1], value[i]);
}

/* Replaces codes by 1 + the index of the entry of values, or by 0 for the value 0. */
static bool resolve_values(Profbpf__Calls *calls, size_t rows)
{
	uint32_t *const codes[] = { calls->ret_value, calls->value0, calls->value1, calls->value2 };
	const size_t counts[] = { calls->n_ret_value, calls->n_value0, calls->n_value1,
				  calls->n_value2 };
	struct column_table table = { .count = calls->n_values };

	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < 4; j++) {
			size_t entry;

			if (!counts[j] || !codes[j][i])
				continue;
			if (!column_table_at(&table, codes[j][i] - 1, &entry))
				return false;
			codes[j][i] = (uint32_t)entry + 1;
		}
	}
	return true;
}

bool call_columns_resolve(Profbpf__Calls *c, size_t *rows)
{
	size_t shapes;

	if (!c->n_shape) {
		if (COLUMN_ROWS(rows, c->n_end_ns, c->n_dur_ns, c->n_tid, c->n_function, c->n_flags,
				c->n_ret, c->n_arg0, c->n_arg1, c->n_arg2, c->n_text, c->n_tgid))
			return false;
	} else if (COLUMN_ROWS(rows, c->n_end_ns, c->n_dur_ns, c->n_shape, c->n_ret_value,
			       c->n_value0, c->n_value1, c->n_value2) ||
		   COLUMN_ROWS(&shapes, c->n_tid, c->n_tgid, c->n_function, c->n_flags,
			       c->n_text) ||
		   !shapes_resolve(c->shape, *rows, shapes) || !resolve_values(c, *rows)) {
		return false;
	}
	add_up(c->end_ns, c->n_end_ns);
	add_up(c->arg0, c->n_arg0);
	add_up(c->arg1, c->n_arg1);
	add_up(c->arg2, c->n_arg2);
	add_up(c->values, c->n_values);
	add_up_ids(c->tid, c->n_tid);
	add_up_ids(c->tgid, c->n_tgid);
	return true;
}

static uint64_t value_of(const Profbpf__Calls *calls, uint32_t entry)
{
	return entry ? (uint64_t)calls->values[entry - 1] : 0;
}

uint32_t call_columns_values(const Profbpf__Calls *c, size_t i, uint64_t args[3])
{
	if (!c->n_shape) {
		args[0] = (uint64_t)COLUMN_AT(c, arg0, i);
		args[1] = (uint64_t)COLUMN_AT(c, arg1, i);
		args[2] = (uint64_t)COLUMN_AT(c, arg2, i);
		return COLUMN_AT(c, ret, i);
	}
	args[0] = value_of(c, COLUMN_AT(c, value0, i));
	args[1] = value_of(c, COLUMN_AT(c, value1, i));
	args[2] = value_of(c, COLUMN_AT(c, value2, i));
	return (uint32_t)value_of(c, COLUMN_AT(c, ret_value, i));
}
