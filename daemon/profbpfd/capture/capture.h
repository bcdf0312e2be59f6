/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - the BPF programs of one session: load them, give them rings and
 * targets, switch them on, ask for snapshots, read their counters.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_CAPTURE_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "bpf/session_maps.h"
#include "daemon/profbpfd/capture/features.h"

#define CAPTURE_BUFFER_DEFAULT (64ull << 20) /* all rings together */
#define CAPTURE_BUFFER_FURTHER (4ull << 20) /* the same of sessions beside another one, and of a flight recorder's */
/*
 * ... on a machine of so few threads that what is read of all of them fits in at once. Then whatever else the session
 * has of the machine's memory is small, too.
 */
#define CAPTURE_BUFFER_SMALL (1ull << 20)
#define CAPTURE_SMALL_THREADS 1000
#define CAPTURE_RING_MIN (256u << 10) /* one ring */
#define CAPTURE_RING_MAX (64u << 20)

struct bpf_link;
struct capture;
struct gate;
struct unwinder_session;

struct capture_options {
	bool system_wide;
	bool follow;
	uid_t owner; /* the ordinary user whose processes alone are recorded; (uid_t)-1 = all may be */
	gid_t owner_group; /* that user's group */
	bool cpu_cgroup_v1; /* cgroups_version1() */
	uint64_t min_duration_ns;
	uint64_t buffer_bytes; /* 0 = CAPTURE_BUFFER_DEFAULT */
	unsigned int topics; /* TOPIC_* */
	bool ioctls_later; /* hooks that others pay for wait for capture_hook_ioctls() */
	uint64_t stack_block_ns; /* topic stack: shorter sleeps leave no stack */
	uint64_t targets_max;	/* processes at a time; 0 = as many as the table holds */
	struct gate *gate; /* of the daemon, outlives the capture; NULL = attached to the scheduler without it */
	struct unwinder_session *unwinding; /* outlives the capture; NULL = stacks are walked by frame pointers */
};

/*
 * capture_find_types - the kernel's types that the programs mention, for features.types: once per daemon
 *
 * Returns 0, then @types is the caller's to free, or a negative errno: sessions start without, slower.
 */
int capture_find_types(struct mentioned_types *types);

/*
 * capture_new - load the programs, nothing attached yet
 *
 * Returns NULL with a message for the user in @error.
 */
struct capture *capture_new(const struct capture_options *options, const struct features *features,
			    char *error, size_t error_size);

/* capture_free - detach everything and unload; NULL is fine */
void capture_free(struct capture *capture);

/*
 * capture_attach_exits - see threads that exit, to add up the calls that they counted
 *
 * Needed, with topic api, before the first probe in anybody else. Returns 0, or a negative
 * errno and @error.
 */
int capture_attach_exits(struct capture *capture, char *error, size_t size);

/*
 * capture_attach - attach the tracepoint programs of the wanted topics
 *
 * Nothing is recorded before there are targets. Returns 0 or a negative errno
 * with a message; @warning (of the same size) is set when something optional is
 * missing.
 */
int capture_attach(struct capture *capture, char *error, char *warning, size_t size);

/* capture_python_lock - what the threads of a process wait on for its interpreter's lock; NULL: nothing */
void capture_python_lock(struct capture *capture, pid_t pid, const struct python_range *range);

/* capture_python_layout - where a process that runs CPython has its threads' functions; NULL: it is none any more */
void capture_python_layout(struct capture *capture, pid_t pid, const struct python_layout *layout);

/* capture_python_state - the address of a thread's PyThreadState, by its pthread_t; 0: it has none any more */
void capture_python_state(struct capture *capture, pid_t pid, uint64_t thread, uint64_t state);

/* capture_unwind_map - of processes whose stacks are walked by tables (unwinder_begin()); -1: they are not */
int capture_unwind_map(const struct capture *capture);

/* capture_send_texts - strings of calls that were sent before are sent again when they come up */
void capture_send_texts(struct capture *capture);

/* capture_forget_names - names of objects that threads have read and kept are read again */
void capture_forget_names(struct capture *capture);

/* capture_sample_program - what a perf event is to run for topic stack; a descriptor of @capture */
int capture_sample_program(const struct capture *capture);

/* capture_fault_program - the same for topic fault */
int capture_fault_program(const struct capture *capture);

/* capture_detach - detach the tracepoint programs; targets run untouched from then on */
void capture_detach(struct capture *capture);

/*
 * capture_attach_guard - from now on see programs that targets of an ordinary user's session execute
 *
 * Needed before capture_claim(). Returns 0, or a negative errno and @error. Without an owner it does nothing.
 */
int capture_attach_guard(struct capture *capture, char *error, size_t size);

/*
 * capture_claim - @pid is to be a target of an ordinary user's session, if it is the user's
 *
 * To be called before it is looked at whether it is. From then on the kernel side gives the claim up,
 * for good, when the process executes a program that is not the user's to see; so a
 * process that was the user's after the claim, and is still held, was so all the time. Without an owner it
 * does nothing. Returns 0 or a negative errno.
 */
