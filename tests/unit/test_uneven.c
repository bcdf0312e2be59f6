/* SPDX-License-Identifier: Apache-2.0 */
/* Worker processes with unequal parts of the work, and the advice about them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/pipeline/uneven.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define WORKERS 4
#define OLD 2 /* the set of an earlier epoch's workers */

struct scene {
	struct model *model;
	struct pipelines pipelines;
	struct pipeline *pipeline;
	uint32_t worker[WORKERS];
};

static void add_worker(struct scene *s, uint32_t w)
{
	struct pipeline_thread row = { .role = PIPELINE_WORKER_PROCESS, .set = 1 };
	uint32_t process = small_process(s->model, 11 + w, "pt_data_worker", true);

	row.thread = s->worker[w] = small_thread(s->model, process, 11 + w, "pt_data_worker");
	assert_true(MODEL_PUSH(&s->pipeline->threads, row));
}

/* The session lasts from 1000 to 2000 ms; each worker is at work for so many of these. */
static void set_scene(struct scene *s, const uint32_t *work_ms)
{
	*s = (struct scene){ .model = small_model(1000 * MS, 2000 * MS) };
	s->pipeline = pipeline_add(&s->pipelines, "torch", small_process(s->model, 10, "python", true));
	assert_int_equal(pipeline_operator_add(s->model, s->pipeline, 0, "DataLoader worker", "worker"), 0);
	s->pipeline->operators.row[0].workers = WORKERS;
	for (uint32_t w = 0; w < WORKERS; w++) {
		add_worker(s, w);
		for (uint32_t half = 0; half < 2 && work_ms[w]; half++) {
			uint64_t from_ns = (1000 + 500 * half) * MS;
			struct pipeline_work work = { .start_ns = from_ns,
						      .end_ns = from_ns + work_ms[w] * MS / 2,
						      .thread = s->worker[w] };

			assert_true(MODEL_PUSH(&s->pipeline->works, work));
		}
	}
}

static void release(struct scene *s)
{
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

static void shares(void **state)
{
	static const struct {
		uint32_t ms[WORKERS];
		uint32_t workers, busy, first; /* expected */
		double percent, others;
	} CASES[] = {
		{ { 100, 1000, 40, 40 }, WORKERS, 1, 1, 100, 6 },
		{ { 0, 0, 0, 990 }, WORKERS, 1, 3, 99, 0 },
		{ { 900, 10, 20, 800 }, WORKERS, 2, 0, 90, 1.5 },
		/* At the limits: half as long as the busiest, 70 %, and most workers busy. */
		{ { 1000, 500, 500, 500 }, WORKERS, 1, 0, 100, 50 },
		{ { 1000, 502, 500, 500 }, WORKERS, 2, 0, 100, 50 },
		{ { 1000, 502, 502, 500 }, 0, 0, 0, 0, 0 },
		{ { 700, 0, 0, 0 }, WORKERS, 1, 0, 70, 0 },
		{ { 698, 0, 0, 0 }, 0, 0, 0, 0, 0 },
		{ { 1000, 1000, 1000, 1000 }, 0, 0, 0, 0, 0 },
		{ { 0, 0, 0, 0 }, 0, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct scene s;
		struct uneven found;

		set_scene(&s, CASES[i].ms);
		found = uneven_find(s.model, s.pipeline, 0);
		assert_int_equal(found.workers, CASES[i].workers);
		assert_int_equal(found.busy, CASES[i].busy);
		assert_true(fabs(found.percent - CASES[i].percent) < 0.01);
		assert_true(fabs(found.others_percent - CASES[i].others) < 0.01);
		if (CASES[i].workers)
			assert_int_equal(found.thread, s.worker[CASES[i].first]);
		release(&s);
	}
}

/* Workers of other sets, and those whose turns are not known, are not compared. */
static void sets(void **state)
{
	static const uint32_t ms[WORKERS] = { 1000, 20, 20, 20 };
	struct scene s;

	(void)state;
	set_scene(&s, ms);
	s.pipeline->threads.row[2].set = s.pipeline->threads.row[3].set = OLD;
	assert_int_equal(uneven_find(s.model, s.pipeline, 0).workers, 2);
	s.pipeline->threads.row[1].set = OLD;
	assert_int_equal(uneven_find(s.model, s.pipeline, 0).workers, 0);
	s.pipeline->threads.row[0].set = 0;
	assert_int_equal(uneven_find(s.model, s.pipeline, 0).workers, 0);
	release(&s);
}

/* The time in which they were there counts. */
static void lives(void **state)
{
	static const uint32_t ms[WORKERS] = { 400, 20, 20, 20 };
	struct scene s;

	(void)state;
	set_scene(&s, ms);
	assert_int_equal(uneven_find(s.model, s.pipeline, 0).workers, 0);
	for (uint32_t w = 0; w < WORKERS; w++)
		s.model->threads.row[s.worker[w]].exit_ns = 1500 * MS;
	assert_true(fabs(uneven_find(s.model, s.pipeline, 0).percent - 80) < 0.01);
	for (uint32_t w = 0; w < WORKERS; w++)
		s.model->threads.row[s.worker[w]].start_ns = 1100 * MS;
	assert_true(fabs(uneven_find(s.model, s.pipeline, 0).percent - 100) < 0.01);
	release(&s);
}

static void words(void **state)
{
	static const uint32_t one[WORKERS] = { 1000, 20, 20, 20 }, two[WORKERS] = { 1000, 990, 20, 20 };
	struct scene s;
	char text[600];

	(void)state;
	set_scene(&s, one);
	bottleneck_remedy(s.model, s.pipeline, 0, BOTTLENECK_SLEEPS, NAN, text, sizeof(text));
	assert_non_null(strstr(text, "Of its 4 workers pt_data_worker 11 is at work for 100 % of the time, and the others for "
				     "2 %"));
	assert_non_null(strstr(text, "get_worker_info()"));
	/* The advice is the same if no CPU is idle. */
	bottleneck_remedy(s.model, s.pipeline, 0, BOTTLENECK_BUSY, 0, text, sizeof(text));
	assert_non_null(strstr(text, "equal part"));
	/* If the CPUs are the reason, equal parts do not help. */
	bottleneck_remedy(s.model, s.pipeline, 0, BOTTLENECK_TAKES_CPU, 0, text, sizeof(text));
	assert_null(strstr(text, "equal part"));
	release(&s);
	set_scene(&s, two);
	bottleneck_remedy(s.model, s.pipeline, 0, BOTTLENECK_SLEEPS, NAN, text, sizeof(text));
	assert_non_null(strstr(text, "Of its 4 workers 2 are at work for up to 100 % of the time (most of all pt_data_worker 11)"));
	assert_non_null(strstr(text, "get_worker_info()"));
	release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(sets),
		cmocka_unit_test(lives),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
