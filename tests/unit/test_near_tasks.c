/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For a part of the time only device tasks near it are kept, with the same report as from all tasks: within the
 * device's work, and in gaps whose ends are far away. Where far tasks have information about near ones, all are kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/cli/analysis.h"
#include "analyzer/view/report.h"
#include "tests/unit/trace_builder.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define START (1000 * SECOND)
#define LASTED 60u /* seconds */
#define REALTIME (1760000000ull * SECOND)
#define RAW 123456789ull
#define PID 5000u
#define TASKS 41u
#define OF_DEVICES                                                                      \
	(SECTION_DEVICES | SECTION_OPERATORS | SECTION_OVERLAP | SECTION_COMMUNICATION | \
	 SECTION_IDLE | SECTION_API)
/* The join counts all calls and tasks of a recording: far_launches.h. */
#define OF_CALLS (OF_DEVICES | SECTION_JOIN)

static char path[] = "/tmp/test_near_tasks.XXXXXX";

struct scene {
	Profbpf__DeviceClock clock;
	uint64_t ahead_ns; /* the device clock's lead over CLOCK_MONOTONIC */
	uint64_t set_ns; /* the wall clock is set by this amount at 50 s */
	bool odd_launches; /* far from the parts there are calls in calls, without tasks, and with errors */
	uint64_t enqueue_ns; /* since the call's start, at 50 s; 0 = as all */
	bool entry_only; /* the call at 50 s */
	bool early; /* the task at 50 s starts before it is enqueued */
	bool stranger; /* the process of the thread that launches it is not known */
	bool numbered; /* calls contain their tasks' numbers */
	bool numbered_late; /* the description that says so comes after most calls */
};

static void add_head(struct trace_builder *b, const struct scene *scene)
{
	static const uint32_t targets[] = { PID };
	struct trace_function launch = { .id = 1,
					 .runtime = "cudart",
					 .family = "cuda",
					 .name = "cudaLaunchKernel",
					 .kind = PROFBPF__FUNCTION__KIND__LAUNCH,
					 .error = PROFBPF__FUNCTION__ERROR__NONZERO };

	trace_segment(b, &(struct trace_segment){ .start_ns = START,
						  .start_realtime_ns = REALTIME,
						  .cpus = 1,
						  .targets = targets,
						  .target_count = 1 });
	for (uint32_t i = 0; i <= LASTED; i++)
		trace_clock(b, &(struct trace_clock){
				       .monotonic_ns = START + i * SECOND,
				       .monotonic_raw_ns = START + i * SECOND + RAW,
				       .realtime_ns = REALTIME + i * SECOND +
						      (i >= 50 ? scene->set_ns : 0) });
	trace_target(b, START, PID, PID, "job");
	launch.roles[0] = scene->numbered ? PROFBPF__FUNCTION__ROLE__TASK : PROFBPF__FUNCTION__ROLE__NOTHING;
	trace_function(b, &launch);
	trace_device(b, &(struct trace_device){ .id = 1, .tgid = PID, .clock = scene->clock });
}

static void tell_of_numbers(struct trace_builder *b)
{
	const struct trace_function numbered = { .id = 2,
						 .runtime = "cann",
						 .name = "rtKernelLaunch",
						 .kind = PROFBPF__FUNCTION__KIND__LAUNCH,
						 .roles = { PROFBPF__FUNCTION__ROLE__TASK } };
	size_t size;

	trace_bytes(b, &size);
	trace_function(b, &numbered);
}

/* Calls from 55.1 s on: two without a task, one of which fails; and one inside of the call at 56 s. */
static void add_odd_launches(struct trace_builder *b)
{
	struct trace_call_row row = { .tid = PID, .tgid = PID, .function = 1 };

	row.start_ns = START + 55100 * MS;
	row.end_ns = row.start_ns + MS;
	trace_call(b, &row);
	row.start_ns += 2 * MS;
	row.end_ns += 2 * MS;
	row.ret = 7;
	trace_call(b, &row);
	row.ret = 0;
	row.depth = 1;
	row.start_ns = START + 56 * SECOND + MS / 4;
	row.end_ns = row.start_ns + MS / 2;
	trace_call(b, &row);
}

static uint32_t tid_of(const struct scene *scene, uint32_t i)
{
	return i == 50 && scene->stranger ? PID + 1 : PID;
}

