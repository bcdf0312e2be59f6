/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analyse/host/block_io.h"
#include "analyzer/analyse/host/sleep_reason.h"
#include "analyzer/analyse/host/thread_account.h"
#include "analyzer/join/thread/sleep_causes.h"
#include "proto/trace.pb-c.h"

#define WAKER_DEPTH 3

/* Text under construction, cut to fit. */
struct text {
	char *to;
	size_t left;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text->to, text->left, format, args);
	va_end(args);
	if (length < 0)
		return;
	if ((size_t)length >= text->left)
		length = text->left ? (int)text->left - 1 : 0;
	text->to += length;
	text->left -= length;
}

static void add_thread(struct text *text, const struct model *model, uint32_t index)
{
	const struct thread *thread;
	const char *name;

	if (index >= model->threads.count) {
		add(text, "an unknown thread");
		return;
	}
	thread = &model->threads.row[index];
	name = model_text(model, thread->name);
	if (*name)
		add(text, "%.64s %u", name, thread->tid);
	else
		add(text, "thread %u", thread->tid);
}

/* "NAME of process PID": threads of one name and process are not distinguished. */
static void add_runner(struct text *text, const struct model *model, uint32_t index)
{
	const struct thread *thread;
	const char *name;

	if (index >= model->threads.count ||
	    model->threads.row[index].process >= model->processes.count) {
		add_thread(text, model, index);
		return;
	}
	thread = &model->threads.row[index];
	name = model_text(model, thread->name);
	add(text, "%.64s of process %u", *name ? name : "a thread",
	    model->processes.row[thread->process].pid);
}

static const char *function_name(const struct model *model, uint32_t function)
{
	const char *name = function < model->functions.count
				   ? model_text(model, model->functions.row[function].name)
				   : "";

	return *name ? name : "a runtime call";
}

static const char *call_name(const struct model *model, uint32_t call)
{
	return function_name(model, call < model->calls.count ? model->calls.row[call].function
							      : INDEX_NONE);
}

static void add_driver(struct text *text, const struct model *model, uint32_t driver, uint32_t cmd)
{
	const char *node = "";

	if (driver < model->drivers.count)
		node = model_text(model, model->drivers.row[driver].device);
	add(text, "%.128s ioctl 0x%08x", *node ? node : "unknown device", cmd);
}

static void add_device(struct text *text, const struct model *model, uint32_t device)
{
	const char *name = device < model->devices.count
				   ? model_text(model, model->devices.row[device].name)
				   : "";

	if (*name)
		add(text, "%.128s", name);
	else
		add(text, "device %u",
		    device < model->devices.count ? model->devices.row[device].id : device);
}

static uint32_t remember(struct map *map, uint64_t key, struct model *model, const char *text)
{
	uint32_t id = model_string(model, text);

	return id == INDEX_NONE || !map_put(map, key, id) ? INDEX_NONE : id;
}

uint32_t idle_name_who(struct idle_names *names, struct model *model,
		       const struct idle_piece *piece)
{
	struct map *map = piece->who_kind == WHO_DRIVER ? &names->drivers : &names->ids;
	uint64_t key = (uint64_t)piece->who << 32 |
		       (piece->who_kind == WHO_DRIVER ? piece->cmd : piece->who_kind);
	char buffer[256] = "";
	struct text text = { buffer, sizeof(buffer) };
	uint32_t id;

	if (piece->who_kind == WHO_NONE)
		return 0;
	id = map_get(map, key);
	if (id != MAP_NONE)
		return id;
	switch (piece->who_kind) {
	case WHO_THREAD: add_thread(&text, model, piece->who); break;
	case WHO_IDLE_CPU: add(&text, "an idle CPU"); break;
	case WHO_RUNNER: add_runner(&text, model, piece->who); break;
	case WHO_FUNCTION: add(&text, "%.200s", function_name(model, piece->who)); break;
	case WHO_DRIVER: add_driver(&text, model, piece->who, piece->cmd); break;
	default: add_device(&text, model, piece->who); break;
	}
	return remember(map, key, model, buffer);
}

