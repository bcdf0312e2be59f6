/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue.h - a queue for work that takes too long for the control loop, in fair order.
 *
 * There are two threads: one for all users, the other for trusted users only, so that these never wait for a job
 * of an ordinary user, not even for the current one. The first thread takes jobs of trusted users first, then a job
 * of the user who was served longest ago, so that a user with many requests delays only their own. The length of
 * the queue is limited.
 *
 * All functions are for the control loop's thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_JOB_QUEUE_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_JOB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JOB_QUEUE_PER_USER 8 /* unfinished jobs of an ordinary user */
#define JOB_QUEUE_MAX 64 /* waiting jobs of all ordinary users; jobs of trusted users are not counted */

/* The first member of a structure that describes a job. */
struct job {
	void (*work)(struct job *job); /* on a thread of the queue */
	uid_t user;
	bool trusted;
	struct job *next; /* used by the queue */
};

struct job_queue;

/* job_queue_new - its threads start now; NULL without memory, descriptors or threads */
struct job_queue *job_queue_new(void);

/* job_queue_fd - readable when job_queue_done() has jobs */
int job_queue_fd(const struct job_queue *queue);

/*
 * job_queue_add - queues a job
 *
 * Returns 0, then the queue owns the job until job_queue_done() returns it, or -EBUSY if its
 * user has JOB_QUEUE_PER_USER already, -EAGAIN if there are JOB_QUEUE_MAX.
 */
int job_queue_add(struct job_queue *queue, struct job *job);

/* job_queue_done - the next finished job; NULL if there is none (and resets the descriptor) */
struct job *job_queue_done(struct job_queue *queue);

/*
 * job_queue_free - ends the threads when they have finished their current jobs
 *
 * Calls @drop for jobs that were not started or not returned. @queue may be NULL.
 */
void job_queue_free(struct job_queue *queue, void (*drop)(struct job *job));

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_JOB_QUEUE_H */
