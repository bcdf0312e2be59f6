/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - what holds up the job, in one word, and what that costs.
 *
 * If a device's tasks are known, each nanosecond in which devices were idle belongs to one of these states, by its root
 * (idle_roots.h); waits for other ranks inside collectives are one more state:
 *
 *   cpu            runnable, throttled, irq: other processes, or the job's own threads, have the CPUs
 *   data           other causes, if a thread of a data pipeline is on the path to the root, or the place is a data
 *                  loader by a device file's own timeline; also host_code of the
 *                  thread that fetches batches, up to the share of fetches in the steps' time
 *   host_code      user_code, runtime, driver, lock, io, page_fault, network, sleep
 *   device         device_wait: the host had done its part
 *   communication  a rank waits for the last one
 *   unknown        unknown, no_work; network, if the peer is a process of this host that was not traced
 *                  and no data pipeline is on the path
 *
 * The verdict is the first of these that holds:
 *
 *   unknown        VERDICT_NOISE_PERCENT or more of a source's records, or parts of the file, are lost
 *   communication  heavier than any state of idle time
 *   healthy        devices are idle for less than VERDICT_NOISE_PERCENT, steps wait no longer than that for data, and
 *                  devices copy without computing or communicating for less than VERDICT_COPIES_PERCENT of the time
 *   device         busy for VERDICT_BUSY_PERCENT or more: any improvement of the host gains less than a tenth,
 *                  while tasks of half the duration would gain almost a half; or no other state weighs more
 *                  than the noise
 *   unknown        more than half of the idle time is unknown
 *   the heaviest   of the other states
 *
 * Without a device's tasks the threads that set the job's pace take the device's place (host_waits.h): their waits
 * belong to states in the same way, by their roots. Their own time on a CPU is
 *
 *   data       as far as it lies in fetches, if the loader makes its batches in the thread that fetches
 *   host_code  if they submit work to a device, which could be busier
 *   no cost    else: it is the job's work. So are waits for threads of the same process that run the program's own
 *              code on a CPU, if these waits are no longer than the waiting threads' own time on a CPU:
 *              the threads share the work
 *
 * Then, in this order: unknown for losses, as above; the pipeline's own rules about CPUs and locks (bottleneck.h);
 * data if workers that are started anew for each epoch cost half of the heaviest state or more, both of the judged time
 * of all jobs: their starts are waits for several states, and lie between steps;
 * device if it is busy for at least VERDICT_BUSY_PERCENT by device_bounds.h; unknown if more than half of the waiting
 * is unknown, and that is more than noise; unknown if the threads mostly waited for events that did not come (epoll,
 * poll or select that timed out) and did nothing themselves: an idle server and a hanging program look like that;
 * healthy if no state weighs VERDICT_NOISE_PERCENT or more, or the work weighs at least VERDICT_BUSY_PERCENT; unknown
 * if the threads' own time on a CPU makes host_code the heaviest state, but may cost nothing, because the device may be
 * busy meanwhile: by device_bounds.h it is busy for at least VERDICT_NOISE_PERCENT (threads wait for it, so a faster
 * device would help) and likely at most VERDICT_BUSY_PERCENT or more, and the states data, cpu and host_code without that time
 * weigh less than it, and less than a tenth together; here waits for CPUs of less than a quarter of that time are part
 * of it, and synchronous copies that had to wait for the device are not: these do cost something. Else the heaviest
 * state. Without records of threads' activity
 * the verdict rests on the steps of a data pipeline alone.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/cluster/straggler.h"
#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/losses.h"
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/idle/idle_verdict.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/model/model.h"

#define VERDICT_NOISE_PERCENT 3 /* the error of a trace: a smaller cost is no finding */
#define VERDICT_TOLD_PERCENT 1 /* of a device file's time: tasks that cover less of it say nothing about the job */
#define VERDICT_BUSY_PERCENT 90
#define VERDICT_COPIES_PERCENT 20 /* of its time: a device that only copies for longer than that is not healthy */

enum verdict_state {
	VERDICT_UNKNOWN = 0,
	VERDICT_DATA,
	VERDICT_CPU,
	VERDICT_HOST_CODE,
	VERDICT_DEVICE,
	VERDICT_COMMUNICATION,
	VERDICT_HEALTHY,
	VERDICT_STATES
};

