/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/verdict_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/join/thread/timelines.h"

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

static const struct pipeline_steps *main_steps(const struct verdict_facts *facts)
{
	return facts->steps->main == INDEX_NONE ? NULL
						: &facts->steps->pipelines[facts->steps->main];
}

/* Returns the time in fetches of another pipeline of the thread that lies in the judged steps: an evaluation in between. */
static uint64_t waits_inside(const struct pipeline_steps *steps, const struct pipeline_steps *other)
{
	uint64_t ns = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < other->count; i++) {
		const struct step *row = &other->rows[i];

		while (at < steps->count && steps->rows[at].start_ns + steps->rows[at].duration_ns <= row->start_ns)
			at++;
		if (at == steps->count)
			break;
		if (steps->rows[at].start_ns <= row->start_ns && steps->rows[at].index >= STEPS_WARM_UP)
			ns += row->data_wait_ns;
	}
	return ns;
}

/*
 * An evaluation between two training steps is part of the first of them. If its loader, which has no workers, takes
 * more of the steps' time than the training's, it is the one to blame.
 */
static void ask_evaluations(const struct verdict_facts *facts, const struct pipeline_steps *steps,
			    struct verdict *verdict)
{
	uint64_t most_ns = steps->judged_wait_ns, all_ns = steps->judged_wait_ns;

	/* Starts of the training's workers lie outside its waits, mostly. */
	if (facts->steps->main < facts->advice->count &&
	    facts->advice->bottlenecks[facts->steps->main].kind == BOTTLENECK_RESTARTS && steps->restart_ns > most_ns)
		most_ns = steps->restart_ns;
	for (uint32_t i = 0; i < facts->steps->count && i < facts->advice->count; i++) {
		const struct pipeline_steps *other = &facts->steps->pipelines[i];
		const struct bottleneck *b = &facts->advice->bottlenecks[i];
		uint64_t ns;

		if (i == facts->steps->main || other->usage->fetch.thread != steps->usage->fetch.thread ||
		    b->kind == BOTTLENECK_NONE ||
		    !other->usage->pipeline->operators.row[b->op].in_trainer)
			continue;
		ns = waits_inside(steps, other);
		all_ns += ns;
		if (ns <= most_ns)
			continue;
		most_ns = ns;
		verdict->pipeline = i;
		verdict->op = b->op;
	}
	verdict->wait_percent = judge_share(all_ns, steps->judged_ns);
}

/* Fills in the share of the steps' time in waits for data, and the operator that causes them. */
static void ask_steps(struct judge *judge, struct verdict *verdict)
{
	const struct pipeline_steps *steps = main_steps(judge->facts);
	uint32_t main = judge->facts->steps->main;

	verdict->wait_percent = -1;
	if (!steps || !steps->judged)
		return;
	verdict->wait_percent = judge_share(steps->judged_wait_ns, steps->judged_ns);
	judge->fetcher = steps->usage->fetch.thread;
	if (main < judge->facts->advice->count &&
	    judge->facts->advice->bottlenecks[main].kind != BOTTLENECK_NONE) {
		verdict->pipeline = main;
		verdict->op = judge->facts->advice->bottlenecks[main].op;
	}
	ask_evaluations(judge->facts, steps, verdict);
}

bool judge_lost_too_much(const struct judge *judge, struct verdict *verdict)
{
	const struct capture_results *capture = judge->facts->capture;
	double worst = 0;

	if (!capture || !judge->model->files.count)
		return false;
	verdict->lost = capture->lost + capture->missing;
	for (uint32_t i = 0; i < capture->source_count; i++) {
		const struct capture_source *row = &capture->sources[i];
		double percent = judge_share(row->lost + row->missing,
					     judge->model->sources.row[row->source].produced);

		if (percent >= VERDICT_NOISE_PERCENT && percent > worst) {
			worst = percent;
			verdict->source = row->source;
		}
	}
	return worst > 0 || capture->damaged;
}

/* Topic sched was recorded, but there are no switches. */
static bool nobody_switched(const struct judge *judge)
{
	const char *at = model_text(judge->model, judge->model->info.topics);

	return !timelines_recorded(judge->model) && strstr(at, "sched");
}

/* Returns the part of the judged time that is a process's, from 0 to 1; 0 also if that is not known. */
static double part_of(const struct judge *judge, uint32_t process, bool by_threads)
{
	const struct model *model = judge->model;
	const struct device_results *devices = judge->facts->devices;
	const struct host_waits *waits = judge->facts->waits;
	uint64_t own = 0, all = 0;

	for (uint32_t i = 0; by_threads && i < waits->thread_count; i++) {
		const struct analysis_window window = { waits->from_ns, waits->to_ns };
		const struct thread *row = &model->threads.row[waits->threads[i]];
		uint64_t ns = analysis_clipped(row->start_ns, row->exit_ns ? row->exit_ns : waits->to_ns, &window);

		all += ns;
		own += row->process == process ? ns : 0;
	}
	for (uint32_t i = 0; !by_threads && devices->devices && i < devices->device_count; i++) {
		all += devices->devices[i].window_ns;
		if (i < model->devices.count && model->devices.row[i].process == process)
			own += devices->devices[i].window_ns;
	}
	return own ? (double)own / (double)all : 0;
}

