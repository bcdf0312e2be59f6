/* SPDX-License-Identifier: Apache-2.0 */
/* A lake's table pipeline: the operators' activity in each step, on a model with known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/pipeline/pipelines.h"
#include "analyzer/export/lake/lake_pipeline.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull

/* Two operators of one trainer, the second without a thread; and an operator of another process. */
struct job {
	struct model *model;
	struct pipeline pipelines[3];
	struct pipeline_usage usage[3];
	struct pipeline_results results;
	struct device_step_row steps[3];
	struct device_step_trace trace;
	struct device_step_results device_steps;
	struct results of;
	struct lake_rows rows;
};

static void add_operator(struct job *job, uint32_t pipeline, const char *name)
{
	struct pipeline_operator op = { .name = model_string(job->model, name) };

	assert_true(MODEL_PUSH(&job->pipelines[pipeline].operators, op));
}

static void add_thread(struct job *job, uint32_t pipeline, uint32_t op, uint32_t thread)
{
	struct pipeline_thread row = { .thread = thread, .op = op };

	assert_true(MODEL_PUSH(&job->pipelines[pipeline].threads, row));
}

static void add_event(struct job *job, uint32_t queue, int32_t change, uint64_t from_ms, uint64_t to_ms)
{
	struct pipeline_queue_event row = { .queue = queue,
					    .change = change,
					    .start_ns = from_ms * MS,
					    .end_ns = to_ms * MS };

	assert_true(MODEL_PUSH(&job->pipelines[0].queue_events, row));
}

/* Steps from 100, 200 and 300 ms on, of 100 ms each; a worker that runs from 50 to 150 and from 250 to 260 ms. */
static void begin(struct job *job)
{
	uint32_t trainer, other, worker, stranger;
	struct pipeline_queue queue = { .from = 1, .to = INDEX_NONE };
	struct lake_rank rank = { .rank = 5 };

	*job = (struct job){ .model = small_model(0, 1000 * MS) };
	trainer = small_process(job->model, 7, "train", true);
	other = small_process(job->model, 8, "other", true);
	worker = small_thread(job->model, trainer, 71, "worker");
	stranger = small_thread(job->model, other, 81, "stranger");
	small_span(job->model, worker, 50 * MS, 150 * MS, STATE_RUNNING);
	small_span(job->model, worker, 150 * MS, 250 * MS, STATE_SLEEP);
	small_span(job->model, worker, 250 * MS, 260 * MS, STATE_RUNNING);
	small_span(job->model, stranger, 100 * MS, 400 * MS, STATE_RUNNING);
	small_index(job->model);
	for (uint32_t i = 0; i < 3; i++) {
		job->steps[i] = (struct device_step_row){ .number = 40 + i,
							  .start_ns = (100 + 100 * i) * MS,
							  .end_ns = (200 + 100 * i) * MS };
		job->usage[i].pipeline = &job->pipelines[i];
		job->pipelines[i].process = i == 1 ? other : trainer;
	}
	add_operator(job, 0, "Map");
	add_operator(job, 0, "Batch");
	add_thread(job, 0, 0, worker);
	assert_true(MODEL_PUSH(&job->pipelines[0].queues, queue));
	add_operator(job, 1, "of another one");
	add_thread(job, 1, 0, stranger);
	add_operator(job, 2, "Map");
	job->results = (struct pipeline_results){ .rows = job->usage, .count = 3 };
	rank.device = small_device(job->model, trainer, "device", 0);
	assert_true(MODEL_PUSH(&job->rows.ranks, rank));
	job->trace = (struct device_step_trace){ .device = rank.device, .rows = job->steps, .count = 3 };
	job->device_steps = (struct device_step_results){ .traces = &job->trace, .count = 1 };
	job->of = (struct results){ .pipelines = &job->results, .device_steps = &job->device_steps };
}

static void end(struct job *job)
{
	for (uint32_t i = 0; i < 3; i++) {
		free(job->pipelines[i].operators.row);
		free(job->pipelines[i].threads.row);
		free(job->pipelines[i].queues.row);
		free(job->pipelines[i].queue_events.row);
	}
	lake_rows_free(&job->rows);
	model_free(job->model);
}

static void is_row(const struct job *job, uint32_t at, const char *name, uint64_t step, int64_t busy_ms, int64_t wait_ms)
{
	const struct lake_pipeline *row = &job->rows.pipeline.row[at];

	assert_true(at < job->rows.pipeline.count);
	assert_string_equal(model_text(job->model, row->name), name);
	assert_int_equal(row->rank, 5);
	assert_int_equal(row->step, step);
	assert_int_equal(row->pipeline, 1);
	assert_int_equal(row->has_busy ? (int64_t)(row->busy_ns / MS) : -1, busy_ms);
	assert_int_equal(row->has_wait ? (int64_t)(row->wait_ns / MS) : -1, wait_ms);
}

/* An activity across a step's end belongs to both steps; unknown is not 0; an operator without activity has no row. */
static void times_by_step(void **state)
{
	struct job job;

	begin(&job);
	add_event(&job, 0, 1, 110, 190); /* a push is not a wait for the operator */
	add_event(&job, 0, -1, 190, 230);
	add_event(&job, 0, -1, 395, 500);
	assert_int_equal(lake_pipeline_make(job.model, &job.of, &job.rows), 0);
	assert_int_equal(job.rows.pipeline.count, 5);
	is_row(&job, 0, "Map", 40, 50, -1);
	is_row(&job, 1, "Map", 41, 10, -1);
	is_row(&job, 2, "Batch", 40, -1, 10);
	is_row(&job, 3, "Batch", 41, -1, 30);
	is_row(&job, 4, "Batch", 42, -1, 5);
	end(&job);
}

/* A thread with unknown state in a step may have run there; if another thread ran, that time is stated. */
static void unknown_is_not_0(void **state)
{
	struct job job;
	struct span *spans;

	begin(&job);
	spans = &job.model->spans.row[job.model->timelines.row[job.pipelines[0].threads.row[0].thread].first];
	spans[1].state = STATE_UNKNOWN;
	spans[2].state = STATE_UNKNOWN;
	job.pipelines[0].queues.row[0].from = 0;
	add_event(&job, 0, -1, 190, 330);
	assert_int_equal(lake_pipeline_make(job.model, &job.of, &job.rows), 0);
	assert_int_equal(job.rows.pipeline.count, 3);
	is_row(&job, 0, "Map", 40, 50, 10);
	is_row(&job, 1, "Map", 41, -1, 100);
	is_row(&job, 2, "Map", 42, 0, 30);
	end(&job);
}

static void nothing_to_tell(void **state)
{
	struct job job;

	begin(&job);
	add_event(&job, 0, -1, 190, 230);
	job.trace.count = 0;
	assert_int_equal(lake_pipeline_make(job.model, &job.of, &job.rows), 0);
	job.trace.count = 3;
	job.of.pipelines = NULL;
	assert_int_equal(lake_pipeline_make(job.model, &job.of, &job.rows), 0);
	assert_int_equal(job.rows.pipeline.count, 0);
	end(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_by_step),
		cmocka_unit_test(unknown_is_not_0),
		cmocka_unit_test(nothing_to_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
