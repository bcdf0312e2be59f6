/* SPDX-License-Identifier: Apache-2.0 */
/* Loading .pbt files into the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "analyzer/load/load_pbt.h"
#include "tests/unit/sample_trace.h"

static struct trace_builder *session(uint8_t uuid, uint8_t boot, uint64_t start_ns)
{
	struct trace_builder *builder = trace_builder_new();

	trace_segment(builder, &(struct trace_segment){
				       .start_ns = start_ns, .session = uuid, .boot = boot });
	return builder;
}

static void header_is_taken(void **state)
{
	struct model *model = load_trace(sample_trace(0));

	assert_string_equal(model_text(model, model->info.hostname), "testhost");
	assert_string_equal(model_text(model, model->info.topics), "api ioctl sched");
	assert_int_equal(model->info.cpus, 2);
	assert_int_equal(model->info.start_ns, SAMPLE_START);
	assert_int_equal(model->info.end_ns, SAMPLE_END);
	assert_int_equal(model->info.target_count, 1);
	assert_int_equal(model->info.targets[0], 100);
	assert_true(model->info.ended);
	assert_string_equal(model_text(model, model->info.end_reason), "duration");
	assert_int_equal(model->bad_rows, 0);
	assert_int_equal(model->damage.packets_skipped, 0);
	assert_int_equal(clock_table_count(model->clocks), 3);
	model_free(model);
}

static void rows_survive_the_round_trip(void **state)
{
	struct model *model = load_trace(sample_trace(0));
	uint32_t main_thread = model_thread_at(model, 100, SAMPLE_START);
	uint32_t first, count = model_thread_calls(model, main_thread, &first);

	assert_int_equal(count, 102);
	for (uint32_t i = 0; i < 100; i++) {
		const struct call *call = &model->calls.row[first + i];

		assert_int_equal(call->start_ns, SAMPLE_START + (310 + i) * MS);
		assert_int_equal(call->end_ns - call->start_ns, (i + 1) * US);
		assert_int_equal(call->args[0], 0x1000 + i);
		assert_int_equal(call->args[1], 0);
		assert_string_equal(model_text(model, call->text), "kernel");
		assert_string_equal(model_text(model, model->functions.row[call->function].name),
				    "clEnqueueNDRangeKernel");
		assert_int_equal(!!(call->flags & MODEL_CALL_ERROR), i < 3);
		assert_int_equal(call->flags & MODEL_CALL_INNER, 0);
	}
	assert_int_equal(model->calls.row[first + 101].flags, MODEL_CALL_OPEN);
	assert_int_equal(model_thread_ioctls(model, main_thread, &first), 4);
	assert_int_equal(model->ioctls.row[first + 3].ret, -16);
	assert_int_equal(model->switches.count, 10);
	assert_int_equal(model->wakes.count, 4);
	assert_int_equal(model->accounts.count, 5);
	assert_int_equal(model->cpu_stats.count, 6);
	model_free(model);
}

/* Values that were not seen are no error, and the call has returned all the same. */
static void a_value_may_be_unknown(void **state)
{
	struct trace_builder *builder = session(1, 1, SAMPLE_START);
	struct model *model;

	trace_target(builder, SAMPLE_START, 50, 50, "job");
	trace_function(builder, &(struct trace_function){ .id = 1, .runtime = "r", .name = "f",
							  .error = PROFBPF__FUNCTION__ERROR__NONZERO });
	for (uint64_t i = 0; i < 2; i++)
		trace_call(builder, &(struct trace_call_row){
					    .tid = 50, .tgid = 50, .function = 1, .ret = 3,
					    .start_ns = SAMPLE_START + 2 * i, .end_ns = SAMPLE_START + 2 * i + 1,
					    .flags = i ? PROFBPF__CALLS__FLAG__RETURNED_UNKNOWN : 0 });
	model = load_trace(builder);
	assert_int_equal(model->calls.count, 2);
	assert_int_equal(model->calls.row[0].flags, MODEL_CALL_ERROR);
	assert_int_equal(model->calls.row[1].flags, MODEL_CALL_VALUE_UNKNOWN);
	model_free(model);
}

static void calls_inside_others_are_inner(void **state)
{
	struct model *model = load_trace(sample_trace(0));
	uint32_t first;
	uint32_t count = model_thread_calls(model, model_thread_at(model, 101, SAMPLE_END), &first);

	assert_int_equal(count, 10);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(model->calls.row[first + i].depth, i % 2);
		assert_int_equal(!!(model->calls.row[first + i].flags & MODEL_CALL_INNER), i % 2);
	}
	model_free(model);
}

