/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue.h - work that takes too long for the control loop, in a fair order.
 *
 * Two threads work: one for everybody, the other for the trusted alone, so that these never
 * wait for what an ordinary user asked for, not even for what is being worked on. The first
 * takes the trusted's jobs before others', then a job of the user who was served longest ago:
 * who asks for much waits for themselves. How much may wait is limited.
 *
 * All functions are for the control loop's thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_JOB_QUEUE_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_JOB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JOB_QUEUE_PER_USER 8 /* jobs of an ordinary user that are not done */
#define JOB_QUEUE_MAX 64 /* of all ordinary users; those of the trusted are not counted */

/* The first member of what is to be done. */
struct job {
	void (*work)(struct job *job); /* on a thread of the queue */
	uid_t user;
	bool trusted;
	struct job *next; /* the queue's */
};

struct job_queue;

/* job_queue_new - its threads start now; NULL without memory, descriptors or threads */
struct job_queue *job_queue_new(void);

/* job_queue_fd - readable when there is something for job_queue_done() */
int job_queue_fd(const struct job_queue *queue);

/*
 * job_queue_add - have a job done
 *
 * Returns 0, then the job is the queue's until job_queue_done() gives it back, or -EBUSY if its
 * user has JOB_QUEUE_PER_USER already, -EAGAIN if there are JOB_QUEUE_MAX.
 */
int job_queue_add(struct job_queue *queue, struct job *job);

/* job_queue_done - the next job that was done, NULL if there is none (the descriptor is not readable then) */
struct job *job_queue_done(struct job_queue *queue);

/*
 * job_queue_free - end the threads when they have done what they are at
 *
 * What was not begun or not given back is handed to @drop. NULL is fine.
 */
void job_queue_free(struct job_queue *queue, void (*drop)(struct job *job));

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_JOB_QUEUE_H */
