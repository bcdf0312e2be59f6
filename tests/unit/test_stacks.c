/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks from packets to rows, and counts of them; invalid packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/analyse/host/stacks.h"
#include "analyzer/load/load_pbt.h"
#include "analyzer/view/report.h"
#include "tests/unit/report_of.h"
#include "tests/unit/sample_trace.h"

#define SAMPLES 7

static void put(struct trace_builder *builder, Profbpf__Packet__Kind kind,
		const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *body = malloc(size + 1);

	protobuf_c_message_pack(message, body);
	trace_packet(builder, kind, body, size);
	free(body);
}

/* main > outer > outer > inner, a kernel frame in inner, and a stack of one nameless frame. */
static void put_stacks(struct trace_builder *builder, uint32_t depth_of_first)
{
	char *names[] = { "main", "outer", "inner", "in_kernel" };
	Profbpf__Stacks__Kind kinds[] = { 0, 0, 0, PROFBPF__STACKS__KIND__KERNEL, 0 };
	uint64_t offsets[] = { 1, 2, 3, 0, 0 };
	uint32_t named[] = { 1, 2, 3, 4, 0 }, files[] = { 1, 1, 1, 0, 1 };
	uint32_t depths[] = { depth_of_first, 5, 1 };
	uint32_t frames[] = { 3, 2, 2, 1, 4, 3, 2, 2, 1, 5 };
	Profbpf__StackFile file = PROFBPF__STACK_FILE__INIT, *one = &file;
	Profbpf__Stacks m = PROFBPF__STACKS__INIT;

	file.id = 1;
	file.path = "/nowhere/job";
	m.n_file = 1;
	m.file = &one;
	m.first_name = m.first_frame = m.first_stack = 1;
	m.n_name = 4;
	m.name = names;
	m.n_kind = m.n_offset = m.n_named = m.n_in_file = 5;
	m.kind = kinds;
	m.offset = offsets;
	m.named = named;
	m.in_file = files;
	m.n_depth = 3;
	m.depth = depths;
	m.n_frame = 10;
	m.frame = frames;
	put(builder, PROFBPF__PACKET__KIND__STACKS, &m.base);
}

static void put_samples(struct trace_builder *builder)
{
	int64_t ts[SAMPLES] = { SAMPLE_START + MS, MS, MS, MS, MS, MS, MS };
	uint64_t dur[SAMPLES] = { 0, 0, 0, 0, 2 * MS, 3 * MS, 0 };
	uint32_t tid[SAMPLES] = { 100, 100, 100, 100, 100, 100, 100 };
	/* The last one is a Python sample, and no sample of a CPU. */
	uint32_t stack[SAMPLES] = { 1, 1, 2, 9, 3, 3, 1 }, flags[SAMPLES] = { 0, 0, 0, 0, 1, 1, 2 };
	Profbpf__StackSamples m = PROFBPF__STACK_SAMPLES__INIT;

	m.n_ts_ns = m.n_dur_ns = m.n_tid = m.n_tgid = m.n_stack = m.n_flags = SAMPLES;
	m.ts_ns = ts;
	m.dur_ns = dur;
	m.tid = m.tgid = tid;
	m.stack = stack;
	m.flags = flags;
	m.rate = 99;
	put(builder, PROFBPF__PACKET__KIND__STACK_SAMPLES, &m.base);
}

static const struct stack_function *function(const struct model *model,
					     const struct stack_results *results, const char *name)
{
	for (uint32_t i = 0; i < results->function_count; i++)
		if (!strcmp(model_text(model, results->functions[i].name), name))
			return &results->functions[i];
	fail_msg("no function %s", name);
	return NULL;
}

static void counted(void **state)
{
	struct analysis_options options = { 0 };
	struct trace_builder *builder = sample_trace(0);
	struct stack_results results;
	struct model *model;

	put_stacks(builder, 4);
	put_stacks(builder, 4); /* as at the start of another segment: no new stacks */
	put_samples(builder);
	model = load_trace(builder);
	assert_int_equal(model->damage.packets_skipped, 0);
	assert_int_equal(model->code_stacks.count, 3);
	assert_int_equal(model->stack_samples.count, SAMPLES);
	assert_int_equal(model->info.stack_rate, 99);
	assert_int_equal(stacks_analyse(model, &options, &results), 0);
	assert_int_equal(results.samples, 4);
	assert_int_equal(results.unknown, 1);
	assert_string_equal(model_text(model, results.functions[0].name), "inner");
	assert_int_equal(function(model, &results, "inner")->self, 2);
	assert_int_equal(function(model, &results, "inner")->total, 3);
	assert_int_equal(function(model, &results, "in_kernel")->self, 1);
	/* A recursive function counts once. */
	assert_int_equal(function(model, &results, "outer")->total, 3);
	assert_int_equal(function(model, &results, "outer")->self, 0);
	assert_int_equal(function(model, &results, "main")->total, 3);
	assert_int_equal(results.blocks, 2);
	assert_int_equal(results.block_ns, 5 * MS);
	assert_int_equal(results.blocked_count, 1);
	assert_int_equal(results.blocked[0].count, 2);
	assert_int_equal(results.blocked[0].max_ns, 3 * MS);
	stacks_free(&results);
	options.from_ns = SAMPLE_START + 2 * MS;
	options.to_ns = SAMPLE_START + 6 * MS;
	assert_int_equal(stacks_analyse(model, &options, &results), 0);
	assert_int_equal(results.samples, 3);
	assert_int_equal(results.blocks, 1);
	stacks_free(&results);
	model_free(model);
}