static void threads_have_names_and_lives(void **state)
{
	struct model *model = load_trace(sample_trace(0));
	const struct thread *worker;
	const struct process *job;

	assert_int_equal(model->threads.count, 3);
	assert_int_equal(model->processes.count, 2);
	worker = &model->threads.row[model_thread_at(model, 101, SAMPLE_END)];
	job = &model->processes.row[worker->process];
	assert_string_equal(model_text(model, worker->name), "worker");
	assert_int_equal(worker->first_ns, SAMPLE_START + 50 * MS);
	assert_int_equal(worker->exit_ns, SAMPLE_START + 1599900 * US);
	assert_int_equal(worker->parent, model_thread_at(model, 100, SAMPLE_START));
	assert_true(worker->target);
	assert_int_equal(job->pid, 100);
	assert_string_equal(model_text(model, job->name), "main");
	assert_string_equal(model_text(model, job->cmdline), "job --fast");
	assert_int_equal(job->exit_ns, 0);
	assert_false(model->threads.row[model_thread_at(model, 200, SAMPLE_END)].target);
	model_free(model);
}

static void fork_row(struct trace_builder *builder, uint64_t ts_ns, uint32_t pid)
{
	trace_task(builder, &(struct trace_task_row){ .ts_ns = ts_ns,
						      .tid = pid,
						      .tgid = pid,
						      .parent_tgid = 1,
						      .parent_tid = 1,
						      .event = PROFBPF__TASKS__EVENT__FORK,
						      .start_ns = ts_ns - 1,
						      .name = "child" });
}

static void exit_row(struct trace_builder *builder, uint64_t ts_ns, uint32_t pid, uint64_t start_ns)
{
	trace_task(builder, &(struct trace_task_row){ .ts_ns = ts_ns,
						      .tid = pid,
						      .tgid = pid,
						      .event = PROFBPF__TASKS__EVENT__EXIT,
						      .start_ns = start_ns,
						      .exit_code = 256 });
}

/* A pid that is used three times gives three threads and three processes. */
static void reused_pid_is_another_thread(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;

	trace_function(builder, &(struct trace_function){ .id = 1, .runtime = "r", .name = "f" });
	for (uint64_t life = 0; life < 3; life++) {
		uint64_t born = 2000 + life * 1000;

		fork_row(builder, born, 50);
		trace_call(builder, &(struct trace_call_row){ .tid = 50,
							      .tgid = 50,
							      .start_ns = born + 10,
							      .end_ns = born + 20 + life,
							      .function = 1 });
		exit_row(builder, born + 500, 50, born - 1);
	}
	model = load_trace(builder);
	assert_int_equal(model->threads.count, 3);
	assert_int_equal(model->processes.count, 3);
	for (uint32_t life = 0; life < 3; life++) {
		uint32_t thread = model_thread_at(model, 50, 2015 + life * 1000);
		uint32_t first;

		assert_int_equal(thread, life);
		assert_int_equal(model->threads.row[thread].process, life);
		assert_int_equal(model_thread_calls(model, thread, &first), 1);
		assert_int_equal(model->calls.row[first].end_ns - model->calls.row[first].start_ns,
				 10 + life);
		assert_int_equal(model->processes.row[life].exit_code, 256);
	}
	assert_int_equal(model_thread_at(model, 51, 2000), INDEX_NONE);
	model_free(model);
}

/* A thread other than the main one that calls exec takes over the main thread's id. */
static void exec_after_main_thread_exit_goes_on(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;

	trace_task(builder, &(struct trace_task_row){ .ts_ns = 1000,
						      .tid = 50,
						      .tgid = 50,
						      .start_ns = 500,
						      .name = "old",
						      .cmdline = "old program" });
	exit_row(builder, 2000, 50, 500);
	trace_task(builder, &(struct trace_task_row){ .ts_ns = 2001,
						      .tid = 50,
						      .tgid = 50,
						      .event = PROFBPF__TASKS__EVENT__EXEC,
						      .start_ns = 500,
						      .name = "new" });
	model = load_trace(builder);
	assert_int_equal(model->threads.count, 1);
	assert_int_equal(model->threads.row[0].exit_ns, 0);
	assert_string_equal(model_text(model, model->threads.row[0].name), "new");
	assert_string_equal(model_text(model, model->processes.row[0].cmdline), "");
	model_free(model);
}

