/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h: records that were lost, damaged or never seen, with values on both sides of each limit and exactly on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/analyse/losses.h"
#include "analyzer/view/report_parts.h"
#include "tests/unit/report_of.h"
#include "tests/unit/small_model.h"

#define BEGIN 1000
#define END 9000
#define PREV PROFBPF__SWITCHES__FLAG__PREV_TARGET
#define NEXT PROFBPF__SWITCHES__FLAG__NEXT_TARGET
#define SAMPLES PROFBPF__SHED__WHAT__SAMPLES
#define WAKES PROFBPF__SHED__WHAT__WAKES
#define SLEEPS PROFBPF__SHED__WHAT__SLEEPS

/* Returns the model of a complete recording with two processes. */
static struct model *new_model(void)
{
	struct model *model = small_model(BEGIN, END);

	model->info.ended = true;
	model->info.session_start_ns = BEGIN;
	model->info.session_end_ns = END;
	model->info.end_reason = model_string(model, "duration");
	small_process(model, 10, "one", true);
	small_process(model, 20, "other", true);
	return model;
}

static void add_source(struct model *model, uint64_t produced, uint64_t delivered, uint64_t read, uint64_t full)
{
	struct source_loss source = { .name = model_string(model, "calls"),
				      .produced = produced,
				      .delivered = delivered,
				      .read = read };

	if (full) {
		source.reasons[0] = (struct loss_reason){ model_string(model, "ring full"), full };
		source.reasons[1] = (struct loss_reason){ model_string(model, "slow output"), 1 };
		source.reason_count = 2;
	}
	source.reasons[2] = (struct loss_reason){ model_string(model, "none of it"), 99 };
	assert_true(MODEL_PUSH(&model->sources, source));
}

/* Takes the last row out of the count; it stays in memory behind the array and must not be read. */
#define TAKE_BACK(array) ((array)->count--)

/* Returns the section as text or as JSON; the caller frees it. */
static char *report_by(report_writer *write, const struct model *model, struct capture_results *capture, uint32_t top)
{
	const struct report_options options = { .sections = SECTION_CAPTURE, .top = top };
	const struct results results = { .capture = capture };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(write(out, model, &results, &options), 0);
	fclose(out);
	return text;
}

static char *text_of(const struct model *model, struct capture_results *capture, uint32_t top)
{
	return report_by(report_text, model, capture, top);
}

static void assert_silent(const char *text, const char *words)
{
	if (strstr(text, words)) {
		print_error("not meant to be there: %s\nin:\n%s\n", words, text);
		fail();
	}
}

