/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/trigger_watch.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profbpfd/session/fetch_calls.h"
#include "daemon/profbpfd/session/wait_shares.h"
#include "lib/base/duration.h"

#define PROBES_MAX 65536 /* limit of valid numbers of functions */

/* A function; the index is its number. */
struct watched {
	char *name;
	bool launch;
	uint32_t counts; /* bit i: its calls are steps of the trigger at index i, or fetch data for it */
};

/* The state of one process. */
struct seen {
	uint32_t tgid;
	uint64_t launch_ns; /* time of the last launch; 0 = none yet */
	uint32_t told; /* bit i: the trigger at index i has already fired for the present pause */
};

/* Steps of one process, for one trigger. */
struct steps {
	uint32_t tgid, trigger; /* process, id of the trigger */
	uint64_t last_ns; /* start of the current step */
	uint64_t took_ns[STEPS_KEPT]; /* ring of durations */
	uint32_t count; /* number of all ended steps */
	bool told; /* the trigger has already fired for the current step */
	uint64_t calls, from_ns; /* TRIGGER_STEPS: number of calls, and start of the first requested step */
};

struct trigger_watch {
	struct triggers *triggers;
	const struct live_figures *live; /* NULL: none */
	struct wait_figures waits[LIVE_WAITS_MAX]; /* at the last check */
	size_t wait_count;
	uint64_t look_ns; /* time of the last check */
	uid_t owner;
	gid_t group;
	uint32_t version;
	struct trigger trigger[TRIGGERS_MAX];
	size_t count;
	struct watched *functions;
	uint32_t function_count;
	struct seen *seen;
	size_t seen_count;
	struct steps *steps;
	size_t steps_count;
	struct wait_shares *fetching; /* by trigger */
};

struct trigger_watch *trigger_watch_new(struct triggers *triggers, const struct live_figures *live, uid_t owner, gid_t group)
{
	struct trigger_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->triggers = triggers;
	watch->live = live;
	watch->owner = owner;
	watch->group = group;
	watch->fetching = wait_shares_new();
	if (watch->fetching)
		return watch;
	free(watch);
	return NULL;
}

void trigger_watch_free(struct trigger_watch *watch)
{
	if (!watch)
		return;
	for (uint32_t i = 0; i < watch->function_count; i++)
		free(watch->functions[i].name);
	free(watch->functions);
	free(watch->seen);
	free(watch->steps);
	wait_shares_free(watch->fetching);
	free(watch);
}

/* Queues an event. @from_ns: the time from which data belong to it; 0 = unknown. */
static void __attribute__((format(printf, 5, 6)))
tell(struct trigger_watch *w, const struct trigger *trigger, uint32_t tgid, uint64_t from_ns, const char *format, ...)
{
	struct trigger_event event = { .trigger = trigger->id,
				       .owner = w->owner,
				       .group = w->group,
				       .pid = (pid_t)tgid,
				       .from_ns = from_ns };
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(event.text, sizeof(event.text), format, arguments);
	va_end(arguments);
	triggers_happened(w->triggers, &event);
}

/* ---- Functions and the list of triggers */

static bool is_of(const struct trigger *trigger, const char *function)
{
	switch (trigger->kind) {
	case TRIGGER_SLOW_STEP:
	case TRIGGER_STEPS: return !fnmatch(trigger->call, function, 0);
	case TRIGGER_DATA_WAIT:
		return *trigger->call ? !fnmatch(trigger->call, function, 0) : is_fetch_call(function);
	default: return false;
	}
}

static void match(const struct trigger_watch *w, struct watched *function)
{
	function->counts = 0;
	for (size_t i = 0; i < w->count && function->name; i++)
		if (is_of(&w->trigger[i], function->name))
			function->counts |= 1u << i;
}

static void read_list(struct trigger_watch *w)
{
	w->version = triggers_version(w->triggers);
	w->count = triggers_list(w->triggers, w->trigger);
	for (uint32_t i = 0; i < w->function_count; i++)
		match(w, &w->functions[i]);
	for (size_t i = 0; i < w->seen_count; i++)
		w->seen[i].told = 0;
}