/* A process that outlives its parent keeps the parent that started it. */
static void orphan_keeps_its_parent(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;

	for (uint32_t i = 0; i < 2; i++)
		trace_task(builder, &(struct trace_task_row){ .ts_ns = 1000 + i * 1000,
							      .tid = 51,
							      .tgid = 51,
							      .parent_tgid = i ? 1 : 50,
							      .start_ns = 500,
							      .name = "tracker" });
	model = load_trace(builder);
	assert_int_equal(model->processes.count, 1);
	assert_int_equal(model->processes.row[0].parent_pid, 50);
	model_free(model);
}

/* Strings of a segment are not those of the next. */
static void segments_have_their_own_strings(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;

	trace_target(builder, 1000, 10, 10, "first");
	trace_segment(builder, &(struct trace_segment){
				       .index = 1, .start_ns = 1000, .session = 1, .boot = 1 });
	trace_target(builder, 1500, 11, 11, "second");
	trace_target(builder, 1000, 10, 10, "first");
	model = load_trace(builder);
	assert_int_equal(model->threads.count, 2);
	assert_string_equal(model_text(model,
				       model->threads.row[model_thread_at(model, 10, 2000)].name),
			    "first");
	assert_string_equal(model_text(model,
				       model->threads.row[model_thread_at(model, 11, 2000)].name),
			    "second");
	model_free(model);
}

/* The same function id in two sessions is two functions; their losses are summed up. */
static void sessions_are_merged(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;
	uint32_t first, count;

	trace_target(builder, 1000, 10, 10, "t");
	trace_function(builder, &(struct trace_function){ .id = 7, .runtime = "a", .name = "fa" });
	trace_call(
		builder,
		&(struct trace_call_row){
			.tid = 10, .tgid = 10, .start_ns = 1100, .end_ns = 1200, .function = 7 });
	trace_source(builder, "api", 3, 1, "ring full", 2);
	trace_statistics(builder, 1900, true, "stopped");
	trace_segment(builder,
		      &(struct trace_segment){ .start_ns = 2000, .session = 2, .boot = 1 });
	trace_function(builder, &(struct trace_function){ .id = 7, .runtime = "b", .name = "fb" });
	trace_call(
		builder,
		&(struct trace_call_row){
			.tid = 10, .tgid = 10, .start_ns = 2100, .end_ns = 2200, .function = 7 });
	trace_source(builder, "api", 5, 1, "ring full", 4);
	trace_statistics(builder, 2900, true, "stopped");
	model = load_trace(builder);
	count = model_thread_calls(model, model_thread_at(model, 10, 1000), &first);
	assert_int_equal(count, 2);
	assert_string_equal(model_text(model,
				       model->functions.row[model->calls.row[first].function].name),
			    "fa");
	assert_string_equal(
		model_text(model, model->functions.row[model->calls.row[first + 1].function].name),
		"fb");
	assert_int_equal(model->sources.count, 1);
	assert_int_equal(model->sources.row[0].produced, 8);
	assert_int_equal(model->sources.row[0].delivered, 2);
	assert_int_equal(model->sources.row[0].read, 2);
	assert_int_equal(model->sources.row[0].reasons[0].count, 6);
	assert_int_equal(model->info.start_ns, 1000);
	assert_int_equal(model->info.end_ns, 2900);
	model_free(model);
}

/* A session whose segments are in two files, passed in reverse order. */
static void session_in_two_files(void **state)
{
	struct model *model = model_new();
	struct loader *loader = loader_new(model);
	char error[256];

	for (uint32_t part = 2; part-- > 0;) {
		struct trace_builder *builder = trace_builder_new();
		char path[] = "/tmp/profbpf-test-XXXXXX";

		close(mkstemp(path));
		trace_segment(builder,
			      &(struct trace_segment){
				      .index = part, .start_ns = 1000, .session = 1, .boot = 1 });
		trace_target(builder, 1000, 10, 10, "t");
		trace_call(builder, &(struct trace_call_row){ .tid = 10,
							      .tgid = 10,
							      .start_ns = 2000 + part * 1000,
							      .end_ns = 2500 + part * 1000,
							      .function = 7 });
		trace_source(builder, "api", 1 + part, 1 + part, NULL, 0);
		trace_statistics(builder, 3000 + part * 1000, part == 1, "stopped");
		trace_write(builder, path);
		trace_builder_free(builder);
		assert_int_equal(load_pbt(loader, path, error, sizeof(error)), 0);
		unlink(path);
	}
	assert_int_equal(load_finish(loader, error, sizeof(error)), 0);
	loader_free(loader);
	assert_int_equal(model->files.count, 2);
	assert_int_equal(model->threads.count, 1);
	assert_int_equal(model->calls.count, 2);
	assert_int_equal(model->calls.row[0].start_ns, 2000);
	assert_int_equal(model->calls.row[0].function, model->calls.row[1].function);
	assert_int_equal(model->sources.row[0].delivered, 2);
	assert_int_equal(model->sources.row[0].read, 2);
	assert_true(model->info.ended);
	assert_int_equal(model->info.end_ns, 4000);
	model_free(model);
}

