/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a trace in which every event is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "analyzer/cli/info.h"
#include "analyzer/cli/command_line.h"
#include "analyzer/cli/analysis.h"
#include "tests/unit/json_path.h"
#include "tests/unit/report_of.h"
#include "tests/unit/sample_trace.h"

static int info_json_as_report(FILE *out, const struct model *model, const struct results *results,
			       const struct report_options *options)
{
	return info_json(out, model, results);
}

static void trace_and_capture(void **state)
{
	yajl_val root = report_of_sample(0, &(struct analysis_options){ 0 });

	assert_string_equal(json_string(root, "schema"), "profbpf.report/1");
	assert_string_equal(json_string(root, "trace.hostname"), "testhost");
	assert_int_equal(json_int(root, "trace.start_ns"), SAMPLE_START);
	assert_int_equal(json_int(root, "trace.duration_ns"), SAMPLE_END - SAMPLE_START);
	assert_int_equal(json_int(root, "trace.start_realtime_ns"), 1700000000000000000);
	assert_int_equal(json_int(root, "trace.targets.0"), 100);
	assert_int_equal(json_length(root, "trace.files"), 1);
	assert_true(json_true(root, "capture.complete"));
	assert_int_equal(json_length(root, "capture.sources"), 3);
	assert_string_equal(json_string(root, "capture.sources.0.name"), "api");
	assert_int_equal(json_int(root, "capture.sources.0.produced"), 112);
	assert_int_equal(json_int(root, "capture.sources.0.delivered"), 112);
	assert_int_equal(json_int(root, "capture.sources.0.lost"), 0);
	assert_int_equal(json_length(root, "capture.not_covered"), 1);
	assert_int_equal(json_int(root, "capture.not_covered.0.duration_ns"), 2500 * US);
	yajl_tree_free(root);
}

static void host(void **state)
{
	yajl_val root = report_of_sample(0, &(struct analysis_options){ 0 });

	assert_int_equal(json_int(root, "host.user_ns"), 2400 * MS);
	assert_int_equal(json_int(root, "host.system_ns"), 320 * MS);
	assert_int_equal(json_int(root, "host.irq_ns"), 20 * MS);
	assert_int_equal(json_int(root, "host.softirq_ns"), 60 * MS);
	assert_int_equal(json_int(root, "host.iowait_ns"), 100 * MS);
	assert_int_equal(json_int(root, "host.idle_ns"), 1100 * MS);
	assert_true(json_double(root, "host.utilization_percent") == 70.0);
	assert_int_equal(json_int(root, "host.context_switches"), 2000);
	assert_int_equal(json_length(root, "host.cpus"), 2);
	assert_true(json_double(root, "host.cpus.0.utilization_percent") == 80.0);
	assert_true(json_double(root, "host.cpus.1.utilization_percent") == 60.0);
	assert_int_equal(json_length(root, "host.series.rows"), 2);
	assert_int_equal(json_int(root, "host.series.interval_ns"), 1000 * MS);
	assert_int_equal(json_int(root, "host.series.rows.1.2"), 1200 * MS);
	yajl_tree_free(root);
}

static void processes(void **state)
{
	yajl_val root = report_of_sample(0, &(struct analysis_options){ 0 });

	assert_int_equal(json_length(root, "processes"), 2);
	assert_int_equal(json_int(root, "processes.0.pid"), 100);
	assert_string_equal(json_string(root, "processes.0.cmdline"), "job --fast");
	assert_true(json_true(root, "processes.0.target"));
	assert_int_equal(json_int(root, "processes.0.run_ns"), 2648480 * US);
	assert_int_equal(json_int(root, "processes.0.runnable_ns"), 101510 * US);
	assert_int_equal(json_int(root, "processes.0.blocked_ns"), 800 * MS);
	assert_int_equal(json_int(root, "processes.0.io_ns"), 100 * MS);
	/* Ticks: 2000 ms of user time and 500 ms of system time. */
	assert_int_equal(json_int(root, "processes.0.system_ns"), 529696 * US);
	assert_int_equal(json_int(root, "processes.0.user_ns"), (2648480 - 529696) * US);
	assert_true(json_double(root, "processes.0.utilization_percent") == 132.424);
	assert_int_equal(json_length(root, "processes.0.threads"), 2);
	assert_int_equal(json_int(root, "processes.0.threads.0.tid"), 100);
	assert_string_equal(json_string(root, "processes.0.threads.0.source"), "switches");
	assert_int_equal(json_int(root, "processes.0.threads.0.run_ns"), 1598500 * US);
	assert_int_equal(json_int(root, "processes.0.threads.0.runnable_ns"), 101500 * US);
	assert_int_equal(json_int(root, "processes.0.threads.0.blocked_ns"), 300 * MS);
	assert_int_equal(json_int(root, "processes.0.threads.0.io_ns"), 100 * MS);
	assert_int_equal(json_int(root, "processes.0.threads.0.voluntary_switches"), 2);
	assert_int_equal(json_int(root, "processes.0.threads.0.involuntary_switches"), 1);
	assert_int_equal(json_int(root, "processes.0.threads.0.migrations"), 2);
	assert_string_equal(json_string(root, "processes.0.threads.1.name"), "worker");
	assert_int_equal(json_int(root, "processes.0.threads.1.run_ns"), 1049980 * US);
	assert_int_equal(json_int(root, "processes.0.threads.1.runnable_ns"), 10 * US);
	assert_int_equal(json_int(root, "processes.0.threads.1.blocked_ns"), 500 * MS);
	assert_int_equal(json_int(root, "processes.0.threads.1.voluntary_switches"), 2);
	yajl_tree_free(root);
}