static void sources_add_up(void **state)
{
	static const struct {
		uint64_t produced, delivered, read, full;
		uint64_t lost, missing;
		bool adds_up;
	} cases[] = {
		{ 10, 10, 10, 0, 0, 0, true },
		{ 10, 10, 9, 0, 0, 1, true },
		{ 10, 10, 11, 0, 0, 0, true },
		{ 10, 10, 0, 0, 0, 10, true },
		{ 10, 10, UINT64_MAX, 0, 0, 0, true },
		{ 11, 10, 10, 0, 0, 0, false },
		{ 9, 10, 10, 0, 0, 0, false },
		{ 13, 10, 10, 2, 3, 0, true },
		{ 14, 10, 10, 2, 3, 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct model *model = new_model();
		struct capture_results capture;
		bool complete = cases[i].adds_up && !cases[i].lost && !cases[i].missing;
		char *text, line[512];

		add_source(model, cases[i].produced, cases[i].delivered, cases[i].read, cases[i].full);
		assert_int_equal(capture_analyse(model, &capture), 0);
		assert_int_equal(capture.source_count, 1);
		assert_int_equal(capture.sources[0].lost, cases[i].lost);
		assert_int_equal(capture.lost, cases[i].lost);
		assert_int_equal(capture.sources[0].missing, cases[i].missing);
		assert_int_equal(capture.missing, cases[i].missing);
		assert_int_equal(capture.sources[0].adds_up, cases[i].adds_up);
		assert_int_equal(capture.complete, complete);
		text = text_of(model, &capture, 0);
		(complete ? assert_says : assert_silent)(text, "complete: nothing was lost; the recording ended: duration");
		(complete ? assert_silent : assert_says)(text, "INCOMPLETE: the figures below cover only what was read");
		(cases[i].lost ? assert_says : assert_silent)(text, "  3 records were lost while recording, see the table");
		(cases[i].lost ? assert_says : assert_silent)(text, "ring full: 2, slow output: 1\n");
		(cases[i].missing ? assert_says : assert_silent)(text, " records that the recorder wrote are missing in the files read here");
		(cases[i].adds_up ? assert_silent : assert_says)(text, "source calls: produced is not delivered + lost");
		free(text);
		text = report_by(report_json, model, &capture, 0);
		(cases[i].lost ? assert_says : assert_silent)(text, "\"slow output\": 1\n");
		assert_says(text, "\"end_reason\": \"duration\"");
		assert_silent(text, "none of it");
		free(text);
		text_losses(model, &capture, line, sizeof(line));
		assert_says(line, complete	    ? "complete: nothing was lost"
				  : cases[i].lost   ? "INCOMPLETE: 3 records were lost"
				  : cases[i].missing ? "records are not in the file"
						     : "its numbers of produced, delivered and lost records do not match");
		capture_free(&capture);
		model_free(model);
	}
	(void)state;
}

/* Each of these values alone makes a recording incomplete. */
static void damage(void **state)
{
	static const char *const says[] = {
		"complete: nothing was lost",
		"  damage: 3 batches and 0 bytes skipped\n",
		"  damage: 0 batches and 5 bytes skipped\n",
		"  damage: 0 batches and 0 bytes skipped; the file ends in the middle of a batch\n",
		"  damage: 7 rows were not valid and were left out\n",
		"  written by a later profbpf: 4 values and 0 batches are unknown",
		"  the recording did not end properly: the file has no final statistics; readable to 0.000 s",
		"  damage: byte 99: torn; 3 batches and 0 bytes skipped; 7 rows were not valid",
	};

	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++) {
		struct model *model = new_model();
		struct capture_results capture;
		char *text;

		add_source(model, 10, 10, 10, 0);
		model->damage.packets_skipped = i == 1 || i == 7 ? 3 : 0;
		model->damage.bytes_skipped = i == 2 ? 5 : 0;
		model->damage.torn_tail = i == 3;
		model->bad_rows = i == 4 || i == 7 ? 7 : 0;
		model->unknown_values = i == 5 ? 4 : 0;
		model->info.ended = i != 6;
		if (i == 7) {
			strcpy(model->damage.first_reason, "torn");
			model->damage.first_offset = 99;
		}
		assert_int_equal(capture_analyse(model, &capture), 0);
		assert_int_equal(capture.damaged, (i >= 1 && i <= 4) || i == 7);
		assert_int_equal(capture.complete, i == 0);
		text = text_of(model, &capture, 0);
		assert_says(text, says[i]);
		for (size_t other = 1; other < 7 && i < 7; other++)
			if (other != i)
				assert_silent(text, says[other]);
		free(text);
		capture_free(&capture);
		model_free(model);
	}
	(void)state;
}

static void add_coverage(struct model *model, const char *file, uint64_t mapped_ns, uint64_t probed_ns, uint32_t functions)
{
	struct coverage row = { .process = model->coverage.count % 2,
				.file = model_string(model, file),
				.mapped_ns = mapped_ns,
				.probed_ns = probed_ns,
				.session_start_ns = BEGIN,
				.functions = functions };

	assert_true(MODEL_PUSH(&model->coverage, row));
}

