/* SPDX-License-Identifier: Apache-2.0 */
/* Models with random contents: both exports stay well-formed for any of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <yajl/yajl_parse.h>

#include "analyzer/export/export.h"
#include "analyzer/view/report.h"
#include "tests/unit/perfetto_read.h"
#include "tests/unit/small_model.h"

static const struct results no_results;

#define MODELS 300

/* xorshift64*: the same numbers in every run. */
static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 2685821657736338717ull;
}

/* Mostly inside the session of 1000..9000, sometimes far outside. */
static uint64_t instant(uint64_t *seed)
{
	switch (next(seed) % 16) {
	case 0: return 0;
	case 1: return UINT64_MAX - next(seed) % 3;
	case 2: return next(seed);
	default: return 500 + next(seed) % 9500;
	}
}

/* Mostly below @count, sometimes not. */
static uint32_t some(uint64_t *seed, uint32_t count)
{
	if (next(seed) % 16 == 0)
		return next(seed) % 2 ? INDEX_NONE : (uint32_t)next(seed);
	return (uint32_t)(next(seed) % count);
}

static uint32_t text(struct model *model, uint64_t *seed)
{
	static const char *const texts[] = { "",
					     "plain",
					     "\"\\\n\x01",
					     "\xff\xfe\xc3",
					     "\xed\xa0\x80",
					     "0123456789012345678901234567890123456789" };

	if (next(seed) % 8 == 0)
		return (uint32_t)next(seed);
	return model_string(model, texts[next(seed) % (sizeof(texts) / sizeof(texts[0]))]);
}

static void add_calls(struct model *model, uint64_t *seed)
{
	for (uint32_t i = next(seed) % 60; i > 0; i--) {
		struct call call = { .start_ns = instant(seed),
				     .end_ns = instant(seed),
				     .thread = next(seed) % model->threads.count,
				     .function = some(seed, 3),
				     .ret = (uint32_t)next(seed),
				     .text = text(model, seed),
				     .args = { next(seed), next(seed), next(seed) },
				     .task = INDEX_NONE,
				     .flags = (uint8_t)next(seed),
				     .depth = (uint8_t)next(seed) };
		struct ioctl_call ioctl = { .start_ns = call.start_ns,
					    .end_ns = instant(seed),
					    .thread = call.thread,
					    .driver = some(seed, 1),
					    .cmd = call.ret,
					    .flags = call.flags };

		assert_true(MODEL_PUSH(&model->calls, call));
		assert_true(MODEL_PUSH(&model->ioctls, ioctl));
	}
}

static void add_sched(struct model *model, uint64_t *seed)
{
	for (uint32_t i = next(seed) % 60; i > 0; i--) {
		struct cpu_switch row = { .ts_ns = instant(seed),
					  .prev_tid = (uint32_t)next(seed) % 8,
					  .next_tid = (uint32_t)next(seed) % 8,
					  .prev_thread = some(seed, model->threads.count),
					  .next_thread = some(seed, model->threads.count),
					  .cpu = next(seed) % 8 ? next(seed) % 2
								: (uint16_t)next(seed),
					  .state = (uint8_t)(next(seed) % 6),
					  .flags = (uint8_t)next(seed) };
		struct wake wake = { .ts_ns = instant(seed),
				     .waker_tid = (uint32_t)next(seed) % 8,
				     .waker_thread = some(seed, model->threads.count),
				     .thread = some(seed, model->threads.count),
				     .cpu = row.cpu,
				     .target_cpu = (uint16_t)next(seed),
				     .flags = (uint8_t)next(seed) };

		assert_true(MODEL_PUSH(&model->switches, row));
		assert_true(MODEL_PUSH(&model->wakes, wake));
	}
}

