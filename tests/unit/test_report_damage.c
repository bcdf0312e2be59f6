/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged and hostile traces through the whole analyzer: an error or a partial report that says so, never a crash, a
 * hang or an invented answer.
 */
#include <fcntl.h>
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
#include "lib/trace/pbt.h"
#include "tests/unit/json_path.h"
#include "tests/unit/sample_trace.h"

/* Loads without the message "analyzer: ... (see --strict)", which would fill the log in hundreds of runs. */
static int load_quietly(struct analysis *analysis, char **paths, bool strict, char *error,
			size_t error_size)
{
	int out = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY), err;

	assert_true(out >= 0 && null >= 0);
	dup2(null, STDERR_FILENO);
	err = analysis_load(analysis, paths, 1, strict, error, error_size);
	dup2(out, STDERR_FILENO);
	close(out);
	close(null);
	return err;
}

/* Returns the JSON report of a trace in memory, or NULL with @error if it is refused. */
static yajl_val report(const uint8_t *bytes, size_t size, bool strict, char *error,
		       size_t error_size)
{
	const struct report_options options = { .sections = SECTION_ALL };
	const struct analysis_options wanted = { .top = 100 };
	char path[] = "/tmp/profbpf-test-XXXXXX", *text = NULL, *paths[] = { path };
	struct analysis analysis;
	yajl_val root = NULL;
	size_t length = 0;
	int fd = mkstemp(path);
	FILE *out;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	error[0] = '\0';
	if (load_quietly(&analysis, paths, strict, error, error_size) == 0) {
		assert_int_equal(analysis_compute(&analysis, &wanted, error, error_size), 0);
		out = open_memstream(&text, &length);
		assert_int_equal(report_text(out, analysis.model, &analysis.results, &options), 0);
		fclose(out);
		free(text);
		text = NULL;
		out = open_memstream(&text, &length);
		assert_int_equal(report_json(out, analysis.model, &analysis.results, &options), 0);
		fclose(out);
		root = json_parse(text);
		free(text);
	} else {
		assert_true(error[0] != '\0');
	}
	analysis_free(&analysis);
	unlink(path);
	return root;
}

/* Returns a copy of the sample; the caller frees it. */
static uint8_t *sample_bytes(size_t *size)
{
	struct trace_builder *builder = sample_trace(0);
	const uint8_t *bytes = trace_bytes(builder, size);
	uint8_t *copy = malloc(*size);

	memcpy(copy, bytes, *size);
	trace_builder_free(builder);
	return copy;
}

/* A trace truncated anywhere is incomplete, and its figures are no larger. */
static void truncated_anywhere(void **state)
{
	size_t size;
	uint8_t *bytes = sample_bytes(&size);
	unsigned int reports = 0;

	for (size_t cut = 0; cut < size; cut += cut < 400 ? 1 : 7) {
		char error[512];
		yajl_val root = report(bytes, cut, false, error, sizeof(error));

		if (!root)
			continue;
		reports++;
		assert_false(json_true(root, "capture.complete"));
		assert_false(json_true(root, "capture.ended"));
		for (size_t i = 0; i < json_length(root, "api"); i++) {
			char path[64];

			snprintf(path, sizeof(path), "api.%zu.count", i);
			assert_true(json_int(root, path) <= 100);
		}
		yajl_tree_free(root);
	}
	assert_true(reports > 100);
	free(bytes);
}

/* Truncation between two packets leaves an intact file: still incomplete. */
static void cut_between_packets(void **state)
{
	struct trace_builder *builder = sample_trace(0);
	const size_t *ends;
	size_t size, count = trace_packet_ends(builder, &ends);
	const uint8_t *bytes = trace_bytes(builder, &size);

	for (size_t i = 0; i + 1 < count; i++) {
		char error[512];
		yajl_val root = report(bytes, ends[i], true, error, sizeof(error));

		assert_non_null(root);
		assert_false(json_true(root, "capture.damage.torn_tail"));
		assert_false(json_true(root, "capture.complete"));
		yajl_tree_free(root);
	}
	trace_builder_free(builder);
}

/* Any flipped bit is noticed. */
static void flipped_bits(void **state)
{
	size_t size;
	uint8_t *bytes = sample_bytes(&size);
	unsigned int reports = 0, random = 1;

	for (size_t i = 0; i < size; i++) {
		uint8_t mask = (uint8_t)(1u << (rand_r(&random) % 8));
		char error[512];
		yajl_val root;

		bytes[i] ^= mask;
		root = report(bytes, size, false, error, sizeof(error));
		bytes[i] ^= mask;
		if (!root)
			continue;
		reports++;
		if (json_true(root, "capture.complete"))
			fail_msg("bit %#x of byte %zu flipped, and nobody noticed", mask, i);
		yajl_tree_free(root);
	}
	assert_true(reports > size / 2);
	free(bytes);
}