void idle_names_free(struct idle_names *names)
{
	map_free(&names->ids);
	map_free(&names->drivers);
}

/* " for a read of /dev/vda, which took 0.214 ms" */
static void add_disk(struct text *text, const struct model *model, const struct span *span)
{
	const struct block_request *request = sleep_request(model, span);
	const char *device = "";

	if (!request)
		return;
	if (request->driver < model->drivers.count)
		device = model_text(model, model->drivers.row[request->driver].device);
	add(text, " for a %s of %.64s, which took %.3f ms",
	    block_operation_name(request->operation), *device ? device : "a disk",
	    (double)(request->dur_ns - request->wait_ns) / 1e6);
}

/* "asleep in read of a pipe", "asleep in futex 0x7f00 with a timeout", "asleep in a page fault on /lib/x.so" */
static void add_sleep(struct text *text, const struct model *model, struct syscall_table *syscalls,
		      const struct span *span)
{
	const char *name = syscall_name(syscalls, span->syscall);
	const struct sleep_object *object = sleep_object(model, span);
	char what[192] = "";

	if (object)
		sleep_object_text(model, object, what, sizeof(what));
	if (span->flags & SPAN_FAULT)
		add(text, sleep_is_major_fault(span) ? "asleep in a major page fault"
						      : "asleep in a page fault");
	else if (name)
		add(text, "asleep in %s", name);
	else if (span->syscall >= 0)
		add(text, "asleep in system call %d", span->syscall);
	else
		add(text, "asleep");
	if (object && object->kind == PROFBPF__SLEEP_OBJECTS__KIND__FUTEX)
		add(text, " 0x%" PRIx64, object->object);
	else if (*what)
		add(text, span->flags & SPAN_FAULT ? " on %s" : " of %s", what);
	add_disk(text, model, span);
	if (span->flags & SPAN_TIMEOUT && syscall_class(syscalls, span->syscall) != SYSCALL_SLEEP)
		add(text, " with a timeout");
}

/* Describes what a thread mostly did in a time; if it waited for another thread, also what that thread did. */
static void add_activity(struct text *text, const struct model *model,
			 const struct idle_tools *tools, uint32_t thread, uint64_t from_ns,
			 uint64_t to_ns, int depth)
{
	struct thread_account account =
		thread_account(model, tools->walker, thread, from_ns, to_ns);
	const struct span *span;

	add_thread(text, model, thread);
	if (account.total_ns == 0)
		return;
	add(text, ", which was ");
	switch (account.top) {
	case ACTIVITY_OWN_CODE: add(text, "on CPU in its own code"); break;
	case ACTIVITY_RUNTIME: add(text, "on CPU in %.128s", call_name(model, account.call)); break;
	case ACTIVITY_DRIVER: add(text, "in an ioctl"); break;
	case ACTIVITY_RUNNABLE:
		add(text, "waiting for a CPU");
		if (account.runner != INDEX_NONE) {
			add(text, " behind ");
			add_runner(text, model, account.runner);
		}
		break;
	case ACTIVITY_ASLEEP:
		add_sleep(text, model, tools->syscalls,
			  &model->spans.row[account.span]);
		break;
	default: add(text, "doing something not recorded"); break;
	}
	add(text, " %.0f %%", 100.0 * (double)account.top_ns / (double)account.total_ns);
	if (account.top != ACTIVITY_ASLEEP || depth == 0)
		return;
	span = &model->spans.row[account.span];
	if (!span_woken_by_thread(span) || span->other == thread)
		return;
	add(text, ", woken by ");
	add_activity(text, model, tools, span->other,
		     span->start_ns > from_ns ? span->start_ns : from_ns,
		     span->end_ns < to_ns ? span->end_ns : to_ns, depth - 1);
}

