/* SPDX-License-Identifier: Apache-2.0 */
/* idle_scene.h - one gap of a device, for tests of what it is put down to. */
#ifndef PROFBPF_TESTS_UNIT_IDLE_SCENE_H
#define PROFBPF_TESTS_UNIT_IDLE_SCENE_H

#include <stdint.h>

#include "analyzer/analyse/idle/idle.h"
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

#endif /* PROFBPF_TESTS_UNIT_IDLE_SCENE_H */