static void another_boot_is_refused(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	char error[256] = "";
	size_t size;
	const uint8_t *bytes;

	trace_segment(builder,
		      &(struct trace_segment){ .start_ns = 2000, .session = 2, .boot = 9 });
	bytes = trace_bytes(builder, &size);
	assert_null(load_bytes(bytes, size, error, sizeof(error)));
	assert_non_null(strstr(error, "another host or after a reboot"));
	trace_builder_free(builder);
}

/* The latest statistics count, not the sum of all. */
static void statistics_replace_earlier_ones(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;

	trace_target(builder, 1000, 10, 10, "t");
	trace_function(builder, &(struct trace_function){ .id = 1, .runtime = "a", .name = "f" });
	trace_source(builder, "api", 10, 10, NULL, 0);
	trace_short_calls(builder, 1, 10, 5, 50);
	trace_statistics(builder, 1500, false, NULL);
	trace_source(builder, "api", 30, 28, "ring full", 2);
	trace_short_calls(builder, 1, 10, 9, 90);
	trace_statistics(builder, 2500, true, "stopped");
	model = load_trace(builder);
	assert_int_equal(model->sources.row[0].produced, 30);
	assert_int_equal(model->short_calls.count, 1);
	assert_int_equal(model->short_calls.row[0].count, 9);
	assert_int_equal(model->short_calls.row[0].total_ns, 90);
	model_free(model);
}

/* Rows of threads that were never announced are kept when their process is known. */
static void unannounced_threads_are_kept(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;

	trace_call(
		builder,
		&(struct trace_call_row){
			.tid = 77, .tgid = 70, .start_ns = 1100, .end_ns = 1200, .function = 5 });
	trace_wake(builder, &(struct trace_wake_row){ .ts_ns = 1300, .tid = 88 });
	model = load_trace(builder);
	assert_int_equal(model->threads.count, 1);
	assert_int_equal(model->calls.count, 1);
	assert_int_equal(model->processes.row[model->threads.row[0].process].pid, 70);
	assert_int_equal(model->functions.row[model->calls.row[0].function].name, 0);
	/* For thread 88 not even the process is known. */
	assert_int_equal(model->wakes.count, 0);
	assert_int_equal(model->bad_rows, 1);
	assert_int_equal(model->threadless_rows, 1);
	model_free(model);
}

/* A body with a valid checksum but invalid contents is skipped and counted. */
static void columns_of_unequal_length_are_refused(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	/* Switches: cpu 0, three instants, two threads. */
	static const uint8_t body[] = { 0x22, 3, 1, 1, 1, 0x2a, 2, 5, 6 };
	struct model *model;

	trace_target(builder, 1000, 10, 10, "t");
	trace_packet(builder, PROFBPF__PACKET__KIND__SWITCHES, body, sizeof(body));
	trace_packet(builder, PROFBPF__PACKET__KIND__CALLS, "\xff\xff", 2);
	trace_packet(builder, 99, "whatever", 8);
	model = load_trace(builder);
	assert_int_equal(model->switches.count, 0);
	assert_int_equal(model->damage.packets_skipped, 2);
	assert_non_null(strstr(model->damage.first_reason, "is not valid"));
	assert_int_equal(model->threads.count, 1);
	model_free(model);
}

/*
 * 1,000 functions in a packed column, and one end in an unpacked one: a pass that only counts rows must not take it
 * for 1,000.
 */