static void damage_is_described(void **state)
{
	struct trace_builder *builder = sample_trace(0);
	const size_t *ends;
	size_t size, count = trace_packet_ends(builder, &ends);
	uint8_t *bytes = malloc(ends[count - 1]);
	char error[512];
	yajl_val root;

	memcpy(bytes, trace_bytes(builder, &size), ends[count - 1]);
	/* The last byte of the third packet from the end. */
	bytes[ends[count - 3] - 1] ^= 0x10;
	root = report(bytes, size, false, error, sizeof(error));
	assert_non_null(root);
	assert_int_equal(json_int(root, "capture.damage.batches_skipped"), 1);
	assert_int_equal(json_int(root, "capture.damage.first_offset"), ends[count - 4]);
	assert_string_equal(json_string(root, "capture.damage.first_reason"), "checksum mismatch");
	assert_true(json_true(root, "capture.ended"));
	yajl_tree_free(root);
	assert_null(report(bytes, size, true, error, sizeof(error)));
	assert_non_null(strstr(error, "checksum mismatch; 1 batches"));
	free(bytes);
	trace_builder_free(builder);
}

static void not_a_trace(void **state)
{
	static const uint8_t jpeg[] = { 0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0 };
	char error[512];

	assert_null(report((const uint8_t *)"", 0, false, error, sizeof(error)));
	assert_non_null(strstr(error, "empty"));
	assert_null(report(jpeg, sizeof(jpeg), false, error, sizeof(error)));
	assert_non_null(strstr(error, "not a profbpf trace"));
}

/* Packets of any kind with random bodies and a valid checksum. */
static void random_bodies(void **state)
{
	unsigned int random = 7;

	for (int round = 0; round < 300; round++) {
		struct trace_builder *builder = trace_builder_new();
		const uint8_t *bytes;
		char error[512];
		size_t size;
		yajl_val root;

		trace_segment(builder, &(struct trace_segment){ .start_ns = 1000 });
		trace_target(builder, 1000, 1, 1, "t");
		trace_device(builder, &(struct trace_device){ .id = 1, .tgid = 1, .name = "d" });
		for (int packet = 0; packet < 20; packet++) {
			uint8_t body[200];
			size_t length = (size_t)rand_r(&random) % sizeof(body);

			for (size_t i = 0; i < length; i++)
				body[i] = (uint8_t)rand_r(&random);
			trace_packet(builder, 2 + (unsigned int)rand_r(&random) % 16, body, length);
		}
		bytes = trace_bytes(builder, &size);
		root = report(bytes, size, false, error, sizeof(error));
		if (root)
			yajl_tree_free(root);
		trace_builder_free(builder);
	}
}

/*
 * Bodies that are well-formed but invalid: mutated copies of a good one, which pass the unpacker and reach the joins.
 */
static void mutated_bodies(void **state)
{
	struct trace_builder *sample = sample_trace(0);
	char path[] = "/tmp/profbpf-test-XXXXXX", error[512];
	unsigned int random = 11;

	close(mkstemp(path));
	trace_write(sample, path);
	trace_builder_free(sample);
	for (int round = 0; round < 300; round++) {
		struct trace_builder *builder = trace_builder_new();
		struct pbt_reader *reader = pbt_open(path, error, sizeof(error));
		struct pbt_packet packet;
		const uint8_t *bytes;
		size_t size;
		yajl_val root;

		assert_non_null(reader);
		while (pbt_next(reader, &packet) > 0) {
			uint8_t *body = malloc(packet.size + 1);

			memcpy(body, packet.body, packet.size);
			for (int i = rand_r(&random) % 4; i > 0 && packet.size; i--)
				body[(size_t)rand_r(&random) % packet.size] =
					(uint8_t)rand_r(&random);
			trace_packet(builder, packet.kind, body, packet.size);
			free(body);
		}
		pbt_close(reader);
		bytes = trace_bytes(builder, &size);
		root = report(bytes, size, false, error, sizeof(error));
		if (root)
			yajl_tree_free(root);
		trace_builder_free(builder);
	}
	unlink(path);
}

/* Extreme instants, ids and counts must not overflow anything. */
static void extreme_definitions(struct trace_builder *builder, uint64_t x, uint64_t y)
{
	static const uint32_t targets[] = { 1, UINT32_MAX };

	trace_segment(builder, &(struct trace_segment){ .start_ns = x,
							.targets = targets,
							.target_count = 2,
							.start_realtime_ns = y,
							.cpus = UINT32_MAX });
	trace_task(builder,
		   &(struct trace_task_row){
			   .ts_ns = x, .tid = 1, .tgid = 1, .start_ns = y, .flags = 255 });
	trace_clock(builder, &(struct trace_clock){ x, y, x, y, x });
	trace_clock(builder, &(struct trace_clock){ y, x, y, x, y });
	trace_device(builder,
		     &(struct trace_device){
			     .id = UINT32_MAX, .tgid = 1, .name = "d", .clock = 77 });
}

