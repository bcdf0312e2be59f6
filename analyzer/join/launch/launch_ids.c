/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_ids.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/launch/call_kind.h"
#include "analyzer/join/clock/device_clock.h"
#include "lib/base/map.h"
#include "lib/base/bisect.h"

#define ID_BITS 16
#define ID_RANGE (1 << ID_BITS)
#define OWNERS_MAX 64 /* processes and devices that are distinguished */
#define START_GUESSES_MAX 256 /* parts of a stream that are tried as the part in which the trace begins */

/* A task or a call with its numbers. */
struct numbered {
	uint32_t process;
	uint32_t stream;
	uint64_t ts_ns; /* call: start; task: start, by the declared clock if there is one */
	int64_t number; /* modulo 2^16 until it is unwrapped, then increasing */
	uint32_t row; /* index of a call (the outermost launch) or task */
	uint32_t named_in; /* the call with the numbers */
	bool declared; /* ts_ns of a task is approximately CLOCK_MONOTONIC */
};

struct numbers {
	struct numbered *row;
	uint32_t count;
};

/* One stream of one process: its calls and its tasks on the device. */
struct pairing {
	struct numbered *calls, *tasks; /* by time; tasks finally by number */
	uint32_t call_count, task_count;
	const struct numbered *by_time; /* the tasks sorted by time */
};

static int role_slot(const struct function *function, int role)
{
	for (int i = 0; i < 3; i++) {
		if (function->roles[i] == role)
			return i;
	}
	return -1;
}

static bool inside(const struct call *inner, const struct call *outer)
{
	return inner->thread == outer->thread && inner->start_ns >= outer->start_ns &&
	       inner->end_ns <= outer->end_ns;
}

/* Collects the calls with numbers; .row is the launch that contains them. Calls are sorted by thread and start. */
static void collect_calls(const struct model *model, struct numbers *calls)
{
	uint32_t outer = INDEX_NONE;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		const struct function *function = call_function(model, call);
		int slot = function ? role_slot(function, PROFBPF__FUNCTION__ROLE__TASK) : -1;
		uint32_t launch = i;

		if (call_is_launch(model, call))
			outer = i;
		else if (outer != INDEX_NONE && inside(call, &model->calls.row[outer]))
			launch = outer;
		/* A failed call was repeated under the same number: the queue was full. */
		if (slot < 0 || call->flags & MODEL_CALL_ERROR ||
		    call->thread >= model->threads.count)
			continue;
		calls->row[calls->count++] = (struct numbered){
			.process = model->threads.row[call->thread].process,
			.stream = (uint32_t)(call->args[slot] & (ID_RANGE - 1)),
			.number = (int64_t)(call->args[slot] >> ID_BITS & (ID_RANGE - 1)),
			.ts_ns = call->start_ns,
			.row = launch,
			.named_in = i,
		};
	}
}

/* A process with numbered calls, and the device that the calls name. */
struct owner {
	uint32_t process;
	uint64_t device; /* MODEL_ID_NONE = they name none */
};

struct owners {
	struct owner row[OWNERS_MAX];
	uint32_t count;
	bool many; /* there are more than fit: the result is uncertain */
};

static void find_owners(const struct model *model, const struct numbers *calls,
			struct owners *owners)
{
	owners->count = 0;
	owners->many = false;
	for (uint32_t i = 0; i < calls->count && !owners->many; i++) {
		const struct call *call = &model->calls.row[calls->row[i].named_in];
		const struct function *function = call_function(model, call);
		int slot = role_slot(function, PROFBPF__FUNCTION__ROLE__DEVICE);
		struct owner owner = { calls->row[i].process,
				       slot < 0 ? MODEL_ID_NONE : call->args[slot] };
		uint32_t k = owners->count;

		/* Successive calls mostly have the same owner. */
		while (k > 0 && (owners->row[k - 1].process != owner.process ||
				 owners->row[k - 1].device != owner.device))
			k--;
		if (k)
			continue;
		owners->many = owners->count == OWNERS_MAX;
		if (!owners->many)
			owners->row[owners->count++] = owner;
	}
}

/*
 * Returns the process whose tasks a device has. A file that does not name it belongs to the process whose calls name
 * the device's number, or to the only process there is; INDEX_NONE if that is uncertain.
 */