/* For processes outside of the targets only the kernel's figures are known. */
static void other_processes(void **state)
{
	yajl_val root = report_of_sample(0, &(struct analysis_options){ 0 });

	assert_int_equal(json_int(root, "processes.1.pid"), 200);
	assert_false(json_true(root, "processes.1.target"));
	assert_int_equal(json_int(root, "processes.1.run_ns"), 400 * MS);
	assert_int_equal(json_int(root, "processes.1.runnable_ns"), 10 * MS);
	assert_int_equal(json_int(root, "processes.1.blocked_ns"), 1590 * MS);
	assert_null(json_at(root, "processes.1.io_ns"));
	assert_null(json_at(root, "processes.1.user_ns"));
	assert_string_equal(json_string(root, "processes.1.threads.0.source"), "accounts");
	assert_int_equal(json_int(root, "processes.1.threads.0.voluntary_switches"), 5);
	assert_int_equal(json_int(root, "processes.1.threads.0.involuntary_switches"), 2);
	assert_int_equal(json_int(root, "processes.1.threads.0.migrations"), 1);
	yajl_tree_free(root);
}

static void api(void **state)
{
	yajl_val root = report_of_sample(0, &(struct analysis_options){ 0 });

	assert_int_equal(json_length(root, "api"), 4);
	assert_string_equal(json_string(root, "api.0.function"), "clFinish");
	assert_string_equal(json_string(root, "api.0.kind"), "sync");
	assert_int_equal(json_int(root, "api.0.count"), 2);
	assert_int_equal(json_int(root, "api.0.open"), 1);
	assert_int_equal(json_int(root, "api.0.open_ns"), 100 * MS);
	assert_int_equal(json_int(root, "api.0.total_ns"), 10 * MS);
	assert_int_equal(json_int(root, "api.0.p99_ns"), 10 * MS);
	assert_string_equal(json_string(root, "api.1.runtime"), "opencl");
	assert_string_equal(json_string(root, "api.1.function"), "clEnqueueNDRangeKernel");
	assert_int_equal(json_int(root, "api.1.pid"), 100);
	assert_int_equal(json_int(root, "api.1.count"), 100);
	assert_int_equal(json_int(root, "api.1.open"), 0);
	assert_int_equal(json_int(root, "api.1.errors"), 3);
	assert_int_equal(json_int(root, "api.1.total_ns"), 5050 * US);
	assert_int_equal(json_int(root, "api.1.mean_ns"), 50500);
	assert_int_equal(json_int(root, "api.1.min_ns"), 1 * US);
	assert_int_equal(json_int(root, "api.1.p50_ns"), 50 * US);
	assert_int_equal(json_int(root, "api.1.p99_ns"), 99 * US);
	assert_int_equal(json_int(root, "api.1.max_ns"), 100 * US);
	assert_string_equal(json_string(root, "api.3.function"), "cuLaunchKernel");
	assert_int_equal(json_int(root, "api.3.inner"), 5);
	/* The inner calls add no time in the runtime. */
	assert_int_equal(json_length(root, "api_totals"), 2);
	assert_string_equal(json_string(root, "api_totals.0.family"), "opencl");
	assert_int_equal(json_int(root, "api_totals.0.count"), 102);
	assert_int_equal(json_int(root, "api_totals.0.total_ns"), 115050 * US);
	assert_string_equal(json_string(root, "api_totals.1.family"), "cuda");
	assert_int_equal(json_int(root, "api_totals.1.count"), 5);
	assert_int_equal(json_int(root, "api_totals.1.total_ns"), 100 * US);
	yajl_tree_free(root);
}

