/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/host_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "analyzer/analyse/idle/last_rank.h"
#include "analyzer/analyse/idle/lock_turns.h"
#include "analyzer/analyse/idle/unnamed_code.h"
#include "analyzer/join/launch/launch_counts.h"

#define AWAY_PERMILLE \
	950 /* threads that sleep for that share without waiting for another thread do not set the job's pace */
#define RANKS_SHARE 10 /* waits for other ranks count from one part in so many of the time on */
#define BUSY_PERCENT 1 /* minimum time running or ready for the thread that takes their place */

struct search {
	struct model *model;
	const struct analysis_options *options;
	const struct step_results *steps;
	struct idle_tools tools;
	struct host_waits *waits;
	bool *collects; /* by thread: it collects a runtime's garbage, and is not the busiest */
	bool *chosen; /* by thread: it is one of the main threads that only sleep */
};

const char *waits_why_name(uint8_t why)
{
	switch (why) {
	case WAITS_OF_ASKED: return "asked";
	case WAITS_OF_LAUNCHES: return "launches";
	case WAITS_OF_FETCHES: return "fetches";
	case WAITS_OF_MAIN: return "main";
	case WAITS_OF_BUSIEST: return "busiest";
	case WAITS_OF_LAST: return "last";
	default: return "none";
	}
}

static bool is_target(const struct search *search, uint32_t thread)
{
	const struct thread *row = &search->model->threads.row[thread];

	return row->target && !row->kernel &&
	       analysis_wants_process(search->model, search->options, row->process);
}

static void add(struct search *search, uint32_t thread, uint8_t why)
{
	struct host_waits *waits = search->waits;

	waits->threads[waits->thread_count++] = thread;
	waits->why = why;
}

static bool is_asked(const struct search *search, uint32_t tid)
{
	for (uint32_t i = 0; i < search->options->tid_count; i++)
		if (search->options->tids[i] == tid)
			return true;
	return false;
}

/* Adds each thread once, even if the user named it several times. */
static void add_asked(struct search *search)
{
	for (uint32_t t = 0; t < search->model->threads.count; t++)
		if (is_asked(search, search->model->threads.row[t].tid))
			add(search, t, WAITS_OF_ASKED);
}

bool *host_waits_submit(const struct model *model)
{
	uint64_t *launches = launch_counts(model);
	uint64_t *all = calloc((size_t)model->processes.count + 1, sizeof(*all));
	bool *submit = calloc((size_t)model->threads.count + 1, sizeof(*submit));

	if (!launches || !all || !submit) {
		free(submit);
		submit = NULL;
		goto cleanup;
	}
	for (uint32_t t = 0; t < model->threads.count; t++)
		if (model->threads.row[t].process < model->processes.count)
			all[model->threads.row[t].process] += launches[t];
	for (uint32_t t = 0; t < model->threads.count; t++)
		submit[t] = model->threads.row[t].process < model->processes.count &&
			    launches_submit(launches[t], all[model->threads.row[t].process]);
cleanup:
	free(launches);
	free(all);
	return submit;
}

static int add_launching(struct search *search)
{
	bool *submit = host_waits_submit(search->model);

	for (uint32_t t = 0; submit && t < search->model->threads.count; t++)
		if (submit[t] && is_target(search, t))
			add(search, t, WAITS_OF_LAUNCHES);
	free(submit);
	return submit ? 0 : -ENOMEM;
}

static void add_fetching(struct search *search)
{
	const struct pipeline_steps *steps;

	if (search->steps->main == INDEX_NONE)
		return;
	steps = &search->steps->pipelines[search->steps->main];
	if (!steps->judged || steps->usage->fetch.thread >= search->model->threads.count)
		return;
	add(search, steps->usage->fetch.thread, WAITS_OF_FETCHES);
	search->waits->of_steps = true;
	search->waits->from_ns = steps->judged_from_ns;
	search->waits->to_ns = steps->judged_to_ns;
}

static bool parent_is_target(const struct search *search, uint32_t process)
{
	const struct model *model = search->model;
	uint32_t parent = model_parent(model, process);

	return parent != INDEX_NONE && model->processes.row[parent].target &&
	       analysis_wants_process(model, search->options, parent);
}

static void add_main(struct search *search)
{
	const struct model *model = search->model;

	for (uint32_t t = 0; t < model->threads.count; t++) {
		uint32_t process = model->threads.row[t].process;

		if (is_target(search, t) && process < model->processes.count &&
		    model->processes.row[process].pid == model->threads.row[t].tid &&
		    !parent_is_target(search, process))
			add(search, t, WAITS_OF_MAIN);
	}
}