static bool make_room(struct trigger_watch *w, uint32_t id)
{
	struct watched *larger;

	if (id < w->function_count)
		return true;
	larger = id < PROBES_MAX ? realloc(w->functions, (id + 1) * sizeof(*larger)) : NULL;
	if (!larger)
		return false;
	memset(larger + w->function_count, 0, (id + 1 - w->function_count) * sizeof(*larger));
	w->functions = larger;
	w->function_count = id + 1;
	return true;
}

static void note_functions(struct trigger_watch *w, const struct item *item)
{
	Profbpf__Functions *message = profbpf__functions__unpack(NULL, item->size, item->data);

	for (size_t i = 0; message && i < message->n_function; i++) {
		const Profbpf__Function *from = message->function[i];
		struct watched *to;

		if (!make_room(w, from->id))
			continue;
		to = &w->functions[from->id];
		free(to->name);
		to->name = strdup(from->name);
		to->launch = from->kind == PROFBPF__FUNCTION__KIND__LAUNCH;
		match(w, to);
	}
	if (message)
		profbpf__functions__free_unpacked(message, NULL);
}

/* ---- Processes */

static struct seen *process_of(struct trigger_watch *w, uint32_t tgid)
{
	struct seen *larger;

	for (size_t i = 0; i < w->seen_count; i++)
		if (w->seen[i].tgid == tgid)
			return &w->seen[i];
	larger = realloc(w->seen, (w->seen_count + 1) * sizeof(*larger));
	if (!larger)
		return NULL;
	w->seen = larger;
	w->seen[w->seen_count] = (struct seen){ .tgid = tgid };
	return &w->seen[w->seen_count++];
}

static struct steps *steps_of(struct trigger_watch *w, uint32_t tgid, uint32_t trigger)
{
	struct steps *larger;

	for (size_t i = 0; i < w->steps_count; i++)
		if (w->steps[i].tgid == tgid && w->steps[i].trigger == trigger)
			return &w->steps[i];
	larger = realloc(w->steps, (w->steps_count + 1) * sizeof(*larger));
	if (!larger)
		return NULL;
	w->steps = larger;
	w->steps[w->steps_count] = (struct steps){ .tgid = tgid, .trigger = trigger };
	return &w->steps[w->steps_count++];
}

static void forget(struct trigger_watch *w, uint32_t tgid)
{
	for (size_t i = 0; i < w->seen_count; i++)
		if (w->seen[i].tgid == tgid)
			w->seen[i--] = w->seen[--w->seen_count];
	for (size_t i = 0; i < w->steps_count; i++)
		if (w->steps[i].tgid == tgid)
			w->steps[i--] = w->steps[--w->steps_count];
	wait_shares_forget(w->fetching, tgid);
}

/* Is it a signal by which a user or program ends the process on purpose? Then the process has no error. */
static bool asks_for_end(uint32_t number)
{
	return number == SIGHUP || number == SIGINT || number == SIGPIPE || number == SIGTERM;
}

/* A thread chooses its name, and the text goes to the journal and to terminals: unprintable bytes become "?". */
static void plain_name(const char *comm, char *name)
{
	size_t length = strnlen(comm, REC_COMM_LEN - 1);

	for (size_t i = 0; i < length; i++)
		name[i] = comm[i] < ' ' || comm[i] > '~' ? '?' : comm[i];
	name[length] = '\0';
}

static void note_tasks(struct trigger_watch *w, const struct item *item)
{
	const struct task_row *rows = item->data;

	for (uint32_t i = 0; i < item->count; i++) {
		const struct rec_task *task = &rows[i].record;
		uint32_t number = task->exit_code & 0x7f;
		char name[REC_COMM_LEN];

		if (task->event == TASK_EXEC)
			forget(w, task->tgid);
		if (task->event != TASK_EXIT || !(task->header.flags & TASK_LAST))
			continue;
		forget(w, task->tgid);
		plain_name(task->comm, name);
		for (size_t k = 0; k < w->count && number && task->header.flags & TASK_TARGET; k++)
			if (w->trigger[k].kind == TRIGGER_SIGNAL &&
			    (w->trigger[k].signal ? w->trigger[k].signal == number : !asks_for_end(number)))
				tell(w, &w->trigger[k], task->tgid, 0, "process %u (%s) was ended by signal %u (%s)",
				     task->tgid, name, number, strsignal((int)number));
	}
}

