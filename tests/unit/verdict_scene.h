/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_scene.h - one gap of a device, or threads without one, and what the verdict on it is and says. */
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

/* main waits for the worker until 180 us, which sleeps because it wants to. */
void verdict_main_waits(struct verdict_scene *f);

/* verdict_compute - analyse the scene, then judge; verdict_judge - judge again what a test has changed */
void verdict_compute(struct verdict_scene *f);
void verdict_judge(struct verdict_scene *f);

/* verdict_judge_waits - no device tells its tasks: what the threads waited for is judged */
void verdict_judge_waits(struct verdict_scene *f);

/* The verdict is @state, which costs @percent; the report's section has these words, or has not. */
void verdict_expect(const struct verdict_scene *f, enum verdict_state state, double percent);
void verdict_says(struct verdict_scene *f, const char *words);
void verdict_says_not(struct verdict_scene *f, const char *words);

/* A pipeline with one operator, for which the worker is; its trainer is main. */
void verdict_add_pipeline(struct verdict_scene *f);

/* The pipeline's own rules find this in its operator. */
void verdict_blame(struct verdict_scene *f, enum bottleneck_kind kind, double percent);

void verdict_end(struct verdict_scene *f);

#endif /* PROFBPF_TESTS_UNIT_VERDICT_SCENE_H */
