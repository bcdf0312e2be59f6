/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/join/thread/timelines.h"

/* For which operator of which pipeline a thread works. */
struct owner {
	uint32_t pipeline;
	uint32_t op;
};

struct judge {
	const struct model *model;
	const struct verdict_facts *facts;
	const struct idle_roots *roots; /* what is weighed */
	struct owner *owner; /* by thread; pipeline INDEX_NONE: none */
	uint64_t window_ns;
	uint64_t idle_ns;
	uint64_t ns[VERDICT_STATES];
	bool helped; /* threads share the job's work with those that are looked at */
	uint32_t fetcher; /* thread that fetches batches in the steps judged, or INDEX_NONE */
};

static double share(uint64_t part_ns, uint64_t all_ns)
{
	double percent = all_ns ? 100 * (double)part_ns / (double)all_ns : 0;

	return percent < 100 ? percent : 100;
}

const char *verdict_state_name(uint8_t state)
{
	static const char *const names[VERDICT_STATES] = {
		[VERDICT_UNKNOWN] = "unknown", [VERDICT_DATA] = "data",
		[VERDICT_CPU] = "cpu",	       [VERDICT_HOST_CODE] = "host_code",
		[VERDICT_DEVICE] = "device",   [VERDICT_COMMUNICATION] = "communication",
		[VERDICT_HEALTHY] = "healthy",
	};

	return state < VERDICT_STATES ? names[state] : names[VERDICT_UNKNOWN];
}

const char *verdict_of_name(uint8_t of)
{
	switch (of) {
	case VERDICT_OF_STEP_TIME: return "step_time";
	case VERDICT_OF_WALL_TIME: return "wall_time";
	default: return "device_time";
	}
}

/* Pipelines that no framework tells of are found by wake-ups: who waits for whom is no proof of data there. */
static bool find_owners(struct judge *judge)
{
	const struct step_results *steps = judge->facts->steps;
	uint32_t count = judge->model->threads.count;

	judge->owner = malloc(((size_t)count + 1) * sizeof(*judge->owner));
	if (!judge->owner)
		return false;
	for (uint32_t i = 0; i < count; i++)
		judge->owner[i] = (struct owner){ INDEX_NONE, INDEX_NONE };
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct pipeline *pipeline = steps->pipelines[i].usage->pipeline;

		for (uint32_t k = 0; k < pipeline->threads.count && !pipeline->by_wakes; k++) {
			const struct pipeline_thread *row = &pipeline->threads.row[k];

			if (row->thread < count)
				judge->owner[row->thread] = (struct owner){ i, row->op };
		}
	}
	return true;
}

/* The operator nearest to the end of a chain, or none. */
static struct owner owner_of(const struct judge *judge, const struct idle_root *row)
{
	for (uint32_t i = row->hop_count; i-- > 0;) {
		uint32_t thread = row->hops[i].thread;

		if (thread < judge->model->threads.count &&
		    judge->owner[thread].pipeline != INDEX_NONE)
			return judge->owner[thread];
	}
	return (struct owner){ INDEX_NONE, INDEX_NONE };
}

/* Threads of the process of the one that waits, on a CPU with the program's own code. */
static bool is_help(const struct judge *judge, const struct idle_root *row)
{
	const struct model *model = judge->model;
	uint32_t first = row->hops[0].thread, last = row->root.thread;

	return row->root.cause == IDLE_USER_CODE && row->hop_count > 1 &&
	       first < model->threads.count && last < model->threads.count &&
	       model->threads.row[first].process == model->threads.row[last].process &&
	       owner_of(judge, row).pipeline == INDEX_NONE;
}

/* In a data loader, by a device file's own timeline of the host. */
static bool is_loader(const struct judge *judge, const struct idle_root *row)
{
	const struct model *model = judge->model;

	return row->root.place_kind == PLACE_FUNCTION && row->root.place < model->functions.count &&
	       model->functions.row[row->root.place].scope == SCOPE_DATA;
}