static int by_device_and_start(const void *a, const void *b)
{
	const struct device_task *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void add_tasks(struct model *model, uint64_t *seed)
{
	for (uint32_t i = next(seed) % 60; i > 0; i--) {
		struct device_task task = { .queued_ns = instant(seed),
					    .start_ns = instant(seed),
					    .end_ns = instant(seed),
					    .enqueue_ns = instant(seed),
					    .stream = next(seed) % 3,
					    .bytes = next(seed),
					    .device = some(seed, 2),
					    .thread = some(seed, model->threads.count),
					    .name = text(model, seed),
					    .call = some(seed, 30),
					    .status = (int32_t)next(seed),
					    .kind = (uint8_t)(next(seed) % 9),
					    .flags = next(seed) % 5 == 0 };

		assert_true(MODEL_PUSH(&model->tasks, task));
	}
	if (model->tasks.count)
		qsort(model->tasks.row, model->tasks.count, sizeof(*model->tasks.row),
		      by_device_and_start);
}

static void add_clocks(struct model *model, uint64_t *seed)
{
	for (uint32_t i = next(seed) % 4; i > 0; i--) {
		const struct clock_snapshot snapshot = { .monotonic_ns = instant(seed),
							 .boottime_ns = instant(seed),
							 .realtime_ns = instant(seed) };

		clock_table_add(model->clocks, &snapshot);
	}
}

static struct model *make_model(uint64_t *seed)
{
	struct model *model = small_model(1000, 9000);
	uint32_t processes[2] = { small_process(model, 10, "\xff", true),
				  small_process(model, 20, "", false) };
	struct driver driver = { .driver = text(model, seed), .device = text(model, seed) };

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t thread = small_thread(model, processes[i % 2], i % 4, "t\xc3");

		model->threads.row[thread].name = text(model, seed);
		model->threads.row[thread].first_ns = instant(seed);
		model->threads.row[thread].start_ns = instant(seed);
		if (next(seed) % 8 == 0)
			model->threads.row[thread].process = INDEX_NONE;
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t function = small_function(model, "cuda", "f", (uint8_t)next(seed));

		for (int k = 0; k < 3; k++)
			model->functions.row[function].roles[k] = next(seed) % 14;
		small_device(model, some(seed, 2), "", (uint8_t)next(seed));
	}
	assert_true(MODEL_PUSH(&model->drivers, driver));
	add_calls(model, seed);
	add_sched(model, seed);
	add_tasks(model, seed);
	add_clocks(model, seed);
	assert_true(model_index(model));
	return model;
}

static void check_perfetto(const struct model *model, const struct export_options *options,
			   const char *path)
{
	char error[256] = "";

	if (export_perfetto.write(model, &no_results, path, options, error, sizeof(error)))
		fail_msg("%s", error);
	perfetto_read_free(perfetto_read(path));
}

static void check_chrome(const struct model *model, const struct export_options *options,
			 const char *path)
{
	yajl_handle parser = yajl_alloc(NULL, NULL, NULL);
	char error[256] = "", buffer[4096];
	FILE *file;
	size_t size;

	if (export_chrome.write(model, &no_results, path, options, error, sizeof(error)))
		fail_msg("%s", error);
	file = fopen(path, "r");
	assert_non_null(file);
	while ((size = fread(buffer, 1, sizeof(buffer), file)) > 0)
		assert_int_equal(yajl_parse(parser, (unsigned char *)buffer, size), yajl_status_ok);
	assert_int_equal(yajl_complete_parse(parser), yajl_status_ok);
	yajl_free(parser);
	fclose(file);
}

static void nonsense_is_exported_well_formed(void **state)
{
	char path[] = "/tmp/profbpf-test-XXXXXX";
	uint64_t seed = 88172645463325252ull;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (int i = 0; i < MODELS; i++) {
		struct model *model = make_model(&seed);
		const uint32_t pids[] = { 20, 77 };
		struct export_options options = { .start_ns = 1000, .end_ns = 9000, .pids = pids };

		if (next(&seed) % 3 == 0) {
			options.start_ns = instant(&seed);
			options.end_ns = instant(&seed);
		}
		options.pid_count = next(&seed) % 3;
		model->info.system_wide = next(&seed) % 2;
		check_perfetto(model, &options, path);
		check_chrome(model, &options, path);
		model_free(model);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nonsense_is_exported_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
