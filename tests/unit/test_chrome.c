/* SPDX-License-Identifier: Apache-2.0 */
/* The Chrome JSON export, read back with a JSON parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "analyzer/export/chrome/chrome_writer.h"
#include "analyzer/export/export.h"
#include "analyzer/view/report.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/small_model.h"

#define READ_MAX (16 << 20)

static const struct results no_results;

struct events {
	yajl_val root;
	char *text;
};

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, READ_MAX);
	size_t size;

	assert_non_null(file);
	assert_non_null(text);
	size = fread(text, 1, READ_MAX - 1, file);
	assert_true(size > 0 && size < READ_MAX - 1);
	fclose(file);
	return text;
}

static struct events parse_file(const char *path)
{
	struct events events = { .text = read_file(path) };
	char error[256] = "";

	events.root = yajl_tree_parse(events.text, error, sizeof(error));
	if (!events.root)
		fail_msg("%s", error);
	assert_true(YAJL_IS_ARRAY(events.root));
	return events;
}

static void events_free(struct events *events)
{
	yajl_tree_free(events->root);
	free(events->text);
}

static struct events export(struct model *model)
{
	const struct export_options options = { .start_ns = model->info.session_start_ns,
						.end_ns = model->info.session_end_ns };
	char path[] = "/tmp/profbpf-test-XXXXXX", error[256] = "";
	struct events events;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	if (export_chrome.write(model, &no_results, path, &options, error, sizeof(error)))
		fail_msg("%s", error);
	events = parse_file(path);
	unlink(path);
	model_free(model);
	return events;
}

static yajl_val field(yajl_val event, const char *name)
{
	const char *path[] = { name, NULL };

	return yajl_tree_get(event, path, yajl_t_any);
}

static yajl_val arg(yajl_val event, const char *name)
{
	const char *path[] = { "args", name, NULL };

	return yajl_tree_get(event, path, yajl_t_any);
}

static const char *string_field(yajl_val event, const char *name)
{
	yajl_val value = field(event, name);

	return YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : "";
}

/* Returns an argument's text, or its number as text; "" if it is absent. */
static const char *text_arg(yajl_val event, const char *name)
{
	yajl_val value = event ? arg(event, name) : NULL;

	if (YAJL_IS_NUMBER(value))
		return value->u.number.r;
	return YAJL_IS_STRING(value) ? value->u.string : "";
}

static const char *number_field(yajl_val event, const char *name)
{
	yajl_val value = field(event, name);

	return YAJL_IS_NUMBER(value) ? value->u.number.r : "";
}

/* Returns event number @index of this phase and name; NULL if there are fewer. */
static yajl_val find(const struct events *events, const char *phase, const char *name, size_t index)
{
	for (size_t i = 0; i < events->root->u.array.len; i++) {
		yajl_val event = events->root->u.array.values[i];

		if (strcmp(string_field(event, "ph"), phase) == 0 &&
		    strcmp(string_field(event, "name"), name) == 0 && index-- == 0)
			return event;
	}
	return NULL;
}

static size_t count(const struct events *events, const char *phase, const char *name)
{
	size_t found = 0;

	while (find(events, phase, name, found))
		found++;
	return found;
}

/* Compares numbers as written in the file: microseconds with three decimals. */
static void assert_number(yajl_val event, const char *name, const char *expected)
{
	yajl_val value = field(event, name);

	assert_true(YAJL_IS_NUMBER(value));
	assert_string_equal(value->u.number.r, expected);
}

static void calls_are_complete_events(void **state)
{
	struct events events = export(load_trace(sample_trace(0)));
	yajl_val event = find(&events, "X", "clEnqueueNDRangeKernel", 7);

	assert_int_equal(count(&events, "X", "clEnqueueNDRangeKernel"), 100);
	assert_number(event, "ts", "317000.000");
	assert_number(event, "dur", "8.000");
	assert_number(event, "pid", "100");
	assert_number(event, "tid", "100");
	assert_string_equal(string_field(event, "cat"), "launch");
	assert_string_equal(text_arg(event, "launched"), "kernel");
	assert_null(arg(event, "ret"));
	event = find(&events, "X", "clEnqueueNDRangeKernel", 0);
	assert_string_equal(text_arg(event, "ret"), "-30");
	event = find(&events, "X", "clFinish", 1);
	assert_true(YAJL_IS_TRUE(arg(event, "open")));
	assert_number(event, "dur", "100000.000");
	events_free(&events);
}