int capture_claim(struct capture *capture, pid_t pid);

/* capture_holds - is @pid claimed or a target, still? Without an owner: true of everybody. */
bool capture_holds(struct capture *capture, pid_t pid);

/*
 * Targets by process id. capture_target_add returns 0 or a negative errno: -E2BIG table full, -ENOENT
 * the claim was given up.
 */
int capture_target_add(struct capture *capture, pid_t pid);
void capture_target_remove(struct capture *capture, pid_t pid);

/*
 * capture_targets_max - how many processes there may be at a time
 * capture_targets_refused - how many were forked beyond that
 */
uint64_t capture_targets_max(const struct capture *capture);
uint64_t capture_targets_refused(const struct capture *capture);

/*
 * capture_trace_self - make the daemon itself a target for a moment, also of a
 * session of the whole machine; 0 or a negative errno
 */
int capture_trace_self(struct capture *capture, bool on);

/* capture_is_target, capture_each_target - with those that the programs added on fork */
bool capture_is_target(struct capture *capture, pid_t pid);
void capture_each_target(struct capture *capture, void (*each)(void *context, pid_t pid),
			 void *context);

/*
 * capture_snapshot - have the figures of all threads written to the rings
 *
 * @first marks them as the session's start; @all also writes threads whose
 * figures did not change since the last snapshot.
 */
int capture_snapshot(struct capture *capture, bool first, bool all);

/*
 * capture_ioctls_wait - are ioctls still to be hooked?
 *
 * Only with capture_options.ioctls_later, and where they are seen by system call tracepoints: as long as one of
 * those is in use, every system call of every process takes the kernel's slow path.
 *
 * capture_hook_ioctls - do so, once; 0 or a negative errno, with which they are not seen
 */
bool capture_ioctls_wait(const struct capture *capture);
int capture_hook_ioctls(struct capture *capture);

/*
 * capture_ioctls_before - find the ioctls that targets sleep in since before the session
 *
 * Once, when all targets are known. They are recorded when they end, or the session does.
 * 0 or a negative errno.
 */
int capture_ioctls_before(struct capture *capture);

/*
 * capture_sleeping_stacks - write a record for each sleeping thread of target @pid, or of all targets (0), to the rings
 *
 * The records are REC_STACK with STACK_STILL. Threads that run or are runnable get none. Needs a topic with stacks. Returns 0
 * or a negative errno.
 */
int capture_sleeping_stacks(struct capture *capture, pid_t pid);

/*
 * capture_thread_pointers - the thread pointers of all threads of all targets
 *
 * *@rows is allocated, to be freed by the caller. Returns 0 or a negative errno.
 */
int capture_thread_pointers(struct capture *capture, struct thread_pointer **rows, size_t *count);

/*
 * capture_kernel_symbols - the kernel's functions as lines of /proc/kallsyms, with their addresses
 *
 * Allocated, *@size bytes; NULL if this kernel has no such iterator (features.symbols), without topic stack or memory.
 */
char *capture_kernel_symbols(struct capture *capture, size_t *size);

/*
 * capture_flush_open - write records of calls still open, and add up what threads counted themselves
 *
 * Call it after the probes are gone. Before, the counts lack the last calls of each thread: up
 * to 63 that were produced, and what it did in the last half second below the minimum duration.
 * Waits for threads that are about to exit with such counts, which add them themselves: 2 s at most.
 */
int capture_flush_open(struct capture *capture);

/*
 * Records are handed to a callback, which must not keep the pointer. The record
 * has at least the size its type says; one that had not would be left out, and show up as
 * unaccounted when the books are closed.
 */
typedef void capture_handler(void *context, const struct rec_header *record);

/* capture_epoll_fd - readable when a ring wants to be read before the next poll */
int capture_epoll_fd(const struct capture *capture);

/* capture_drain - hand over all that is in the rings; returns the number of bytes that were in them */
size_t capture_drain(struct capture *capture, capture_handler *handler, void *context);

/* capture_ring_bytes - the size of each ring: there is one per possible CPU */
size_t capture_ring_bytes(const struct capture *capture);

/*
 * capture_run_costs - how often the programs ran and how long that took, of each CPU
 *
 * capture_calls - of each CPU, how many calls of probed functions there were, up to 63 less for each thread
 *
 * Both have room for capture_cpus(). Return 0 or a negative errno.
 */
int capture_cpus(const struct capture *capture);
int capture_run_costs(const struct capture *capture, enum run_kind kind, struct run_cost *costs);
int capture_calls(const struct capture *capture, uint64_t *calls);

/* capture_shed - from now on runs of this kind are counted only, or recorded again */
void capture_shed(struct capture *capture, enum run_kind kind, bool shed);

/* capture_fullest - how much of its room the fullest ring had in use when it was read, since this was asked: 0 to 1 */
double capture_fullest(struct capture *capture);

