/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - the BPF programs of one session: loads them, gives them rings and
 * targets, attaches them, takes snapshots, reads their counters.
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
#define CAPTURE_BUFFER_FURTHER (4ull << 20) /* the same for further sessions, and for sessions of the flight recorder */
/*
 * The size on a machine with so few threads that the records of all of them fit into the rings at once. Then the session's
 * other memory is small, too.
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
	uid_t owner; /* only processes of this ordinary user are recorded; (uid_t)-1 = any process */
	gid_t owner_group; /* that user's group */
	bool cpu_cgroup_v1; /* cgroups_version1() */
	uint64_t min_duration_ns;
	uint64_t buffer_bytes; /* 0 = CAPTURE_BUFFER_DEFAULT */
	unsigned int topics; /* TOPIC_* */
	bool ioctls_later; /* hooks that slow other processes down wait for capture_hook_ioctls() */
	uint64_t stack_block_ns; /* topic stack: shorter sleeps leave no stack */
	uint64_t targets_max;	/* processes at a time; 0 = as many as the table holds */
	struct gate *gate; /* the daemon's, outlives the capture; NULL = programs attach to the scheduler directly */
	struct unwinder_session *unwinding; /* outlives the capture; NULL = stacks are walked by frame pointers */
};

/*
 * capture_find_types - the kernel's types that the programs mention, for features.types: once per daemon
 *
 * Returns 0, then the caller frees @types, or a negative errno: sessions start without them, more slowly.
 */
int capture_find_types(struct mentioned_types *types);

/*
 * capture_new - loads the programs and attaches nothing yet
 *
 * Returns NULL with a message for the user in @error.
 */
struct capture *capture_new(const struct capture_options *options, const struct features *features,
			    char *error, size_t error_size);

/* capture_free - detaches everything and unloads the programs; accepts NULL */
void capture_free(struct capture *capture);

/*
 * capture_attach_exits - begins to watch threads that exit, to add up the calls that they counted
 *
 * Needed, with topic api, before the first probe in another process. Returns 0, or a negative
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

/* capture_python_lock - sets the addresses on which threads of a process wait for its interpreter's lock; NULL: none */
void capture_python_lock(struct capture *capture, pid_t pid, const struct python_range *range);

/* capture_python_layout - publishes the layout of a CPython process; NULL: it does not run CPython any more */
void capture_python_layout(struct capture *capture, pid_t pid, const struct python_layout *layout);

/* capture_python_state - publishes the address of a thread's PyThreadState; 0: it is gone */
void capture_python_state(struct capture *capture, pid_t pid, uint32_t tid, uint64_t state);

/* capture_unwind_map - the map of processes with unwind tables (unwinder_begin()); -1: tables are not used */
int capture_unwind_map(const struct capture *capture);

/* capture_send_texts - makes strings of calls be sent again, even if they were sent before */
void capture_send_texts(struct capture *capture);

/* capture_forget_names - makes threads read names of objects again that they have cached */
void capture_forget_names(struct capture *capture);

/* capture_sample_program - the program that perf events run for samples; a descriptor owned by @capture */
int capture_sample_program(const struct capture *capture);

/* capture_fault_program - the same for topic fault */
int capture_fault_program(const struct capture *capture);

/* capture_detach - detach the tracepoint programs; targets run untouched from then on */
void capture_detach(struct capture *capture);

/*
 * capture_attach_guard - begins to watch programs that targets of an ordinary user's session execute
 *
 * Needed before capture_claim(). Returns 0, or a negative errno and @error. Without an owner it does nothing.
 */
int capture_attach_guard(struct capture *capture, char *error, size_t size);

/*
 * capture_claim - claims @pid as a target of an ordinary user's session, if it is the user's
 *
 * To be called before that is checked. From then on the BPF programs drop the claim, for good, when the process
 * executes a program that the user may not look into; so a process that was the user's after the claim, and
 * is still claimed, was so all the time. Does nothing without an owner. Returns 0 or a negative errno.
 */
int capture_claim(struct capture *capture, pid_t pid);

/* capture_holds - is @pid still claimed or a target? Always true without an owner. */
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

/* capture_is_target, capture_each_target - include targets that the programs added on fork */
bool capture_is_target(struct capture *capture, pid_t pid);
void capture_each_target(struct capture *capture, void (*each)(void *context, pid_t pid),
			 void *context);

/*
 * capture_snapshot - writes the figures of all threads to the rings
 *
 * @first marks them as the session's start; @all also writes threads whose
 * figures did not change since the last snapshot.
 */
int capture_snapshot(struct capture *capture, bool first, bool all);

/*
 * capture_ioctls_wait - are the hooks on ioctls still missing?
 *
 * Only with capture_options.ioctls_later, and if ioctls are seen by system call tracepoints: as long as one of
 * those is in use, every system call of every process takes the kernel's slow path.
 *
 * capture_hook_ioctls - attaches them, once; 0, or a negative errno, and ioctls are not seen
 */
bool capture_ioctls_wait(const struct capture *capture);
int capture_hook_ioctls(struct capture *capture);

/*
 * capture_ioctls_before - finds the ioctls that targets have been sleeping in since before the session
 *
 * To be called once, when all targets are known. They are recorded at their end or at the session's.
 * Returns 0 or a negative errno.
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
 * capture_flush_open - writes records of open calls, and adds up the threads' own counts
 *
 * Call it after the probes are gone. Before, the counts lack the last calls of each thread: up
 * to 63 produced ones, and those below the minimum duration in the last half second.
 * Waits for threads that are about to exit with such counts, which add them themselves: 2 s at most.
 */
int capture_flush_open(struct capture *capture);