/* Their duration is unknown: they have no length, and an argument says why. */
static void calls_without_ends_have_no_length(void **state)
{
	struct trace_builder *builder = trace_builder_new();
	struct events events;
	yajl_val event;

	trace_segment(builder, &(struct trace_segment){ .start_ns = 1000 });
	trace_target(builder, 1000, 10, 10, "t");
	trace_function(builder, &(struct trace_function){ .id = 1, .runtime = "r", .name = "f" });
	for (uint32_t i = 0; i < 2; i++)
		trace_call(builder, &(struct trace_call_row){ .tid = 10,
							      .tgid = 10,
							      .start_ns = 2000 + 1000 * i,
							      .end_ns = 3000,
							      .function = 1,
							      .flags = i ? 64 : 32 });
	trace_statistics(builder, 9000, true, "stopped");
	events = export(load_trace(builder));
	event = find(&events, "X", "f", 0);
	assert_number(event, "dur", "0.000");
	assert_true(YAJL_IS_TRUE(arg(event, "left")));
	assert_null(arg(event, "end_unknown"));
	event = find(&events, "X", "f", 1);
	assert_number(event, "dur", "0.000");
	assert_true(YAJL_IS_TRUE(arg(event, "end_unknown")));
	assert_null(arg(event, "left"));
	events_free(&events);
}

static void names_and_host_are_told(void **state)
{
	struct events events = export(load_trace(sample_trace(SAMPLE_SCHED_LOST)));
	yajl_val event = find(&events, "M", "trace_info", 0);
	bool job = false, worker = false;

	assert_string_equal(text_arg(event, "hostname"), "testhost");
	assert_string_equal(text_arg(event, "baseTimeNanoseconds"), "1700000000000000000");
	for (size_t i = 0; (event = find(&events, "M", "process_name", i)); i++)
		job |= strcmp(text_arg(event, "name"), "main") == 0 ||
		       strcmp(text_arg(event, "name"), "job") == 0;
	for (size_t i = 0; (event = find(&events, "M", "thread_name", i)); i++)
		worker |= strcmp(text_arg(event, "name"), "worker") == 0 &&
			  strcmp(number_field(event, "tid"), "101") == 0;
	assert_true(job);
	assert_true(worker);
	assert_non_null(find(&events, "i", "sched: 7 records lost: ring full", 0));
	event = find(&events, "C", "CPU time in use", 0);
	assert_string_equal(text_arg(event, "%"), "70.000");
	events_free(&events);
}

/* Only known time is shown: main, the thief while main waited, and no idle time. */
static void cpus_show_known_time(void **state)
{
	struct events events = export(load_trace(sample_trace(0)));
	yajl_val event = find(&events, "X", "thief", 0);

	assert_int_equal(count(&events, "X", "main"), 4);
	assert_int_equal(count(&events, "X", "worker"), 2);
	assert_int_equal(count(&events, "X", "thief"), 2);
	assert_int_equal(count(&events, "X", "swapper"), 0);
	assert_number(event, "ts", "300000.000");
	assert_number(event, "dur", "1000.000");
	event = find(&events, "X", "thief", 1);
	assert_number(event, "dur", "100000.000");
	assert_string_equal(text_arg(event, "then"), "preempted");
	events_free(&events);
}

/* Two overlapping tasks, launched by one call, with arbitrary bytes in their names. */
static struct model *device_model(void)
{
	struct model *model = small_model(1000000000123, 1000000900000);
	uint32_t process = small_process(model, 10, "job", true);
	uint32_t thread = small_thread(model, process, 10, "ten");
	uint32_t launch = small_function(model, "cuda", "launch", PROFBPF__FUNCTION__KIND__LAUNCH);
	uint32_t device = small_device(model, process, "GPU \"0\"", 0);

