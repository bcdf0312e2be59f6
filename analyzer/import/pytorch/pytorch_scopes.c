/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's timeline of a Kineto trace, and the times of its operators: on the host with and without nested
 * operators, and on the device for their launches.
 */
#include "analyzer/import/pytorch/pytorch.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/import/operator_calls.h"
#include "analyzer/import/operator_nest.h"
#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME

/* Device time of an operator's own launches. */
struct launched_time {
	uint64_t number;
	uint64_t ns;
};

struct operator_times {
	struct pytorch *file;
	struct operator_calls calls;
	MODEL_ARRAY(struct launched_time) launched; /* sorted by number */
};

static int by_thread(const void *a, const void *b)
{
	const struct pytorch_scope *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->dur_ns != y->dur_ns)
		return x->dur_ns > y->dur_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_number(const void *a, const void *b)
{
	const struct launched_time *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Adds up the tasks of each operator. */
static int sum_tasks(struct operator_times *times)
{
	struct pytorch *file = times->file;
	uint32_t used = 0;

	for (uint32_t i = 0; i < file->tasks.count; i++) {
		struct launched_time row = { file->tasks.row[i].external,
					     (uint64_t)file->tasks.row[i].dur_ns };

		if (row.number && !MODEL_PUSH(&times->launched, row))
			return -ENOMEM;
	}
	SORT_ARRAY(&times->launched, by_number);
	for (uint32_t i = 0; i < times->launched.count; i++) {
		struct launched_time *rows = times->launched.row;

		if (used && rows[used - 1].number == rows[i].number)
			rows[used - 1].ns += rows[i].ns;
		else
			rows[used++] = rows[i];
	}
	times->launched.count = used;
	return 0;
}

static uint64_t launched_by(const struct operator_times *times, uint64_t number)
{
	const struct launched_time *rows = times->launched.row;
	uint32_t at = BISECT(i, 0, times->launched.count, rows[i].number < number);

	return number && at < times->launched.count && rows[at].number == number ? rows[at].ns : 0;
}

static int add_sum(void *context, const struct operator_sum *sum)
{
	struct operator_times *times = context;

	return operator_calls_add(&times->calls, sum);
}

/* Without any task in the file, the launched time is unknown, not 0. */
static int add_operator(struct operator_nest *nest, const struct pytorch_scope *scope)
{
	const struct operator_times *times = nest->context;
	bool known = times->file->tasks.count > 0;
	struct nested_call call = {
		.pid = scope->pid,
		.tid = scope->tid,
		.start_ns = scope->start_ns,
		.dur_ns = scope->dur_ns,
		.sum = { .name = scope->name,
			 .shapes = scope->shapes,
			 .self_ns = known ? launched_by(times, scope->number) : UINT64_MAX },
	};

	return operator_nest_add(nest, &call);
}

static int sum_operators(struct pytorch *file, uint32_t first_device)
{
	struct operator_times times = { .file = file,
					.calls = { .import = file->import, .device = INDEX_NONE } };
	struct operator_nest nest = { .ended = add_sum, .context = &times };
	int err = sum_tasks(&times);

	if (file->import->model->devices.count == first_device + 1)
		times.calls.device = first_device;
	for (uint32_t i = 0; i < file->scopes.count && !err; i++)
		if (file->scopes.row[i].scope == SCOPE_OPERATOR)
			err = add_operator(&nest, &file->scopes.row[i]);
	err = operator_nest_finish(&nest, err);
	operator_calls_free(&times.calls);
	free(times.launched.row);
	return err;
}

static int put_scope(struct pytorch *file, const struct pytorch_scope *from)
{
	uint64_t start_ns, end_ns;
	uint32_t thread;

	if (!pytorch_instants(file, from->start_ns, from->dur_ns, &start_ns, &end_ns))
		return import_finding(file->import, "operators and ranges outside of any time: they end "
						    "before they begin, or begin before the file's clock does",
				      model_text(file->import->model, from->name));
	thread = import_thread(&file->rows, from->pid, from->tid, start_ns);
	return import_scope(&file->rows, thread, model_text(file->import->model, from->name),
			    from->scope, start_ns, end_ns);
}

int pytorch_put_scopes(struct pytorch *file, uint32_t first_device)
{
	int err = 0;

	SORT_ARRAY(&file->scopes, by_thread);
	for (uint32_t i = 0; i < file->scopes.count && !err && file->import->alone; i++)
		err = put_scope(file, &file->scopes.row[i]);
	return err ? err : sum_operators(file, first_device);
}
