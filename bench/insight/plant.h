/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plant.h - a device, and the truth about the threads that keep it waiting.
 *
 * libplant.so, built once for each kind of device (plant_device.h). One device, one stream: a task begins when
 * it is submitted, or when the task before it ends. All times are of CLOCK_MONOTONIC. A thread records its spells of
 * work itself, by its own clocks and the kernel's account of its waits for a CPU; at the end they are intersected with
 * the times in which the device was idle, and printed as NAME=VALUE lines. Child processes may record spells, too.
 * A failure ends the program.
 */
#ifndef PROFBPF_BENCH_INSIGHT_PLANT_H
#define PROFBPF_BENCH_INSIGHT_PLANT_H

#include <stdint.h>

/* The part of a spell that is the fault. */
enum plant_kind {
	PLANT_NOTHING = 0, /* none: the thread is not to blame */
	PLANT_CPU, /* its time on a CPU */
	PLANT_ASLEEP, /* its time neither on a CPU nor ready for one */
	PLANT_OFF_CPU, /* all its time without a CPU */
	PLANT_LOCKED, /* its time on a CPU, with a lock that the main thread, or one that serves it, needs to go on */
	PLANT_ALL, /* all of it except its waits for a CPU */
};

/* A spell of the calling thread's work; filled by plant_begin() only. */
struct plant_spell {
	uint64_t start_ns;
	uint64_t cpu_ns;
	uint64_t ready_ns;
};

/* plant_open - make the device, with tasks of @task_ns each */
void plant_open(uint64_t task_ns);

/*
 * plant_share, plant_task, plant_fed - instead of plant_open(), for a job without a device or with a device of its own:
 * allow spells; record a task of the device, in order of start; record a time in which the main thread did not wait for
 * the device
 */
void plant_share(void);
void plant_task(uint64_t start_ns, uint64_t end_ns);
void plant_fed(uint64_t start_ns, uint64_t end_ns);

/* plant_set_task - set the length of further tasks to @task_ns */
void plant_set_task(uint64_t task_ns);

/* plant_submit - submit a task; the call itself takes @cost_ns of CPU time */
int plant_submit(uint64_t cost_ns);

/* plant_copy - wait until the device is idle, then copy for @cost_ns of CPU time, which is a spell */
int plant_copy(uint64_t cost_ns);

/* plant_SyncDevice - wait until the device is idle */
int plant_SyncDevice(void);

/* plant_wait_room - sleep until fewer than two tasks are queued */
int plant_wait_room(void);

void plant_begin(struct plant_spell *spell);
void plant_end(const struct plant_spell *spell, int kind);

/* plant_burn - keep the CPU busy forever; each time on the CPU without a break is a spell of the fault */
void plant_burn(void);

/*
 * plant_print - print the truth
 *
 * first_ns (start of the first task), window_ns, and for the times in which the device was idle (idle) and those in
 * which the submitting thread did not wait for it (fed): all_ns, root_ns (the fault's part), and ready_ns (waits for a
 * CPU in all spells that are not PLANT_OFF_CPU).
 */
void plant_print(void);

#endif /* PROFBPF_BENCH_INSIGHT_PLANT_H */
