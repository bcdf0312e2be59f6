/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of profctl top: in 60 columns no important text is cut, jobs are summed up, a verdict is wrapped to the
 * width.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/live/live_feeds.h"
#include "daemon/profctl/top/top_view.h"

#define NARROW 60

struct written {
	char text[8192];
	size_t widest;
};

static void take(void *context, enum top_style style, const char *text)
{
	struct written *written = context;
	size_t used = strlen(written->text), length = strlen(text);

	(void)style;
	assert_true(used + length + 2 < sizeof(written->text));
	sprintf(written->text + used, "%s\n", text);
	if (length > written->widest)
		written->widest = length;
}

static void expect(const struct written *written, const char *words)
{
	if (!strstr(written->text, words))
		fail_msg("missing: %s\nin:\n%s", words, written->text);
}

static struct top_process processes[] = {
	{ .pid = 4242, .run_ns = 500000000, .target = true, .threads = 2, .name = "python3",
	  .cmdline = "/opt/venv/bin/python3 train.py" },
	{ .pid = 43, .run_ns = 100000000, .name = "kworker/u8:2" },
};
static struct top_call calls[] = { { .pid = 4242, .count = 40, .total_ns = 1000000, .runtime = "torch",
				     .function = "torch::autograd::profiler::record_function_enter_new" } };
static struct top_device devices[] = { { .pid = 4242, .tasks = 9, .busy_ns = 250000000, .name = "GPU 0" },
				       { .pid = 4242, .tasks = 9, .busy_ns = 750000000, .name = "GPU 1" } };
static struct live_wait waits[] = { { .pid = 4242, .ns = 125000000 } };

static struct live_operator operators[] = {
	{ .pid = 4242, .id = 0, .name = "Batch", .has_queue = true, .has_size = true, .capacity = 16, .mean_size = 8,
	  .has_pop_wait = true, .pop_wait_ns = 125000000, .to_trainer = true },
	{ .pid = 4242, .id = 1, .name = "Map of a very long name indeed", .has_queue = true, .has_pop_wait = true,
	  .pop_wait_ns = 990000000 },
};
static struct top_cpu cpus[] = { { .user_ns = 900, .idle_ns = 100 } };
static struct top_frame frame = {
	.duration_ns = 1000000000, .all = { .user_ns = 900, .idle_ns = 100 }, .cpus = cpus, .cpu_count = 1,
	.processes = processes, .process_count = 2, .calls = calls, .call_count = 1, .devices = devices,
	.device_count = 2, .operators = operators, .operator_count = 2, .waits = waits, .wait_count = 1, .context_switches = 12345, .process_total = 999,
	.runnable = 99, .blocked = 9, .cost_known = true, .daemon_cpu_ns = 990000000,
};

static void test_nothing_is_cut_in_a_narrow_terminal(void **state)
{
	struct top_view view = { .own_cpu_ns = 990000000 };
	struct written written = { 0 };

	(void)state;
	top_view_summary(&frame, &view, NARROW, take, &written);
	top_view_jobs(&frame, take, &written);
	top_view_devices(&frame, take, &written);
	top_view_operators(&frame, NARROW, 9, take, &written);
	top_view_calls(&frame, NARROW, 9, take, &written);
	assert_int_equal(top_view_processes(&frame, &view, NARROW, 0, 9, take, &written), 2);
	top_view_keys(take, &written);
	if (written.widest > NARROW)
		print_error("%s", written.text);
	assert_in_range(written.widest, 40, NARROW);
	expect(&written, "  record_function_enter_new\n");
	expect(&written, "[###   ] 8.0/16     12.5\n");
	expect(&written, "  python3 train.py\n");
	expect(&written, "  kworker/u8:2\n");
}

static void test_all_is_there_in_a_wide_one(void **state)
{
	struct top_view view = { 0 };
	struct written written = { 0 };

	(void)state;
	top_view_operators(&frame, TOP_WIDE, 9, take, &written);
	top_view_calls(&frame, TOP_WIDE, 9, take, &written);
	top_view_processes(&frame, &view, TOP_WIDE, 0, 9, take, &written);
	expect(&written, " torch::autograd::profiler::record_function_enter_new\n");
	expect(&written, "  /opt/venv/bin/python3 train.py\n");
	expect(&written, " put %   get %\n");
}

static void test_a_job_is_summed_up(void **state)
{
	struct top_frame other = frame;
	struct written written = { 0 };

	(void)state;
	top_view_jobs(&frame, take, &written);
	assert_string_equal(written.text, "now      python3 4242: devices busy 50.0 %, data wait 12.5 %\n");
	written = (struct written){ 0 };
	other.device_count = 1;
	other.wait_count = 0;
	top_view_jobs(&other, take, &written);
	assert_string_equal(written.text, "now      python3 4242: device busy 25.0 %\n");
	written = (struct written){ 0 };
	other.device_count = 0;
	top_view_jobs(&other, take, &written);
	assert_string_equal(written.text, "");
}

static void test_a_verdict_is_broken_to_the_width(void **state)
{
	static const char why[] = "verdict  Starved for data: one two three four five six seven eight nine ten\n"
				  "root     short\n\ndo       a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k\n";
	struct written written = { 0 };

	(void)state;
	top_view_why(why, 30, take, &written);
	assert_string_equal(written.text, "verdict  Starved for data: one\n"
					  "         two three four five\n"
					  "         six seven eight nine \n"
					  "root     short\n"
					  "do       a b c d e f g h i j k\n"
					  "         l m n o p q r s t u v\n"
					  "         w x y z a b c d e f g\n");
	written = (struct written){ 0 };
	top_view_why(NULL, 30, take, &written);
	assert_string_equal(written.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_cut_in_a_narrow_terminal),
		cmocka_unit_test(test_all_is_there_in_a_wide_one),
		cmocka_unit_test(test_a_job_is_summed_up),
		cmocka_unit_test(test_a_verdict_is_broken_to_the_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
