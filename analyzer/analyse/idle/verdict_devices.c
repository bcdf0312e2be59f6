/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict by the tasks of devices. */
#include "analyzer/analyse/idle/verdict_private.h"

/* Returns the window of the devices of the process that fetches; of all devices, if it is not known whose they are. */
static uint64_t fetching_window(const struct judge *judge)
{
	const struct model *model = judge->model;
	const struct device_results *devices = judge->facts->devices;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < devices->device_count && judge->fetcher < model->threads.count; i++)
		if (model->devices.row[i].process == model->threads.row[judge->fetcher].process)
			ns += devices->devices[i].window_ns;
	return ns ? ns : judge->window_ns;
}

/*
 * Sums up the states. A loader without workers makes its batches in the thread that fetches them; the share of fetches
 * in that thread's activity is known only for all steps together.
 */
static void weigh(struct judge *judge, const struct verdict *verdict)
{
	const struct idle_roots *roots = judge->roots;
	uint64_t own_ns = 0, most_ns;

	for (uint32_t i = 0; roots && i < roots->count; i++) {
		uint8_t state = judge_state_of(judge, &roots->row[i]);

		judge->ns[state] += roots->row[i].ns;
		if (state == VERDICT_HOST_CODE && judge_is_fetcher(judge, &roots->row[i]))
			own_ns += roots->row[i].ns;
	}
	if (verdict->wait_percent < VERDICT_NOISE_PERCENT || verdict->op == INDEX_NONE)
		return;
	most_ns = (uint64_t)(verdict->wait_percent / 100 * (double)fetching_window(judge));
	if (own_ns > most_ns)
		own_ns = most_ns;
	judge->ns[VERDICT_HOST_CODE] -= own_ns;
	judge->ns[VERDICT_DATA] += own_ns;
}

/* Returns the time that ranks wait for each other: by the starts of their collectives, or by the parts in files. */
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

/* The device takes the time; the host's heaviest cause is added if it costs more than the noise. */
static void blame_device(struct judge *judge, struct verdict *verdict)
{
	struct idle_verdict host = judge_heaviest_kind(judge, VERDICT_STATES, false);

	verdict->state = VERDICT_DEVICE;
	verdict->busy = true;
	verdict->percent = 100 - verdict->idle_percent;
	if (host.cause != IDLE_UNKNOWN &&
	    judge_share(host.ns, judge->window_ns) >= VERDICT_NOISE_PERCENT)
		verdict->idle = host;
}

/* Is work recorded as a whole? Then the device's busy time within it is not known. */
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

/* Returns the share of a device file's time that tasks cover, in percent; 100 if there is a trace. */
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
		       : judge_share(longest_ns, info->session_end_ns - info->session_start_ns);
}

static double copies_percent(const struct judge *judge)
{
	const struct overlap_results *overlap = &judge->facts->devices->overlap;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < overlap->count; i++)
		ns += overlap->devices[i].all.pure_copy_ns;
	return judge_share(ns, judge->window_ns);
}

static void know_not_how_busy(struct verdict *verdict)
{
	judge_know_not(verdict, VERDICT_LACK_KERNELS);
	verdict->has_percent = false;
}

void judge_devices(struct judge *judge, struct verdict *verdict)
{
	uint8_t heaviest = VERDICT_DATA;
	uint64_t noise_ns = judge->window_ns / 100 * VERDICT_NOISE_PERCENT;

	verdict->has_percent = true;
	verdict->percent = verdict->idle_percent = judge_share(judge->idle_ns, judge->window_ns);
	verdict->at_least = is_told_whole(judge);
	verdict->copies_percent = copies_percent(judge);
	weigh(judge, verdict);
	judge->ns[VERDICT_COMMUNICATION] = communication_wait(judge, verdict);
	for (uint8_t state = VERDICT_DATA; state <= VERDICT_COMMUNICATION; state++)
		if (judge->ns[state] > judge->ns[heaviest])
			heaviest = state;
	if (judge_lost_too_much(judge, verdict)) {
		judge_know_not(verdict, VERDICT_LACK_RECORDS);
	} else if (heaviest == VERDICT_COMMUNICATION && judge->ns[heaviest] >= noise_ns &&
		   judge->ns[heaviest] > judge->ns[VERDICT_UNKNOWN]) {
		verdict->state = heaviest;
		verdict->percent = verdict->gain_percent =
			judge_share(judge->ns[heaviest], judge->window_ns);
	} else if (verdict->at_least && 100 - verdict->idle_percent >= VERDICT_BUSY_PERCENT) {
		know_not_how_busy(verdict);
	} else if (100 - verdict->idle_percent >= VERDICT_BUSY_PERCENT &&
		   told_percent(judge) < VERDICT_TOLD_PERCENT) {
		judge_know_not(verdict, VERDICT_LACK_TASKS);
		verdict->has_percent = false;
		verdict->percent = told_percent(judge);
	} else if (verdict->idle_percent < VERDICT_NOISE_PERCENT &&
		   verdict->wait_percent <= VERDICT_NOISE_PERCENT &&
		   verdict->copies_percent < VERDICT_COPIES_PERCENT) {
		verdict->state = VERDICT_HEALTHY;
		verdict->percent = 100 - verdict->idle_percent;
	} else if (100 - verdict->idle_percent >= VERDICT_BUSY_PERCENT) {
		blame_device(judge, verdict);
	} else if (2 * judge->ns[VERDICT_UNKNOWN] > judge->idle_ns) {
		verdict->idle = judge_heaviest_kind(judge, VERDICT_UNKNOWN, false);
		judge_know_not(verdict, judge_lack_of(judge, verdict));
		/* Missing records are not a root. */
		if (verdict->lack != VERDICT_LACK_PROCESS && verdict->lack != VERDICT_LACK_ROOTS)
			verdict->idle.most = NULL;
	} else if (judge->ns[heaviest] < noise_ns && verdict->at_least) {
		know_not_how_busy(verdict);
	} else if (judge->ns[heaviest] < noise_ns) {
		blame_device(judge, verdict);
	} else if (heaviest == VERDICT_DEVICE ||
		   !judge_restarts(judge, verdict, judge_share(judge->ns[heaviest], judge->window_ns))) {
		judge_find_cost(judge, verdict, heaviest);
	}
}