static void add_call(struct trace_builder *b, const struct scene *scene, uint32_t i)
{
	const bool odd = i == 50 && scene->entry_only;
	const uint64_t at_ns = START + i * SECOND;

	if (i == 56 && scene->odd_launches)
		add_odd_launches(b);
	trace_call(b, &(struct trace_call_row){ .start_ns = at_ns,
						.end_ns = odd ? at_ns : at_ns + MS,
						.tid = tid_of(scene, i),
						.tgid = tid_of(scene, i) == PID ? PID : 0,
						.function = 1,
						.flags = odd ? PROFBPF__CALLS__FLAG__ENTRY_ONLY : 0 });
}

/*
 * A call and its task each second; none from 22 to 40 s, except that tasks submitted at 20 and 21 s run from 29.5 s
 * on.
 */
static void write_scene(const struct scene *scene)
{
	struct trace_builder *b = trace_builder_new();

	add_head(b, scene);
	for (uint32_t i = 0; i < LASTED; i++) {
		uint64_t at_ns = START + i * SECOND, start_ns = at_ns + 2 * MS;
		uint64_t ahead_ns = scene->ahead_ns + (i >= 50 ? scene->set_ns : 0);
		uint64_t enqueue_ns = at_ns + (i == 50 && scene->enqueue_ns ? scene->enqueue_ns : MS / 2);

		if (i > 21 && i < 41)
			continue;
		if (i == 55 && scene->numbered_late)
			tell_of_numbers(b);
		if (i == 20 || i == 21)
			start_ns = START + 29500 * MS;
		if (i == 50 && scene->early)
			start_ns = at_ns;
		add_call(b, scene, i);
		trace_device_task(b, &(struct trace_device_task_row){
					     .device = 1,
					     .tid = tid_of(scene, i),
					     .enqueue_ns = enqueue_ns,
					     .queued_ns = at_ns + MS / 2 + ahead_ns,
					     .start_ns = start_ns + ahead_ns,
					     .end_ns = start_ns + 100 * MS + i * MS + ahead_ns,
					     .stream = i == 20 ? 8 : 7,
					     .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL,
					     .name = i % 2 ? "odd" : "even" });
	}
	trace_statistics(b, START + LASTED * SECOND, true, "duration");
	trace_write(b, path);
	trace_builder_free(b);
}

