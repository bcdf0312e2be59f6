/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/nvidia/nsys_schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/readers/sqlite_column.h"
#include "analyzer/import/readers/sqlite_file.h"
#include "proto/trace.pb-c.h"
#include "lib/base/bisect.h"

#define STATE_TERMINATED 5 /* ENUM_SAMPLING_THREAD_STATE */

/* A call of the C library, with x86-64's number of the system call in which the thread sleeps. */
struct library_call {
	uint64_t global; /* thread */
	uint64_t start_ns;
	uint64_t end_ns;
	int16_t syscall;
};

struct schedule {
	struct import_rows *rows;
	const struct map *strings;
	int64_t epoch_ns;
	MODEL_ARRAY(struct library_call) calls;
};

static int16_t syscall_of(const char *function)
{
	static const struct {
		const char *start;
		int16_t syscall;
	} WAITS[] = {
		{ "pthread_cond_", 202 },
		{ "pthread_mutex_", 202 },
		{ "pthread_rwlock_", 202 },
		{ "pthread_join", 202 },
		{ "pthread_barrier", 202 },
		{ "sem_", 202 },
		{ "poll", 7 },
		{ "ppoll", 271 },
		{ "select", 23 },
		{ "pselect", 270 },
		{ "epoll_wait", 232 },
		{ "epoll_pwait", 281 },
		{ "read", 0 },
		{ "fread", 0 },
		{ "fgets", 0 },
		{ "write", 1 },
		{ "fwrite", 1 },
		{ "nanosleep", 35 },
		{ "clock_nanosleep", 230 },
		{ "usleep", 35 },
		{ "sleep", 35 },
		{ "wait", 61 },
		{ "recv", 45 },
		{ "send", 44 },
		{ "accept", 43 },
		{ "connect", 42 },
		{ "open", 2 },
		{ "fopen", 2 },
		{ "fsync", 74 },
		{ "ioctl", 16 },
	};

	for (size_t i = 0; i < sizeof(WAITS) / sizeof(WAITS[0]); i++) {
		if (strncmp(function, WAITS[i].start, strlen(WAITS[i].start)) == 0)
			return WAITS[i].syscall;
	}
	return SYSCALL_NONE;
}

static bool instant(const struct schedule *schedule, int64_t ns, uint64_t *result)
{
	int64_t moved;

	if (__builtin_add_overflow(ns, schedule->epoch_ns, &moved) || moved < 1)
		return false;
	*result = (uint64_t)moved;
	return true;
}

static int on_library_call(void *context, sqlite3_stmt *row)
{
	struct schedule *schedule = context;
	struct model *model = schedule->rows->import->model;
	uint32_t name = map_get(schedule->strings, (uint64_t)sqlite3_column_int64(row, 3));
	struct library_call call = { .global = (uint64_t)sqlite3_column_int64(row, 2) };

	call.syscall = syscall_of(model_text(model, name == MAP_NONE ? 0 : name));
	if (call.syscall == SYSCALL_NONE ||
	    !instant(schedule, sqlite_column_instant(row, 0), &call.start_ns) ||
	    !instant(schedule, sqlite_column_instant(row, 1), &call.end_ns))
		return 0;
	return MODEL_PUSH(&schedule->calls, call) ? 0 : -ENOMEM;
}

