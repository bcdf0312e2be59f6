/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plant_device.h - the device of a planted job: one of plant_simulated.c, plant_opencl.c and plant_ascend.c.
 *
 * It has one stream, and accepts tasks from one thread. A failure ends the program.
 */
#ifndef PROFBPF_BENCH_INSIGHT_PLANT_DEVICE_H
#define PROFBPF_BENCH_INSIGHT_PLANT_DEVICE_H

#include <stdint.h>

#include "bench/insight/plant.h"

#define EXPORT __attribute__((noinline, visibility("default")))

void device_open(void);

/* device_submit - submit a task of @task_ns, after all earlier tasks; returns at once */
void device_submit(uint64_t task_ns);

/* device_wait - sleep until at most @left tasks (at most 3) are not done */
void device_wait(uint32_t left);

/* device_close - wait for all tasks; passes each to plant_task(), in order. Allowed without device_open(). */
void device_close(void);

_Noreturn void plant_fail(const char *what);

#endif /* PROFBPF_BENCH_INSIGHT_PLANT_DEVICE_H */