/*
 * Samples of all threads: for each thread the last one counts; they are neither CPU samples nor sleeps with a
 * duration.
 */
static void sleepers_are_told_apart(void **state)
{
	int64_t ts[] = { SAMPLE_START + MS, 0, MS, MS };
	uint64_t dur[] = { 0, 0, 0, 2 * MS };
	uint32_t tid[] = { 101, 100, 100, 100 }, tgid[] = { 100, 100, 100, 100 };
	uint32_t stack[] = { 3, 1, 2, 3 }, flags[] = { 129, 129, 161, 1 };
	struct analysis_options options = { 0 };
	struct trace_builder *builder = sample_trace(0);
	Profbpf__StackSamples m = PROFBPF__STACK_SAMPLES__INIT;
	struct stack_results results;
	struct model *model;

	(void)state;
	put_stacks(builder, 4);
	m.n_ts_ns = m.n_dur_ns = m.n_tid = m.n_tgid = m.n_stack = m.n_flags = 4;
	m.ts_ns = ts;
	m.dur_ns = dur;
	m.tid = tid;
	m.tgid = tgid;
	m.stack = stack;
	m.flags = flags;
	put(builder, PROFBPF__PACKET__KIND__STACK_SAMPLES, &m.base);
	model = load_trace(builder);
	assert_int_equal(stacks_analyse(model, &options, &results), 0);
	assert_int_equal(results.samples, 0);
	assert_int_equal(results.blocks, 1);
	assert_int_equal(results.sleeper_count, 2);
	assert_int_equal(model->threads.row[results.sleepers[0].thread].tid, 100);
	assert_int_equal(results.sleepers[0].stack, 1);
	assert_int_equal(results.sleepers[0].ts_ns, SAMPLE_START + 2 * MS);
	assert_true(results.sleepers[0].whole);
	assert_int_equal(model->threads.row[results.sleepers[1].thread].tid, 101);
	assert_int_equal(results.sleepers[1].stack, 2);
	assert_false(results.sleepers[1].whole);
	stacks_free(&results);
	model_free(model);
}

/* A depth beyond the stack, unknown ids, columns of different lengths. */
static void nonsense(void **state)
{
	struct trace_builder *builder = sample_trace(0);
	uint32_t depths[] = { 2 }, frames[] = { 77, 0 }, named[] = { 1, 2 };
	uint64_t offsets[] = { 1 };
	Profbpf__Stacks m = PROFBPF__STACKS__INIT;
	struct model *model;

	put_stacks(builder, UINT32_MAX);
	put_stacks(builder, 11);
	m.first_stack = 1;
	m.n_depth = 1;
	m.depth = depths;
	m.n_frame = 2;
	m.frame = frames;
	put(builder, PROFBPF__PACKET__KIND__STACKS, &m.base);
	m.first_stack = UINT32_MAX;
	put(builder, PROFBPF__PACKET__KIND__STACKS, &m.base);
	m.first_stack = 1;
	m.first_frame = 1;
	m.n_named = 2;
	m.named = named;
	m.n_offset = 1;
	m.offset = offsets;
	put(builder, PROFBPF__PACKET__KIND__STACKS, &m.base);
	put_samples(builder);
	model = load_trace(builder);
	assert_int_equal(model->damage.packets_skipped, 4);
	assert_int_equal(model->code_stacks.count, 1);
	assert_int_equal(model->code_stacks.row[0].depth, 0);
	assert_int_equal(model->stack_samples.count, SAMPLES);
	for (uint32_t i = 0; i < SAMPLES; i++)
		assert_true(model->stack_samples.row[i].stack == 0 ||
			    model->stack_samples.row[i].stack == INDEX_NONE);
	model_free(model);
}

/* In the text report functions without a name stand by their file, once for several in a row. */
static void places_of_sleeps(void **state)
{
	const struct analysis_options wanted = { 0 };
	const struct report_options options = { .sections = SECTION_STACKS };
	uint32_t depth = 4, frames[] = { 5, 5, 1, 5 };
	struct trace_builder *builder = sample_trace(0);
	Profbpf__Stacks m = PROFBPF__STACKS__INIT;
	Profbpf__StackSamples sleep = PROFBPF__STACK_SAMPLES__INIT;
	int64_t ts = SAMPLE_START + MS;
	uint64_t dur = 7 * MS;
	uint32_t tid = 100, stack = 4, flags = 1;
	char *text;

	(void)state;
	put_stacks(builder, 4);
	put_samples(builder);
	m.first_stack = 4;
	m.n_depth = 1;
	m.depth = &depth;
	m.n_frame = 4;
	m.frame = frames;
	put(builder, PROFBPF__PACKET__KIND__STACKS, &m.base);
	sleep.n_ts_ns = sleep.n_dur_ns = sleep.n_tid = sleep.n_tgid = sleep.n_stack = sleep.n_flags = 1;
	sleep.ts_ns = &ts;
	sleep.dur_ns = &dur;
	sleep.tid = sleep.tgid = &tid;
	sleep.stack = &stack;
	sleep.flags = &flags;
	put(builder, PROFBPF__PACKET__KIND__STACK_SAMPLES, &sleep.base);
	text = report_of(builder, &wanted, &options, report_text);
	assert_says(text, " 100 [job] < main < [job]\n");
	assert_says(text, " 100 [job]\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted), cmocka_unit_test(sleepers_are_told_apart),
		cmocka_unit_test(nonsense), cmocka_unit_test(places_of_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
