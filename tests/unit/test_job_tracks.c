/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a job in timelines besides its records: steps, waits for data, queues, Python functions, roots and their
 * chains.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/export/timeline/job_tracks.h"
#include "analyzer/view/report.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define END (1000 * MS)

static const struct export_window window = { 0, END };

struct job {
	struct model *model;
	uint32_t process, main, worker, other;
	bool chosen[8];
	struct results results;
	struct export_options options;
	struct job_tracks tracks;
};

static void job_begin(struct job *job)
{
	memset(job, 0, sizeof(*job));
	job->model = small_model(0, END);
	job->options.end_ns = END;
	job->process = small_process(job->model, 10, "job", true);
	job->main = small_thread(job->model, job->process, 10, "main");
	job->worker = small_thread(job->model, job->process, 11, "worker");
	job->other = small_thread(job->model, small_process(job->model, 20, "other", true), 20, "other");
	job->chosen[job->main] = job->chosen[job->worker] = job->chosen[job->other] = true;
}

static void job_build(struct job *job)
{
	small_index(job->model);
	assert_int_equal(job_tracks_build(job->model, &job->results, &job->options, &window, job->chosen,
					  &job->tracks),
			 0);
}

static void job_end(struct job *job)
{
	job_tracks_free(&job->tracks);
	model_free(job->model);
}

static const char *text(const struct job *job, uint32_t id)
{
	return string_table_get(job->tracks.texts, id);
}

static const struct job_track *track_of(const struct job *job, const struct job_slice *slice)
{
	return &job->tracks.tracks.row[slice->track];
}

static void expect(const struct job *job, uint32_t row, const char *track, const char *name,
		   uint64_t start_ms, uint64_t end_ms)
{
	const struct job_slice *slice = &job->tracks.slices.row[row];

	assert_true(row < job->tracks.slices.count);
	assert_string_equal(text(job, track_of(job, slice)->name), track);
	assert_string_equal(text(job, slice->name), name);
	assert_int_equal(slice->start_ns, start_ms * MS);
	assert_int_equal(slice->end_ns, end_ms * MS);
}

/* Adds a sample of a thread in these functions, the innermost one first; NULL ends the list. */
static void look(struct job *job, uint32_t thread, uint64_t ms, const char *const *functions)
{
	struct model *model = job->model;
	struct code_stack stack = { .first = model->stack_frames.count };
	struct stack_sample sample = { .ts_ns = ms * MS,
				       .thread = thread,
				       .stack = model->code_stacks.count,
				       .flags = MODEL_SAMPLE_PYTHON };

	for (; functions[stack.depth]; stack.depth++) {
		struct code_frame frame = { .name = model_string(model, functions[stack.depth]),
					    .source = model_string(model, "/job/train.py"),
					    .kind = PROFBPF__STACKS__KIND__PYTHON,
					    .file = INDEX_NONE };

		assert_true(MODEL_PUSH(&model->stack_frames, model->code_frames.count));
		assert_true(MODEL_PUSH(&model->code_frames, frame));
	}
	assert_true(MODEL_PUSH(&model->code_stacks, stack));
	assert_true(MODEL_PUSH(&model->stack_samples, sample));
}

#define LOOK(job, thread, ms, ...) look(job, thread, ms, (const char *const[]){ __VA_ARGS__, NULL })

static void python_functions_from_look_to_look(void **state)
{
	struct job job;

	(void)state;
	job_begin(&job);
	LOOK(&job, job.main, 100, "forward", "train");
	LOOK(&job, job.worker, 110, "decode");
	LOOK(&job, job.main, 150, "forward", "train");
	LOOK(&job, job.main, 200, "step", "train");
	LOOK(&job, job.worker, 210, "decode");
	/* A long time without a sample: the functions in between are unknown. */
	LOOK(&job, job.main, 500, "step", "train");
	LOOK(&job, job.main, 550, "train");
	job_build(&job);
	expect(&job, 0, "Python functions", "train (train.py)", 100, 200);
	expect(&job, 1, "Python functions", "forward (train.py)", 100, 200);
	expect(&job, 2, "Python functions", "step (train.py)", 200, 200);
	expect(&job, 3, "Python functions", "train (train.py)", 500, 550);
	expect(&job, 4, "Python functions", "step (train.py)", 500, 550);
	expect(&job, 5, "Python functions", "decode (train.py)", 110, 210);
	assert_int_equal(job.tracks.slices.count, 6);
	assert_int_equal(track_of(&job, &job.tracks.slices.row[5])->index, job.worker);
	job_end(&job);
}

/* A pipeline of one worker, its queue, two fetches and the end of data. */
static void make_pipeline(struct job *job, struct pipeline *pipeline)
{
	const struct pipeline_fetch fetches[] = { { 10 * MS, 30 * MS, job->main, false, false },
						  { 100 * MS, 101 * MS, job->main, false, false },
						  { 200 * MS, 200 * MS, job->main, false, true } };
	const struct pipeline_queue_event events[] = { { .end_ns = 20 * MS, .size = 1 },
						       { .end_ns = 25 * MS, .size = -1 },
						       { .end_ns = 30 * MS, .size = 0 } };

	assert_int_equal(pipeline_operator_add(job->model, pipeline, 0, "Map", "Map"), 0);
	assert_true(MODEL_PUSH(&pipeline->queues, ((struct pipeline_queue){ .to = INDEX_NONE })));
	for (size_t i = 0; i < 3; i++) {
		assert_true(MODEL_PUSH(&pipeline->fetches, fetches[i]));
		assert_true(MODEL_PUSH(&pipeline->queue_events, events[i]));
	}
}