static void ioctls(void **state)
{
	yajl_val root = report_of_sample(0, &(struct analysis_options){ 0 });

	assert_int_equal(json_length(root, "ioctl"), 1);
	assert_string_equal(json_string(root, "ioctl.0.driver"), "drm");
	assert_string_equal(json_string(root, "ioctl.0.device"), "/dev/dri/renderD128");
	assert_string_equal(json_string(root, "ioctl.0.command"), "_IOWR('d', 66, 16)");
	assert_int_equal(json_int(root, "ioctl.0.pid"), 100);
	assert_int_equal(json_int(root, "ioctl.0.count"), 4);
	assert_int_equal(json_int(root, "ioctl.0.errors"), 1);
	assert_int_equal(json_int(root, "ioctl.0.total_ns"), 1 * MS);
	assert_int_equal(json_int(root, "ioctl.0.mean_ns"), 250 * US);
	assert_int_equal(json_int(root, "ioctl.0.max_ns"), 400 * US);
	yajl_tree_free(root);
}

/* From 250 ms to 550 ms: 250 asleep until 300, ready until 301, on a CPU until 500, ready. */
static void window(void **state)
{
	const struct analysis_options wanted = { .from_ns = SAMPLE_START + 250 * MS,
						 .to_ns = SAMPLE_START + 550 * MS };
	yajl_val root = report_of_sample(0, &wanted);

	assert_int_equal(json_int(root, "trace.window.duration_ns"), 300 * MS);
	assert_int_equal(json_int(root, "trace.duration_ns"), SAMPLE_END - SAMPLE_START);
	assert_int_equal(json_int(root, "host.user_ns"), 360 * MS);
	assert_true(json_double(root, "host.utilization_percent") == 70.0);
	assert_int_equal(json_int(root, "processes.0.threads.0.tid"), 101);
	assert_int_equal(json_int(root, "processes.0.threads.0.run_ns"), 300 * MS);
	assert_int_equal(json_int(root, "processes.0.threads.1.tid"), 100);
	assert_int_equal(json_int(root, "processes.0.threads.1.run_ns"), 199 * MS);
	assert_int_equal(json_int(root, "processes.0.threads.1.runnable_ns"), 51 * MS);
	assert_int_equal(json_int(root, "processes.0.threads.1.blocked_ns"), 50 * MS);
	assert_int_equal(json_int(root, "processes.0.threads.1.io_ns"), 0);
	assert_int_equal(json_int(root, "processes.0.threads.1.voluntary_switches"), 0);
	assert_int_equal(json_int(root, "processes.0.threads.1.involuntary_switches"), 1);
	/* The thief's account grew by 400 ms in the second that ended at 1001 ms. */
	assert_int_equal(json_int(root, "processes.1.run_ns"), 120 * MS);
	assert_int_equal(json_length(root, "api"), 3);
	assert_int_equal(json_length(root, "ioctl"), 0);
	yajl_tree_free(root);
}

static void pids(void **state)
{
	static const uint32_t pid = 200;
	const struct analysis_options wanted = { .pids = &pid, .pid_count = 1 };
	yajl_val root = report_of_sample(0, &wanted);

	assert_int_equal(json_length(root, "processes"), 1);
	assert_int_equal(json_int(root, "processes.0.pid"), 200);
	assert_int_equal(json_length(root, "api"), 0);
	assert_int_equal(json_length(root, "api_totals"), 0);
	assert_int_equal(json_length(root, "ioctl"), 0);
	yajl_tree_free(root);
}