static uint8_t state_of(const struct judge *judge, const struct idle_root *row)
{
	if (judge->helped && is_help(judge, row))
		return VERDICT_HEALTHY;
	switch (row->root.cause) {
	case IDLE_RUNNABLE:
	case IDLE_THROTTLED:
	case IDLE_IRQ: return VERDICT_CPU;
	case IDLE_DEVICE_WAIT: return VERDICT_DEVICE;
	case IDLE_UNKNOWN:
	case IDLE_NO_WORK: return VERDICT_UNKNOWN;
	default:
		if (is_loader(judge, row))
			return VERDICT_DATA;
		return owner_of(judge, row).pipeline != INDEX_NONE ? VERDICT_DATA
								   : VERDICT_HOST_CODE;
	}
}

static bool is_fetcher(const struct judge *judge, const struct idle_root *row)
{
	return judge->fetcher != INDEX_NONE && row->root.thread == judge->fetcher;
}

/*
 * A loader without workers makes its batches in the thread that fetches them. How much of what that thread
 * did was a fetch is known of the steps as a whole.
 */
static void weigh(struct judge *judge, const struct verdict *verdict)
{
	const struct idle_roots *roots = judge->roots;
	uint64_t own_ns = 0, most_ns;

	for (uint32_t i = 0; roots && i < roots->count; i++) {
		uint8_t state = state_of(judge, &roots->row[i]);

		judge->ns[state] += roots->row[i].ns;
		if (state == VERDICT_HOST_CODE && is_fetcher(judge, &roots->row[i]))
			own_ns += roots->row[i].ns;
	}
	if (verdict->wait_percent < VERDICT_NOISE_PERCENT || verdict->op == INDEX_NONE)
		return;
	most_ns = (uint64_t)(verdict->wait_percent / 100 * (double)judge->window_ns);
	if (own_ns > most_ns)
		own_ns = most_ns;
	judge->ns[VERDICT_HOST_CODE] -= own_ns;
	judge->ns[VERDICT_DATA] += own_ns;
}

/* The heaviest kind of cause among the rows of a state, @fetcher: and of those that weigh() moved; or of all. */
static struct idle_verdict heaviest_kind(const struct judge *judge, uint8_t state, bool fetcher)
{
	const struct idle_roots *roots = judge->roots;
	uint64_t ns[IDLE_CAUSES][IDLE_KINDS] = { { 0 } };
	struct idle_verdict best = { .cause = IDLE_UNKNOWN };

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; roots && i < roots->count; i++) {
			const struct idle_root *row = &roots->row[i];
			uint8_t cause = row->root.cause;
			uint8_t kind = idle_kind_of(judge->model, &row->root);
			uint8_t own = state_of(judge, row);

			if (state != VERDICT_STATES && own != state &&
			    !(fetcher && own == VERDICT_HOST_CODE && is_fetcher(judge, row)))
				continue;
			if (pass == 0) {
				ns[cause][kind] += row->ns;
				if (ns[cause][kind] > best.ns) {
					best.ns = ns[cause][kind];
					best.cause = cause;
					best.kind = kind;
				}
			} else if (!best.most && cause == best.cause && kind == best.kind) {
				best.most = row;
			}
		}
	}
	if (best.most)
		best.cause_ns = roots->cause_ns[best.cause];
	return best;
}

static const struct pipeline_steps *main_steps(const struct verdict_facts *facts)
{
	return facts->steps->main == INDEX_NONE ? NULL
						: &facts->steps->pipelines[facts->steps->main];
}

/* What the steps say: how long they wait for data, and for which operator. */
static void ask_steps(struct judge *judge, struct verdict *verdict)
{
	const struct pipeline_steps *steps = main_steps(judge->facts);
	uint32_t main = judge->facts->steps->main;

	verdict->wait_percent = -1;
	if (!steps || !steps->judged)
		return;
	verdict->wait_percent = share(steps->judged_wait_ns, steps->judged_ns);
	judge->fetcher = steps->usage->fetch.thread;
	if (main < judge->facts->advice->count &&
	    judge->facts->advice->bottlenecks[main].kind != BOTTLENECK_NONE) {
		verdict->pipeline = main;
		verdict->op = judge->facts->advice->bottlenecks[main].op;
	}
}

static bool too_much_lost(const struct judge *judge, struct verdict *verdict)
{
	const struct capture_results *capture = judge->facts->capture;
	double worst = 0;

	if (!capture || !judge->model->files.count)
		return false;
	verdict->lost = capture->lost + capture->missing;
	for (uint32_t i = 0; i < capture->source_count; i++) {
		const struct capture_source *row = &capture->sources[i];
		double percent = share(row->lost + row->missing,
				       judge->model->sources.row[row->source].produced);

		if (percent >= VERDICT_NOISE_PERCENT && percent > worst) {
			worst = percent;
			verdict->source = row->source;
		}
	}
	return worst > 0 || capture->damaged;
}

