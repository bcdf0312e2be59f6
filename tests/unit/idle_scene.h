/* SPDX-License-Identifier: Apache-2.0 */
/* idle_scene.h - one gap of a device, for tests of what it is put down to. */
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
#define RECVFROM 45
#define WAIT4 61
#define FSYNC 74
#define FUTEX 202
#define MUNMAP 11

#define US 1000ull

/*
 * A job with a main thread, a worker, and an outsider; the device runs a task until 100 us and
 * the next one from 200 us on, which the main thread enqueues at 180..190 us, submitted at
 * 185 us. What happens in between is up to the test.
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

/* The job before anything happens in the gap. */
struct scene scene_make(void);

/* Index the model and analyse its device; causes add up to the idle time. */
void scene_compute(struct scene *scene);

/* Free what the scene has. */
void scene_end(struct scene *scene);

/* Parts of the only gap, one by one; who and detail may be NULL: not looked at. */
void scene_expect(struct scene *scene, uint32_t part, uint64_t start_us, uint64_t end_us,
		  uint8_t cause, const char *who, const char *detail);

/* The only gap has so many parts. */
void scene_expect_parts(struct scene *scene, uint32_t count);

/* The main thread from when it wakes up: it launches the task at 180 us. */
void scene_main_launches(struct scene *scene, uint64_t from_us);

/* The main thread sleeps for a lock until @waker ends that, at 170 us. */
void scene_main_waits(struct scene *scene, uint32_t waker);

/* scene_compute(); roots add up to the idle time, too, and each chain ends at its root. */
void scene_compute_roots(struct scene *scene);

/* The row of a cause and the thread that is to blame (INDEX_NONE: any); it has to be there. */
const struct idle_root *scene_root(const struct scene *scene, uint8_t cause, uint32_t who);

/* The chain of a row is these threads, in this order. */
void scene_expect_chain(const struct idle_root *row, uint32_t count, const uint32_t *threads);

#endif /* PROFBPF_TESTS_UNIT_IDLE_SCENE_H */
