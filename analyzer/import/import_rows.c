/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/import_rows.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

void import_rows_begin(struct import_rows *rows, struct import *import)
{
	*rows = (struct import_rows){ .import = import };
}

void import_identities_free(struct import_identities *identities)
{
	map_free(&identities->processes);
	map_free(&identities->threads);
	map_free(&identities->functions);
	map_free(&identities->devices);
}

void import_rows_free(struct import_rows *rows)
{
	import_identities_free(&rows->own);
	import_tracks_free(&rows->streams);
	map_free(&rows->same);
}

static struct import_identities *known(struct import_rows *rows)
{
	return rows->import->shared ? rows->import->shared : &rows->own;
}

void import_tracks_free(struct import_tracks *tracks)
{
	map_free(&tracks->seen);
}

int import_too_many_tracks(struct import *import)
{
	return import_fail(import, -E2BIG,
			   "more than %u streams and threads; record a shorter time",
			   IMPORT_TRACKS_MAX);
}

int import_track(struct import *import, struct import_tracks *tracks, unsigned int kind,
		 uint64_t owner, uint64_t number)
{
	uint64_t key = (number * 0x9e3779b97f4a7c15u ^ owner) * 0x9e3779b97f4a7c15u + kind;

	if (tracks->seen.count && key == tracks->last)
		return 0;
	tracks->last = key;
	if (map_get(&tracks->seen, key) != MAP_NONE)
		return 0;
	if (tracks->seen.count >= IMPORT_TRACKS_MAX)
		return import_too_many_tracks(import);
	return map_put(&tracks->seen, key, 0) ? 0 : -ENOMEM;
}

int import_task(struct import_rows *rows, const struct device_task *task)
{
	int err = import_track(rows->import, &rows->streams, 0, task->device, task->stream);

	if (err)
		return err;
	return MODEL_PUSH(&rows->import->model->tasks, *task) ? 0 : -ENOMEM;
}

int import_device_step(struct import *import, const struct device_step *step)
{
	struct device_step known = *step;
	int err = 0;

	if (step->bp_end_ns && (step->bp_end_ns < step->fp_start_ns || step->bp_end_ns > step->end_ns)) {
		known.bp_end_ns = 0;
		err = import_finding(import, "backward passes that do not end within their step: left out", NULL);
	}
	return !err && !MODEL_PUSH(&import->model->device_steps, known) ? -ENOMEM : err;
}

/* Returns false, with import->error set, if there are too many; the caller then fails as if out of memory. */
static bool has_room(struct import_rows *rows, const struct map *map)
{
	if (map->count < IMPORT_TRACKS_MAX)
		return true;
	import_too_many_tracks(rows->import);
	return false;
}

static bool has_room_for(struct import_rows *rows, const struct map *map, uint32_t most, const char *what)
{
	if (map->count < most)
		return true;
	import_fail(rows->import, -E2BIG, "more than %u %s, which no profiler's file has", most, what);
	return false;
}

/* In a trace of profbpf: the last process with that pid. */
static uint32_t known_process(const struct model *model, uint32_t pid)
{
	for (uint32_t i = model->processes.count; i-- > 0;) {
		if (model->processes.row[i].pid == pid)
			return i;
	}
	return INDEX_NONE;
}

uint32_t import_process(struct import_rows *rows, uint32_t pid)
{
	struct model *model = rows->import->model;
	struct process process = { .pid = pid, .target = true };
	uint32_t row = map_get(&known(rows)->processes, pid);

	if (row != MAP_NONE)
		return row;
	if (!has_room_for(rows, &known(rows)->processes, IMPORT_PROCESSES_MAX, "processes"))
		return INDEX_NONE;
	row = known_process(model, pid);
	if (row == INDEX_NONE && !rows->import->alone)
		return INDEX_NONE;
	if (row == INDEX_NONE) {
		row = model->processes.count;
		if (!MODEL_PUSH(&model->processes, process))
			return INDEX_NONE;
	}
	return map_put(&known(rows)->processes, pid, row) ? row : INDEX_NONE;
}

static uint32_t new_thread(struct import_rows *rows, uint32_t process, uint32_t tid, uint64_t ts_ns)
{
	struct model *model = rows->import->model;
	struct thread thread = {
		.tid = tid,
		.process = process,
		.target = true,
		.first_ns = ts_ns,
		.last_ns = ts_ns,
		.parent = INDEX_NONE,
	};

	return MODEL_PUSH(&model->threads, thread) ? model->threads.count - 1 : INDEX_NONE;
}

static uint64_t thread_key(uint32_t process, uint64_t tid)
{
	return tid * 0x9e3779b97f4a7c15u ^ process;
}

