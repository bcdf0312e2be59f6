/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_places.h - the instructions of a file that are probed: entries of functions, and exits.
 *
 * The way in which the end of a call is seen is chosen for each function. Functions that the catalog vouches
 * for (plain) get a return probe, which writes into the caller's stack: only on kernels that can skip it for
 * single calls, and not in processes that move stacks. Other functions are probed at the instructions that
 * return or jump to other functions. If these cannot all be found, only the entry is probed.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_PLACES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/session_maps.h"
#include "daemon/common/end_way.h"
#include "daemon/profbpfd/probe/hot_functions.h"
#include "daemon/profbpfd/probe/probe_link.h"

/* A place that is probed to see the ends of calls. */
struct exit_place {
	uint64_t offset; /* in the file */
	uint64_t cookie; /* events.h: PLACE_* */
	struct exit_conf conf; /* for PLACE_JUMP_INDIRECT */
	bool moved_only; /* exit of a function with a return probe: only for processes that move stacks */
	bool tail; /* exit of a tail jump's target: probed in the processes in which the jump was seen */
	bool at_entry; /* the entry probe of a function is at the same place and serves both */
	bool dropped; /* hit too often, so not probed any more */
	bool everywhere; /* target of a tail jump, probed in every process that maps the file */
};

struct file_places {
	struct exit_place *exits; /* by ascending offset, each once */
	size_t exit_count;
	enum end_way *ways; /* one per function */
	uint32_t first_exit; /* number of the first exit */
};

/*
 * file_places_find - the exits of a file's functions, numbered from @first_exit on
 *
 * Functions whose exits would get numbers above EXITS_MAX are END_UNSEEN. Returns 0 or -ENOMEM.
 */
int file_places_find(struct file_places *places, const struct probed_file *file, bool return_probes,
		     uint32_t first_exit);

/*
 * file_places_add - adds the exits of a tail jump's target
 *
 * Returns the number of new places, or a negative errno (-E2BIG: no numbers left).
 */
int file_places_add(struct file_places *places, const struct function_exits *exits,
		    uint32_t first_exit);

/* file_places_depend_on_stacks - are different places probed in processes that move stacks? */
bool file_places_depend_on_stacks(const struct file_places *places);

/* file_places_at - the exit at a place in the file, or NULL */
const struct exit_place *file_places_at(const struct file_places *places, uint64_t offset);

/*
 * file_places_drop - leaves out the exits that only hot functions use, and no others
 *
 * @hot: one per function; may be changed again.
 */
void file_places_drop(struct file_places *places, const struct probed_file *file,
		      const struct hot_function *hot);

/* The points to attach: parallel arrays, which this structure owns. */
struct place_points {
	struct link_points points;
	size_t *entry_function, *return_function; /* index of each entry's function */
};

/*
 * file_places_select - the places to probe in a process, or in all that map the file
 *
 * @cookies: the functions' probe numbers. @moved: the process moves stacks. Returns 0 or -ENOMEM; free
 * with place_points_free() in either case.
 */
int file_places_select(const struct file_places *places, const struct probed_file *file,
		       const uint64_t *cookies, bool moved, struct place_points *selected);
void place_points_free(struct place_points *selected);

void file_places_free(struct file_places *places);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_PLACES_H */
