/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_topic.h - topic stack: converts records with addresses to rows for the writer.
 *
 * Used by a session's reader thread only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_TOPIC_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_TOPIC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"
#include "bpf/events.h"
#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/session/item.h"

struct kernel_names;
struct unwinder_session;
struct stacks;

/*
 * stacks_new - @rate is the sampling rate; NULL without memory
 *
 * @kernel has the kernel's symbols, and must outlive it. The lock addresses of interpreters are passed to the programs of
 * @capture; @warn is called with warnings for the user.
 */
struct stacks *stacks_new(struct item_queue *queue, uint32_t rate, struct capture *capture,
			  struct kernel_names *kernel,
			  void (*warn)(void *context, const char *text), void *context);
/* stacks_limit - reads only processes that @right, which the caller keeps, allows to look into */
void stacks_limit(struct stacks *stacks, const struct right *right);

/* stacks_unwind - user stacks are walked by tables; @unwinding has begun, and the caller keeps it */
void stacks_unwind(struct stacks *stacks, struct unwinder_session *unwinding);

/*
 * stacks_bound - limits the distinct stacks of all processes to @bytes (stack_table_bytes())
 *
 * For sessions that repeat them in each segment. Each owner of processes has a share of it (table_shares.h); the owner whom a
 * session is limited to has all of it. Rows beyond that have no stack; @warn names the owner, once.
 */
void stacks_bound(struct stacks *stacks, uint64_t bytes);

/* stacks_left_out - the number of rows without a stack for lack of room */
uint64_t stacks_left_out(const struct stacks *stacks);

void stacks_free(struct stacks *stacks);

/* stacks_set_rate - changes the sampling rate; earlier samples must have been queued before */
void stacks_set_rate(struct stacks *stacks, uint32_t rate);

/* stacks_warning - a warning about these stacks for the user, or NULL */
const char *stacks_warning(const struct stacks *stacks);

/* stacks_take - takes one record of the rings, REC_STACK; @now_ns is CLOCK_MONOTONIC */
void stacks_take(struct stacks *stacks, const struct rec_stack *record, uint64_t now_ns);

/* stacks_pass - to be called after each drain: queues a full batch for the writer, or any batch if @flush */
void stacks_pass(struct stacks *stacks, bool flush);

/* stacks_look - checks targets for interpreters; stacks_interpreters - samples the stacks of their threads */
void stacks_look(struct stacks *stacks);
void stacks_interpreters(struct stacks *stacks, uint64_t now_ns);

/* stacks_next_look - the time of the next call of stacks_interpreters(); UINT64_MAX: there are no interpreters */
uint64_t stacks_next_look(const struct stacks *stacks);

/* stacks_made - the number of rows that are not from the rings */
uint64_t stacks_made(const struct stacks *stacks);

/* stacks_told, stacks_mapped - as stack_places_told() and stack_places_mapped() */
void stacks_told(struct stacks *stacks);
void stacks_mapped(struct stacks *stacks, pid_t pid, uint64_t ts_ns);

/* stacks_began, stacks_ended, stacks_forget - as stack_places_began(), stack_places_ended() and stack_places_forget() */
void stacks_began(struct stacks *stacks, pid_t pid, pid_t parent, uint64_t ts_ns);
void stacks_ended(struct stacks *stacks, pid_t pid, uint64_t ts_ns);
void stacks_forget(struct stacks *stacks, pid_t pid);

/* stacks_dropped - the number of records dropped because the writer is too slow, or without memory */
uint64_t stacks_dropped(const struct stacks *stacks);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_TOPIC_H */