	small_call(model, thread, launch, 1000000001124, 1000000002000);
	for (uint32_t i = 0; i < 2; i++) {
		struct device_task *task =
			small_task(model, device, 1000000003000 + i * 10, 1000000004000 + i * 10);

		task->call = 0;
		task->enqueue_ns = 1000000001500;
		task->name = model_string(model, i ? "k\"\\\x01\n/\xc3\xa9" : "bad\xff\xc3(");
	}
	small_index(model);
	return model;
}

static void arrows_bind_to_their_slices(void **state)
{
	struct events events = export(device_model());

	assert_int_equal(count(&events, "s", "launch"), 2);
	assert_int_equal(count(&events, "f", "launch"), 2);
	for (size_t i = 0; i < 2; i++) {
		yajl_val from = find(&events, "s", "launch", i), to = NULL;

		for (size_t k = 0; k < 2; k++) {
			yajl_val other = find(&events, "f", "launch", k);

			if (strcmp(number_field(other, "id"), number_field(from, "id")) == 0)
				to = other;
		}
		assert_number(from, "ts", "1.001");
		assert_number(from, "tid", "10");
		assert_non_null(to);
		assert_string_equal(string_field(to, "bp"), "e");
	}
	events_free(&events);
}

static void overlapping_tasks_have_rows_of_their_own(void **state)
{
	struct events events = export(device_model());
	yajl_val first = find(&events, "X", "bad\xef\xbf\xbd\xef\xbf\xbd(", 0);
	yajl_val second = find(&events, "X", "k\"\\\x01\n/\xc3\xa9", 0);
	size_t rows = 0;

	/* Invalid UTF-8 was repaired, valid text is unchanged. */
	assert_non_null(first);
	assert_non_null(second);
	assert_number(first, "ts", "2.877");
	assert_number(second, "dur", "1.000");
	assert_string_equal(text_arg(first, "queue_delay_ns"), "1500");
	assert_string_not_equal(number_field(first, "tid"), number_field(second, "tid"));
	for (size_t i = 0; i < count(&events, "M", "thread_name"); i++)
		rows += strcmp(text_arg(find(&events, "M", "thread_name", i), "name"),
			       "Stream 1 (job 10)") == 0;
	assert_int_equal(rows, 2);
	events_free(&events);
}

static void numbers_are_exact(void **state)
{
	char path[] = "/tmp/profbpf-test-XXXXXX";
	struct chrome_writer writer;
	struct events events;
	yajl_val event;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chrome_writer_open(&writer, path, 5), 0);
	chrome_event(&writer, 'X', "x", NULL, UINT32_MAX, 0);
	chrome_time(&writer, 1695835573040567123 + 5);
	chrome_duration(&writer, 7);
	chrome_arg_int(&writer, "min", INT64_MIN);
	chrome_arg_uint(&writer, "max", UINT64_MAX);
	chrome_arg_hex(&writer, "hex", UINT64_MAX);
	chrome_arg_decimal(&writer, "less", -1.5);
	chrome_event_end(&writer);
	assert_int_equal(chrome_writer_close(&writer), 0);
	events = parse_file(path);
	event = find(&events, "X", "x", 0);
	assert_number(event, "ts", "1695835573040567.123");
	assert_number(event, "dur", "0.007");
	assert_number(event, "pid", "4294967295");
	assert_string_equal(text_arg(event, "min"), "-9223372036854775808");
	assert_string_equal(text_arg(event, "max"), "18446744073709551615");
	assert_string_equal(text_arg(event, "hex"), "0xffffffffffffffff");
	assert_string_equal(text_arg(event, "less"), "-1.500");
	events_free(&events);
	unlink(path);
}