static void gaps(void **state)
{
	static const struct {
		uint32_t coverage;
		uint64_t start_ns, ns;
		bool since_mapped, of_process;
	} expected[] = {
		{ 5, 2000, 300, true, false },	 { 1, BEGIN, 200, false, false }, { 3, BEGIN, 200, false, false },
		{ 4, BEGIN + 1, 1, true, false }, { 8, 2000, 900, true, true },	  { 7, 2000, 50, true, true },
	};
	struct model *model = new_model();
	struct capture_results capture;
	char *text;

	add_coverage(model, "at_once", 0, BEGIN, 3);
	add_coverage(model, "later", 0, BEGIN + 200, 3);
	add_coverage(model, "empty", 0, BEGIN + 200, 0);
	add_coverage(model, "with_the_session", BEGIN, BEGIN + 200, 3);
	add_coverage(model, "just_after", BEGIN + 1, BEGIN + 2, 1);
	add_coverage(model, "mapped", 2000, 2300, 3);
	add_coverage(model, "when_mapped", 2000, 2000, 3);
	add_coverage(model, "", 2000, 2050, 0);
	add_coverage(model, "", 2000, 2900, 0);
	add_coverage(model, "", 2000, 1900, 0); /* examined in time */
	add_source(model, 10, 10, 10, 0);
	assert_int_equal(capture_analyse(model, &capture), 0);
	assert_int_equal(capture.gap_count, 6);
	assert_int_equal(capture.process_gaps, 2);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(capture.gaps[i].coverage, expected[i].coverage);
		assert_int_equal(capture.gaps[i].start_ns, expected[i].start_ns);
		assert_int_equal(capture.gaps[i].ns, expected[i].ns);
		assert_int_equal(capture.gaps[i].since_mapped, expected[i].since_mapped);
		assert_int_equal(capture.gaps[i].of_process, expected[i].of_process);
	}
	text = text_of(model, &capture, 3);
	assert_says(text, "first 0.000 ms after mapped was loaded by process 20");
	assert_says(text, "calls of later in process 20 in the first 0.000 ms of the recording");
	assert_says(text, "calls of with_the_session in process 20 in");
	assert_silent(text, "just_after");
	assert_says(text, "not recorded: 2; process 10 lived longest");
	free(text);
	capture_free(&capture);
	model_free(model);
	(void)state;
}

static void add_switch(struct model *model, uint16_t cpu, uint32_t prev, uint32_t next, uint8_t flags)
{
	struct cpu_switch row = { .ts_ns = BEGIN + model->switches.count,
				  .prev_tid = prev,
				  .next_tid = next,
				  .cpu = cpu,
				  .flags = flags,
				  .prev_thread = INDEX_NONE,
				  .next_thread = INDEX_NONE };

	assert_true(MODEL_PUSH(&model->switches, row));
}

static void switches(void **state)
{
	struct model *model = new_model();
	struct capture_results capture;
	char *text;

	add_switch(model, 0, 99, 1, PREV); /* there is no earlier switch on the CPU */
	add_switch(model, 0, 1, 2, 0); /* matches */
	add_switch(model, 0, 3, 4, 0); /* of threads that are not targets */
	add_switch(model, 0, 5, 6, PREV); /* a switch is missing: the thread that leaves is a target */
	add_switch(model, 0, 6, 7, PREV | NEXT); /* matches */
	add_switch(model, 0, 8, 9, 0); /* a switch is missing: the thread before was a target */
	add_switch(model, 1, 10, 11, PREV); /* another CPU */
	add_switch(model, 1, 12, 13, PREV);
	TAKE_BACK(&model->switches);
	assert_int_equal(capture_analyse(model, &capture), 0);
	assert_int_equal(capture.switches_missing, 2);
	text = text_of(model, &capture, 0);
	assert_says(text, "2 of 7 context switches were not reported by the kernel");
	free(text);
	capture_free(&capture);
	model->survey.schedule = true;
	model->survey.switches_missing = 5;
	assert_int_equal(capture_analyse(model, &capture), 0);
	assert_int_equal(capture.switches_missing, 5);
	capture_free(&capture);
	model_free(model);
	(void)state;
}

static void add_ends(struct model *model, uint32_t function, uint64_t ts_ns, bool seen)
{
	struct ends_change row = { .function = function,
				   .calls_per_second = 1000 + model->ends_changes.count,
				   .ts_ns = ts_ns,
				   .seen = seen,
				   .session_start_ns = BEGIN,
				   .session_end_ns = END };

	assert_true(MODEL_PUSH(&model->ends_changes, row));
}