enum verdict_of { VERDICT_OF_DEVICE_TIME, VERDICT_OF_STEP_TIME, VERDICT_OF_WALL_TIME };

/* What is missing for a verdict. */
enum verdict_lack {
	VERDICT_LACK_NONE = 0,
	VERDICT_LACK_RECORDS, /* too many records of @source, or parts of the file, are lost */
	VERDICT_LACK_TRACE, /* there are device files alone: the host was not recorded */
	VERDICT_LACK_STREAM, /* neither tasks of a device nor steps */
	VERDICT_LACK_STEPS, /* no tasks of a device, and the steps that there are do not wait for data */
	VERDICT_LACK_SCHED, /* topic sched was not recorded */
	VERDICT_LACK_LAUNCHES, /* no launching call was matched with its task */
	VERDICT_LACK_PROCESS, /* the job waited for a process that was not traced */
	VERDICT_LACK_THREAD, /* the threads that the user named are not in the recording */
	VERDICT_LACK_SWITCHES, /* none of the job's threads went to sleep or woke up */
	VERDICT_LACK_KERNELS, /* a device's work is recorded as a whole, without the kernels in it */
	VERDICT_LACK_TASKS, /* a device file's tasks cover a small part of its time: @percent */
	VERDICT_LACK_EVENTS, /* the examined threads have nothing to do, or hang: no event came */
	VERDICT_LACK_BUSY, /* the bounds of the device's busy time do not tell whether it or the host holds up the job */
	VERDICT_LACK_ROOTS, /* the roots are unknown: see how the walks ended (enum root_end) */
};

struct verdict {
	uint8_t state; /* enum verdict_state */
	uint8_t of; /* enum verdict_of */
	uint8_t lack; /* enum verdict_lack; with VERDICT_UNKNOWN */
	bool by_threads; /* judged by the waits of threads, not by a device's tasks */
	bool has_percent;
	bool restarts; /* VERDICT_DATA: for the workers of @op, which are started anew for each epoch */
	bool busy; /* VERDICT_DEVICE: percent is its busy time, not the time for which the host waited */
	double own_percent; /* by_threads: on a CPU, doing the job's work */
	/* Cost of the state; busy and VERDICT_HEALTHY: devices' busy time; VERDICT_UNKNOWN: idle time, or see @lack. */
	double percent;
	double gain_percent; /* upper bound of the gain if the cost went away; 0 = not known */
	double idle_percent; /* of devices */
	double copies_percent; /* the same: time in which devices only copied */
	bool at_least; /* a device's work is recorded as a whole: it may have been idle in that, too */
	double wait_percent; /* share of fetches in the steps' time; negative: there are no steps */
	struct idle_verdict
		idle; /* the heaviest kind of cause within the state; most is NULL if there is none */
	const struct idle_roots *roots; /* idle.most is one of these */
	uint64_t
		roots_of_ns; /* denominator of the roots' shares: device time, step time or wall time */
	uint32_t pipeline; /* the row of steps->pipelines that holds up the job, or INDEX_NONE */
	uint32_t op; /* index into the operators of that pipeline, or INDEX_NONE */
	uint32_t straggler; /* VERDICT_COMMUNICATION: the device for which the others wait, or INDEX_NONE */
	struct straggler why; /* VERDICT_COMMUNICATION: why it is late */
	uint32_t source; /* VERDICT_LACK_RECORDS: index into model->sources, or INDEX_NONE */
	uint64_t lost; /* lost records of all sources */
};

/* The evidence. Only @capture, @all_devices and @waits may be NULL. */
struct verdict_facts {
	const struct capture_results *capture;
	const struct device_results *devices;
	const struct device_results *all_devices; /* also other jobs' ranks, to explain why one is late; NULL: @devices */
	const struct step_results *steps;
	const struct host_waits *waits;
	const struct advice_results *advice; /* its bottlenecks: one per row of steps->pipelines */
};

/*
 * verdict_find - judges the job
 *
 * @verdict points into @facts. Returns 0 or -ENOMEM.
 */
int verdict_find(const struct model *model, const struct verdict_facts *facts,
		 struct verdict *verdict);

/* "data", "cpu", ... as in the JSON report. Static text. */
const char *verdict_state_name(uint8_t state);

/* "device_time", "step_time", "wall_time". Static text. */
const char *verdict_of_name(uint8_t of);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_H */
