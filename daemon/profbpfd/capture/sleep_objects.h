/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleep_objects.h - numbers what threads wait for, so that each switch names it
 * by one small number, and finds the names of files and the peers of sockets.
 *
 * Id 0 is "nothing, or not known". Ids count up from 1 in each segment.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_SLEEP_OBJECTS_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_SLEEP_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/events.h"
#include "lib/base/strings.h"
#include "proto/trace.pb-c.h"

#define SLEEP_OBJECTS_MAX 65536 /* in a segment; further ones have id 0 */

struct sleep_objects;

/* sleep_objects_new - no objects yet, or NULL without memory; sleep_objects_free() accepts NULL */
struct sleep_objects *sleep_objects_new(void);
void sleep_objects_free(struct sleep_objects *objects);

/*
 * sleep_objects_add - the id of what the previous thread of @r waits for
 *
 * A file that is new is looked for under /proc/TID; its path is added to @strings.
 */
uint32_t sleep_objects_add(struct sleep_objects *objects, const struct rec_switch *r,
			   struct string_table *strings);

/* sleep_objects_add_ready - the same of the file that was ready, of those for which the thread that @r woke slept */
uint32_t sleep_objects_add_ready(struct sleep_objects *objects, const struct rec_wake *r,
				 struct string_table *strings);

/*
 * sleep_objects_take - what was added since the last time
 *
 * Returns false if that is nothing. @message points into @objects and is valid
 * until the next call of any of these functions.
 */
bool sleep_objects_take(struct sleep_objects *objects, Profbpf__SleepObjects *message);

/* sleep_objects_clear - forget all: a segment begins */
void sleep_objects_clear(struct sleep_objects *objects);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_SLEEP_OBJECTS_H */