static void ends(void **state)
{
	static const struct ends_span expected[] = {
		{ 0, 1000, BEGIN, END - BEGIN }, { 1, 1001, 2000, 500 },	   { 2, 1006, 2000, 500 },
		{ 1, 1003, 5000, 500 },		 { 3, 1008, END - 1, 1 },
	};
	struct model *model = new_model();
	struct capture_results capture;

	for (int i = 0; i < 5; i++)
		small_function(model, "a", (const char *[]){ "f", "g", "h", "i", "j" }[i], PROFBPF__FUNCTION__KIND__LAUNCH);
	add_ends(model, 0, BEGIN - 500, false); /* until its session's end */
	add_ends(model, 1, 2000, false);
	add_ends(model, 1, 2500, true);
	add_ends(model, 1, 5000, false);
	add_ends(model, 1, 5100, false); /* the change in between is lost */
	add_ends(model, 1, 5500, true);
	add_ends(model, 2, 2000, false);
	add_ends(model, 2, 2500, true);
	add_ends(model, 3, END - 1, false);
	add_ends(model, 3, END + 100, true); /* ends at the session's end */
	add_ends(model, 4, 100, true); /* without a stretch before it */
	add_ends(model, 4, 3000, false);
	add_ends(model, 4, 3000, true); /* a stretch without duration */
	add_ends(model, 4, END, false); /* another one without duration */
	assert_int_equal(capture_analyse(model, &capture), 0);
	assert_int_equal(capture.unseen_end_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(capture.unseen_ends[i].function, expected[i].function);
		assert_int_equal(capture.unseen_ends[i].calls_per_second, expected[i].calls_per_second);
		assert_int_equal(capture.unseen_ends[i].start_ns, expected[i].start_ns);
		assert_int_equal(capture.unseen_ends[i].ns, expected[i].ns);
	}
	capture_free(&capture);
	model_free(model);
	(void)state;
}

static void add_shed(struct model *model, uint32_t what, uint64_t ts_ns, uint32_t kept, uint64_t session)
{
	struct shed_change row = { .what = what,
				   .kept_permille = kept,
				   .cost_ppm = 10000,
				   .for_room = kept == 0,
				   .ts_ns = ts_ns,
				   .session_start_ns = session,
				   .session_end_ns = session + 5000 };

	assert_true(MODEL_PUSH(&model->shed_changes, row));
}