/* With lost switches the kernel's own sums are the better figures. */
static void losses_are_told(void **state)
{
	yajl_val root = report_of_sample(SAMPLE_SCHED_LOST, &(struct analysis_options){ 0 });

	assert_false(json_true(root, "capture.complete"));
	assert_int_equal(json_int(root, "capture.sources.2.produced"), 21);
	assert_int_equal(json_int(root, "capture.sources.2.lost"), 7);
	assert_int_equal(json_int(root, "capture.sources.2.lost_by.ring full"), 7);
	assert_true(json_true(root, "capture.sources.2.adds_up"));
	assert_string_equal(json_string(root, "processes.0.threads.0.source"), "accounts");
	assert_int_equal(json_int(root, "processes.0.threads.0.run_ns"), 1598500 * US);
	assert_int_equal(json_int(root, "processes.0.threads.0.voluntary_switches"), 2);
	assert_null(json_at(root, "processes.0.threads.0.io_ns"));
	yajl_tree_free(root);
}

static void text_says_what_was_lost(void **state)
{
	const struct report_options options = ALL_ROWS;
	const struct analysis_options wanted = { 0 };
	char *text = report_of(sample_trace(0), &wanted, &options, report_text);

	assert_says(text, "complete: nothing was lost");
	assert_says(text, "targets       100 main: job --fast");
	assert_says(text, "calls in the first 2.500 ms after /usr/lib/libcudart.so was loaded");
	assert_says(text, "inside others");
	free(text);
	text = report_of(sample_trace(SAMPLE_SCHED_LOST | SAMPLE_UNFINISHED), &wanted, &options,
			 report_text);
	assert_says(text, "INCOMPLETE");
	assert_says(text, "7 records were lost");
	assert_says(text, "ring full: 7");
	assert_says(text, "the recording did not end properly");
	assert_says(text, "readable to 2.000 s");
	free(text);
}

static void sections_are_chosen(void **state)
{
	const struct analysis_options wanted = { 0 };
	struct report_options options = { .sections = SECTION_API, .top = 1 };
	char *text = report_of(sample_trace(0), &wanted, &options, report_text);

	assert_says(text, "clFinish");
	assert_says(text, "... and 3 more functions");
	assert_null(strstr(text, "Capture"));
	assert_null(strstr(text, "cudaLaunchKernel"));
	free(text);
	options.sections = SECTION_HOST | SECTION_IOCTL;
	text = report_of(sample_trace(0), &wanted, &options, report_json);
	assert_says(text, "\"host\"");
	assert_says(text, "\"ioctl\"");
	assert_null(strstr(text, "\"api\""));
	assert_null(strstr(text, "\"devices\""));
	free(text);
}

/* Names come from traced programs: no escape sequence reaches the terminal. */
static void hostile_names_are_harmless(void **state)
{
	const struct report_options options = ALL_ROWS;
	const struct analysis_options wanted = { 0 };
	static const uint32_t targets[] = { 10 };
	const char *const name = "\033]0;x\007\xff\xc2\x9b\"\\\n";
	report_writer *const writers[] = { report_text, report_json };

	for (int i = 0; i < 2; i++) {
		struct trace_builder *builder = trace_builder_new();
		char *text;

		trace_segment(builder, &(struct trace_segment){ .start_ns = 1000,
								.hostname = name,
								.targets = targets,
								.target_count = 1,
								.note = name });
		trace_task(builder, &(struct trace_task_row){ .ts_ns = 1000,
							      .tid = 10,
							      .tgid = 10,
							      .name = name,
							      .cmdline = name });
		trace_function(builder,
			       &(struct trace_function){ .id = 1, .runtime = name, .name = name });
		trace_call(builder, &(struct trace_call_row){ .tid = 10,
							      .tgid = 10,
							      .start_ns = 1100,
							      .end_ns = 1200,
							      .function = 1,
							      .text = name });
		trace_driver(builder, 5, name, name);
		trace_ioctl(
			builder,
			&(struct trace_ioctl_row){
				.tid = 10, .tgid = 10, .rdev = 5, .start_ns = 1, .end_ns = 1100 });
		trace_source(builder, name, 2, 1, name, 1);
		trace_statistics(builder, 2000, true, name);
		text = report_of(builder, &wanted, &options, writers[i]);
		assert_null(strchr(text, '\033'));
		assert_null(strchr(text, '\007'));
		assert_null(strstr(text, "\xff"));
		if (writers[i] == report_json) {
			yajl_tree_free(json_parse(text));
			assert_says(text, "\\u001B]0;x\\u0007\xef\xbf\xbd");
		} else {
			assert_null(strstr(text, "\xc2\x9b"));
		}
		free(text);
	}
}