/* Returns the time of a thread on a CPU, with @ready also that in which it was ready for one. */
static uint64_t busy_ns(const struct search *search, uint32_t thread, bool ready)
{
	const struct model *model = search->model;
	const struct timeline *line = &model->timelines.row[thread];
	const struct analysis_window window = { search->waits->from_ns, search->waits->to_ns };
	uint64_t ns = 0;

	for (uint32_t i = 0; i < line->count; i++) {
		const struct span *span = &model->spans.row[line->first + i];

		if (span->state == STATE_RUNNING || (ready && span->state == STATE_RUNNABLE))
			ns += analysis_clipped(span->start_ns, span->end_ns, &window);
	}
	return ns;
}

/* Returns the thread to analyse if the main threads only sleep; INDEX_NONE if no thread is busy enough. */
static uint32_t find_busiest(const struct search *search)
{
	const struct host_waits *waits = search->waits;
	uint64_t most_ns = (waits->to_ns - waits->from_ns) / 100 * BUSY_PERCENT;
	uint32_t best = INDEX_NONE;

	for (uint32_t t = 0; t < search->model->timelines.count; t++) {
		uint64_t ns = is_target(search, t) && !search->collects[t] ? busy_ns(search, t, true) : 0;

		if (ns > most_ns) {
			most_ns = ns;
			best = t;
		}
	}
	return best;
}

/* Is it a wait for a client that did not come? A server that starts a process or thread for each does nothing else. */
static bool waits_for_clients(const struct search *search, const struct root *root)
{
	const char *name = root->cause == IDLE_NETWORK && root->place_kind == PLACE_SYSCALL
				   ? syscall_name(search->tools.syscalls, (int16_t)root->place)
				   : NULL;

	return name && !strncmp(name, "accept", 6);
}

static uint64_t clients_ns(const struct search *search)
{
	const struct idle_roots *waits = &search->waits->waits;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < waits->count; i++)
		if (waits->row[i].hop_count == 1 && waits_for_clients(search, &waits->row[i].root))
			ns += waits->row[i].ns;
	return ns;
}

/* Returns the time in sleeps of the chosen threads that a timer ended, or a client, or whose waker is unknown. */
static uint64_t away_ns(const struct host_waits *waits)
{
	uint64_t ns = waits->clients_ns;

	for (uint32_t i = 0; i < waits->waits.count; i++) {
		const struct idle_root *row = &waits->waits.row[i];

		if (row->hop_count == 1 &&
		    (row->root.cause == IDLE_SLEEP || row->root.cause == IDLE_UNKNOWN))
			ns += row->ns;
	}
	return ns;
}

static int look_at(struct search *search, struct root_sums *sums, struct root_sums *own,
		   uint32_t thread)
{
	const struct model *model = search->model;
	const struct timeline *line = &model->timelines.row[thread];
	const struct thread *row = &model->threads.row[thread];
	struct host_waits *waits = search->waits;
	const struct analysis_window window = { waits->from_ns, waits->to_ns };
	uint64_t now_ns = MAX(row->start_ns, waits->from_ns);
	uint64_t to_ns = row->exit_ns ? MIN(row->exit_ns, waits->to_ns) : waits->to_ns;
	int err = 0;

	waits->window_ns += analysis_clipped(now_ns, to_ns, &window);
	/* Stretch by stretch, to count the waits in which a root was found. */
	for (uint32_t i = 0; i < line->count && !err; i++) {
		const struct span *span = &model->spans.row[line->first + i];
		uint64_t end_ns = MIN(span->start_ns, to_ns);

		/* A wait and the time in the run queue after it belong together. */
		if (end_ns <= now_ns || span->state == STATE_RUNNABLE)
			continue;
		err = root_sums_add_thread(sums, own, thread, now_ns, end_ns);
		now_ns = end_ns;
	}
	if (!err)
		err = root_sums_add_thread(sums, own, thread, now_ns, to_ns);
	return err;
}

static int look(struct search *search)
{
	struct host_waits *waits = search->waits;
	struct root_sums *sums = root_sums_new(search->model, &search->tools, waits->from_ns,
					       waits->to_ns);
	struct root_sums *own = root_sums_new(search->model, &search->tools, 0, 0);
	int err = sums && own ? 0 : -ENOMEM;

	idle_roots_free(&waits->waits);
	idle_roots_free(&waits->own);
	waits->window_ns = 0;
	for (uint32_t i = 0; i < waits->thread_count && !err; i++)
		err = look_at(search, sums, own, waits->threads[i]);
	if (!err)
		err = root_sums_finish(sums, &waits->waits);
	if (!err)
		err = root_sums_finish(own, &waits->own);
	if (!err)
		idle_roots_name_shortage(search->model, &waits->waits, &waits->own);
	waits->clients_ns = err ? 0 : clients_ns(search);
	root_sums_free(sums);
	root_sums_free(own);
	return err;
}

