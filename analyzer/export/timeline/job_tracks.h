/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_tracks.h - results of analyses about a job, for timelines.
 *
 *   of a process that fetches data   "Steps" ("Step 3", with the operator that bounded it), "Data waits", and a counter for
 *                                    each queue of its pipeline: the number of elements in it
 *   of a thread                      "Python functions": from one sample of its frames to the next, if both contain them
 *   of a device, or of the threads that take its place (host_waits.h)
 *                                    "Waits, by root": the root of its waits; stretches of JOB_ROOT_MIN_NS
 *                                    and more
 *   of a thread on the chain to it   "Held others up": the thread's own state meanwhile, with arrows along the
 *                                    chain, from the root on
 *
 * Unknown things are left out.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_JOB_TRACKS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_JOB_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/export/export_filter.h"
#include "analyzer/model/model.h"
#include "lib/base/map.h"
#include "lib/base/strings.h"

struct results;

#define JOB_ROOT_MIN_NS 100000 /* shorter stretches have no slices of their own */
#define JOB_LOOKS_MAX_NS 200000000 /* the longest time between two samples of a thread that are connected */
#define JOB_FIRST_FLOW ((uint64_t)1 << 40) /* smaller numbers belong to device tasks (export_flows.h) */

enum job_owner { JOB_OF_PROCESS, JOB_OF_THREAD, JOB_OF_DEVICE };

struct job_track {
	uint8_t owner; /* enum job_owner */
	uint32_t index; /* the owner's index in the model */
	uint32_t name; /* index into job_tracks.texts, as all names here */
	uint32_t group; /* name of the parent track; 0 = its owner */
	const char *category;
	const char *description;
	const char *unit; /* unit of a counter, otherwise NULL */
};

struct job_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t flow_from; /* number of the arrow that begins here, 0 = none */
	uint64_t flow_to; /* ... that ends here */
	uint32_t track;
	uint32_t name;
	uint32_t who, detail, object; /* 0 = none */
	uint32_t depth; /* of slices with equal bounds the one with the smaller depth is the outer one */
	bool open; /* it had not ended */
};

/* A counter's value from an instant on. */
struct job_point {
	uint64_t ns;
	int64_t value;
	uint32_t track;
};

struct job_tracks {
	struct string_table *texts;
	MODEL_ARRAY(struct job_track) tracks;
	/* By track and start, outer slices first; the source of an arrow comes before its target. */
	MODEL_ARRAY(struct job_slice) slices;
	MODEL_ARRAY(struct job_point) points; /* by track and time */
	uint64_t flows; /* numbers given out */
	/* private */
	const struct model *model;
	const struct results *results;
	const struct export_options *options;
	const struct export_window *window;
	const bool *chosen; /* by thread */
	struct map thread_tracks; /* (kind, thread) -> track */
};

/*
 * job_tracks_build - builds the tracks that @options select
 *
 * @chosen: the requested threads. Returns 0 or -ENOMEM; call job_tracks_free() in either case.
 */
int job_tracks_build(const struct model *model, const struct results *results,
		     const struct export_options *options, const struct export_window *window,
		     const bool *chosen, struct job_tracks *tracks);
void job_tracks_free(struct job_tracks *tracks);

/* For the parts below: a new track; its index, or INDEX_NONE without memory. @name is copied. */
uint32_t job_track_add(struct job_tracks *tracks, const char *name, struct job_track track);
/* The track of one kind (its name) of a thread; made at the first call. */
uint32_t job_thread_track(struct job_tracks *tracks, uint32_t kind, uint32_t thread,
			  const char *name, const char *category, const char *description);
uint32_t job_text(struct job_tracks *tracks, const char *text);

/* The parts. 0 or -ENOMEM. */
int job_add_pipelines(struct job_tracks *tracks);
int job_add_python(struct job_tracks *tracks);
int job_add_roots(struct job_tracks *tracks);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_JOB_TRACKS_H */