/* A row of each kind. */
static void extreme_rows(struct trace_builder *builder, uint64_t a, uint64_t b)
{
	trace_call(builder, &(struct trace_call_row){ .cpu = UINT32_MAX,
						      .tid = 1,
						      .tgid = UINT32_MAX,
						      .start_ns = a,
						      .end_ns = b,
						      .function = UINT32_MAX });
	trace_ioctl(builder, &(struct trace_ioctl_row){ .tid = 1,
							.tgid = 1,
							.start_ns = a,
							.end_ns = b,
							.rdev = UINT32_MAX,
							.cmd = UINT32_MAX });
	trace_switch(builder, &(struct trace_switch_row){ .cpu = 65535,
							  .ts_ns = a,
							  .prev_tid = 1,
							  .next_tid = UINT32_MAX });
	trace_switch(builder, &(struct trace_switch_row){
				      .cpu = 65536, .ts_ns = b, .next_tid = 1 });
	trace_wake(builder, &(struct trace_wake_row){ .ts_ns = b, .tid = 1 });
	trace_account(builder, &(struct trace_account_row){ .ts_ns = a,
							    .tid = 1,
							    .tgid = 1,
							    .run_ns = b,
							    .runnable_ns = a,
							    .user_ns = a,
							    .system_ns = b,
							    .voluntary = a,
							    .flags = 16 });
	trace_device_task(builder,
			  &(struct trace_device_task_row){ .device = UINT32_MAX,
							   .queued_ns = a,
							   .submit_ns = b,
							   .start_ns = a,
							   .end_ns = b,
							   .tid = 1,
							   .enqueue_ns = b,
							   .enqueue_dur_ns = a,
							   .kind = 99 });
	trace_cpu_stats(builder,
			&(struct trace_host_row){ .ts_ns = a,
						  .context_switches = b },
			&(struct trace_cpu_row){ .cpu = UINT32_MAX,
						 .user_ns = a,
						 .idle_ns = b,
						 .steal_ns = a },
			1);
	trace_coverage(builder, 1, "f", a, b, UINT32_MAX);
	trace_ends(builder, UINT32_MAX, a, 0, UINT32_MAX);
	trace_ends(builder, UINT32_MAX, b, 1, UINT32_MAX);
}

static void extreme_values(void **state)
{
	static const uint64_t extremes[] = {
		0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX
	};

	for (size_t e = 0; e < sizeof(extremes) / sizeof(extremes[0]); e++) {
		struct trace_builder *builder = trace_builder_new();
		uint64_t x = extremes[e], y = extremes[(e + 3) % 6];
		const uint8_t *bytes;
		char error[512];
		size_t size;
		yajl_val root;

		extreme_definitions(builder, x, y);
		for (int i = 0; i < 4; i++)
			extreme_rows(builder, i & 1 ? x : y, i & 2 ? x : y);
		trace_source(builder, "sched", x, y, "r", x);
		trace_short_calls(builder, UINT32_MAX, 1, x, y);
		trace_statistics(builder, y, true, "x");
		bytes = trace_bytes(builder, &size);
		root = report(bytes, size, false, error, sizeof(error));
		assert_non_null(root);
		yajl_tree_free(root);
		trace_builder_free(builder);
	}
}

/* A few bytes that demand much memory: strings from a high id on, millions of empty entries. */
static void greedy_packets(void **state)
{
	struct trace_builder *builder = trace_builder_new();
	Profbpf__Strings strings = PROFBPF__STRINGS__INIT;
	char *texts[] = { "x" };
	const size_t rows = 8u << 20;
	uint8_t *body = calloc(1, rows + 16), small[64];
	char error[512];
	const uint8_t *bytes;
	size_t size;
	yajl_val root;

	trace_segment(builder, &(struct trace_segment){ .start_ns = 1000 });
	trace_target(builder, 1000, 1, 1, "t");
	strings.first_id = UINT32_MAX;
	strings.n_text = 1;
	strings.text = texts;
	size = protobuf_c_message_pack(&strings.base, small);
	trace_packet(builder, PROFBPF__PACKET__KIND__STRINGS, small, size);
	/* Wake-ups whose only column contains instant 0 eight million times. */
	body[0] = 0x22;
	body[1] = 0x80;
	body[2] = 0x80;
	body[3] = 0x80;
	body[4] = 0x04;
	trace_packet(builder, PROFBPF__PACKET__KIND__WAKES, body, rows + 5);
	bytes = trace_bytes(builder, &size);
	root = report(bytes, size, false, error, sizeof(error));
	assert_non_null(root);
	assert_int_equal(json_int(root, "capture.damage.batches_skipped"), 1);
	assert_int_equal(json_int(root, "capture.damage.bad_rows"), rows);
	yajl_tree_free(root);
	free(body);
	trace_builder_free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated_anywhere), cmocka_unit_test(cut_between_packets),
		cmocka_unit_test(flipped_bits),	      cmocka_unit_test(damage_is_described),
		cmocka_unit_test(not_a_trace),	      cmocka_unit_test(random_bodies),
		cmocka_unit_test(mutated_bodies),     cmocka_unit_test(extreme_values),
		cmocka_unit_test(greedy_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