static int choose_threads(struct search *search)
{
	struct host_waits *waits = search->waits;
	int err;

	if (search->options->tid_count) {
		add_asked(search);
		return 0;
	}
	err = add_launching(search);
	if (!err && !waits->thread_count)
		add_fetching(search);
	if (!err && !waits->thread_count)
		add_main(search);
	return err;
}

/* Do the chosen threads only sleep, without waiting for another thread? */
static bool are_away(const struct host_waits *waits)
{
	return away_ns(waits) >= waits->window_ns / 1000 * AWAY_PERMILLE;
}

static int look_only_at(struct search *search, uint32_t thread, uint8_t why)
{
	search->waits->thread_count = 0;
	add(search, thread, why);
	return look(search);
}

/*
 * Returns the only other thread of the only main thread's process that bears its name if that is Java, or INDEX_NONE.
 * In other programs it is any thread that got no name.
 */
static uint32_t namesake(const struct search *search)
{
	const struct thread *rows = search->model->threads.row;
	const struct host_waits *waits = search->waits;
	uint32_t main = waits->threads[0], found = INDEX_NONE;

	if (code_maker_of(search->model, rows[main].process) != CODE_MAKER_JAVA)
		return INDEX_NONE;
	for (uint32_t t = 0; t < search->model->threads.count && waits->thread_count == 1; t++) {
		if (t == main || rows[t].process != rows[main].process || rows[t].name != rows[main].name ||
		    !rows[t].name || !is_target(search, t))
			continue;
		if (found != INDEX_NONE)
			return INDEX_NONE;
		found = t;
	}
	return found;
}

/* Does the thread itself collect a runtime's garbage? Its own time on a CPU tells, without its waits. */
static int find_collector(const struct search *search, uint32_t thread, bool *collects)
{
	const struct analysis_window window = { search->waits->from_ns, search->waits->to_ns };
	struct idle_roots own;
	int err = last_rank_own(search->model, &search->tools, &window, thread, &own);

	*collects = !err && own.count && idle_root_collects(&own.row[0]);
	idle_roots_free(&own);
	return err;
}

/*
 * The threads of a collector's pool collect, too. Threads without a name of their own have their process's: they may do
 * anything.
 */
static void leave_out(struct search *search, uint32_t collector)
{
	const struct model *model = search->model;
	const struct thread *row = &model->threads.row[collector];
	bool named = row->process < model->processes.count && row->name != model->processes.row[row->process].name;

	for (uint32_t t = 0; named && t < model->threads.count; t++)
		if (lock_turns_pool(model, collector, t))
			search->collects[t] = true;
	search->collects[collector] = true;
}

/* Chooses the busiest thread that does not collect garbage; if all do, the busiest one. */
static int look_at_busiest(struct search *search)
{
	struct host_waits *waits = search->waits;
	uint32_t first = find_busiest(search), thread = first;

	waits->away = thread == INDEX_NONE;
	if (waits->away)
		return 0;
	for (uint32_t i = 0; i < waits->thread_count; i++)
		search->chosen[waits->threads[i]] = true;
	while (thread != INDEX_NONE) {
		bool collects;
		int err = find_collector(search, thread, &collects);

		if (err)
			return err;
		if (!collects)
			break;
		leave_out(search, thread);
		thread = find_busiest(search);
	}
	thread = thread == INDEX_NONE ? first : thread;
	return look_only_at(search, thread, search->chosen[thread] ? WAITS_OF_MAIN : WAITS_OF_BUSIEST);
}

/* Finds the threads that compute beside the busiest one; a main thread that only sleeps is none of them. */
static int find_busy(struct search *search)
{
	struct host_waits *waits = search->waits;
	uint64_t most_ns = busy_ns(search, waits->threads[0], true);

	waits->busy = calloc((size_t)search->model->threads.count + 1, sizeof(*waits->busy));
	if (!waits->busy)
		return -ENOMEM;
	for (uint32_t t = 0; t < search->model->timelines.count; t++) {
		if (!is_target(search, t) || search->chosen[t] || !lock_turns_pool(search->model, waits->threads[0], t) ||
		    2 * busy_ns(search, t, true) < most_ns)
			continue;
		waits->busy[waits->busy_count++] = t;
		waits->busy_run_ns += busy_ns(search, t, false);
	}
	return 0;
}

