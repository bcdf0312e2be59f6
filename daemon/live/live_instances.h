/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_instances.h - assigns iterators of tf.data to the data sets of their process, live.
 *
 * By the report's rules (analyzer/frameworks/tf_loaders.c): data sets of the same structure have equal paths, but each call has the
 * iterator's address and that of its parent iterator, 0 for the outermost one; the trainer's call around that one has
 * the resource that holds the iterators, and the call that filled the resource, once per epoch, has the data set. A data
 * set from before the recording is recognised at its next epoch: it is the first one of the same structure that has ended.
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_INSTANCES_H
#define PROFBPF_DAEMON_LIVE_LIVE_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* live_plain_path - a path without the numbers of a loop's turns ("FiniteRepeat[3]"); false if it is too long */
bool live_plain_path(const char *path, char *plain, size_t size);

/* live_last_name - where the last name of a path begins */
const char *live_last_name(const char *path);

struct live_instances;

/* live_instances_new - empty; NULL without memory. live_instances_free() accepts NULL. */
struct live_instances *live_instances_new(void);
void live_instances_free(struct live_instances *instances);

/* live_instances_asked - iterator @handle gave thread @tid of @pid an element for the iterator @parent; 0: it is the outermost one */
void live_instances_asked(struct live_instances *instances, uint32_t pid, uint32_t tid,
			 uint64_t handle, uint64_t parent);

/* live_instances_fetched - the trainer got a batch of @resource, by the outermost iterator that the thread has asked last */
void live_instances_fetched(struct live_instances *instances, uint32_t pid, uint32_t tid,
			   uint64_t resource);

/* live_instances_filled - @resource holds iterators over the data set at @data from now on */
void live_instances_filled(struct live_instances *instances, uint32_t pid, uint64_t resource,
			  uint64_t data);

/* live_instances_made - the structure of its data set: @path is the number of an iterator's path, @length the path's length */
void live_instances_made(struct live_instances *instances, uint32_t pid, uint64_t handle,
			uint32_t path, uint32_t length);

/*
 * live_instances_of - the number of the data set of an iterator, from 1 in each process; 0 = unknown
 *
 * @begin_ns and @end_ns are those of a call of the iterator. All earlier calls must have been passed.
 */
uint32_t live_instances_of(struct live_instances *instances, uint32_t pid, uint64_t handle,
			  uint64_t begin_ns, uint64_t end_ns);

/* live_instances_gone - a process has ended: its data sets are forgotten */
void live_instances_gone(struct live_instances *instances, uint32_t pid);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_INSTANCES_H */
