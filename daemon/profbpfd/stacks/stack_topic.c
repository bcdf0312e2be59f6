/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/stack_topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/profbpfd/interpreters/interpreters.h"
#include "daemon/profbpfd/stacks/kernel_names.h"
#include "daemon/profbpfd/stacks/sleeper_stacks.h"
#include "daemon/profbpfd/stacks/stack_merge.h"
#include "daemon/profbpfd/stacks/stack_places.h"
#include "daemon/profbpfd/stacks/stack_table.h"
#include "daemon/profbpfd/stacks/table_shares.h"
#include "daemon/profbpfd/stacks/unwinder.h"
#include "daemon/profbpfd/encode/trace_values.h"
#include "proto/trace.pb-c.h"

#define BATCH 4096 /* rows in a full batch, which is queued */
#define INTERPRETED ((uid_t)-2) /* payer of stacks that are read from interpreters' memory */
#define STACK_BYTES_LEFT 4096 /* with less room new stacks are left out; one of many new frames may add more, once */

struct stacks {
	struct item_queue *queue;
	struct stack_table *table;
	struct stack_places *places;
	struct kernel_names *kernel;
	struct address_names *symbols; /* the table taken from @kernel */
	struct interpreters *interpreters;
	struct capture *capture;
	struct unwinder_session *unwinding; /* NULL: walks follow frame pointers */
	struct table_shares *shares; /* shares of the room for distinct stacks; NULL: unlimited */
	struct sleepers *sleepers; /* NULL: not needed yet */
	const struct right *right; /* NULL: all processes may be read */
	bool limited; /* to one owner's processes */
	bool warned; /* about stacks that are left out */
	struct item *rows;
	uint32_t rate;
	uint64_t dropped;
	uint64_t made;
	void (*warn)(void *context, const char *text);
	void *warn_context;
};

static void add_row(struct stacks *s, const struct stack_row *row)
{
	if (!s->rows) {
		s->rows = item_new(ITEM_STACKS, 64 * sizeof(*row));
		if (s->rows)
			s->rows->source = SOURCE_STACK;
	}
	if (!s->rows || item_append(s->rows, row, sizeof(*row)))
		s->dropped++;
}

static void interpreter_row(void *context, const struct stack_row *row)
{
	struct stacks *s = context;
	struct stack_row with_rate = *row;

	with_rate.rate = s->rate;
	s->made++;
	add_row(s, &with_rate);
}

static void interpreter_warning(void *context, const char *text)
{
	struct stacks *s = context;

	s->warn(s->warn_context, text);
}

static void interpreter_lock(void *context, pid_t pid, const struct python_range *range)
{
	struct stacks *s = context;

	capture_python_lock(s->capture, pid, range);
}

static void interpreter_layout(void *context, pid_t pid, const struct python_layout *layout)
{
	struct stacks *s = context;

	capture_python_layout(s->capture, pid, layout);
}

static void interpreter_state(void *context, pid_t pid, uint32_t tid, uint64_t state)
{
	struct stacks *s = context;

	capture_python_state(s->capture, pid, tid, state);
}

/*
 * /proc/kallsyms shows addresses if the daemon has CAP_SYSLOG and the file is not hidden, as it is in a hardened
 * service; else a BPF iterator lists them, on kernels that have it.
 */
static struct address_names *read_kernel_symbols(void *context)
{
	struct capture *capture = context;
	FILE *file = fopen("/proc/kallsyms", "re");
	struct address_names *names = file ? address_names_kernel(file) : NULL;
	size_t size;
	char *text;

	if (file)
		fclose(file);
	if (names && address_names_count(names))
		return names;
	address_names_free(names);
	text = capture_kernel_symbols(capture, &size);
	file = size ? fmemopen(text, size, "r") : NULL;
	names = file ? address_names_kernel(file) : NULL;
	if (file)
		fclose(file);
	free(text);
	return names;
}

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct stacks *stacks_new(struct item_queue *queue, uint32_t rate, struct capture *capture,
			  struct kernel_names *kernel,
			  void (*warn)(void *context, const char *text), void *context)
{
	struct stacks *s = calloc(1, sizeof(*s));
	struct interpreters_handler handler = { interpreter_row,     interpreter_lock,
						interpreter_layout,  interpreter_state,
						interpreter_warning, s };
	bool shared;

	if (!s)
		return NULL;
	s->queue = queue;
	s->rate = rate;
	s->capture = capture;
	s->warn = warn;
	s->warn_context = context;
	s->kernel = kernel;
	s->symbols = kernel_names_take(kernel, monotonic_now(), read_kernel_symbols, capture, &shared);
	s->table = stack_table_new();
	s->places = s->table ? stack_places_new(s->table, s->symbols, shared) : NULL;
	s->interpreters = s->places ? interpreters_new(s->table, queue, &handler) : NULL;
	if (!s->interpreters) {
		stacks_free(s);
		return NULL;
	}
	return s;
}

void stacks_limit(struct stacks *s, const struct right *right)
{
	s->limited = right_limited(right);
	s->right = right;
	stack_places_limit(s->places, right);
	interpreters_limit(s->interpreters, right);
}

