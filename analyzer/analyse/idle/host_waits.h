/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_waits.h - what the threads waited for that a job goes by, where no device tells its tasks.
 *
 * They take the device's place (idle.h): their waiting is followed to its end (root_walk.h), and so is told what
 * they did on a CPU themselves. Both add up to the time looked at, to the nanosecond. Whose time it is:
 *
 *   asked      the threads that the user named
 *   launches   those that submit work to devices: some calls each, and a share of its process's (launch_counts.h)
 *   fetches    the one that fetches batches, in the steps that are judged (steps.h)
 *   main       the main threads of the traced processes that no other traced process started
 *   busiest    where main threads do nothing but sleep on their own account: the thread that was on a CPU,
 *              or ready for one, most
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_HOST_WAITS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_HOST_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/idle/device_bounds.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/model/model.h"

enum waits_why {
	WAITS_OF_NONE = 0,
	WAITS_OF_ASKED,
	WAITS_OF_LAUNCHES,
	WAITS_OF_FETCHES,
	WAITS_OF_MAIN,
	WAITS_OF_BUSIEST
};

struct host_waits {
	uint32_t *threads; /* indices into model->threads */
	uint32_t thread_count; /* 0: nothing is known of any, of those asked for neither */
	uint8_t why; /* enum waits_why */
	bool of_steps; /* in the judged steps only */
	bool away; /* main threads that do nothing but sleep, and nobody else has a CPU */
	uint64_t from_ns; /* the time looked at */
	uint64_t to_ns;
	uint64_t window_ns; /* ... of all of them together */
	struct idle_roots waits; /* not on a CPU: total_ns, gaps and so on */
	struct idle_roots own; /* on one */
	struct device_bounds bounds; /* how busy the device was */
};

/*
 * host_waits_analyse - find them, and what they waited for
 *
 * Needs timelines and frames with names. Nothing is found without records of switches. Returns 0 or
 * -ENOMEM; in both cases host_waits_free() is to be called.
 */
int host_waits_analyse(struct model *model, const struct analysis_options *options,
		       const struct step_results *steps, struct host_waits *waits);
void host_waits_free(struct host_waits *waits);

/* host_waits_tools - what host_waits_with() needs, for several times; false without memory, then too host_waits_tools_free() */
bool host_waits_tools(const struct model *model, struct idle_tools *tools);
void host_waits_tools_free(struct idle_tools *tools);
int host_waits_with(struct model *model, const struct idle_tools *tools,
		    const struct analysis_options *options, const struct step_results *steps,
		    struct host_waits *waits);

/* "asked", "launches", "fetches", "main", "busiest". Static text. */
const char *waits_why_name(uint8_t why);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_HOST_WAITS_H */