/* The row of a thread, at any instant; INDEX_NONE if out of memory, or if there are too many. */
static uint32_t thread_row(struct import_rows *rows, uint32_t pid, uint64_t tid, uint64_t ts_ns)
{
	uint32_t process, row;
	uint64_t key;

	if (rows->last_thread && rows->last_pid == pid && rows->last_tid == tid)
		return rows->last_thread - 1;
	process = import_process(rows, pid);
	if (process == INDEX_NONE)
		return INDEX_NONE;
	key = thread_key(process, tid);
	row = map_get(&known(rows)->threads, key);
	if (row == MAP_NONE) {
		row = has_room(rows, &known(rows)->threads)
			      ? new_thread(rows, process, (uint32_t)tid, ts_ns)
			      : INDEX_NONE;
		if (row == INDEX_NONE || !map_put(&known(rows)->threads, key, row))
			return INDEX_NONE;
	}
	rows->last_pid = pid;
	rows->last_tid = tid;
	rows->last_thread = row + 1;
	return row;
}

uint32_t import_thread(struct import_rows *rows, uint32_t pid, uint64_t tid, uint64_t ts_ns)
{
	struct model *model = rows->import->model;
	uint32_t row;

	if (!rows->import->alone)
		return tid <= UINT32_MAX ? model_thread_at(model, (uint32_t)tid, ts_ns)
					 : INDEX_NONE;
	row = thread_row(rows, pid, tid, ts_ns);
	if (row == INDEX_NONE)
		return INDEX_NONE;
	if (ts_ns < model->threads.row[row].first_ns)
		model->threads.row[row].first_ns = ts_ns;
	if (ts_ns > model->threads.row[row].last_ns)
		model->threads.row[row].last_ns = ts_ns;
	return row;
}

uint32_t import_known_thread(struct import_rows *rows, uint32_t pid, uint64_t tid)
{
	uint32_t process = map_get(&known(rows)->processes, pid);

	if (process == MAP_NONE)
		return INDEX_NONE;
	return map_get(&known(rows)->threads, thread_key(process, tid));
}

static uint64_t function_key(uint32_t name, uint8_t scope)
{
	return (uint64_t)scope << 32 | name;
}

uint32_t import_known_function(struct import_rows *rows, uint32_t name)
{
	uint32_t row = map_get(&known(rows)->functions, function_key(name, SCOPE_NONE));

	return row == MAP_NONE ? INDEX_NONE : row;
}

uint32_t import_function_row(struct import_rows *rows, const char *runtime, const char *name,
			     uint8_t kind, uint8_t scope)
{
	struct model *model = rows->import->model;
	struct function function = {
		.runtime = model_string(model, runtime),
		.name = model_string(model, name),
		.kind = kind,
		.layer = 1,
		.scope = scope,
	};
	uint64_t key = function_key(function.name, scope);
	uint32_t row;

	if (function.runtime == INDEX_NONE || function.name == INDEX_NONE)
		return INDEX_NONE;
	row = map_get(&known(rows)->functions, key);
	if (row != MAP_NONE)
		return row;
	if (!scope)
		function.roles[0] = PROFBPF__FUNCTION__ROLE__CORRELATION;
	function.family = function.runtime;
	function.symbol = function.name;
	row = model->functions.count;
	if (!MODEL_PUSH(&model->functions, function) ||
	    !map_put(&known(rows)->functions, key, row))
		return INDEX_NONE;
	return row;
}

uint32_t import_function(struct import_rows *rows, const char *runtime, const char *name,
			 uint8_t kind)
{
	return import_function_row(rows, runtime, name, kind, SCOPE_NONE);
}

uint32_t import_device(struct import_rows *rows, uint64_t number, uint32_t process,
		       const char *name, const char *kind, const char *source, uint8_t clock)
{
	struct model *model = rows->import->model;
	struct device device = {
		.id = (uint32_t)number,
		.process = process,
		.file = rows->import->file + 1,
		.clock = clock,
		.anchored = strcmp(kind, "cpu") != 0,
		.anchored_once = strcmp(source, "msprof") == 0,
		.own_clock = rows->import->alone,
	};
	uint32_t row = map_get(&known(rows)->devices, number);

	if (row != MAP_NONE)
		return row;
	device.name = model_string(model, name);
	device.kind = model_string(model, kind);
	device.source = model_string(model, source);
	if (device.name == INDEX_NONE || device.kind == INDEX_NONE ||
	    device.source == INDEX_NONE ||
	    !has_room_for(rows, &known(rows)->devices, IMPORT_DEVICES_MAX, "devices"))
		return INDEX_NONE;
	row = model->devices.count;
	if (!MODEL_PUSH(&model->devices, device) || !map_put(&known(rows)->devices, number, row))
		return INDEX_NONE;
	return row;
}

/* The only device with that number and source; INDEX_NONE if there is none, or several. */
static uint32_t only_device(const struct import_rows *rows, uint64_t number, uint32_t source)
{
	const struct model *model = rows->import->model;
	uint32_t found = INDEX_NONE;

	for (uint32_t i = rows->import->first_device; i < model->devices.count; i++) {
		const struct device *device = &model->devices.row[i];

		if (device->id != number || device->source != source)
			continue;
		if (found != INDEX_NONE)
			return INDEX_NONE;
		found = i;
	}
	return found;
}