/* ---- Calls */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the median duration of the last steps; 0 = there were too few. */
static uint64_t median(const struct steps *steps)
{
	uint64_t sorted[STEPS_KEPT];
	uint32_t count = steps->count < STEPS_KEPT ? steps->count : STEPS_KEPT;

	if (steps->count < STEPS_KNOWN)
		return 0;
	memcpy(sorted, steps->took_ns, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_value);
	return sorted[count / 2];
}

static void judge_step(struct trigger_watch *w, const struct trigger *trigger, struct steps *steps, uint64_t took_ns,
		       bool ended)
{
	char took[32], usual[32];
	uint64_t of = median(steps);

	if (steps->told || !of || (double)took_ns <= trigger->factor * (double)of)
		return;
	steps->told = true;
	tell(w, trigger, steps->tgid, 0, "a step of process %u %s %s, the median of those before is %s", steps->tgid,
	     ended ? "took" : "has taken", duration_format(took_ns, took, sizeof(took)),
	     duration_format(of, usual, sizeof(usual)));
}

static void note_step(struct trigger_watch *w, const struct trigger *trigger, uint32_t tgid, uint64_t ts_ns)
{
	struct steps *steps = steps_of(w, tgid, trigger->id);

	if (!steps)
		return;
	/* Calls of several CPUs arrive in batches, unordered. */
	if (steps->last_ns && ts_ns > steps->last_ns) {
		judge_step(w, trigger, steps, ts_ns - steps->last_ns, true);
		steps->took_ns[steps->count++ % STEPS_KEPT] = ts_ns - steps->last_ns;
	}
	if (ts_ns > steps->last_ns) {
		steps->last_ns = ts_ns;
		steps->told = false;
	}
}

/* Call n begins step n. The last requested step ends where the next one begins. */
static void count_step(struct trigger_watch *w, const struct trigger *trigger, uint32_t tgid, uint64_t ts_ns)
{
	struct steps *steps = steps_of(w, tgid, trigger->id);
	uint64_t number = steps ? steps->calls++ : 0;

	if (!steps)
		return;
	if (number == trigger->first_step)
		steps->from_ns = ts_ns;
	if (number == trigger->first_step + trigger->steps)
		tell(w, trigger, tgid, steps->from_ns, "steps %" PRIu64 " to %" PRIu64 " of process %u are over",
		     trigger->first_step, number - 1, tgid);
}

static void note_call(struct trigger_watch *w, const struct trigger *trigger, const struct rec_call *call)
{
	const struct wait_key key = { trigger->id, call->tgid, call->tid };
	uint64_t begin_ns = call->header.ts_ns;

	if (trigger->kind == TRIGGER_SLOW_STEP)
		note_step(w, trigger, call->tgid, begin_ns);
	else if (trigger->kind == TRIGGER_STEPS)
		count_step(w, trigger, call->tgid, begin_ns);
	else
		wait_shares_add(w->fetching, &key, begin_ns, begin_ns + call->dur_ns);
}

static void note_calls(struct trigger_watch *w, const struct item *item)
{
	const struct rec_call *calls = item->data;

	for (uint32_t i = 0; i < item->count; i++) {
		const struct rec_call *call = &calls[i];
		const struct watched *function =
			call->probe < w->function_count ? &w->functions[call->probe] : NULL;
		struct seen *seen = function && function->launch ? process_of(w, call->tgid) : NULL;

		if (seen && call->header.ts_ns > seen->launch_ns) {
			seen->launch_ns = call->header.ts_ns;
			seen->told = 0;
		}
		for (size_t k = 0; function && function->counts && k < w->count; k++)
			if (function->counts & 1u << k)
				note_call(w, &w->trigger[k], call);
	}
}

struct telling {
	struct trigger_watch *watch;
	const struct trigger *trigger;
};