/* Switches were to be recorded, and there were none. */
static bool nobody_switched(const struct judge *judge)
{
	const char *at = model_text(judge->model, judge->model->info.topics);

	return !timelines_recorded(judge->model) && strstr(at, "sched");
}

static void know_not(struct verdict *verdict, uint8_t lack)
{
	verdict->state = VERDICT_UNKNOWN;
	verdict->lack = lack;
}

static uint8_t lack_of(const struct judge *judge, const struct verdict *verdict)
{
	const struct idle_root *most = verdict->idle.most;

	if (!judge->model->files.count)
		return VERDICT_LACK_TRACE;
	if (!verdict->by_threads && !timelines_recorded(judge->model))
		return VERDICT_LACK_SCHED;
	if (!verdict->by_threads && !judge->facts->devices->launches.matched)
		return VERDICT_LACK_LAUNCHES;
	if (most && (most->root.cause == IDLE_NO_WORK || most->root.end == ROOT_END_UNTRACED))
		return VERDICT_LACK_PROCESS;
	return VERDICT_LACK_ROOTS;
}

/* How long ranks wait for each other: as their collectives begin, or as files tell the parts of each. */
static uint64_t communication_wait(const struct judge *judge, struct verdict *verdict)
{
	const struct communication_results *of = &judge->facts->devices->communication;
	uint64_t ranks_ns = 0, files_ns = 0, late_ns = 0;

	for (uint32_t i = 0; i < of->rank_count; i++) {
		ranks_ns += of->ranks[i].wait_ns;
		if (of->ranks[i].late_ns > late_ns) {
			late_ns = of->ranks[i].late_ns;
			verdict->straggler = of->ranks[i].device;
		}
	}
	for (uint32_t i = 0; i < of->operation_count; i++)
		files_ns += of->operations[i].wait_ns;
	return ranks_ns > files_ns ? ranks_ns : files_ns;
}

static void find_cost(struct judge *judge, struct verdict *verdict, uint8_t state)
{
	verdict->state = state;
	verdict->percent = verdict->gain_percent = share(judge->ns[state], judge->window_ns);
	verdict->idle =
		heaviest_kind(judge, state, state == VERDICT_DATA && verdict->op != INDEX_NONE);
	if (state == VERDICT_DATA && verdict->idle.most) {
		struct owner owner = owner_of(judge, verdict->idle.most);

		if (owner.pipeline != INDEX_NONE) {
			verdict->pipeline = owner.pipeline;
			verdict->op = owner.op;
		}
	}
}

/* The device is what takes the time; what the host costs beside it is told if it is more than noise. */
static void blame_device(struct judge *judge, struct verdict *verdict)
{
	struct idle_verdict host = heaviest_kind(judge, VERDICT_STATES, false);

	verdict->state = VERDICT_DEVICE;
	verdict->busy = true;
	verdict->percent = 100 - verdict->idle_percent;
	if (host.cause != IDLE_UNKNOWN && share(host.ns, judge->window_ns) >= VERDICT_NOISE_PERCENT)
		verdict->idle = host;
}

/* Of work that is told as a whole how busy the device is in it is not known. */
static bool is_told_whole(const struct judge *judge)
{
	const struct device_results *devices = judge->facts->devices;

	for (uint32_t i = 0; i < devices->device_count; i++) {
		if (devices->devices[i].window_ns &&
		    judge->model->devices.row[devices->devices[i].device].whole)
			return true;
	}
	return false;
}

/* Of its whole time, in percent; only of files that also tell what the host did. */
static double told_percent(const struct judge *judge)
{
	const struct trace_info *info = &judge->model->info;
	const struct device_results *devices = judge->facts->devices;
	uint64_t longest_ns = 0;

	for (uint32_t i = 0; i < devices->device_count; i++)
		if (devices->devices[i].window_ns > longest_ns)
			longest_ns = devices->devices[i].window_ns;
	return judge->model->files.count
		       ? 100
		       : share(longest_ns, info->session_end_ns - info->session_start_ns);
}