uint32_t import_same_device(struct import_rows *rows, uint64_t number, const char *name,
			    const char *kind, const char *source, uint8_t clock)
{
	uint32_t string = model_string(rows->import->model, source), row;
	uint64_t key = number * 0x9e3779b97f4a7c15u ^ string;

	if (string == INDEX_NONE)
		return INDEX_NONE;
	row = map_get(&rows->same, key);
	if (row != MAP_NONE)
		return row;
	row = only_device(rows, number, string);
	if (row == INDEX_NONE)
		row = import_device(rows, number, INDEX_NONE, name, kind, source, clock);
	return row != INDEX_NONE && map_put(&rows->same, key, row) ? row : INDEX_NONE;
}

void import_marks_of_device(struct model *model, uint32_t first_device, uint32_t first_mark)
{
	for (uint32_t i = first_mark; i < model->step_marks.count; i++) {
		if (model->devices.count == first_device + 1)
			model->step_marks.row[i].device = first_device;
	}
}

static bool host_clock(uint8_t clock, enum clock_kind *kind)
{
	switch (clock) {
	case PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW: *kind = CLOCK_KIND_MONOTONIC_RAW; break;
	case PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME: *kind = CLOCK_KIND_BOOTTIME; break;
	case PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME: *kind = CLOCK_KIND_REALTIME; break;
	default: return false;
	}
	return true;
}

uint64_t import_host_time(const struct import_rows *rows, uint8_t clock, uint64_t ns)
{
	enum clock_kind kind;
	uint64_t host_ns;

	if (rows->import->alone || clock == PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC)
		return ns;
	if (!host_clock(clock, &kind) ||
	    clock_table_to_monotonic(rows->import->model->clocks, kind, ns, &host_ns) != 0)
		return 0;
	return host_ns;
}

bool import_instants(int64_t start_ns, int64_t end_ns, int64_t move_ns, uint64_t *from,
		     uint64_t *to)
{
	if (end_ns < start_ns || __builtin_add_overflow(start_ns, move_ns, &start_ns) ||
	    start_ns < 1 || __builtin_add_overflow(end_ns, move_ns, &end_ns))
		return false;
	*from = (uint64_t)start_ns;
	*to = (uint64_t)end_ns;
	return true;
}

int64_t import_move_of(int64_t first_ns)
{
	return first_ns < 1 && first_ns > INT64_MIN + 1 ? 1 - first_ns : 0;
}

bool import_instants_of(int64_t start_ns, int64_t dur_ns, int64_t move_ns, uint64_t *from,
			uint64_t *to)
{
	int64_t begin_ns, end_ns;

	return !__builtin_add_overflow(start_ns, move_ns, &begin_ns) &&
	       !__builtin_add_overflow(begin_ns, dur_ns, &end_ns) &&
	       import_instants(begin_ns, end_ns, 0, from, to);
}

uint8_t call_kind_of_name(const char *name)
{
	static const struct {
		const char *part;
		uint8_t kind;
	} KINDS[] = {
		{ "StreamWaitEvent", PROFBPF__FUNCTION__KIND__EVENT },
		{ "EventSynchronize", PROFBPF__FUNCTION__KIND__SYNC },
		{ "Synchronize", PROFBPF__FUNCTION__KIND__SYNC },
		{ "EventWait", PROFBPF__FUNCTION__KIND__SYNC },
		{ "QueueFinish", PROFBPF__FUNCTION__KIND__SYNC },
		{ "Event", PROFBPF__FUNCTION__KIND__EVENT },
		{ "GraphLaunch", PROFBPF__FUNCTION__KIND__LAUNCH },
		{ "Launch", PROFBPF__FUNCTION__KIND__LAUNCH },
		{ "Memcpy", PROFBPF__FUNCTION__KIND__COPY },
		{ "Memset", PROFBPF__FUNCTION__KIND__COPY },
		{ "MemoryCopy", PROFBPF__FUNCTION__KIND__COPY },
		{ "MemoryFill", PROFBPF__FUNCTION__KIND__COPY },
		{ "USMFill", PROFBPF__FUNCTION__KIND__COPY },
		{ "USMDeviceAlloc", PROFBPF__FUNCTION__KIND__ALLOC },
		{ "Malloc", PROFBPF__FUNCTION__KIND__ALLOC },
		{ "MemAlloc", PROFBPF__FUNCTION__KIND__ALLOC },
		{ "HostAlloc", PROFBPF__FUNCTION__KIND__ALLOC },
		{ "Free", PROFBPF__FUNCTION__KIND__FREE },
		{ "ModuleLoad", PROFBPF__FUNCTION__KIND__LOAD },
	};

	/* Setting the parameters of a launch is no launch. */
	if (strstr(name, "CallConfiguration"))
		return PROFBPF__FUNCTION__KIND__OTHER;
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		if (strstr(name, KINDS[i].part))
			return KINDS[i].kind;
	}
	return PROFBPF__FUNCTION__KIND__OTHER;
}

int is_communication_name(const char *name)
{
	static const char *const STARTS[] = { "nccl", "rccl", "hccl", "oneccl" };

	for (size_t i = 0; i < sizeof(STARTS) / sizeof(STARTS[0]); i++) {
		if (strncasecmp(name, STARTS[i], strlen(STARTS[i])) == 0)
			return 1;
	}
	return 0;
}
