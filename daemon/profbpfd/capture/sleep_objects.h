/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleep_objects.h - numbers the objects that threads wait for, so that each switch refers to
 * one by a small number, and finds the names of files and the peers of sockets.
 *
 * Id 0 is "none or unknown". Ids count up from 1 in each segment.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_SLEEP_OBJECTS_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_SLEEP_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/events.h"
#include "lib/base/strings.h"
#include "proto/trace.pb-c.h"

#define SLEEP_OBJECTS_MAX 65536 /* per segment; further objects have id 0 */

struct sleep_objects;

/* sleep_objects_new - no objects yet, or NULL without memory; sleep_objects_free() accepts NULL */
struct sleep_objects *sleep_objects_new(void);
void sleep_objects_free(struct sleep_objects *objects);

/*
 * sleep_objects_add - the id of the object that the previous thread of @r waits for
 *
 * A new file is looked up under /proc/TID; its path is added to @strings.
 */
uint32_t sleep_objects_add(struct sleep_objects *objects, const struct rec_switch *r,
			   struct string_table *strings);

/* sleep_objects_add_ready - the same for the file that became ready and caused the wake-up @r */
uint32_t sleep_objects_add_ready(struct sleep_objects *objects, const struct rec_wake *r,
				 struct string_table *strings);

/*
 * sleep_objects_take - the objects that were added since the last call
 *
 * Returns false if there are none. @message points into @objects and is valid
 * until the next call of any of these functions.
 */
bool sleep_objects_take(struct sleep_objects *objects, Profbpf__SleepObjects *message);

/* sleep_objects_clear - forget all: a segment begins */
void sleep_objects_clear(struct sleep_objects *objects);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_SLEEP_OBJECTS_H */