static void know_not_how_busy(struct verdict *verdict)
{
	know_not(verdict, VERDICT_LACK_KERNELS);
	verdict->has_percent = false;
}

static void judge_devices(struct judge *judge, struct verdict *verdict)
{
	uint8_t heaviest = VERDICT_DATA;
	uint64_t noise_ns = judge->window_ns / 100 * VERDICT_NOISE_PERCENT;

	verdict->has_percent = true;
	verdict->percent = verdict->idle_percent = share(judge->idle_ns, judge->window_ns);
	verdict->at_least = is_told_whole(judge);
	weigh(judge, verdict);
	judge->ns[VERDICT_COMMUNICATION] = communication_wait(judge, verdict);
	for (uint8_t state = VERDICT_DATA; state <= VERDICT_COMMUNICATION; state++)
		if (judge->ns[state] > judge->ns[heaviest])
			heaviest = state;
	if (too_much_lost(judge, verdict)) {
		know_not(verdict, VERDICT_LACK_RECORDS);
	} else if (heaviest == VERDICT_COMMUNICATION && judge->ns[heaviest] >= noise_ns &&
		   judge->ns[heaviest] > judge->ns[VERDICT_UNKNOWN]) {
		verdict->state = heaviest;
		verdict->percent = verdict->gain_percent =
			share(judge->ns[heaviest], judge->window_ns);
	} else if (verdict->at_least && 100 - verdict->idle_percent >= VERDICT_BUSY_PERCENT) {
		know_not_how_busy(verdict);
	} else if (100 - verdict->idle_percent >= VERDICT_BUSY_PERCENT &&
		   told_percent(judge) < VERDICT_TOLD_PERCENT) {
		know_not(verdict, VERDICT_LACK_TASKS);
		verdict->has_percent = false;
		verdict->percent = told_percent(judge);
	} else if (verdict->idle_percent < VERDICT_NOISE_PERCENT &&
		   verdict->wait_percent <= VERDICT_NOISE_PERCENT) {
		verdict->state = VERDICT_HEALTHY;
		verdict->percent = 100 - verdict->idle_percent;
	} else if (100 - verdict->idle_percent >= VERDICT_BUSY_PERCENT) {
		blame_device(judge, verdict);
	} else if (2 * judge->ns[VERDICT_UNKNOWN] > judge->idle_ns) {
		verdict->idle = heaviest_kind(judge, VERDICT_UNKNOWN, false);
		know_not(verdict, lack_of(judge, verdict));
		/* That nothing was recorded is no root. */
		if (verdict->lack != VERDICT_LACK_PROCESS && verdict->lack != VERDICT_LACK_ROOTS)
			verdict->idle.most = NULL;
	} else if (judge->ns[heaviest] < noise_ns && verdict->at_least) {
		know_not_how_busy(verdict);
	} else if (judge->ns[heaviest] < noise_ns) {
		blame_device(judge, verdict);
	} else {
		find_cost(judge, verdict, heaviest);
	}
}

static void judge_steps(struct judge *judge, struct verdict *verdict)
{
	const struct pipeline_steps *steps = main_steps(judge->facts);
	const struct bottleneck *b = NULL;
	double cpu = steps ? share(steps->other_cpu_ns, steps->judged_ns) : 0;

	verdict->of = VERDICT_OF_STEP_TIME;
	if (verdict->op != INDEX_NONE)
		b = &judge->facts->advice->bottlenecks[verdict->pipeline];
	if (too_much_lost(judge, verdict)) {
		know_not(verdict, VERDICT_LACK_RECORDS);
		return;
	}
	if (verdict->wait_percent < 0) {
		know_not(verdict, !judge->model->files.count ? VERDICT_LACK_TRACE
				  : nobody_switched(judge)   ? VERDICT_LACK_SWITCHES
							     : VERDICT_LACK_STREAM);
		return;
	}
	verdict->has_percent = true;
	if (b && (b->kind == BOTTLENECK_STARVED || b->kind == BOTTLENECK_TAKES_CPU)) {
		verdict->state = VERDICT_CPU;
		verdict->percent = b->percent;
	} else if (b && b->kind == BOTTLENECK_LOCK) {
		verdict->state = VERDICT_DATA;
		verdict->percent = b->percent;
	} else if (verdict->wait_percent >= VERDICT_NOISE_PERCENT && verdict->wait_percent >= cpu) {
		verdict->state = VERDICT_DATA;
		verdict->percent = verdict->wait_percent;
	} else if (cpu >= VERDICT_NOISE_PERCENT) {
		verdict->state = VERDICT_CPU;
		verdict->percent = cpu;
	} else {
		verdict->percent = verdict->wait_percent;
		know_not(verdict, VERDICT_LACK_STEPS);
		return;
	}
	verdict->gain_percent = verdict->percent;
}