static uint32_t process_of(const struct model *model, const struct owners *owners, uint32_t device)
{
	uint32_t named = INDEX_NONE;
	bool one = !owners->many && owners->count > 0;

	if (model->devices.row[device].process != INDEX_NONE)
		return model->devices.row[device].process;
	for (uint32_t i = 1; i < owners->count; i++)
		one = one && owners->row[i].process == owners->row[0].process;
	if (one && model->devices.count == 1)
		return owners->row[0].process;
	for (uint32_t i = 0; i < owners->count && !owners->many; i++) {
		if (owners->row[i].device != model->devices.row[device].id)
			continue;
		if (named != INDEX_NONE)
			return INDEX_NONE;
		named = owners->row[i].process;
	}
	return named;
}

static bool task_number(const struct model *model, const struct device_task *task, uint64_t *number)
{
	if (!task->detail || task->detail > model->task_details.count)
		return false;
	*number = model->task_details.row[task->detail - 1].task_id;
	return *number != MODEL_ID_NONE;
}

static bool has_task_role(const struct model *model)
{
	for (uint32_t i = 0; i < model->functions.count; i++) {
		if (role_slot(&model->functions.row[i], PROFBPF__FUNCTION__ROLE__TASK) >= 0)
			return true;
	}
	return false;
}

static int collect_tasks(const struct model *model, const struct numbers *calls,
			 struct numbers *tasks)
{
	uint32_t *process = calloc((size_t)model->devices.count + 1, sizeof(*process));
	struct owners owners;

	if (!process)
		return -ENOMEM;
	find_owners(model, calls, &owners);
	for (uint32_t i = 0; i < model->devices.count; i++)
		process[i] = model->devices.row[i].own_clock ? INDEX_NONE
							     : process_of(model, &owners, i);
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		struct numbered row = { .row = i, .stream = (uint32_t)task->stream };
		uint64_t number;

		if (task->device >= model->devices.count || !task->start_ns ||
		    process[task->device] == INDEX_NONE || task->stream >= ID_RANGE ||
		    !task_number(model, task, &number))
			continue;
		row.process = process[task->device];
		row.number = (int64_t)(number & (ID_RANGE - 1));
		row.declared = device_clock_to_monotonic(
			model, model->devices.row[task->device].clock, task->start_ns, &row.ts_ns);
		if (!row.declared)
			row.ts_ns = task->start_ns;
		tasks->row[tasks->count++] = row;
	}
	free(process);
	return 0;
}

