/* SPDX-License-Identifier: Apache-2.0 */
/* loop_scene.h - a host that submits work in a loop with known turns, for tests of the search for steps. */
#ifndef PROFBPF_TESTS_UNIT_LOOP_SCENE_H
#define PROFBPF_TESTS_UNIT_LOOP_SCENE_H

#include <stdint.h>

#include "analyzer/analyse/device/device_steps.h"
#include "tests/unit/small_model.h"

#define US 1000ull
#define LAYERS 24
#define KERNELS 8 /* per layer */
#define TURNS_MAX 4096

enum { HOST = 1, DEVICE = 2 }; /* the recorded sides: bits of @known */

/* A host that submits tasks, and a device that runs them in the order of submission. */
struct loop_scene {
	struct model *model;
	uint32_t process;
	uint32_t thread;
	unsigned int known;
	uint64_t now_ns; /* the host's current time */
	uint64_t free_ns; /* when the device has finished all submitted tasks */
	uint32_t launch, copy_in, copy_out, sync, collective, graph, push, pop, mark, leave;
	uint32_t turns; /* the true number of turns */
	uint64_t begins[TURNS_MAX]; /* when each turn begins on the host */
};

/* loop_scene_begin - starts a job; @known says whether the host's calls, the device's tasks or both are recorded */
void loop_scene_begin(struct loop_scene *scene, unsigned int known);

/* Next event of the host: a call of @ns; a call that submits a task; convenience forms of both. Names may be NULL. */
struct call *loop_scene_call(struct loop_scene *scene, uint32_t function, const char *text,
			     uint64_t ns);
void loop_scene_submit(struct loop_scene *scene, uint32_t function, const char *name, uint8_t kind,
		       uint64_t ns);
void loop_scene_kernel(struct loop_scene *scene, const char *name);
void loop_scene_copy_in(struct loop_scene *scene);
void loop_scene_copy_out(struct loop_scene *scene);
void loop_scene_sync(struct loop_scene *scene);
void loop_scene_layers(struct loop_scene *scene, const char *what); /* submits LAYERS * KERNELS kernels */

/* A task that the host enqueued at @enqueue_ns; and a wait of the host for the last task. */
void loop_scene_task(struct loop_scene *scene, const char *name, uint8_t kind, uint64_t enqueue_ns,
		     uint64_t ns);
void loop_scene_wait_for_device(struct loop_scene *scene);

/* Begins a turn. */
void loop_scene_turn(struct loop_scene *scene);

/* loop_scene_find - returns the steps that the analysis finds; loop_scene_end() frees them and the scene */
struct device_step_results loop_scene_find(const struct loop_scene *scene);
void loop_scene_end(struct loop_scene *scene, struct device_step_results *results);

/* Checks that the host's loop has the scene's turns, with the same starts within @off_ns. */
void loop_scene_check(const struct loop_scene *scene, const struct device_step_results *results,
		      uint8_t evidence, uint64_t off_ns);

/* Checks for @count steps without holes, found by @source; on the host they begin with the turns. */
const struct device_step_trace *loop_scene_check_steps(const struct loop_scene *scene,
						       const struct device_step_results *results,
						       enum step_source source, uint32_t count);

#endif /* PROFBPF_TESTS_UNIT_LOOP_SCENE_H */