/* Other threads that do the same are none that hold up: then what they did is the job's work, too. */
static uint64_t find_help(struct judge *judge, uint64_t own_ns)
{
	uint64_t help_ns = 0;

	for (uint32_t i = 0; i < judge->roots->count; i++)
		if (is_help(judge, &judge->roots->row[i]))
			help_ns += judge->roots->row[i].ns;
	judge->helped = help_ns <= own_ns;
	return judge->helped ? help_ns : 0;
}

/* What was in fetches and waited for nobody is a loader's that makes its batches in the thread that fetches. */
static uint64_t own_fetches(const struct judge *judge, const struct verdict *verdict,
			    uint64_t own_ns)
{
	const struct idle_roots *waits = &judge->facts->waits->waits;
	uint64_t fetch_ns, other_ns = 0;

	if (verdict->wait_percent < VERDICT_NOISE_PERCENT || verdict->op == INDEX_NONE ||
	    !judge->facts->waits->of_steps)
		return 0;
	fetch_ns = (uint64_t)(verdict->wait_percent / 100 * (double)judge->window_ns);
	for (uint32_t i = 0; i < waits->count; i++)
		if (owner_of(judge, &waits->row[i]).pipeline != INDEX_NONE)
			other_ns += waits->row[i].ns;
	fetch_ns = fetch_ns > other_ns ? fetch_ns - other_ns : 0;
	return fetch_ns < own_ns ? fetch_ns : own_ns;
}

static uint8_t heaviest_of(const struct judge *judge)
{
	uint8_t heaviest = VERDICT_DATA;

	for (uint8_t state = VERDICT_DATA; state <= VERDICT_DEVICE; state++)
		if (judge->ns[state] > judge->ns[heaviest])
			heaviest = state;
	return heaviest;
}

/* The largest root of what the threads did themselves. */
static void point_at_own(struct judge *judge, struct verdict *verdict)
{
	judge->roots = &judge->facts->waits->own;
	verdict->idle = heaviest_kind(judge, VERDICT_STATES, false);
}

static void find_threads_cost(struct judge *judge, struct verdict *verdict, uint8_t state,
			      uint64_t own_ns)
{
	verdict->gain_percent = 0;
	find_cost(judge, verdict, state);
	/* What they did themselves may be more than what they waited for. */
	if (own_ns > verdict->idle.ns)
		point_at_own(judge, verdict);
}

/* What the rules of pipelines tell of locks and CPUs, where it is more than all else. */
static bool blame_pipeline(struct judge *judge, struct verdict *verdict, uint8_t heaviest)
{
	const struct bottleneck *b =
		verdict->op == INDEX_NONE ? NULL
					  : &judge->facts->advice->bottlenecks[verdict->pipeline];

	if (!b || (b->kind != BOTTLENECK_LOCK && b->kind != BOTTLENECK_TAKES_CPU) ||
	    b->percent < VERDICT_NOISE_PERCENT ||
	    b->percent < share(judge->ns[heaviest], judge->window_ns))
		return false;
	verdict->state = b->kind == BOTTLENECK_LOCK ? VERDICT_DATA : VERDICT_CPU;
	verdict->percent = verdict->gain_percent = b->percent;
	verdict->idle = heaviest_kind(judge, verdict->state, false);
	return true;
}