/* capture_stats - counters summed over CPUs, @stats has room for SOURCES; exact after capture_flush_open() */
int capture_stats(struct capture *capture, struct source_stats *stats);

/* capture_rebase - count from here: what was counted before is forgotten */
void capture_rebase(struct capture *capture);

/*
 * capture_short_calls - the table of calls shorter than the minimum
 *
 * Calls @each for every (probe, process). Exact after capture_flush_open().
 */
void capture_short_calls(struct capture *capture,
			 void (*each)(void *context, const struct short_key *key,
				      const struct short_value *value),
			 void *context);

/* Set how probe number @probe reads its arguments. Returns 0 or a negative errno. */
int capture_set_probe(struct capture *capture, uint32_t probe, const struct probe_conf *conf);

/* capture_set_exit - where the indirect jump of exit number @exit leads; 0 or a negative errno */
int capture_set_exit(struct capture *capture, uint32_t exit, const struct exit_conf *conf);

/* capture_exit_hits - how often each exit was reached, roughly: EXITS_MAX counters that go on counting */
const volatile uint32_t *capture_exit_hits(const struct capture *capture);

/* capture_follow_sleeps - sleeps that began before @from_ns were not followed all the time: they leave no stack */
void capture_follow_sleeps(struct capture *capture, uint64_t from_ns);

/*
 * capture_set_hot - from now on calls of @probe are recorded as they begin, or until they end again
 *
 * Its exits must be probed before they are to be seen again, and may be taken off once they are not.
 */
void capture_set_hot(struct capture *capture, uint32_t probe, bool hot);

/* capture_hot_hits - calls of @probe while it was hot, roughly; goes on counting */
uint32_t capture_hot_hits(const struct capture *capture, uint32_t probe);

/* capture_keeps_places - must probes be made known by capture_set_place()? Where the kernel keeps no cookies. */
bool capture_keeps_places(const struct capture *capture);

/*
 * capture_set_place - which @cookie the probe at @place has
 *
 * Before it is attached. Returns 0 or a negative errno: -EEXIST if another one has this place.
 */
int capture_set_place(struct capture *capture, const struct probed_place *place, uint64_t cookie);

/*
 * capture_tail_known - the answer to a record REC_TAIL: TAIL_PROBED or TAIL_UNKNOWN
 *
 * capture_tails_forget - nothing is known of a process' addresses any more: it runs another program
 */
void capture_tail_known(struct capture *capture, pid_t pid, uint64_t address, uint32_t answer);
void capture_tails_forget(struct capture *capture, pid_t pid);

/* capture_stack_mover - in that process no return probes are written into stacks, which it moves */
void capture_stack_mover(struct capture *capture, pid_t pid, bool mover);

/*
 * How functions are probed, and the programs for it: for places of any kind, and for entries of
 * functions with return probes (-1 on kernels that can't leave them out for single calls).
 */
enum probe_method capture_method(const struct capture *capture);
int capture_place_program(const struct capture *capture);
int capture_return_program(const struct capture *capture);

/*
 * capture_attach_perf - one place by perf event, where there are no multi links
 *
 * @cookie is not used where places are kept. @pid 0 stands for all processes. Returns a link to destroy, or NULL with errno.
 */
struct bpf_link *capture_attach_perf(const struct capture *capture, pid_t pid, const char *path,
				     uint64_t offset, uint64_t cookie);

/*
 * capture_wait_exited - wait until the last figures of threads that have exited are there
 *
 * With topic "account" and without "sched" they come with some delay. Waits 0.1 s
 * at most: a thread that its parent has not waited for yet is not forgotten.
 */
void capture_wait_exited(struct capture *capture);

/*
 * capture_stop - nothing that begins from now on is recorded; snapshots still work
 *
 * Returns when programs that had begun before are done, so that what they produced
 * is there to be read and counted: a few milliseconds, more on a busy machine.
 */
void capture_stop(struct capture *capture);

/*
 * capture_wait_returns - wait until no call is under way that a return probe will see to end
 *
 * After capture_stop(), before the probes are removed: its return address is the kernel's, in the program's
 * stack. Waits a second at most; returns how many calls there still are.
 */
uint32_t capture_wait_returns(struct capture *capture);

/*
 * capture_close_calls - probes that are perf events do nothing from now on, as if they were removed
 *
 * Returns when programs that had begun before are done.
 */
void capture_close_calls(struct capture *capture);

/*
 * capture_close - nothing at all is recorded from now on but by capture_flush_open()
 *
 * Call it after capture_stop(), before the last capture_drain(); returns when programs that had
 * begun before are done.
 */
void capture_close(struct capture *capture);

/* capture_set_end - calls still open are said to have lasted until @end_ns */
void capture_set_end(struct capture *capture, uint64_t end_ns);

#define CAPTURE_PROBES_MAX 32768

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_CAPTURE_H */
