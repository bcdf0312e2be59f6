/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - what the job is held up by, in one word, and how much that costs it.
 *
 * Where a device's tasks are known, each nanosecond that devices were idle belongs to a state, by its root
 * (idle_roots.h), and waits for other ranks inside collectives to one more:
 *
 *   cpu            runnable, throttled, irq: others, or the job's own threads, have the CPUs
 *   data           another root, and a thread of a data pipeline is on the way to it, or the place is a data
 *                  loader, by a device file's own timeline; causes by the host's
 *                  code of the thread that fetches batches, up to the share of the steps in fetches
 *   host_code      user_code, runtime, driver, lock, io, page_fault, network, sleep
 *   device         device_wait: the host had done its part
 *   communication  a rank waits for the last one
 *   unknown        unknown, no_work; network, where a process of this host that was not traced is at the other end
 *                  and no data pipeline is on the way
 *
 * They are judged in this order:
 *
 *   unknown        VERDICT_NOISE_PERCENT or more of a source's records, or parts of the file, are lost
 *   communication  heavier than any state of idle time
 *   healthy        idle for less than VERDICT_NOISE_PERCENT, steps wait no longer for data, and it does not copy for
 *                  VERDICT_COPIES_PERCENT of its time without computing or communicating meanwhile
 *   device         busy for VERDICT_BUSY_PERCENT or more: whatever the host does better, less than a tenth
 *                  can be gained, and half as long tasks would gain near a half; or nothing else weighs more
 *                  than the noise
 *   unknown        more than half of the idle time is unknown
 *   the heaviest   of the others
 *
 * Without a device's tasks the threads that the job goes by take the device's place (host_waits.h): what they waited
 * for belongs to states in the same way, by its roots. What they did on a CPU themselves is
 *
 *   data       as far as it was in fetches, if the loader makes its batches in the thread that fetches
 *   host_code  if they submit work to a device, which could be busier
 *   no cost    else: it is what the job is there for. So is waiting for threads of the same process that are on a
 *              CPU in the program's own code, if it is less than what they are waited for by are on one
 *              themselves: they share the work
 *
 * Then: unknown as above; unknown, too, if they waited for most of the time for events that did not come (epoll, poll
 * or select that ended by their time limit) and did nothing themselves: an idle server does that, and so does what hangs; what the pipeline's own rules find of CPUs and locks (bottleneck.h); device where device_bounds.h
 * has it busy for VERDICT_BUSY_PERCENT or more; unknown if more than half of the waiting is, and
 * that is more than noise; healthy if nothing weighs VERDICT_NOISE_PERCENT or more, or the work VERDICT_BUSY_PERCENT; else the
 * heaviest. Without records of what threads did only steps of a data pipeline tell something.
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

#define VERDICT_NOISE_PERCENT 3 /* a trace can be off by that: what costs less is no finding */
#define VERDICT_TOLD_PERCENT 1 /* of a device file's time; tasks that lie in less of it say nothing of the job */
#define VERDICT_BUSY_PERCENT 90
#define VERDICT_COPIES_PERCENT 20 /* of its time; a device that only copies for longer is not healthy */

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

/* What it would take to know. */
enum verdict_lack {
	VERDICT_LACK_NONE = 0,
	VERDICT_LACK_RECORDS, /* of @source too many are lost, or parts of the file */
	VERDICT_LACK_TRACE, /* there are device files alone: the host was not recorded */
	VERDICT_LACK_STREAM, /* neither tasks of a device nor steps */
	VERDICT_LACK_STEPS, /* no tasks of a device, and the steps that there are do not wait for data */
	VERDICT_LACK_SCHED, /* topic sched was not recorded */
	VERDICT_LACK_LAUNCHES, /* no launching call was matched with its task */
	VERDICT_LACK_PROCESS, /* the job waited for a process that was not traced */
	VERDICT_LACK_THREAD, /* those asked for are not in the recording */
	VERDICT_LACK_SWITCHES, /* none of the job's threads went to sleep or woke up */
	VERDICT_LACK_KERNELS, /* work of a device is told as a whole, not the kernels in it */
	VERDICT_LACK_TASKS, /* a device file's tasks lie in a small part of its time: @percent */
	VERDICT_LACK_EVENTS, /* the threads looked at have nothing to do, or hang: no event came */
	VERDICT_LACK_ROOTS, /* records do not say: see how the walks ended */
};

struct verdict {
	uint8_t state; /* enum verdict_state */
	uint8_t of; /* enum verdict_of */
	uint8_t lack; /* enum verdict_lack; with VERDICT_UNKNOWN */
	bool by_threads; /* judged by what threads waited for, not by a device's tasks */
	bool has_percent;
	bool busy; /* VERDICT_DEVICE: percent is how busy it was, not how long it was waited for */
	double own_percent; /* by_threads: on a CPU, doing the job's work */
	/* What the state costs; busy and VERDICT_HEALTHY: how busy devices were; VERDICT_UNKNOWN: how idle, or what the lack says. */
	double percent;
	double gain_percent; /* at most, if all of it went away; 0 = not known */
	double idle_percent; /* of devices */
	double copies_percent; /* the same: they copied, and did nothing else */
	bool at_least; /* of one it is told what it did as a whole: it may have been idle in that, too */
	double wait_percent; /* of the steps' time in fetches; negative: there are no steps */
	struct idle_verdict
		idle; /* the heaviest kind of cause within the state; most is NULL if there is none */
	const struct idle_roots *roots; /* among which idle.most is */
	uint64_t
		roots_of_ns; /* of which their time is a share: device time, step time or wall time */
	uint32_t pipeline; /* row of steps->pipelines that holds things up, or INDEX_NONE */
	uint32_t op; /* of it: index into its operators, or INDEX_NONE */
	uint32_t straggler; /* VERDICT_COMMUNICATION: device that is waited for, or INDEX_NONE */
	struct straggler why; /* VERDICT_COMMUNICATION: what is different on it */
	uint32_t source; /* VERDICT_LACK_RECORDS: index into model->sources, or INDEX_NONE */
	uint64_t lost; /* records, of all sources */
};

/* What it is judged by. None is NULL but @capture and @waits, which may be. */
struct verdict_facts {
	const struct capture_results *capture;
	const struct device_results *devices;
	const struct step_results *steps;
	const struct host_waits *waits;
	const struct advice_results *advice; /* its bottlenecks: one per row of steps->pipelines */
};

/*
 * verdict_find - judge
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