static void fetches_too_long(void *context, const struct wait_key *key, double percent)
{
	const struct telling *telling = context;

	if (key->tid)
		tell(telling->watch, telling->trigger, key->tgid, 0,
		     "thread %u of process %u has spent %.1f %% of the last %d s fetching data", key->tid, key->tgid,
		     percent, WAIT_SHARES_S);
	else
		tell(telling->watch, telling->trigger, key->tgid, 0,
		     "process %u has spent %.1f %% of the last %d s fetching data", key->tgid, percent, WAIT_SHARES_S);
}

static uint64_t waited_before(const struct trigger_watch *w, uint32_t pid)
{
	for (size_t i = 0; i < w->wait_count; i++)
		if (w->waits[i].pid == pid)
			return w->waits[i].wait_ns;
	return 0;
}

/* Adds waits that trainers mark without a call, each second's part; not if the process' waits are known from calls. */
static void take_waits(struct trigger_watch *w, uint64_t now_ns)
{
	struct wait_figures waits[LIVE_WAITS_MAX];
	size_t count = w->live ? live_figures_waits(w->live, waits, LIVE_WAITS_MAX) : 0;
	uint64_t passed_ns = now_ns > w->look_ns && w->look_ns ? now_ns - w->look_ns : 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t before = waited_before(w, waits[i].pid);
		uint64_t grown = waits[i].wait_ns - (before < waits[i].wait_ns ? before : waits[i].wait_ns);

		grown = grown < passed_ns ? grown : passed_ns;
		for (size_t k = 0; k < w->count; k++) {
			const struct trigger *trigger = &w->trigger[k];
			const struct wait_key key = { trigger->id, waits[i].pid, 0 };

			if (trigger->kind == TRIGGER_DATA_WAIT && !*trigger->call &&
			    !wait_shares_has_thread(w->fetching, trigger->id, waits[i].pid))
				wait_shares_add(w->fetching, &key, now_ns - grown, now_ns);
		}
	}
	memcpy(w->waits, waits, count * sizeof(*waits));
	w->wait_count = count;
	w->look_ns = now_ns;
}

/* Checks the triggers. Calls are queued before the statistics, so all calls up to now are known. */
static void look(struct trigger_watch *w, uint64_t now_ns)
{
	char since[32];

	take_waits(w, now_ns);
	for (size_t k = 0; k < w->count; k++) {
		const struct trigger *trigger = &w->trigger[k];

		for (size_t i = 0; i < w->seen_count && trigger->kind == TRIGGER_NO_LAUNCH; i++) {
			struct seen *seen = &w->seen[i];

			if (!seen->launch_ns || seen->told & 1u << k || now_ns < seen->launch_ns + trigger->ns)
				continue;
			seen->told |= 1u << k;
			tell(w, trigger, seen->tgid, 0, "process %u has launched nothing for %s", seen->tgid,
			     duration_format(now_ns - seen->launch_ns, since, sizeof(since)));
		}
		for (size_t i = 0; i < w->steps_count && trigger->kind == TRIGGER_SLOW_STEP; i++)
			if (w->steps[i].trigger == trigger->id && w->steps[i].last_ns && now_ns > w->steps[i].last_ns)
				judge_step(w, trigger, &w->steps[i], now_ns - w->steps[i].last_ns, false);
		if (trigger->kind == TRIGGER_DATA_WAIT)
			wait_shares_look(w->fetching, trigger->id, trigger->limit, now_ns, fetches_too_long,
					 &(struct telling){ w, trigger });
	}
}

void trigger_watch_item(struct trigger_watch *w, const struct item *item)
{
	const struct statistics_row *statistics = item->data;

	/* Functions are described only once, so they are noted even without triggers. */
	if (item->kind == ITEM_BODY && item->body == PROFBPF__PACKET__KIND__FUNCTIONS)
		note_functions(w, item);
	if (triggers_version(w->triggers) != w->version)
		read_list(w);
	if (!w->count)
		return;
	if (item->kind == ITEM_TASKS)
		note_tasks(w, item);
	else if (item->kind == ITEM_RECORDS && item->type == REC_CALL)
		note_calls(w, item);
	else if (item->kind == ITEM_STATISTICS)
		look(w, statistics->ts_ns);
}