/* Without memory there is no limit. */
void stacks_bound(struct stacks *s, uint64_t bytes)
{
	const struct table_room all = { .words = bytes };

	if (!s->shares)
		s->shares = table_shares_new(&all);
}

uint64_t stacks_left_out(const struct stacks *s)
{
	return stack_table_left_out(s->table);
}

static void maps_were_read(void *context, pid_t pid)
{
	unwinder_look(context, pid, true);
}

void stacks_unwind(struct stacks *s, struct unwinder_session *unwinding)
{
	s->unwinding = unwinding;
	stack_places_watch(s->places, maps_were_read, unwinding);
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	item_free(s->rows);
	sleepers_free(s->sleepers);
	interpreters_free(s->interpreters);
	stack_places_free(s->places);
	kernel_names_give_back(s->kernel, s->symbols);
	stack_table_free(s->table);
	table_shares_free(s->shares);
	free(s);
}

void stacks_set_rate(struct stacks *s, uint32_t rate)
{
	s->rate = rate;
}

const char *stacks_warning(const struct stacks *s)
{
	return stack_places_kernel_known(s->places) ? NULL
						    : "the kernel hides the addresses of its "
						      "symbols (/proc/kallsyms needs CAP_SYSLOG, "
						      "and kernel.kptr_restrict below 2; Linux 6.0 "
						      "and later need neither): kernel "
						      "frames have no names";
}

/* Has the stack as many frames as there is room for, so that outer ones may be missing? Sleeps have either limit. */
static bool user_cut(const struct rec_stack *r)
{
	return r->user_frames == REC_USER_FRAMES ||
	       (r->header.flags & STACK_BLOCK && r->user_frames == SLEEPER_USER_FRAMES);
}

static bool python_cut(const struct rec_stack *r)
{
	return r->python_frames == REC_PYTHON_FRAMES ||
	       (r->header.flags & STACK_BLOCK && r->python_frames == SLEEPER_PYTHON_FRAMES);
}

static uint32_t python_frames(struct stacks *s, const struct rec_stack *r, uint64_t now_ns,
			      struct interpreted_frame *into)
{
	const uint64_t *words = (const uint64_t *)(r + 1) + r->user_frames + r->kernel_frames;

	if (!r->python_frames ||
	    !interpreters_frames(s->interpreters, (pid_t)r->tgid, (const struct rec_python_frame *)words,
				 r->python_frames, now_ns, into))
		return 0;
	return r->python_frames;
}

/* If there are @python frames, Python frames of a perf map (python3 -X perf) are left out: they would appear twice. */
static uint32_t native_frames(struct stacks *s, const struct rec_stack *r, uint64_t now_ns, uint32_t python,
			      struct native_frame *into)
{
	const uint64_t *address = (const uint64_t *)(r + 1);
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->user_frames && address[i]; i++) {
		/* A return address may be the start of the next function: the call instruction is before it. */
		uint64_t at = address[i] - (i > 0);
		uint32_t frame = stack_places_user(s->places, (pid_t)r->tgid, at, now_ns);

		if (python && stack_table_frame_kind(s->table, frame) == PROFBPF__STACKS__KIND__PYTHON)
			continue;
		into[count++] = (struct native_frame){
			frame, python && interpreters_loop(s->interpreters, (pid_t)r->tgid, at)
		};
	}
	return count;
}

/* Returns the user who pays for the stacks of a process. All processes with an unknown user share an account. */
static uid_t payer_of(struct stacks *s, pid_t pid)
{
	return s->shares && !s->limited ? stack_places_owner(s->places, pid) : 0;
}

static bool has_room(const struct stacks *s, uid_t owner)
{
	return !s->shares || table_shares_left(s->shares, owner).words > STACK_BYTES_LEFT;
}

static void take_room(struct stacks *s, uid_t owner, uint64_t bytes)
{
	const struct table_room room = { .words = bytes };
	char text[160];

	if (!s->shares)
		return;
	if (bytes)
		table_shares_take(s->shares, owner, &room);
	if (s->warned || !stack_table_left_out(s->table))
		return;
	s->warned = true;
	if (owner == INTERPRETED)
		snprintf(text, sizeof(text), "the limit of different Python stacks is reached: "
					     "further ones are left out");
	else
		snprintf(text, sizeof(text), "processes of user %u have reached the limit of "
					     "different stacks: further ones are left out",
			 owner);
	s->warn(s->warn_context, text);
}

