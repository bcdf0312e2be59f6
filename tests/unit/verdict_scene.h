/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_scene.h - one gap of a device, or threads without a device, with the verdict and its text. */
#ifndef PROFBPF_TESTS_UNIT_VERDICT_SCENE_H
#define PROFBPF_TESTS_UNIT_VERDICT_SCENE_H

#include "analyzer/analyse/idle/verdict.h"
#include "tests/unit/idle_scene.h"

/* The device's window is 250 us, of which it is idle for 100 us. */
#define WINDOW_US 250

struct verdict_scene {
	struct scene scene;
	struct pipelines pipelines;
	struct operator_pipeline_usage usage_of;
	struct pipeline_usage usage;
	struct operator_cost cost;
	struct pipeline_steps steps;
	struct step_results all_steps;
	struct bottleneck bottleneck;
	struct advice_results advice;
	struct capture_results capture;
	struct host_waits waits;
	struct verdict_facts facts;
	struct verdict verdict;
};

void verdict_begin(struct verdict_scene *f);

/* main waits until 180 us for the worker, which sleeps voluntarily. */
void verdict_main_waits(struct verdict_scene *f);

/* verdict_compute - analyses the scene, then judges; verdict_judge - judges again after a test's changes */
void verdict_compute(struct verdict_scene *f);
void verdict_judge(struct verdict_scene *f);

/* verdict_judge_waits - judges the waits of threads, because no device reports its tasks */
void verdict_judge_waits(struct verdict_scene *f);

/*
 * Checks that the verdict is @state with a cost of @percent; that the report's section contains these words or does
 * not.
 */
void verdict_expect(const struct verdict_scene *f, enum verdict_state state, double percent);
void verdict_says(struct verdict_scene *f, const char *words);
void verdict_says_not(struct verdict_scene *f, const char *words);

/* Adds a pipeline with one operator, which the worker serves; its trainer is main. */
void verdict_add_pipeline(struct verdict_scene *f);

/* Sets the bottleneck that the pipeline's own rules find in its operator. */
void verdict_blame(struct verdict_scene *f, enum bottleneck_kind kind, double percent);

void verdict_end(struct verdict_scene *f);

#endif /* PROFBPF_TESTS_UNIT_VERDICT_SCENE_H */
