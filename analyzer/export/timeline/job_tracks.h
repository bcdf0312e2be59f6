/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_tracks.h - what analyses found of a job, for timelines.
 *
 *   of a process that fetches data   "Steps" ("Step 3", with the operator that bounded it), "Data waits", and a counter for
 *                                    each queue of its pipeline: how many elements were in it
 *   of a thread                      "Python functions": from one look at its frames to the next, where both saw them
 *   of a device, or of the threads that take its place (host_waits.h)
 *                                    "Waits, by root": what held it up, at the end of all waiting; stretches of
 *                                    JOB_ROOT_MIN_NS and more
 *   of a thread on the way there     "Held others up": what it was in meanwhile, with an arrow from each that held
 *                                    up to the one that it held up, from the root on
 *
 * What is not known is not there.
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
#define JOB_LOOKS_MAX_NS 200000000 /* between two looks at a thread; longer: nothing is known of the time between */
#define JOB_FIRST_FLOW ((uint64_t)1 << 40) /* numbers below are those of device tasks (export_flows.h) */

enum job_owner { JOB_OF_PROCESS, JOB_OF_THREAD, JOB_OF_DEVICE };

struct job_track {
	uint8_t owner; /* enum job_owner */
	uint32_t index; /* of it in the model */
	uint32_t name; /* of job_tracks.texts, as all names here */
	uint32_t group; /* what it is shown under; 0 = its owner */
	const char *category;
	const char *description;
	const char *unit; /* of a counter, else NULL */
};

struct job_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t flow_from; /* number of the arrow that begins here, 0 = none */
	uint64_t flow_to; /* ... that ends here */
	uint32_t track;
	uint32_t name;
	uint32_t who, detail, object; /* 0 = none */
	uint32_t depth; /* of those that begin and end together the lesser one is around the other */
	bool open; /* goes on */
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
	/* Of each track by start, outer ones first; a slice with an arrow comes before the one that it leads to. */
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
 * job_tracks_build - all of them, of what @options ask for
 *
 * @chosen: wanted threads. Returns 0 or -ENOMEM; in both cases job_tracks_free() is to be called.
 */
int job_tracks_build(const struct model *model, const struct results *results,
		     const struct export_options *options, const struct export_window *window,
		     const bool *chosen, struct job_tracks *tracks);
void job_tracks_free(struct job_tracks *tracks);

/* For the parts below: a new track; its index, or INDEX_NONE without memory. @name is copied. */
uint32_t job_track_add(struct job_tracks *tracks, const char *name, struct job_track track);
/* ... the track of a thread of one kind (its name), made when it is first asked for. */
uint32_t job_thread_track(struct job_tracks *tracks, uint32_t kind, uint32_t thread,
			  const char *name, const char *category, const char *description);
uint32_t job_text(struct job_tracks *tracks, const char *text);

/* The parts. 0 or -ENOMEM. */
int job_add_pipelines(struct job_tracks *tracks);
int job_add_python(struct job_tracks *tracks);
int job_add_roots(struct job_tracks *tracks);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_JOB_TRACKS_H */