static int find_threads(struct search *search)
{
	struct host_waits *waits = search->waits;
	uint32_t main;
	int err = choose_threads(search);

	if (!err)
		err = look(search);
	if (err || waits->why != WAITS_OF_MAIN || !are_away(waits))
		return err;
	main = namesake(search);
	if (main != INDEX_NONE) {
		err = look_only_at(search, main, WAITS_OF_MAIN);
		if (err || !are_away(waits))
			return err;
	}
	err = look_at_busiest(search);
	return err || waits->why != WAITS_OF_BUSIEST ? err : find_busy(search);
}

/* Do the threads wait for another rank that no wake-up names? Then that one sets the pace. */
static int look_at_last_rank(struct search *search)
{
	struct host_waits *waits = search->waits;
	const struct analysis_window window = { waits->from_ns, waits->to_ns };
	uint32_t waiter = last_rank_waiter(&waits->own);
	struct last_rank last;
	int err;

	if (waiter == INDEX_NONE)
		return 0;
	/* With others that are none of its ranks the threads are those of several jobs. */
	for (uint32_t i = 0; i < waits->thread_count; i++)
		if (!last_rank_is_of(search->model, search->options, waiter, waits->threads[i]))
			return 0;
	if (waits->why != WAITS_OF_MAIN && waits->why != WAITS_OF_BUSIEST)
		return 0;
	if (RANKS_SHARE * last_rank_waits(&waits->own) < waits->window_ns)
		return 0;
	err = last_rank_find(search->model, &search->tools, search->options, &window, waiter, &last);
	if (err || last.thread == INDEX_NONE)
		return err;
	waits->busy_count = 0;
	waits->others_ns = last.others_ns;
	waits->least_ns = last.least_ns;
	return look_only_at(search, last.thread, WAITS_OF_LAST);
}

static int find(struct search *search)
{
	int err = find_threads(search);

	return err ? err : look_at_last_rank(search);
}

bool host_waits_tools(const struct model *model, struct idle_tools *tools)
{
	*tools = (struct idle_tools){ .walker = walker_new(model),
				      .syscalls = syscall_table_new(
					      model_text(model, model->info.arch)) };
	if (tools->syscalls)
		tools->waits = waits_new(model, tools->syscalls);
	return tools->walker && tools->waits;
}

void host_waits_tools_free(struct idle_tools *tools)
{
	waits_free(tools->waits);
	walker_free(tools->walker);
	syscall_table_free(tools->syscalls);
}

int host_waits_with(struct model *model, const struct idle_tools *tools,
		    const struct analysis_options *options, const struct step_results *steps,
		    struct host_waits *waits)
{
	struct analysis_window window = analysis_window(model, options);
	struct search search = { model, options, steps, *tools, waits, NULL, NULL };
	int err = -ENOMEM;

	*waits = (struct host_waits){ .why = options->tid_count ? WAITS_OF_ASKED : WAITS_OF_NONE,
				      .from_ns = window.from_ns,
				      .to_ns = window.to_ns };
	if (!model->spans.count || window.from_ns >= window.to_ns)
		return 0;
	waits->threads = calloc((size_t)model->threads.count + 1, sizeof(*waits->threads));
	search.collects = calloc((size_t)model->threads.count + 1, sizeof(*search.collects));
	search.chosen = calloc((size_t)model->threads.count + 1, sizeof(*search.chosen));
	if (waits->threads && search.collects && search.chosen)
		err = find(&search);
	free(search.collects);
	free(search.chosen);
	if (!err && waits->thread_count)
		err = device_bounds_find(model, tools->walker, options, waits->from_ns,
					 waits->to_ns, &waits->bounds);
	return err;
}

int host_waits_analyse(struct model *model, const struct analysis_options *options,
		       const struct step_results *steps, struct host_waits *waits)
{
	struct idle_tools tools = { 0 };
	int err = -ENOMEM;

	*waits = (struct host_waits){ .why = WAITS_OF_NONE };
	if (!model->spans.count || host_waits_tools(model, &tools))
		err = host_waits_with(model, &tools, options, steps, waits);
	host_waits_tools_free(&tools);
	return err;
}

void host_waits_free(struct host_waits *waits)
{
	free(waits->threads);
	free(waits->busy);
	idle_roots_free(&waits->waits);
	idle_roots_free(&waits->own);
	*waits = (struct host_waits){ 0 };
}
