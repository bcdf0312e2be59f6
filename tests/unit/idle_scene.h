/* SPDX-License-Identifier: Apache-2.0 */
/* idle_scene.h - one gap of a device, for tests of the causes of idle time. */
#ifndef PROFBPF_TESTS_UNIT_IDLE_SCENE_H
#define PROFBPF_TESTS_UNIT_IDLE_SCENE_H

#include <stdint.h>

#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/device/results.h"
#include "tests/unit/small_model.h"

/* System call numbers of x86-64. */
#define READ 0
#define POLL 7
#define IOCTL 16
#define NANOSLEEP 35
#define ACCEPT 43
#define RECVFROM 45
#define WAIT4 61
#define FSYNC 74
#define FUTEX 202
#define MUNMAP 11

#define US 1000ull

/*
 * A job with a main thread, a worker, and a process that is not recorded. The device runs a task until 100 us and the
 * next one from 200 us on; the main thread enqueues that one at 180..190 us, submitted at 185 us. The test adds the
 * events between.
 */
struct scene {
	struct model *model;
	uint32_t process;
	uint32_t main;
	uint32_t worker;
	uint32_t outsider;
	uint32_t sync;
	uint32_t launch;
	struct device_results results;
};

/* Returns the job without any event in the gap. */
struct scene scene_make(void);

/* Indexes the model and analyses its device; checks that causes add up to the idle time. */
void scene_compute(struct scene *scene);

/* Frees the scene's members. */
void scene_end(struct scene *scene);

/* Checks part @part of the only gap; @who and @detail may be NULL: not checked. */
void scene_expect(struct scene *scene, uint32_t part, uint64_t start_us, uint64_t end_us,
		  uint8_t cause, const char *who, const char *detail);

/* Checks that the only gap has @count parts. */
void scene_expect_parts(struct scene *scene, uint32_t count);

/* The main thread runs from its wake-up at @from_us on and launches the task at 180 us. */
void scene_main_launches(struct scene *scene, uint64_t from_us);

/* The main thread sleeps for a lock until @waker wakes it at 170 us. */
void scene_main_waits(struct scene *scene, uint32_t waker);

/* Does scene_compute(); also checks that roots add up to the idle time and that each chain ends at its root. */
void scene_compute_roots(struct scene *scene);

/* Returns the row of a cause and the responsible thread (INDEX_NONE: any); fails the test if there is none. */
const struct idle_root *scene_root(const struct scene *scene, uint8_t cause, uint32_t who);

/* Checks that the chain of a row consists of these threads, in this order. */
void scene_expect_chain(const struct idle_root *row, uint32_t count, const uint32_t *threads);

/* scene_frame - adds a function of a program to the model's frames, NULL: without a name, or a file; returns its index */
uint32_t scene_frame(struct model *model, const char *name, const char *path);

#endif /* PROFBPF_TESTS_UNIT_IDLE_SCENE_H */