static void judge_threads(struct judge *judge, struct verdict *verdict)
{
	const struct host_waits *waits = judge->facts->waits;
	uint64_t own_ns = waits->own.total_ns, asked_ns = waits->waits.total_ns, fetched_ns;
	uint8_t heaviest;

	verdict->of = waits->of_steps ? VERDICT_OF_STEP_TIME : VERDICT_OF_WALL_TIME;
	verdict->by_threads = verdict->has_percent = true;
	judge->window_ns = waits->window_ns;
	judge->roots = &waits->waits;
	if (!waits->bounds.known)
		own_ns += find_help(judge, own_ns);
	for (uint32_t i = 0; i < waits->waits.count; i++)
		judge->ns[state_of(judge, &waits->waits.row[i])] += waits->waits.row[i].ns;
	fetched_ns = own_fetches(judge, verdict, own_ns);
	own_ns -= fetched_ns;
	judge->ns[VERDICT_DATA] += fetched_ns;
	verdict->own_percent = verdict->percent = share(own_ns, judge->window_ns);
	if (waits->bounds.known) {
		judge->ns[VERDICT_HOST_CODE] += own_ns;
		asked_ns += own_ns;
	}
	heaviest = heaviest_of(judge);
	if (too_much_lost(judge, verdict)) {
		know_not(verdict, VERDICT_LACK_RECORDS);
		verdict->has_percent = false;
	} else if (blame_pipeline(judge, verdict, heaviest)) {
		;
	} else if (waits->bounds.known && waits->bounds.at_least_percent >= VERDICT_BUSY_PERCENT) {
		verdict->state = VERDICT_DEVICE;
		verdict->busy = true;
		verdict->percent = waits->bounds.at_least_percent;
	} else if (2 * judge->ns[VERDICT_UNKNOWN] > asked_ns &&
		   share(judge->ns[VERDICT_UNKNOWN], judge->window_ns) >= VERDICT_NOISE_PERCENT) {
		verdict->percent = share(judge->ns[VERDICT_UNKNOWN], judge->window_ns);
		verdict->idle = heaviest_kind(judge, VERDICT_UNKNOWN, false);
		know_not(verdict, lack_of(judge, verdict));
	} else if (share(judge->ns[heaviest], judge->window_ns) < VERDICT_NOISE_PERCENT ||
		   (!waits->bounds.known && verdict->own_percent >= VERDICT_BUSY_PERCENT)) {
		verdict->state = VERDICT_HEALTHY;
		point_at_own(judge, verdict);
	} else {
		find_threads_cost(
			judge, verdict, heaviest,
			heaviest == VERDICT_HOST_CODE && waits->bounds.known ? own_ns : fetched_ns);
	}
	verdict->roots = judge->roots;
	verdict->roots_of_ns = judge->window_ns;
}

int verdict_find(const struct model *model, const struct verdict_facts *facts,
		 struct verdict *verdict)
{
	struct judge judge = { .model = model,
			       .facts = facts,
			       .roots = facts->devices->idle.roots,
			       .fetcher = INDEX_NONE };
	bool asked = facts->waits && facts->waits->why == WAITS_OF_ASKED;

	*verdict = (struct verdict){ .pipeline = INDEX_NONE,
				     .op = INDEX_NONE,
				     .straggler = INDEX_NONE,
				     .why.device = INDEX_NONE,
				     .source = INDEX_NONE };
	if (!find_owners(&judge))
		return -ENOMEM;
	for (uint32_t i = 0; facts->devices->devices && i < facts->devices->device_count; i++) {
		judge.window_ns += facts->devices->devices[i].window_ns;
		judge.idle_ns += facts->devices->devices[i].idle_ns;
	}
	ask_steps(&judge, verdict);
	if (judge.window_ns && !asked)
		judge_devices(&judge, verdict);
	else if (facts->waits && facts->waits->window_ns)
		judge_threads(&judge, verdict);
	else if (asked && !facts->waits->thread_count)
		know_not(verdict, VERDICT_LACK_THREAD);
	else
		judge_steps(&judge, verdict);
	if (!verdict->roots)
		verdict->roots = judge.roots;
	if (!verdict->roots_of_ns)
		verdict->roots_of_ns = judge.window_ns;
	/* Of other states an operator is not to blame. */
	if (verdict->state != VERDICT_DATA &&
	    (verdict->state != VERDICT_CPU || verdict->of == VERDICT_OF_DEVICE_TIME))
		verdict->pipeline = verdict->op = INDEX_NONE;
	free(judge.owner);
	return verdict->state == VERDICT_COMMUNICATION
		       ? straggler_explain(model, facts->devices, verdict->straggler, &verdict->why)
		       : 0;
}