static uint32_t resolve(struct stacks *s, const struct rec_stack *r, uint64_t now_ns)
{
	const uint64_t *kernel = (const uint64_t *)(r + 1) + r->user_frames;
	uint32_t frames[REC_KERNEL_FRAMES + STACK_MERGED_MAX], count = 0, id;
	uid_t owner = payer_of(s, (pid_t)r->tgid);
	struct native_frame native[REC_USER_FRAMES];
	struct interpreted_frame python[REC_PYTHON_FRAMES];
	struct stack_parts parts = {
		.native = native,
		.native_whole = r->header.flags & STACK_WHOLE,
		.python = python,
		.python_whole = !python_cut(r),
	};

	uint64_t bytes;

	/* Kernel frames are not limited: their number is bounded. */
	for (uint32_t i = 0; i < r->kernel_frames; i++)
		frames[count++] = stack_places_kernel(s->places, kernel[i]);
	bytes = stack_table_bytes(s->table);
	stack_table_close(s->table, !has_room(s, owner));
	parts.python_count = python_frames(s, r, now_ns, python);
	parts.native_count = native_frames(s, r, now_ns, parts.python_count, native);
	count += stack_merge(&parts, frames + count);
	id = stack_table_stack(s->table, frames, count);
	stack_table_close(s->table, false);
	take_room(s, owner, stack_table_bytes(s->table) - bytes);
	return id;
}

static void take_walked(struct stacks *s, const struct rec_stack *r, uint64_t now_ns)
{
	struct stack_row row = {
		.ts_ns = r->header.ts_ns,
		.dur_ns = r->dur_ns,
		.tid = r->tid,
		.tgid = r->tgid,
		.flags = trace_stack_flags(r->header.flags),
		.cpu = r->header.cpu,
		.rate = s->rate,
		.waker = r->waker,
	};

	/* The walk ended at the outermost frame. */
	if (s->unwinding && r->user_frames && !(r->header.flags & STACK_WHOLE) && !user_cut(r))
		unwinder_saw(s->unwinding, (pid_t)r->tgid, ((const uint64_t *)(r + 1))[r->user_frames - 1]);
	if (python_cut(r))
		row.flags &= ~(uint32_t)PROFBPF__STACK_SAMPLES__FLAG__WHOLE;
	row.stack = resolve(s, r, now_ns);
	add_row(s, &row);
}

void stacks_take(struct stacks *s, const struct rec_stack *r, uint64_t now_ns)
{
	if (r->header.flags & STACK_STILL) {
		if (!s->sleepers)
			s->sleepers = sleepers_new(s->right);
		r = s->sleepers ? sleepers_walk(s->sleepers, s->unwinding, r) : NULL;
	}
	if (r)
		take_walked(s, r, now_ns);
	else
		s->dropped++;
}

/* Definitions are queued before the rows that refer to them. */
void stacks_pass(struct stacks *s, bool flush)
{
	struct item *definitions;

	if (!s->rows || (!flush && s->rows->count < BATCH))
		return;
	definitions = stack_table_take(s->table);
	if (definitions)
		item_queue_push(s->queue, definitions);
	if (!item_queue_push(s->queue, s->rows)) {
		s->dropped += s->rows->count;
		item_free(s->rows);
	}
	s->rows = NULL;
}

void stacks_told(struct stacks *s)
{
	stack_places_told(s->places);
}

void stacks_mapped(struct stacks *s, pid_t pid, uint64_t ts_ns)
{
	stack_places_mapped(s->places, pid, ts_ns);
	/* A process without samples needs no tables yet. */
	if (s->unwinding && stack_places_knows(s->places, pid))
		unwinder_look(s->unwinding, pid, true);
}

static void forget_interpreters(struct stacks *s, pid_t pid)
{
	interpreters_forget(s->interpreters, pid);
	capture_python_lock(s->capture, pid, NULL);
}

void stacks_began(struct stacks *s, pid_t pid, pid_t parent, uint64_t ts_ns)
{
	/* Its tables were requested when its mappings were read. */
	if (stack_places_began(s->places, pid, parent, ts_ns) && s->unwinding)
		unwinder_forget(s->unwinding, pid);
	forget_interpreters(s, pid);
}

void stacks_forget(struct stacks *s, pid_t pid)
{
	stack_places_forget(s->places, pid);
	if (s->unwinding)
		unwinder_forget(s->unwinding, pid);
	forget_interpreters(s, pid);
}

void stacks_ended(struct stacks *s, pid_t pid, uint64_t ts_ns)
{
	/* All that is known of a later process with this id was read after stacks_began(). */
	if (stack_places_ended(s->places, pid, ts_ns))
		stacks_forget(s, pid);
}

static void look(void *context, pid_t pid)
{
	struct stacks *s = context;

	interpreters_look(s->interpreters, pid);
	if (s->unwinding)
		unwinder_look(s->unwinding, pid, false);
}

void stacks_look(struct stacks *s)
{
	capture_each_target(s->capture, look, s);
}

/* On older kernels the daemon reads interpreters' memory; all these processes have one share. */
void stacks_interpreters(struct stacks *s, uint64_t now_ns)
{
	uint64_t bytes = stack_table_bytes(s->table);

	stack_table_close(s->table, !has_room(s, INTERPRETED));
	interpreters_sample(s->interpreters, now_ns);
	stack_table_close(s->table, false);
	take_room(s, INTERPRETED, stack_table_bytes(s->table) - bytes);
}

uint64_t stacks_next_look(const struct stacks *s)
{
	return interpreters_next(s->interpreters);
}

uint64_t stacks_made(const struct stacks *s)
{
	return s->made;
}

uint64_t stacks_dropped(const struct stacks *s)
{
	return s->dropped;
}