static void left_out_stretches(void **state)
{
	static const struct left_out expected[] = {
		{ SAMPLES, 500, 10000, false, 2000, 1000 }, { SAMPLES, 999, 10000, false, 5999, 1 },
		{ SAMPLES, 0, 10000, true, 11000, 5000 },   { WAKES, 250, 10000, false, 1500, 4500 },
		{ SLEEPS, 100, 10000, false, 5000, 1000 },  { SAMPLES, 300, 10000, false, 1100, 4900 },
	};
	struct model *model = new_model();
	struct capture_results capture;
	char *text;

	add_shed(model, SAMPLES, 2000, 500, 1000); /* until the next change of its kind and session */
	add_shed(model, SAMPLES, 3000, 1000, 1000); /* all are recorded again */
	add_shed(model, SAMPLES, 5999, 999, 1000); /* until its session's end; the next belongs to another session */
	add_shed(model, SAMPLES, 10000, 0, 11000); /* since its session's start */
	add_shed(model, WAKES, 1500, 250, 1000); /* until its session's end, across changes of another kind */
	add_shed(model, SLEEPS, 5000, 100, 1000); /* until its session's end, before the next change */
	add_shed(model, SLEEPS, 6000, 200, 1000); /* at its session's end */
	add_shed(model, SAMPLES, 1100, 300, 1000);
	add_shed(model, SAMPLES, 1200, 300, 1000);
	TAKE_BACK(&model->shed_changes);
	assert_int_equal(capture_analyse(model, &capture), 0);
	assert_int_equal(capture.left_out_count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_memory_equal(&capture.left_out[i], &expected[i], sizeof(*expected));
	text = text_of(model, &capture, 0);
	assert_says(text, "left out: 50 % of the samples from 0.000 s");
	assert_says(text, "left out: 100 % of the samples from 0.000 s to 0.000 s of the recording: there was no room");
	assert_says(text, "left out: 75 % of the wake-ups");
	assert_says(text, "left out: 90 % of the stacks of sleeps");
	assert_says(text, "  which thread woke another then is unknown");
	assert_says(text, "which thread woke");
	free(text);
	capture_free(&capture);
	model_free(model);
	(void)state;
}

static void add_unseen(struct unseen_launch *rows, uint32_t *count, uint32_t process, uint32_t family, uint32_t file)
{
	rows[(*count)++] = (struct unseen_launch){ .process = process, .family = family, .file = file, .functions = 4 };
}

/* The named processes: one, the maximum of named ones, one more. */
static void no_launches(void **state)
{
	static const struct {
		uint32_t count;
		const char *says;
	} cases[] = {
		{ 1, "cl is mapped by process 1 (libcl.so), and none of its 4 functions" },
		{ 2, "cl is mapped by processes 1, 2 (libcl.so)" },
		{ 4, "cl is mapped by processes 1, 2, 3, 4 (libcl.so)" },
		{ 5, "cl is mapped by processes 1, 2, 3, 4 and 1 more (libcl.so)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct model *model = small_model(BEGIN, END);
		uint32_t cl = model_string(model, "cl"), vulkan = model_string(model, "vulkan");
		uint32_t libcl = model_string(model, "libcl.so"), other = model_string(model, "other.so");
		struct unseen_launch rows[16];
		struct capture_results capture = { .complete = true, .unseen.row = rows };
		char *text, line[512];

		model->info.ended = true;
		for (uint32_t p = 1; p <= 6; p++)
			small_process(model, p, "p", true);
		for (uint32_t p = 0; p < cases[i].count; p++)
			add_unseen(rows, &capture.unseen.count, p, cl, libcl);
		text_no_launches(model, &capture, line, sizeof(line));
		assert_string_equal(line, "no launch was recorded, though cl is mapped");
		add_unseen(rows, &capture.unseen.count, 5, cl, other);
		add_unseen(rows, &capture.unseen.count, 5, vulkan, other);
		add_unseen(rows, &capture.unseen.count, 4, 0, other);
		rows[capture.unseen.count - 2].pointers = "vkGet";
		text = text_of(model, &capture, 0);
		assert_says(text, cases[i].says);
		assert_says(text, "cl is mapped by process 6 (other.so)");
		assert_says(text, "vulkan is mapped by process 6 (other.so), and none of its 4 functions that launch was called; "
				  "calls through pointers that vkGet returns");
		assert_says(text, "no symbols: functions of other.so, which is process 5,");
		free(text);
		text_no_launches(model, &capture, line, sizeof(line));
		assert_string_equal(line, "no launch was recorded, though cl, vulkan are mapped");
		text_losses(model, &capture, line, sizeof(line));
		assert_says(line, "complete: nothing was lost; no launch was recorded, though cl, vulkan are mapped");
		capture.left_out_count = 1;
		text_losses(model, &capture, line, sizeof(line));
		assert_says(line, "complete, except for records left out by --budget");
		capture.left_out_count = 0;
		capture.unseen.any_launch = true;
		assert_string_equal(text_no_launches(model, &capture, line, sizeof(line)), "");
		capture.unseen = (struct unseen_launches){ .row = rows, .count = 1 };
		text = text_of(model, &capture, 0);
		assert_says(text, "cl is mapped by process 1 (libcl.so)");
		free(text);
		capture.unseen = (struct unseen_launches){ .row = rows + cases[i].count + 2, .count = 1 };
		assert_says(text_no_launches(model, &capture, line, sizeof(line)), "and a program without symbols may make launches");
		capture.unseen.count = 0;
		assert_string_equal(text_no_launches(model, &capture, line, sizeof(line)), "");
		model_free(model);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_add_up), cmocka_unit_test(damage),	 cmocka_unit_test(gaps),
		cmocka_unit_test(switches),	  cmocka_unit_test(ends),	 cmocka_unit_test(left_out_stretches),
		cmocka_unit_test(no_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
