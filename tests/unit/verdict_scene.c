/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/verdict_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/view/report.h"
#include "tests/unit/report_of.h"

void verdict_begin(struct verdict_scene *f)
{
	*f = (struct verdict_scene){ .scene = scene_make(), .all_steps = { .main = INDEX_NONE } };
}

/* main waits until 180 us for the worker, which sleeps voluntarily. */
void verdict_main_waits(struct verdict_scene *f)
{
	struct scene *scene = &f->scene;

	small_sleep(scene->model, scene->main, 0, 180 * US, FUTEX, scene->worker, 0);
	scene_main_launches(&f->scene, 180);
	small_sleep(scene->model, scene->worker, 0, 179 * US, NANOSLEEP, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	small_span(scene->model, scene->worker, 179 * US, 1000 * US, STATE_RUNNING);
}

void verdict_judge(struct verdict_scene *f)
{
	f->facts = (struct verdict_facts){ .capture = &f->capture,
					   .devices = &f->scene.results,
					   .steps = &f->all_steps,
					   .waits = f->waits.threads ? &f->waits : NULL,
					   .advice = &f->advice };
	assert_int_equal(verdict_find(f->scene.model, &f->facts, &f->verdict), 0);
}

void verdict_compute(struct verdict_scene *f)
{
	scene_compute(&f->scene);
	verdict_judge(f);
}

void verdict_judge_waits(struct verdict_scene *f)
{
	const struct analysis_options options = { 0 };

	verdict_compute(f);
	f->scene.results.devices[0].window_ns = f->scene.results.devices[0].idle_ns = 0;
	assert_true(MODEL_PUSH(&f->scene.model->files, 0));
	assert_int_equal(host_waits_analyse(f->scene.model, &options, &f->all_steps, &f->waits), 0);
	verdict_judge(f);
}

void verdict_expect(const struct verdict_scene *f, enum verdict_state state, double percent)
{
	assert_string_equal(verdict_state_name(f->verdict.state), verdict_state_name(state));
	assert_true(f->verdict.percent > percent - 0.01 && f->verdict.percent < percent + 0.01);
}

static char *text_of(struct verdict_scene *f)
{
	const struct report_options options = { .sections = SECTION_VERDICT };
	const struct results results = { .verdict = &f->verdict,
					 .waits = &f->waits,
					 .devices = &f->scene.results,
					 .steps = &f->all_steps,
					 .advice = &f->advice };
	char *text = NULL;
	size_t size = 0, lines = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_text(out, f->scene.model, &results, &options), 0);
	fclose(out);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	assert_in_range(lines, 1, 5);
	assert_ptr_equal(strstr(text, "verdict "), text);
	return text;
}

void verdict_says(struct verdict_scene *f, const char *words)
{
	char *text = text_of(f);

	assert_says(text, words);
	free(text);
}

void verdict_says_not(struct verdict_scene *f, const char *words)
{
	char *text = text_of(f);

	assert_null(strstr(text, words));
	free(text);
}

void verdict_end(struct verdict_scene *f)
{
	host_waits_free(&f->waits);
	pipelines_free(&f->pipelines);
	scene_end(&f->scene);
}

/* Adds a pipeline with one operator, which the worker serves; its trainer is main. */
void verdict_add_pipeline(struct verdict_scene *f)
{
	struct model *model = f->scene.model;
	struct pipeline *pipeline = pipeline_add(&f->pipelines, "MindData", f->scene.process);
	struct pipeline_thread row = { .thread = f->scene.worker, .role = PIPELINE_WORKER };

	assert_int_equal(pipeline_operator_add(model, pipeline, 2, "Map(ID:2)", "Map"), 0);
	assert_true(MODEL_PUSH(&pipeline->threads, row));
	pipeline->operators.row[0].workers = 2;
	f->usage = (struct pipeline_usage){ .pipeline = pipeline,
					    .operators = &f->usage_of,
					    .fetch = { .thread = f->scene.main } };
	f->steps = (struct pipeline_steps){ .usage = &f->usage,
					    .costs = &f->cost,
					    .judged = 10,
					    .judged_ns = 1000 * US,
					    .bottleneck = INDEX_NONE };
	f->all_steps = (struct step_results){ .pipelines = &f->steps, .count = 1 };
	f->bottleneck = (struct bottleneck){ .op = INDEX_NONE };
	f->advice = (struct advice_results){ .bottlenecks = &f->bottleneck, .count = 1 };
}

void verdict_blame(struct verdict_scene *f, enum bottleneck_kind kind, double percent)
{
	f->bottleneck = (struct bottleneck){ .kind = kind, .op = 0, .percent = percent };
	snprintf(f->bottleneck.reason, sizeof(f->bottleneck.reason), "a reason");
}