/*
 * The callback for records, which must not keep the pointer. The record has at least the size of its
 * type; a shorter one would be left out and show up as unaccounted in the final counts.
 */
typedef void capture_handler(void *context, const struct rec_header *record);

/* capture_epoll_fd - readable when a ring must be read before the next poll */
int capture_epoll_fd(const struct capture *capture);

/* capture_drain - passes all records in the rings to the handler; returns their size in bytes */
size_t capture_drain(struct capture *capture, capture_handler *handler, void *context);

/* capture_ring_bytes - the size of each ring; there is one per possible CPU */
size_t capture_ring_bytes(const struct capture *capture);

/*
 * capture_run_costs - the number and the duration of the programs' runs on each CPU
 *
 * capture_calls - the number of calls of probed functions on each CPU, up to 63 too low for each thread
 *
 * Both have room for capture_cpus(). Return 0 or a negative errno.
 */
int capture_cpus(const struct capture *capture);
int capture_run_costs(const struct capture *capture, enum run_kind kind, struct run_cost *costs);
int capture_calls(const struct capture *capture, uint64_t *calls);

/* capture_shed - from now on runs of this kind are only counted, or recorded again */
void capture_shed(struct capture *capture, enum run_kind kind, bool shed);

/* capture_fullest - the highest fill of a ring at any drain since the last call: 0 to 1 */
double capture_fullest(struct capture *capture);

/* capture_stats - counters summed over CPUs, @stats has room for SOURCES; exact after capture_flush_open() */
int capture_stats(struct capture *capture, struct source_stats *stats);

/* capture_rebase - restarts the counts from 0 */
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

/* capture_set_exit - describes the target of the indirect jump at exit number @exit; 0 or a negative errno */
int capture_set_exit(struct capture *capture, uint32_t exit, const struct exit_conf *conf);

/* capture_exit_hits - approximate, cumulative numbers of hits of each exit: EXITS_MAX counters */
const volatile uint32_t *capture_exit_hits(const struct capture *capture);

/* capture_follow_sleeps - sleeps that began before @from_ns leave no stack: they were not followed throughout */
void capture_follow_sleeps(struct capture *capture, uint64_t from_ns);

/*
 * capture_set_hot - from now on calls of @probe are recorded at their entry, or again at their end
 *
 * Its exits must be probed before ends are recorded again; the probes may be removed once ends are not recorded.
 */
void capture_set_hot(struct capture *capture, uint32_t probe, bool hot);

/* capture_hot_hits - the approximate, cumulative number of calls of @probe while it was hot */
uint32_t capture_hot_hits(const struct capture *capture, uint32_t probe);

/* capture_keeps_places - are probes identified by capture_set_place()? True on kernels without cookies. */
bool capture_keeps_places(const struct capture *capture);

/*
 * capture_set_place - sets the @cookie of the probe at @place
 *
 * To be called before it is attached. Returns 0 or a negative errno: -EEXIST if another probe has this place.
 */
int capture_set_place(struct capture *capture, const struct probed_place *place, uint64_t cookie);

/*
 * capture_tail_known - the answer to a record REC_TAIL: TAIL_PROBED or TAIL_UNKNOWN
 *
 * capture_tails_forget - drops the answers about a process' addresses, because it runs another program
 */
void capture_tail_known(struct capture *capture, pid_t pid, uint64_t address, uint32_t answer);
void capture_tails_forget(struct capture *capture, pid_t pid);

/* capture_stack_mover - does the process move stacks? Then return probes do not write into them. */
void capture_stack_mover(struct capture *capture, pid_t pid, bool mover);

/*
 * How functions are probed, and the programs for it: for places of any kind, and for entries of
 * functions with return probes (-1 on kernels that can't leave them out for single calls).
 */
enum probe_method capture_method(const struct capture *capture);
int capture_place_program(const struct capture *capture);
int capture_return_program(const struct capture *capture);

/*
 * capture_attach_perf - attaches one place by a perf event, on kernels without multi links
 *
 * @cookie is not used if places identify probes. @pid 0 stands for all processes. Returns a link for the caller to destroy, or
 * NULL with errno.
 */
struct bpf_link *capture_attach_perf(const struct capture *capture, pid_t pid, const char *path,
				     uint64_t offset, uint64_t cookie);

/*
 * capture_wait_exited - waits for the final figures of threads that have exited
 *
 * With topic "account" and without "sched" they arrive with some delay. Waits 0.1 s
 * at most: the kernel does not free a thread before its parent has waited for it.
 */
void capture_wait_exited(struct capture *capture);

/*
 * capture_stop - events that begin from now on are not recorded; snapshots still work
 *
 * Returns when running programs have ended, so that their records can be read and
 * counted: a few milliseconds, more on a busy machine.
 */
void capture_stop(struct capture *capture);

/*
 * capture_wait_returns - waits until no call with a return probe is open
 *
 * To be called after capture_stop(), before the probes are removed: the stacks of such calls have the kernel's return
 * address. Waits a second at most; returns the number of calls that are still open.
 */
uint32_t capture_wait_returns(struct capture *capture);

/*
 * capture_close_calls - disables probes that are perf events, as if they were removed
 *
 * Returns when running programs have ended.
 */
void capture_close_calls(struct capture *capture);

/*
 * capture_close - from now on only capture_flush_open() writes records
 *
 * Call it after capture_stop(), before the last capture_drain(); returns when running programs have
 * ended.
 */
void capture_close(struct capture *capture);

/* capture_set_end - open calls are recorded as lasting until @end_ns */
void capture_set_end(struct capture *capture, uint64_t end_ns);

#define CAPTURE_PROBES_MAX 32768

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_CAPTURE_H */