static void failures_are_explained(void **state)
{
	const struct export_options options = { .end_ns = UINT64_MAX };
	struct model *model = device_model();
	char error[256] = "";

	assert_int_not_equal(export_chrome.write(model, &no_results, "/nonexistent/x.json", &options, error,
					  sizeof(error)),
			     0);
	assert_non_null(strstr(error, "/nonexistent/x.json"));
	assert_int_not_equal(export_chrome.write(model, &no_results, "/dev/full", &options, error, sizeof(error)),
			     0);
	assert_non_null(strstr(error, "No space left"));
	model_free(model);
}

#define CROWD 70000 /* more than the exporter keeps */

/* Launches of a microsecond, three microseconds apart, with their tasks; each 10,000th is long and contains others. */
static struct model *crowd(void)
{
	struct model *model = small_model(0, 3000ull * CROWD + 100000);
	uint32_t process = small_process(model, 10, "p", true);
	uint32_t thread = small_thread(model, process, 10, "t");
	uint32_t launch = small_function(model, "opencl", "clEnqueueNDRangeKernel", PROFBPF__FUNCTION__KIND__LAUNCH);

	small_device(model, process, "d", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < CROWD; i++) {
		uint64_t start_ns = 3000 * i, lasts_ns = i % 10000 == 5 ? 31000 : 1000;
		uint32_t call = small_call(model, thread, launch, start_ns, start_ns + lasts_ns);
		struct device_task *task = small_task(model, 0, start_ns + 50, start_ns + 50 + lasts_ns);

		task->call = call;
		task->name = model_string(model, "blur");
	}
	small_index(model);
	return model;
}

/*
 * Totals of all events of a phase, from one walk: the number of events, of those not merged, and the sum of an
 * argument.
 */
struct walked {
	size_t events, alone;
	uint64_t sum;
};

static struct walked walk(const struct events *events, const char *phase, const char *name, const char *what)
{
	struct walked walked = { 0 };

	for (size_t i = 0; i < events->root->u.array.len; i++) {
		yajl_val event = events->root->u.array.values[i];

		if (strcmp(string_field(event, "ph"), phase) != 0 || strcmp(string_field(event, "name"), name) != 0)
			continue;
		walked.events++;
		walked.alone += strcmp(string_field(event, "cat"), "merged") != 0;
		walked.sum += strtoull(text_arg(event, what), NULL, 10);
	}
	return walked;
}

/* Returns the value of the tasks' counter from its last event on. */
static const char *queued_at_the_end(const struct events *events)
{
	const char *value = "";

	for (size_t i = 0; i < events->root->u.array.len; i++) {
		yajl_val event = events->root->u.array.values[i];

		if (strcmp(string_field(event, "ph"), "C") == 0 &&
		    strcmp(string_field(event, "name"), "Tasks queued or running") == 0)
			value = text_arg(event, "tasks");
	}
	return value;
}

/* None is lost, long events stay, and arrows have both ends; a device that is done has an empty queue. */
static void crowds_are_merged(void **state)
{
	struct events events = export(crowd());
	struct walked calls = walk(&events, "X", "clEnqueueNDRangeKernel", "calls");
	struct walked tasks = walk(&events, "X", "blur", "tasks");
	size_t arrows = walk(&events, "s", "launch", "").events;

	assert_int_equal(calls.sum + calls.alone, CROWD);
	assert_int_equal(tasks.sum + tasks.alone, CROWD);
	assert_in_range(calls.alone, CROWD / 10000, CROWD / 100);
	assert_in_range(tasks.alone, CROWD / 10000, CROWD / 100);
	assert_in_range(arrows, CROWD / 10000, calls.alone);
	assert_int_equal(walk(&events, "f", "launch", "").events, arrows);
	assert_in_range(events.root->u.array.len, 1000, CROWD);
	assert_string_equal(queued_at_the_end(&events), "0");
	events_free(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_complete_events),
		cmocka_unit_test(calls_without_ends_have_no_length),
		cmocka_unit_test(names_and_host_are_told),
		cmocka_unit_test(cpus_show_known_time),
		cmocka_unit_test(arrows_bind_to_their_slices),
		cmocka_unit_test(overlapping_tasks_have_rows_of_their_own),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(crowds_are_merged),
		cmocka_unit_test(failures_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