static void describe_sleep(struct text *text, const struct model *model,
			   const struct idle_tools *tools, const struct idle_piece *piece)
{
	const struct span *span = &model->spans.row[piece->span];
	const char *interrupt;

	add_sleep(text, model, tools->syscalls, span);
	if (piece->call != INDEX_NONE)
		add(text, " inside %.128s", call_name(model, piece->call));
	switch (piece->why) {
	case WHY_WOKEN:
		add(text, ", woken by ");
		add_activity(text, model, tools, piece->subject, piece->start_ns, piece->end_ns,
			     WAKER_DEPTH - 1);
		break;
	case WHY_TIMEOUT: add(text, " until the time was up"); break;
	case WHY_INTERRUPT:
		interrupt = sleep_interrupt(model, span);
		add(text, " until an interrupt");
		if (interrupt)
			add(text, " of %.64s", interrupt);
		break;
	default: break;
	}
}

static void describe_completion(struct text *text, const struct model *model,
				const struct idle_piece *piece)
{
	add(text, "completion of %.128s reached the thread late", call_name(model, piece->call));
	if (piece->subject == INDEX_NONE)
		return;
	add(text, ", brought by ");
	add_thread(text, model, piece->subject);
}

static void describe_cpu(struct text *text, const struct model *model,
			 const struct idle_piece *piece)
{
	add_thread(text, model, piece->subject);
	if (piece->why == WHY_WORKER_CPU)
		add(text, ", which was to run the task, waited for a CPU");
	else
		add(text, ", which was to report the completion of %.128s, waited for a CPU",
		    call_name(model, piece->call));
}

static void describe_ready(struct text *text, const struct model *model,
			   const struct idle_piece *piece)
{
	add_thread(text, model, piece->thread);
	add(text, " waited for a CPU that ");
	add_thread(text, model, piece->subject);
	add(text, " had");
}

void idle_describe(const struct model *model, const struct idle_tools *tools,
		   const struct idle_piece *piece, char *buffer, size_t size)
{
	struct text text = { buffer, size };

	*buffer = 0;
	switch (piece->why) {
	case WHY_SUBMITTED: add(&text, "submitted, not started yet"); break;
	case WHY_UNSEEN_WORK:
		add(&text, "submitted, not started for so long that the device probably did something that is not in "
			   "its file (work from before the file's begin, or of other processes), or it waited for the host "
			   "(callbacks, events of other processes)");
		break;
	case WHY_ENQUEUED: add(&text, "enqueued, not submitted by the runtime yet"); break;
	case WHY_COMPLETION: describe_completion(&text, model, piece); break;
	case WHY_WORKER_CPU:
	case WHY_COMPLETION_CPU: describe_cpu(&text, model, piece); break;
	case WHY_WOKEN:
	case WHY_TIMEOUT:
	case WHY_INTERRUPT:
	case WHY_ASLEEP:
		if (piece->span != INDEX_NONE)
			describe_sleep(&text, model, tools, piece);
		break;
	case WHY_STOPPED: add(&text, "stopped by a signal or a debugger"); break;
	case WHY_NONE:
		if (piece->cause == IDLE_RUNNABLE)
			describe_ready(&text, model, piece);
		else if (piece->cause == IDLE_DRIVER && piece->call != INDEX_NONE)
			add(&text, "inside %.128s", call_name(model, piece->call));
		break;
	case WHY_THROTTLED: add(&text, "its cgroup had used up its CPU quota"); break;
	case WHY_CPU_UNKNOWN: add(&text, "what ran on its CPU is not known"); break;
	case WHY_CPU_IDLE: add(&text, "its CPU was idle: the time is the latency of waking up"); break;
	case WHY_NO_THREAD: add(&text, "the thread that submitted the task is not known"); break;
	case WHY_SCOPE: add(&text, "according to the host timeline of the device file"); break;
	case WHY_SCOPE_WAITS:
		add_thread(&text, model, piece->thread);
		add(&text, " waited in it for a result; what worked on this meanwhile the device file does not tell");
		break;
	case WHY_MAIN_SCOPE:
		add_thread(&text, model, piece->thread);
		add(&text, " was in it; what ");
		add_thread(&text, model, piece->subject);
		add(&text, " did, which submitted the task, the device file does not tell");
		break;
	case WHY_NO_STATE:
		add(&text, "no scheduling records for this time");
		if (piece->call != INDEX_NONE)
			add(&text, ", inside %.128s", call_name(model, piece->call));
		break;
	default: break;
	}
}