static void steps_waits_and_queues(void **state)
{
	struct pipelines pipelines = { 0 };
	struct pipeline_usage usage = { 0 };
	struct pipeline_results found = { .rows = &usage, .count = 1 };
	struct step rows[] = { { 7, 10 * MS, 90 * MS, 20 * MS, 0 }, { 8, 100 * MS, 100 * MS, MS, INDEX_NONE } };
	struct pipeline_steps of = { .rows = rows, .count = 2 };
	struct step_results steps = { .pipelines = &of, .count = 1 };
	struct job job;

	(void)state;
	job_begin(&job);
	usage.pipeline = pipeline_add(&pipelines, "torch", job.process);
	make_pipeline(&job, &pipelines.list.row[0]);
	job.results = (struct results){ .pipelines = &found, .steps = &steps };
	job_build(&job);
	expect(&job, 0, "Steps", "Step 7", 10, 100);
	assert_string_equal(text(&job, job.tracks.slices.row[0].who), "Map");
	expect(&job, 1, "Steps", "Step 8", 100, 200);
	assert_int_equal(job.tracks.slices.row[1].who, 0);
	expect(&job, 2, "Data waits", "Data wait", 10, 30);
	expect(&job, 3, "Data waits", "Data wait", 100, 101);
	expect(&job, 4, "Data waits", "Data wait", 200, 200);
	assert_true(job.tracks.slices.row[4].open && !job.tracks.slices.row[3].open);
	assert_string_equal(text(&job, track_of(&job, &job.tracks.slices.row[0])->group), "torch data of job 10");
	/* An unknown size gives no point. */
	assert_int_equal(job.tracks.points.count, 2);
	assert_int_equal(job.tracks.points.row[0].value, 1);
	assert_int_equal(job.tracks.points.row[1].ns, 30 * MS);
	assert_string_equal(text(&job, job.tracks.tracks.row[job.tracks.points.row[0].track].name), "Queue after Map");
	job_tracks_free(&job.tracks);

	job.options.pids = &(uint32_t){ 20 };
	job.options.pid_count = 1;
	job_build(&job);
	assert_int_equal(job.tracks.slices.count + job.tracks.points.count, 0);
	pipelines_free(&pipelines);
	job_end(&job);
}

/* main waits for worker, which waits for other, which computes. */
static void make_roots(struct job *job, struct host_waits *waits, struct idle_root *row)
{
	const struct root_way ways[] = { { INDEX_NONE, 1, { job->main, IDLE_LOCK } },
					 { 0, 2, { job->worker, IDLE_PIPELINE } },
					 { 1, 3, { job->other, IDLE_USER_CODE } } };
	const struct root_stretch stretches[] = { { 300 * MS, 310 * MS, 0, job->main, 0 },
						  { 100 * MS, 150 * MS, 0, job->main, 2 },
						  { 200 * MS, 200 * MS + JOB_ROOT_MIN_NS - 1, 0, job->main, 2 } };

	row->root = (struct root){ .cause = IDLE_USER_CODE, .who_kind = WHO_THREAD, .who = job->other };
	*waits = (struct host_waits){ .waits = { .row = row, .count = 1, .way_count = 3 } };
	waits->waits.ways = calloc(3, sizeof(*ways));
	assert_non_null(waits->waits.ways);
	memcpy(waits->waits.ways, ways, sizeof(ways));
	for (size_t i = 0; i < 3; i++)
		assert_true(MODEL_PUSH(&waits->waits.times.stretches, stretches[i]));
	job->results.waits = waits;
}

static void chains_lead_from_the_root(void **state)
{
	struct host_waits waits;
	struct idle_root row = { 0 };
	const struct job_slice *slices;
	struct job job;

	(void)state;
	job_begin(&job);
	make_roots(&job, &waits, &row);
	job_build(&job);
	slices = job.tracks.slices.row;
	assert_int_equal(job.tracks.slices.count, 4);
	expect(&job, 0, "Held others up", "user_code", 100, 150);
	expect(&job, 1, "Held others up", "pipeline", 100, 150);
	expect(&job, 2, "Waits, by root", "user_code", 100, 150);
	expect(&job, 3, "Waits, by root", "user_code", 300, 310);
	assert_int_equal(track_of(&job, &slices[0])->index, job.other);
	assert_int_equal(track_of(&job, &slices[1])->index, job.worker);
	assert_int_equal(track_of(&job, &slices[2])->index, job.main);
	assert_string_equal(text(&job, slices[2].who), "other 20");
	assert_int_equal(slices[0].flow_to, 0);
	assert_true(slices[0].flow_from >= JOB_FIRST_FLOW);
	assert_int_equal(slices[1].flow_to, slices[0].flow_from);
	assert_int_equal(slices[2].flow_to, slices[1].flow_from);
	assert_int_not_equal(slices[1].flow_from, slices[0].flow_from);
	assert_int_equal(slices[2].flow_from, 0);
	assert_int_equal(slices[3].flow_to, 0);
	job_tracks_free(&job.tracks);

	/* Nothing is shown for a process that is not selected; the arrow begins at the next thread. */
	job.chosen[job.other] = false;
	job_build(&job);
	assert_int_equal(job.tracks.slices.count, 3);
	assert_int_equal(job.tracks.slices.row[0].flow_to, 0);
	assert_int_equal(job.tracks.slices.row[1].flow_to, job.tracks.slices.row[0].flow_from);
	free(waits.waits.ways);
	free(waits.waits.times.stretches.row);
	job_end(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_functions_from_look_to_look),
		cmocka_unit_test(steps_waits_and_queues),
		cmocka_unit_test(chains_lead_from_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
