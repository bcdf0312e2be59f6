/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_topic.h - topic stack: from records with addresses to rows for the writer.
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
 * stacks_new - @rate is what the samples are taken at; NULL without memory
 *
 * @kernel has the kernel's symbols, and must outlive it. Of @capture the lock addresses of interpreters are made known to the programs;
 * @warn is called with what the user should know.
 */
struct stacks *stacks_new(struct item_queue *queue, uint32_t rate, struct capture *capture,
			  struct kernel_names *kernel,
			  void (*warn)(void *context, const char *text), void *context);
/* stacks_limit - look only into processes into which @right, which stays the caller's, allows to */
void stacks_limit(struct stacks *stacks, const struct right *right);

/* stacks_unwind - have user stacks walked by tables; @unwinding has begun, and stays the caller's */
void stacks_unwind(struct stacks *stacks, struct unwinder_session *unwinding);

/*
 * stacks_bound - different stacks of all processes take @bytes at most (stack_table_bytes())
 *
 * For sessions that repeat them again and again. Each owner of processes has a share of that (table_shares.h), an owner to whom
 * the session is limited all of it. What is beyond has no stack; @warn tells whose, once.
 */
void stacks_bound(struct stacks *stacks, uint64_t bytes);

/* stacks_left_out - rows whose stack there was no room for */
uint64_t stacks_left_out(const struct stacks *stacks);

void stacks_free(struct stacks *stacks);

/* stacks_set_rate - what samples are taken at from now on; those before must have been passed on */
void stacks_set_rate(struct stacks *stacks, uint32_t rate);

/* stacks_warning - what the user should know of these stacks, or NULL */
const char *stacks_warning(const struct stacks *stacks);

/* stacks_take - one record of the rings, REC_STACK; @now_ns is CLOCK_MONOTONIC */
void stacks_take(struct stacks *stacks, const struct rec_stack *record, uint64_t now_ns);

/* stacks_pass - after each drain: hand a full batch to the writer, or any if @flush */
void stacks_pass(struct stacks *stacks, bool flush);

/* stacks_look - are there interpreters among the targets? stacks_interpreters - where are their threads? */
void stacks_look(struct stacks *stacks);
void stacks_interpreters(struct stacks *stacks, uint64_t now_ns);

/* stacks_next_look - when stacks_interpreters() is to be called at the latest; UINT64_MAX: nothing to look at */
uint64_t stacks_next_look(const struct stacks *stacks);

/* stacks_made - rows that do not come from the rings */
uint64_t stacks_made(const struct stacks *stacks);

/* stacks_told, stacks_mapped - as stack_places_told() and stack_places_mapped() */
void stacks_told(struct stacks *stacks);
void stacks_mapped(struct stacks *stacks, pid_t pid);

/* stacks_forget - a process has begun another program, or ended */
void stacks_forget(struct stacks *stacks, pid_t pid);

/* stacks_dropped - records dropped because the writer is too slow, or without memory */
uint64_t stacks_dropped(const struct stacks *stacks);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_TOPIC_H */