static void columns_that_are_not_packed_have_their_length(void **state)
{
	static const uint8_t functions[] = { 0x3a, 0xe8, 0x07 }, end[] = { 0x20, 0x02 };
	uint8_t body[sizeof(functions) + 1000 + sizeof(end)];
	char path[] = "/tmp/test_load.XXXXXX", error[256] = "";
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model = model_new();
	struct loader *loader = loader_new(model);
	int fd = mkstemp(path);

	memcpy(body, functions, sizeof(functions));
	memset(body + sizeof(functions), 1, 1000);
	memcpy(body + sizeof(functions) + 1000, end, sizeof(end));
	trace_packet(builder, PROFBPF__PACKET__KIND__CALLS, body, sizeof(body));
	trace_write(builder, path);
	trace_builder_free(builder);
	loader_choose(loader, LOAD_TASKS);
	assert_int_equal(load_pbt(loader, path, error, sizeof(error)), 0);
	assert_int_equal(model->damage.packets_skipped, 1);
	loader_free(loader);
	model_free(model);
	close(fd);
	unlink(path);
}

/* Impossible values are dropped one by one. */
static void impossible_rows_are_dropped(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;

	trace_target(builder, 1000, 10, 10, "t");
	/* It began before time 0. */
	trace_call(builder, &(struct trace_call_row){ .tid = 10,
						      .tgid = 10,
						      .start_ns = (uint64_t)-50,
						      .end_ns = 50,
						      .function = 1 });
	trace_call(
		builder,
		&(struct trace_call_row){
			.tid = 10, .tgid = 10, .start_ns = 1100, .end_ns = 1200, .function = 1 });
	trace_switch(builder,
		     &(struct trace_switch_row){ .ts_ns = 1300, .prev_tid = 10, .state = 200 });
	trace_account(builder, &(struct trace_account_row){ .ts_ns = 1400, .tid = 0 });
	model = load_trace(builder);
	assert_int_equal(model->calls.count, 1);
	assert_int_equal(model->switches.count, 0);
	assert_int_equal(model->accounts.count, 0);
	assert_int_equal(model->bad_rows, 2);
	assert_int_equal(model->threadless_rows, 0);
	/* A reason for leaving a CPU that only a later version knows. */
	assert_int_equal(model->unknown_values, 1);
	model_free(model);
}

/* Instants that go backwards are sorted. */
static void rows_are_sorted(void **state)
{
	struct trace_builder *builder = session(1, 1, 1000);
	struct model *model;
	uint32_t first;

	trace_target(builder, 1000, 10, 10, "t");
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t ts_ns = 2000 + (i * 7919) % 1000;

		trace_call(builder, &(struct trace_call_row){ .cpu = i % 4,
							      .tid = 10,
							      .tgid = 10,
							      .start_ns = ts_ns,
							      .end_ns = ts_ns + 1,
							      .function = 1 });
		trace_switch(builder, &(struct trace_switch_row){
					      .cpu = i % 3, .ts_ns = ts_ns, .next_tid = 10 });
	}
	model = load_trace(builder);
	assert_int_equal(model_thread_calls(model, 0, &first), 1000);
	for (uint32_t i = 1; i < 1000; i++) {
		const struct cpu_switch *row = &model->switches.row[i];

		assert_true(model->calls.row[i].start_ns > model->calls.row[i - 1].start_ns);
		assert_true(row->cpu > row[-1].cpu ||
			    (row->cpu == row[-1].cpu && row->ts_ns > row[-1].ts_ns));
	}
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_is_taken),
		cmocka_unit_test(rows_survive_the_round_trip),
		cmocka_unit_test(a_value_may_be_unknown),
		cmocka_unit_test(calls_inside_others_are_inner),
		cmocka_unit_test(threads_have_names_and_lives),
		cmocka_unit_test(reused_pid_is_another_thread),
		cmocka_unit_test(exec_after_main_thread_exit_goes_on),
		cmocka_unit_test(orphan_keeps_its_parent),
		cmocka_unit_test(segments_have_their_own_strings),
		cmocka_unit_test(sessions_are_merged),
		cmocka_unit_test(session_in_two_files),
		cmocka_unit_test(another_boot_is_refused),
		cmocka_unit_test(statistics_replace_earlier_ones),
		cmocka_unit_test(unannounced_threads_are_kept),
		cmocka_unit_test(columns_of_unequal_length_are_refused),
		cmocka_unit_test(columns_that_are_not_packed_have_their_length),
		cmocka_unit_test(impossible_rows_are_dropped),
		cmocka_unit_test(rows_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
