/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_places.h - converts addresses in a process or the kernel to frames.
 *
 * An address is looked up while the process lives: its file and the offset in it (the
 * analyzer reads the symbols later), or, for generated code, its name in the process'
 * own perf map (/tmp/perf-PID.map in its mount and pid namespace), which disappears
 * with the process. An unknown address becomes a frame without file and name.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_PLACES_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"
#include "daemon/profbpfd/stacks/stack_table.h"
#include "lib/elf/address_names.h"

struct stack_places;

/*
 * stack_places_new - @kernel has the kernel's symbols; NULL: they are unknown
 *
 * @shared: they are older than some of the running BPF programs, so BPF programs are not named individually.
 * @table and @kernel must outlive it. NULL without memory.
 */
struct stack_places *stack_places_new(struct stack_table *table, const struct address_names *kernel,
				      bool shared);

/* stack_places_limit - only for processes that @right, which the caller keeps, allows to look into */
void stack_places_limit(struct stack_places *places, const struct right *right);

/* stack_places_watch - @read is called each time the mappings of a process have been read */
void stack_places_watch(struct stack_places *places, void (*read)(void *context, pid_t pid), void *context);

/* stack_places_knows - was an address of the process looked up? */
bool stack_places_knows(struct stack_places *places, pid_t pid);

void stack_places_free(struct stack_places *places);

/* stack_places_kernel_known - are the kernel's symbols known? */
bool stack_places_kernel_known(const struct stack_places *places);

/*
 * stack_places_user - the frame of an address of process @pid at @ts_ns
 *
 * The process' mappings are read again if they do not contain the address and may have
 * changed, at most every 100 ms (by @now_ns, CLOCK_MONOTONIC), and less often if that takes long.
 */
uint32_t stack_places_user(struct stack_places *places, pid_t pid, uint64_t address,
			   uint64_t now_ns);
uint32_t stack_places_kernel(struct stack_places *places, uint64_t address);

/*
 * stack_places_told - from now on stack_places_mapped() reports new mappings
 *
 * Without this, mappings may have changed whenever an address is in none. Programs without
 * frame pointers have many such addresses.
 */
void stack_places_told(struct stack_places *places);

/* stack_places_mapped - a process has mapped code at @ts_ns, of a file or its own; perhaps told before stack_places_began() */
void stack_places_mapped(struct stack_places *places, pid_t pid, uint64_t ts_ns);

/*
 * stack_places_began - at @ts_ns, by CLOCK_MONOTONIC, a process has begun: as a copy of @parent, or with @parent 0 another program
 *
 * Forgets what was read of it before that; returns false if everything was read later, because records of several CPUs
 * come in no order. A copy that ends before its own mappings are read has those of its parent, if new mappings are
 * reported (stack_places_told()), unless one of them has begun another program or mapped code since then, or another
 * process has the parent's id. Which of these is reported first makes no difference.
 */
bool stack_places_began(struct stack_places *places, pid_t pid, pid_t parent, uint64_t ts_ns);

/* stack_places_owner - the user of the process; (uid_t)-1: it was gone before the first call */
uid_t stack_places_owner(struct stack_places *places, pid_t pid);

/* stack_places_ended - a process has ended at @ts_ns: forgets it, or returns false if one that began later has its id */
bool stack_places_ended(struct stack_places *places, pid_t pid, uint64_t ts_ns);

/* stack_places_forget - forgets all that is known of a process */
void stack_places_forget(struct stack_places *places, pid_t pid);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_STACK_PLACES_H */