static char *report_of(struct analysis *analysis, const struct analysis_wish *wish)
{
	const struct report_options options = { .sections = wish->sections };
	struct analysis_options wanted = { 0 };
	char error[512] = "", *trace = path, *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (analysis_load_for(analysis, &trace, 1, wish, false, error, sizeof(error)))
		fail_msg("%s", error);
	wanted.from_ns = START + wish->from_ns;
	wanted.to_ns = START + wish->to_ns;
	if (analysis_compute(analysis, &wanted, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(report_json(out, analysis->model, &analysis->results, &options), 0);
	fclose(out);
	return text;
}

/* Returns the number of tasks kept for the part; checks that the report equals that of all tasks. */
static uint32_t kept_for(uint32_t sections, const struct scene *scene, uint64_t from_ms, uint64_t to_ms)
{
	struct analysis_wish wish = { .sections = sections,
				      .from_ns = from_ms * MS,
				      .to_ns = to_ms * MS,
				      .margin_ns = MS };
	struct analysis all, part;
	char *expected, *got;
	uint32_t kept;

	write_scene(scene);
	expected = report_of(&all, &wish);
	assert_int_equal(all.model->tasks.count, TASKS);
	wish.part = true;
	got = report_of(&part, &wish);
	assert_string_equal(got, expected);
	kept = part.model->tasks.count;
	assert_int_equal(kept + part.model->survey.tasks, TASKS);
	analysis_free(&all);
	analysis_free(&part);
	free(expected);
	free(got);
	return kept;
}

static uint32_t kept_of(const struct scene *scene, uint64_t from_ms, uint64_t to_ms)
{
	uint32_t kept = kept_for(OF_DEVICES, scene, from_ms, to_ms);

	assert_int_equal(kept_for(OF_CALLS, scene, from_ms, to_ms), kept);
	return kept;
}

static const struct scene raw = { .clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW, .ahead_ns = RAW };
static const struct scene wall = { .clock = PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME,
				   .ahead_ns = REALTIME - START };

static void within_work(void **state)
{
	(void)state;
	/* Tasks from a second before to a second after, and one on either side. */
	assert_in_range(kept_of(&raw, 10000, 10010), 3, 7);
	assert_in_range(kept_of(&wall, 10000, 10010), 3, 7);
	assert_in_range(kept_of(&raw, 0, 10), 2, 5);
	assert_in_range(kept_of(&raw, 59000, 59999), 2, 5);
}

static void within_a_gap(void **state)
{
	(void)state;
	/*
	 * The gap's ends, 19.1 and 29.5 s, or 29.6 and 41 s, are more than a second away, and so are the tasks beyond
	 * them.
	 */
	assert_in_range(kept_of(&raw, 25000, 25010), 3, 8);
	assert_in_range(kept_of(&raw, 35000, 35010), 2, 8);
	assert_in_range(kept_of(&wall, 35000, 35010), 2, 8);
}

static void given_long_before(void **state)
{
	(void)state;
	kept_of(&raw, 29550, 29560);
}

static void all_are_needed(void **state)
{
	struct scene scene = wall;

	(void)state;
	scene.set_ns = 3600 * SECOND;
	assert_int_equal(kept_of(&scene, 10000, 10010), TASKS);
	scene = raw;
	scene.numbered = true;
	assert_int_equal(kept_of(&scene, 10000, 10010), TASKS);
	scene = raw;
	scene.numbered_late = true;
	assert_int_equal(kept_of(&scene, 10000, 10010), TASKS);
	scene = (struct scene){ .clock = PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED, .ahead_ns = RAW };
	assert_int_equal(kept_of(&scene, 10000, 10010), TASKS);
}

/* Launches far from the part are counted, and their tasks. */
static void far_launches(void **state)
{
	struct scene scene = raw;

	(void)state;
	scene.odd_launches = true;
	assert_in_range(kept_for(OF_CALLS, &scene, 10000, 10010), 3, 7);
	assert_in_range(kept_for(OF_CALLS, &scene, 57000, 57010), 3, 7);
	/* The call at 10 s reaches into the part; its task's enqueue was before. */
	assert_in_range(kept_for(OF_CALLS, &scene, 10002, 10012), 3, 7);
}

/* A step may be longer than what is loaded: all is needed, unless each kind of task is there three times. */
static void whole_steps(void **state)
{
	struct analysis_wish wish = { .sections = OF_CALLS | SECTION_STEPS,
				      .part = true,
				      .from_ns = 10000 * MS,
				      .to_ns = 10010 * MS,
				      .margin_ns = 2 * SECOND };
	struct analysis analysis;

	(void)state;
	write_scene(&raw);
	/* Of odd seconds 7 to 13 are near, of even ones 8, 10, 12. */
	free(report_of(&analysis, &wish));
	assert_in_range(analysis.model->tasks.count, 7, 9);
	analysis_free(&analysis);
	/* Of even seconds only 10 and 12 are near. */
	wish.margin_ns = 1500 * MS;
	wish.from_ns += SECOND;
	wish.to_ns += SECOND;
	free(report_of(&analysis, &wish));
	assert_int_equal(analysis.model->tasks.count, TASKS);
	analysis_free(&analysis);
}

/* Where it is not certain which far call launched a far task, all calls are needed. */
static void uncertain_launches(void **state)
{
	struct scene scene = raw;

	(void)state;
	scene.enqueue_ns = MS; /* at the call's end */
	assert_int_equal(kept_for(OF_CALLS, &scene, 10000, 10010), TASKS);
	scene.enqueue_ns = 500 * MS; /* in no call */
	assert_int_equal(kept_for(OF_CALLS, &scene, 10000, 10010), TASKS);
	scene = raw;
	scene.entry_only = true;
	assert_int_equal(kept_for(OF_CALLS, &scene, 10000, 10010), TASKS);
	scene = raw;
	scene.early = true;
	assert_int_equal(kept_for(OF_CALLS, &scene, 10000, 10010), TASKS);
	scene = raw;
	scene.stranger = true;
	assert_int_equal(kept_for(OF_CALLS, &scene, 10000, 10010), TASKS);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_work),
		cmocka_unit_test(within_a_gap),
		cmocka_unit_test(given_long_before),
		cmocka_unit_test(all_are_needed),
		cmocka_unit_test(far_launches),
		cmocka_unit_test(whole_steps),
		cmocka_unit_test(uncertain_launches),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