static int by_thread(const void *a, const void *b)
{
	const struct library_call *x = a, *y = b;

	if (x->global != y->global)
		return x->global < y->global ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The system call of the last library call that began before an instant and has not ended. */
static int16_t syscall_at(const struct schedule *schedule, uint64_t global, uint64_t ns)
{
	const struct library_call *calls = schedule->calls.row;
	uint32_t next = BISECT(i, 0, schedule->calls.count,
			       calls[i].global < global ||
				       (calls[i].global == global && calls[i].start_ns <= ns));

	if (next == 0 || calls[next - 1].global != global || calls[next - 1].end_ns < ns)
		return SYSCALL_NONE;
	return calls[next - 1].syscall;
}

/* Columns: start, cpu, isSchedIn, globalTid, threadState. */
static int on_switch(void *context, sqlite3_stmt *row)
{
	struct schedule *schedule = context;
	struct model *model = schedule->rows->import->model;
	uint64_t global = (uint64_t)sqlite3_column_int64(row, 3);
	struct cpu_switch out = { .cpu = (uint16_t)sqlite3_column_int(row, 1),
				  .prev_thread = INDEX_NONE,
				  .next_thread = INDEX_NONE,
				  .syscall = SYSCALL_NONE,
				  .state = PROFBPF__SWITCHES__STATE__SLEEP };
	bool in = sqlite3_column_int(row, 2) != 0;
	uint32_t tid = (uint32_t)(global & 0xffffff), thread;

	if (!tid || !instant(schedule, sqlite_column_instant(row, 0), &out.ts_ns))
		return 0;
	thread = import_thread(schedule->rows, (uint32_t)(global >> 24 & 0xffffff), tid, out.ts_ns);
	if (thread == INDEX_NONE)
		return -ENOMEM;
	if (in) {
		out.next_tid = tid;
		out.next_thread = thread;
	} else {
		out.prev_tid = tid;
		out.prev_thread = thread;
		out.syscall = syscall_at(schedule, global, out.ts_ns);
		if (sqlite3_column_int(row, 4) == STATE_TERMINATED)
			out.state = PROFBPF__SWITCHES__STATE__DEAD;
	}
	return MODEL_PUSH(&model->switches, out) ? 0 : -ENOMEM;
}

static int on_thread_name(void *context, sqlite3_stmt *row)
{
	struct schedule *schedule = context;
	struct model *model = schedule->rows->import->model;
	uint64_t global = (uint64_t)sqlite3_column_int64(row, 0);
	uint32_t name = map_get(schedule->strings, (uint64_t)sqlite3_column_int64(row, 1));
	uint32_t pid = (uint32_t)(global >> 24 & 0xffffff), tid = (uint32_t)(global & 0xffffff);
	uint32_t thread;

	/* Names only threads with events: the file has the names of all threads of the machine. */
	if (name == MAP_NONE)
		return 0;
	thread = import_known_thread(schedule->rows, pid, tid);
	if (thread == INDEX_NONE)
		return 0;
	model->threads.row[thread].name = name;
	if (pid == tid)
		model->processes.row[model->threads.row[thread].process].name = name;
	return 0;
}

static int each(struct schedule *schedule, sqlite3 *db, const char *query,
		int (*row)(void *, sqlite3_stmt *))
{
	return sqlite_file_read(schedule->rows->import, db, query, row, schedule);
}

int nsys_schedule_read(sqlite3 *db, struct import_rows *rows, int64_t epoch_ns,
		       const struct map *strings)
{
	struct schedule schedule = { .rows = rows, .strings = strings, .epoch_ns = epoch_ns };
	uint32_t switches = rows->import->model->switches.count;
	int err = 0;

	if (sqlite_file_has(db, "OSRT_API", "globalTid"))
		err = each(&schedule, db, "SELECT start, end, globalTid, nameId FROM OSRT_API",
			   on_library_call);
	if (schedule.calls.count)
		qsort(schedule.calls.row, schedule.calls.count, sizeof(*schedule.calls.row),
		      by_thread);
	if (!err && sqlite_file_has(db, "SCHED_EVENTS", "globalTid"))
		err = each(&schedule, db,
			   sqlite_file_has(db, "SCHED_EVENTS", "threadState")
				   ? "SELECT start, cpu, isSchedIn, globalTid, threadState FROM "
				     "SCHED_EVENTS"
				   : "SELECT start, cpu, isSchedIn, globalTid, 0 FROM SCHED_EVENTS",
			   on_switch);
	if (!err && schedule.calls.count && rows->import->model->switches.count == switches)
		err = import_finding(rows->import,
				     "calls of the C library are not taken without the scheduler's events: record with "
				     "nsys profile --cpuctxsw=process-tree",
				     NULL);
	if (!err && sqlite_file_has(db, "ThreadNames", "globalTid"))
		err = each(&schedule, db, "SELECT globalTid, nameId FROM ThreadNames",
			   on_thread_name);
	if (rows->import->model->info.arch == 0)
		rows->import->model->info.arch =
			model_string(rows->import->model, "x86_64"); /* architecture of the system call numbers above */
	free(schedule.calls.row);
	return err;
}