static uint32_t trainer_of(const struct judge *judge, uint32_t pipeline)
{
	uint32_t thread = judge->facts->steps->pipelines[pipeline].usage->fetch.thread;

	return thread < judge->model->threads.count ? judge->model->threads.row[thread].process : INDEX_NONE;
}

static double restart_percent(const struct judge *judge, uint32_t pipeline)
{
	const struct bottleneck *b = &judge->facts->advice->bottlenecks[pipeline];

	return b->kind == BOTTLENECK_RESTARTS ? b->percent : 0;
}

/* Does another pipeline of the same trainer cost more by such starts, or come first with the same cost? */
static bool restarts_less(const struct judge *judge, uint32_t pipeline)
{
	double own = restart_percent(judge, pipeline);

	for (uint32_t i = 0; i < judge->facts->steps->count && i < judge->facts->advice->count; i++)
		if (trainer_of(judge, i) == trainer_of(judge, pipeline) &&
		    (restart_percent(judge, i) > own || (i < pipeline && restart_percent(judge, i) >= own)))
			return true;
	return false;
}

/*
 * Returns the cost of starts in percent of the judged time of all jobs: a pipeline's cost is of its trainer's time
 * alone. The ranks of a job each have such a pipeline, and add up. @pipeline's trainer is judged, even if its part is
 * not known.
 */
static double all_restarts(const struct judge *judge, uint32_t pipeline, bool by_threads)
{
	double percent = 0;

	if (part_of(judge, trainer_of(judge, pipeline), by_threads) <= 0)
		return restart_percent(judge, pipeline);
	for (uint32_t i = 0; i < judge->facts->steps->count && i < judge->facts->advice->count; i++)
		if (!restarts_less(judge, i))
			percent += restart_percent(judge, i) * part_of(judge, trainer_of(judge, i), by_threads);
	return percent;
}

bool judge_restarts(const struct judge *judge, struct verdict *verdict, double percent)
{
	const struct bottleneck *b =
		verdict->op == INDEX_NONE ? NULL : &judge->facts->advice->bottlenecks[verdict->pipeline];

	if (!b || b->kind != BOTTLENECK_RESTARTS)
		return false;
	/* Steps alone are one pipeline's. */
	if (2 * (verdict->of == VERDICT_OF_STEP_TIME && !verdict->by_threads
			 ? b->percent
			 : all_restarts(judge, verdict->pipeline, verdict->by_threads)) < percent)
		return false;
	verdict->state = VERDICT_DATA;
	verdict->restarts = true;
	verdict->of = VERDICT_OF_WALL_TIME;
	verdict->percent = verdict->gain_percent = b->percent;
	verdict->idle = (struct idle_verdict){ 0 };
	return true;
}

void judge_know_not(struct verdict *verdict, uint8_t lack)
{
	verdict->state = VERDICT_UNKNOWN;
	verdict->lack = lack;
}

uint8_t judge_lack_of(const struct judge *judge, const struct verdict *verdict)
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

static void judge_steps(struct judge *judge, struct verdict *verdict)
{
	const struct pipeline_steps *steps = main_steps(judge->facts);
	const struct bottleneck *b = NULL;
	double cpu = steps ? judge_share(steps->other_cpu_ns, steps->judged_ns) : 0;

	verdict->of = VERDICT_OF_STEP_TIME;
	if (verdict->op != INDEX_NONE)
		b = &judge->facts->advice->bottlenecks[verdict->pipeline];
	if (judge_lost_too_much(judge, verdict)) {
		judge_know_not(verdict, VERDICT_LACK_RECORDS);
		return;
	}
	if (verdict->wait_percent < 0) {
		judge_know_not(verdict, !judge->model->files.count ? VERDICT_LACK_TRACE
					: nobody_switched(judge)   ? VERDICT_LACK_SWITCHES
								   : VERDICT_LACK_STREAM);
		return;
	}
	verdict->has_percent = true;
	if (judge_restarts(judge, verdict, verdict->wait_percent)) {
		;
	} else if (b && (b->kind == BOTTLENECK_STARVED || b->kind == BOTTLENECK_TAKES_CPU)) {
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
		judge_know_not(verdict, VERDICT_LACK_STEPS);
		return;
	}
	verdict->gain_percent = verdict->percent;
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
	if (!judge_find_owners(&judge))
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
		judge_know_not(verdict, VERDICT_LACK_THREAD);
	else
		judge_steps(&judge, verdict);
	if (!verdict->roots)
		verdict->roots = judge.roots;
	if (!verdict->roots_of_ns)
		verdict->roots_of_ns = judge.window_ns;
	/* An operator is to blame only for these states. */
	if (verdict->state != VERDICT_DATA &&
	    (verdict->state != VERDICT_CPU || verdict->of == VERDICT_OF_DEVICE_TIME))
		verdict->pipeline = verdict->op = INDEX_NONE;
	free(judge.owner);
	if (verdict->state != VERDICT_COMMUNICATION)
		return 0;
	return straggler_explain(model, facts->all_devices ? facts->all_devices : facts->devices,
				 verdict->straggler, &verdict->why);
}