static void info(void **state)
{
	const struct report_options options = ALL_ROWS;
	const struct analysis_options wanted = { 0 };
	char *text = report_of(sample_trace(0), &wanted, &options, info_json_as_report);
	yajl_val root = json_parse(text);

	assert_string_equal(json_string(root, "schema"), "profbpf.info/1");
	assert_int_equal(json_int(root, "contents.calls"), 112);
	assert_int_equal(json_int(root, "contents.threads"), 3);
	assert_int_equal(json_int(root, "clocks.snapshots"), 3);
	assert_string_equal(json_string(root, "clocks.offsets.0.clock"), "CLOCK_MONOTONIC_RAW");
	assert_int_equal(json_int(root, "clocks.offsets.0.offset_ns"), 500);
	assert_int_equal(json_int(root, "clocks.offsets.0.drift_ppb"), 0);
	yajl_tree_free(root);
	free(text);
	text = report_of(sample_trace(0), &wanted, &options, info_text);
	assert_says(text, "CPU counter: 2000.000000 MHz");
	free(text);
}

static void cpu_switch(struct trace_builder *builder, uint64_t ts_ns, uint32_t prev, uint32_t next,
		       uint32_t why, uint32_t flags)
{
	trace_switch(builder, &(struct trace_switch_row){ .ts_ns = ts_ns,
							  .prev_tid = prev,
							  .next_tid = next,
							  .state = why,
							  .syscall = -1,
							  .flags = flags });
}

/*
 * Some kernels do not report every switch. Inconsistent records reveal that, and the kernel's own sums are used
 * instead; 10 waited for I/O from 2000 to 4000.
 */
static void switch_that_was_not_reported(void **state)
{
	static const uint32_t targets[] = { 10 };
	struct trace_builder *builder = trace_builder_new();
	const struct report_options options = ALL_ROWS;
	yajl_val root;
	char *text;

	trace_segment(builder, &(struct trace_segment){
				       .start_ns = 1000, .targets = targets, .target_count = 1 });
	trace_target(builder, 1000, 10, 10, "t");
	trace_account(
		builder,
		&(struct trace_account_row){
			.ts_ns = 1000, .tid = 10, .tgid = 10, .flags = 16 | 2, .run_ns = 100 });
	cpu_switch(builder, 2000, 10, 0, 2, 1 | 4);
	trace_wake(builder, &(struct trace_wake_row){ .ts_ns = 4000, .tid = 10 });
	cpu_switch(builder, 4010, 0, 10, 0, 2);
	cpu_switch(builder, 900000, 10, 20, 0, 1);
	/* The switch from 20 to 10 is missing. */
	cpu_switch(builder, 903000, 10, 20, 0, 1);
	cpu_switch(builder, 905000, 20, 10, 0, 2);
	trace_account(builder, &(struct trace_account_row){ .ts_ns = 1001000,
							    .tid = 10,
							    .tgid = 10,
							    .run_ns = 100 + 995000,
							    .runnable_ns = 3010,
							    .voluntary = 1,
							    .involuntary = 2 });
	trace_source(builder, "sched", 6, 6, NULL, 0);
	trace_statistics(builder, 1001000, true, "stopped");
	text = report_of(builder, &(struct analysis_options){ 0 }, &options, report_json);
	root = json_parse(text);
	assert_true(json_true(root, "capture.complete"));
	assert_int_equal(json_int(root, "capture.switches_missing"), 1);
	assert_string_equal(json_string(root, "processes.0.threads.0.source"), "accounts");
	assert_int_equal(json_int(root, "processes.0.threads.0.run_ns"), 995000);
	assert_int_equal(json_int(root, "processes.0.threads.0.runnable_ns"), 3010);
	assert_int_equal(json_int(root, "processes.0.threads.0.blocked_ns"), 1990);
	assert_int_equal(json_int(root, "processes.0.threads.0.io_ns"), 1990);
	assert_int_equal(json_int(root, "processes.0.threads.0.involuntary_switches"), 2);
	yajl_tree_free(root);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trace_and_capture),
		cmocka_unit_test(host),
		cmocka_unit_test(processes),
		cmocka_unit_test(other_processes),
		cmocka_unit_test(api),
		cmocka_unit_test(ioctls),
		cmocka_unit_test(window),
		cmocka_unit_test(pids),
		cmocka_unit_test(losses_are_told),
		cmocka_unit_test(text_says_what_was_lost),
		cmocka_unit_test(sections_are_chosen),
		cmocka_unit_test(hostile_names_are_harmless),
		cmocka_unit_test(info),
		cmocka_unit_test(switch_that_was_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