static int by_stream_and_time(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_number(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Subtracts instants. Hostile files may contain any values; the result is only compared. */
static int64_t minus(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

/* Returns the shorter difference of two numbers modulo 2^16. */
static int64_t short_way(int64_t to, int64_t from)
{
	return (int16_t)(uint16_t)((uint64_t)to - (uint64_t)from);
}

/* Returns the number that equals @wrapped modulo 2^16 and is nearest to @to. */
static int64_t nearest(int64_t wrapped, int64_t to)
{
	return to + short_way(wrapped, to & (ID_RANGE - 1));
}

/* A device runs the tasks of a stream in order: their numbers grow, with gaps, and wrap around. */
static void unwrap(struct numbered *rows, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		rows[i].number = nearest(rows[i].number, rows[i - 1].number);
}

/* Finds the first row whose number is at least @number. */
static uint32_t find_number(const struct numbered *rows, uint32_t count, int64_t number)
{
	return BISECT(i, 0, count, rows[i].number < number);
}

/* Returns the number of the task that ran at an instant, or of the last one before it. */
static int64_t number_at(const struct pairing *pair, uint64_t ts_ns)
{
	uint32_t next = BISECT(i, 1, pair->task_count, pair->by_time[i].ts_ns <= ts_ns);

	return pair->by_time[next - 1].number;
}

/*
 * Gives the calls the numbers of tasks: for each call the number equal modulo 2^16 that is nearest to the task that
 * ran at its time, shifted by the distance of the last pair. Queues are far shorter than 2^16, so the nearest number is
 * the right one. Fills @numbers. Returns the number of calls with a task.
 */
static uint32_t follow(const struct pairing *pair, int64_t apart_ns, int64_t *numbers)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < pair->call_count; i++) {
		uint64_t ts_ns = pair->calls[i].ts_ns;
		int64_t number;
		uint32_t task;

		number =
			nearest(pair->calls[i].number, number_at(pair, ts_ns + (uint64_t)apart_ns));
		numbers[i] = number;
		task = find_number(pair->tasks, pair->task_count, number);
		if (task == pair->task_count || pair->tasks[task].number != number)
			continue;
		apart_ns = minus(pair->tasks[task].ts_ns, ts_ns);
		found++;
	}
	return found;
}

/*
 * For a device with an unknown clock: tries each part of the stream as the part in which the trace begins. A trace
 * with more than 2^16 tasks fits into only one of them.
 */
static bool find_start(const struct pairing *pair, int64_t *numbers, int64_t *apart_ns)
{
	int64_t lowest = pair->tasks[0].number, highest = pair->tasks[pair->task_count - 1].number;
	int64_t number = nearest(pair->calls[0].number, lowest);
	uint32_t most = 0, guesses = 0;
	bool clear = false;

	for (; number <= highest && guesses < START_GUESSES_MAX; number += ID_RANGE, guesses++) {
		uint32_t task = find_number(pair->tasks, pair->task_count, number), found;
		int64_t apart;

		if (task == pair->task_count)
			break;
		apart = minus(pair->tasks[task].ts_ns, pair->calls[0].ts_ns);
		found = follow(pair, apart, numbers);
		if (found == most)
			clear = false;
		if (found <= most)
			continue;
		most = found;
		clear = true;
		*apart_ns = apart;
	}
	return clear && guesses < START_GUESSES_MAX;
}

static void connect(struct model *model, uint32_t row, uint32_t launch)
{
	struct device_task *task = &model->tasks.row[row];
	const struct call *call = &model->calls.row[launch];

	task->call = launch;
	task->thread = call->thread;
	task->enqueue_ns = call->start_ns;
	task->enqueue_dur_ns = call->end_ns - call->start_ns;
	task->flags |= MODEL_TASK_BY_ID;
	if (model->devices.row[task->device].process == INDEX_NONE)
		model->devices.row[task->device].process = model->threads.row[call->thread].process;
}

/* Are all calls with one number the same launch? If not, the launch is unknown. */
static bool one_launch(const struct numbered *calls, uint32_t first, uint32_t end)
{
	for (uint32_t i = first + 1; i < end; i++) {
		if (calls[i].row != calls[first].row)
			return false;
	}
	return true;
}

static void join_pair(struct model *model, struct pairing *pair, const int64_t *numbers,
		      struct launch_ids *ids)
{
	int64_t first, last;
	uint32_t call = 0;

	for (uint32_t i = 0; i < pair->call_count; i++)
		pair->calls[i].number = numbers[i];
	qsort(pair->calls, pair->call_count, sizeof(*pair->calls), by_number);
	first = pair->calls[0].number;
	last = pair->calls[pair->call_count - 1].number;
	for (uint32_t i = 0; i < pair->task_count; i++) {
		const struct numbered *task = &pair->tasks[i];
		uint32_t end;

		model->tasks.row[task->row].flags |= MODEL_TASK_NUMBERED;
		if (task->number < first || task->number > last)
			model->tasks.row[task->row].flags |= MODEL_TASK_EDGE;
		while (call < pair->call_count && pair->calls[call].number < task->number)
			call++;
		for (end = call; end < pair->call_count && pair->calls[end].number == task->number;)
			end++;
		if (end == call)
			continue;
		if (!one_launch(pair->calls, call, end)) {
			ids->ambiguous++;
			continue;
		}
		connect(model, task->row, pair->calls[call].row);
		ids->joined++;
	}
}

static int join_stream(struct model *model, struct pairing *pair, struct launch_ids *ids)
{
	int64_t *numbers = calloc(pair->call_count, sizeof(*numbers));
	struct numbered *by_time = calloc(pair->task_count, sizeof(*by_time));
	int64_t apart_ns = 0;

	if (!numbers || !by_time) {
		free(numbers);
		free(by_time);
		return -ENOMEM;
	}
	unwrap(pair->tasks, pair->task_count);
	for (uint32_t i = 0; i < pair->task_count; i++)
		by_time[i] = pair->tasks[i];
	pair->by_time = by_time;
	qsort(pair->tasks, pair->task_count, sizeof(*pair->tasks), by_number);
	if (pair->tasks[0].declared || find_start(pair, numbers, &apart_ns)) {
		follow(pair, apart_ns, numbers);
		join_pair(model, pair, numbers, ids);
	} else {
		ids->ambiguous += pair->task_count;
	}
	free(numbers);
	free(by_time);
	return 0;
}

static uint32_t stream_end(const struct numbers *numbers, uint32_t first)
{
	uint32_t end = first;

	while (end < numbers->count && numbers->row[end].process == numbers->row[first].process &&
	       numbers->row[end].stream == numbers->row[first].stream)
		end++;
	return end;
}

static bool stream_before(const struct numbered *a, const struct numbered *b)
{
	return a->process != b->process ? a->process < b->process : a->stream < b->stream;
}

static int join_streams(struct model *model, struct numbers *calls, struct numbers *tasks,
			struct launch_ids *ids)
{
	uint32_t call = 0, task = 0;
	int err = 0;

	while (call < calls->count && task < tasks->count && !err) {
		uint32_t call_end = stream_end(calls, call), task_end = stream_end(tasks, task);

		if (stream_before(&calls->row[call], &tasks->row[task])) {
			call = call_end;
		} else if (stream_before(&tasks->row[task], &calls->row[call])) {
			task = task_end;
		} else {
			struct pairing pair = { .calls = calls->row + call,
						.call_count = call_end - call,
						.tasks = tasks->row + task,
						.task_count = task_end - task };

			err = join_stream(model, &pair, ids);
			call = call_end;
			task = task_end;
		}
	}
	return err;
}

/* Each file numbers its connections separately for each device. */
static uint64_t connection_key(const struct device_task *task)
{
	return task->correlation * 0x9e3779b97f4a7c15u + task->device;
}

/*
 * A collective as a whole has no numbers, but it has the same connection as its parts: it belongs to the call that
 * launched them, or lies as far outside the recording as they do.
 */
static int join_connected(struct model *model, struct launch_ids *ids)
{
	struct map calls = { 0 }, edges = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < model->tasks.count && !err; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (!task->correlation || !(task->flags & MODEL_TASK_NUMBERED))
			continue;
		if (task->flags & MODEL_TASK_BY_ID
			    ? !map_put(&calls, connection_key(task), task->call)
			    : !map_put(&edges, connection_key(task), task->flags & MODEL_TASK_EDGE))
			err = -ENOMEM;
	}
	for (uint32_t i = 0; i < model->tasks.count && !err; i++) {
		struct device_task *task = &model->tasks.row[i];
		uint64_t number;
		uint32_t call;

		if (task->flags & MODEL_TASK_BY_ID || !task->correlation ||
		    task_number(model, task, &number))
			continue;
		call = map_get(&calls, connection_key(task));
		if (call != MAP_NONE) {
			connect(model, i, call);
			ids->joined++;
		} else if (map_get(&edges, connection_key(task)) != MAP_NONE) {
			task->flags |= MODEL_TASK_NUMBERED;
			task->flags |= (uint8_t)map_get(&edges, connection_key(task));
		}
	}
	map_free(&calls);
	map_free(&edges);
	return err;
}

int launch_ids_join(struct model *model, struct launch_ids *ids)
{
	struct numbers calls = { 0 }, tasks = { 0 };
	int err = -ENOMEM;

	*ids = (struct launch_ids){ 0 };
	if (!has_task_role(model) || !model->tasks.count)
		return 0;
	calls.row = calloc((size_t)model->calls.count + 1, sizeof(*calls.row));
	tasks.row = calloc((size_t)model->tasks.count + 1, sizeof(*tasks.row));
	if (!calls.row || !tasks.row)
		goto cleanup;
	collect_calls(model, &calls);
	err = collect_tasks(model, &calls, &tasks);
	if (err)
		goto cleanup;
	qsort(calls.row, calls.count, sizeof(*calls.row), by_stream_and_time);
	qsort(tasks.row, tasks.count, sizeof(*tasks.row), by_stream_and_time);
	err = join_streams(model, &calls, &tasks, ids);
	if (!err && ids->joined)
		err = join_connected(model, ids);
cleanup:
	free(calls.row);
	free(tasks.row);
	return err;
}
