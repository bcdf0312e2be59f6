/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plant.h - a device, and what is known of those who keep it waiting.
 *
 * libplant.so, of which there is one for each kind of device (plant_device.h). One device, one stream: a task begins when
 * it is submitted, or when the one before it has ended. All times are of CLOCK_MONOTONIC. What a thread did in a spell of
 * its work it says itself, by its own clocks and the kernel's account of its waits for a CPU; at the end that is laid over
 * the times in which the device had nothing to do, and printed as NAME=VALUE lines. Spells may be noted by children, too.
 * A failure ends the program.
 */
#ifndef PROFBPF_BENCH_INSIGHT_PLANT_H
#define PROFBPF_BENCH_INSIGHT_PLANT_H

#include <stdint.h>

/* What of a spell the fault is. */
enum plant_kind {
	PLANT_NOTHING = 0, /* a spell of somebody who is not to blame */
	PLANT_CPU, /* its time on a CPU */
	PLANT_ASLEEP, /* its time neither on a CPU nor ready for one */
	PLANT_OFF_CPU, /* all its time without a CPU */
	PLANT_LOCKED, /* its time on a CPU, with a lock that the main thread needs to go on */
	PLANT_ALL, /* all of it but its waits for a CPU */
};

/* A spell of the calling thread's work; to be made with plant_begin() only. */
struct plant_spell {
	uint64_t start_ns;
	uint64_t cpu_ns;
	uint64_t ready_ns;
};

/* plant_open - make the device, whose tasks take @task_ns each */
void plant_open(uint64_t task_ns);

/*
 * plant_share, plant_task, plant_fed - for a job whose device is not libplant's, or that has none, instead of plant_open():
 * spells may be noted; a task of the device, in the order in which they began; a time in which the main thread did not wait for
 * the device
 */
void plant_share(void);
void plant_task(uint64_t start_ns, uint64_t end_ns);
void plant_fed(uint64_t start_ns, uint64_t end_ns);

/* plant_set_task - from now on they take @task_ns each */
void plant_set_task(uint64_t task_ns);

/* plant_submit - a task; the call itself takes @cost_ns of CPU time */
int plant_submit(uint64_t cost_ns);

/* plant_copy - wait until the device has nothing to do, then copy for @cost_ns of CPU time, which is a spell */
int plant_copy(uint64_t cost_ns);

/* plant_sync - wait until the device has nothing to do */
int plant_sync(void);

/* plant_wait_room - sleep until fewer than two tasks are queued */
int plant_wait_room(void);

void plant_begin(struct plant_spell *spell);
void plant_end(const struct plant_spell *spell, int kind);

/* plant_burn - keep the CPU busy for ever; each time that it was had without a break is the fault */
void plant_burn(void);

/*
 * plant_print - the truth
 *
 * first_ns, when the first task began, window_ns, and of the times in which the device had nothing to do (idle) and of those in which the thread that submits did not
 * wait for it (fed): all_ns, root_ns, and ready_ns (of all spells that are not PLANT_OFF_CPU).
 */
void plant_print(void);

#endif /* PROFBPF_BENCH_INSIGHT_PLANT_H */
