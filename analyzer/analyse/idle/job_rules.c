/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/job_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/pipeline/pipeline_rules.h"
#include "analyzer/model/translate.h"

#define GARBAGE "garbage collection" /* function_words.txt */
#define PAUSE_CALLS_PERCENT 1 /* msprof-analyze: runtime calls take less of a gap that may be a garbage collection */

struct rules {
	const struct model *model;
	const struct verdict_facts *facts;
	const struct verdict *verdict;
	struct advice_results *advice;
	bool failed;
};

static double share(uint64_t part_ns, uint64_t all_ns)
{
	return all_ns ? 100 * (double)part_ns / (double)all_ns : 0;
}

static uint64_t devices_ns(const struct rules *rules)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < rules->facts->devices->device_count; i++)
		ns += rules->facts->devices->devices[i].window_ns;
	return ns;
}

static void add(struct rules *rules, const char *id, enum peer_rule_id rule, double value,
		double percent, const char *title, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 8, 9)));

/* Adds advice if the rule applies and the cost is not below the noise of the trace. */
static void add(struct rules *rules, const char *id, enum peer_rule_id rule, double value,
		double percent, const char *title, const char *remedy, const char *format, ...)
{
	struct advice *advice;
	va_list list;

	if (percent < VERDICT_NOISE_PERCENT || !peer_rule_says(rule, value))
		return;
	advice = advice_new(rules->advice, id, percent, title, remedy);
	rules->failed |= !advice;
	if (!advice)
		return;
	advice_cite(advice, rule, value);
	va_start(list, format);
	vsnprintf(advice->evidence, sizeof(advice->evidence), format, list);
	va_end(list);
}

/* ---- Data pipelines */

static struct advice *advice_of(const struct rules *rules, uint32_t pipeline)
{
	for (uint32_t i = 0; i < rules->advice->advice_count; i++)
		if (rules->advice->list[i].pipeline == pipeline)
			return &rules->advice->list[i];
	return NULL;
}

/* The trainer waits for data, although no operator costs enough to be the bottleneck. */
static void judge_wait(struct rules *rules, const struct pipeline_steps *steps)
{
	const struct pipeline *pipeline = steps->usage->pipeline;
	double wait_ms = rules_wait_ms(steps);

	add(rules, "pipeline_slow_loader", RULE_SLOW_LOADER, wait_ms,
	    share(steps->judged_wait_ns, steps->judged_ns), tr("The trainer waits for data"),
	    tr("The section pipeline shows the operators below: use more workers or prefetching "
	       "for those that work longest, or faster storage."),
	    tr("%s: %.2f ms of each step of %.2f ms, on the mean of %u"), pipeline->framework, wait_ms,
	    (double)steps->judged_ns / 1e6 / steps->judged, steps->judged);
}

/* The host's queue has batches but the device's queue is empty: sending is slow. */
static void judge_sending(struct rules *rules, const struct pipeline_steps *steps)
{
	double empty = rules_device_queue_empty(steps->usage);
	double idle = share(rules->facts->devices->idle.total_ns, devices_ns(rules));

	if (peer_rule_says(RULE_FETCH_EMPTY, rules_fetch_empty(steps->usage)))
		return;
	add(rules, "pipeline_sending", RULE_DEVICE_QUEUE_EMPTY, empty, idle,
	    tr("Sending batches to the device is slow"),
	    tr("The host has batches ready: smaller ones (types, sizes), fewer tensors in each, or several "
	    "in one transfer (sink_size); keep the CPUs of the sending thread free."),
	    tr("%.0f batches found the device's queue empty, while those on the host were ready; devices are "
	    "idle for %.1f %%"),
	    empty, idle);
}

static void judge_pipelines(struct rules *rules, const struct host_results *host)
{
	double busy = host && host->known ? cpu_utilization(&host->all) : NAN;

	for (uint32_t i = 0; i < rules->facts->steps->count; i++) {
		const struct pipeline_steps *steps = &rules->facts->steps->pipelines[i];
		struct advice *advice = advice_of(rules, i);

		if (steps->usage->pipeline->by_wakes || !steps->judged)
			continue;
		if (advice && i < rules->facts->advice->count)
			rules_cite(steps, &rules->facts->advice->bottlenecks[i], busy, advice);
		else if (!advice)
			judge_wait(rules, steps);
		judge_sending(rules, steps);
	}
}

/* ---- Garbage collection, and pauses that look like it */

static bool is_garbage(const struct idle_root *row)
{
	return row->word && strcmp(row->word, GARBAGE) == 0;
}

static uint64_t longest_ns(const struct idle_root *row)
{
	return row->root.end_ns > row->root.start_ns ? row->root.end_ns - row->root.start_ns : 0;
}

/* Adds the garbage collection in @roots. */
static void sum_garbage(const struct idle_roots *roots, uint64_t *ns, uint64_t *most_ns)
{
	for (uint32_t i = 0; roots && i < roots->count; i++) {
		if (!is_garbage(&roots->row[i]))
			continue;
		*ns += roots->row[i].ns;
		if (longest_ns(&roots->row[i]) > *most_ns)
			*most_ns = longest_ns(&roots->row[i]);
	}
}

static void judge_garbage(struct rules *rules)
{
	const struct host_waits *waits = rules->facts->waits;
	uint64_t ns = 0, longest = 0, of_ns = rules->verdict->roots_of_ns;

	sum_garbage(rules->verdict->roots, &ns, &longest);
	if (waits && rules->verdict->roots == &waits->waits)
		sum_garbage(&waits->own, &ns, &longest);
	add(rules, "python_garbage", RULE_GARBAGE, (double)longest / 1e6, share(ns, of_ns),
	    tr("Python collects garbage while other threads wait for it"),
	    tr("Use gc.freeze() after the start, a larger gc.set_threshold(), or gc.disable() in "
	       "the loop and gc.collect() where no thread waits; keep fewer long-lived objects, "
	       "and no reference cycles."),
	    tr("for %.1f %% of the time the root of the waits is in the collector, for at most %.2f ms at a time"),
	    share(ns, of_ns), (double)longest / 1e6);
}

/* Returns the share of runtime calls and the driver in a gap. */
static double calls_percent(const struct idle_gap *gap)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < gap->part_count; i++)
		if (gap->parts[i].cause == IDLE_RUNTIME || gap->parts[i].cause == IDLE_DRIVER ||
		    gap->parts[i].cause == IDLE_DEVICE_WAIT)
			ns += gap->parts[i].end_ns - gap->parts[i].start_ns;
	return share(ns, gap->gap.end_ns - gap->gap.start_ns);
}

static void tell_end(const struct model *model, const struct idle_root *row, char *text, size_t size)
{
	struct syscall_table *syscalls = syscall_table_new(model_text(model, model->info.arch));
	char who[128] = "", place[160] = "";

	root_who_text(model, &row->root, who, sizeof(who));
	if (syscalls)
		root_place_text(model, syscalls, &row->root, place, sizeof(place));
	syscall_table_free(syscalls);
	*text = '\0';
	if (*who)
		snprintf(text, size, tr("; most idle time ends at %s%s%s"), who, *place ? tr(" in ") : "",
			 place);
}

/* The roots show here what msprof-analyze can only guess. */
static void judge_pauses(struct rules *rules)
{
	const struct idle_result *idle = &rules->facts->devices->idle;
	const struct idle_root *most = rules->verdict->idle.most;
	uint64_t ns = 0, longest = 0;
	uint32_t count = 0;
	char end[320];

	for (uint32_t i = 0; i < idle->gap_count; i++) {
		uint64_t gap_ns = idle->gaps[i].gap.end_ns - idle->gaps[i].gap.start_ns;

		if (!peer_rule_says(RULE_PAUSE, (double)gap_ns / 1e6) ||
		    calls_percent(&idle->gaps[i]) >= PAUSE_CALLS_PERCENT)
			continue;
		count++;
		ns += gap_ns;
		if (gap_ns > longest)
			longest = gap_ns;
	}
	if (!count || !most || most->root.cause == IDLE_UNKNOWN || is_garbage(most))
		return;
	tell_end(rules->model, most, end, sizeof(end));
	add(rules, "device_pauses", RULE_PAUSE, (double)longest / 1e6, share(ns, devices_ns(rules)),
	    tr("For long stretches the host submits nothing"),
	    tr("The section idle lists these gaps with what the host did in each: do that beside "
	       "the loop, or less often."),
	    tr("%u gaps of up to %.1f ms with almost no runtime call in them%s"), count,
	    (double)longest / 1e6, end);
}

/* ---- Calls */

struct counted {
	uint64_t count;
	uint64_t ns;
};

/* Counts the calls whose function's name begins with @begin and ends with @end. */
static struct counted count_calls(const struct rules *rules, const struct api_results *api,
				  const char *begin, const char *end)
{
	struct counted counted = { 0 };

	for (uint32_t i = 0; i < api->row_count; i++) {
		const struct api_usage *row = &api->rows[i];
		const char *name = model_text(rules->model,
					      rules->model->functions.row[row->function].name);
		size_t length = strlen(name), tail = strlen(end);

		if (strncmp(name, begin, strlen(begin)) != 0 || length < tail ||
		    strcmp(name + length - tail, end) != 0)
			continue;
		counted.count += row->count - row->inner;
		counted.ns += row->durations.total_ns;
	}
	return counted;
}

static void judge_calls(struct rules *rules, const struct api_results *api)
{
	const struct verdict *verdict = rules->verdict;
	struct counted norms = count_calls(rules, api, "aclnnBatchNormGatherStats", "WithCounts");
	struct counted compiled = count_calls(rules, api, "aclopCompile", "");
	uint64_t all_ns = verdict->roots_of_ns;

	/* The cost of a synchronisation is the wait for other ranks, or the host's work before it. */
	add(rules, "device_sync_batchnorm", RULE_SYNC_NORM, (double)norms.count,
	    verdict->state == VERDICT_COMMUNICATION || verdict->state == VERDICT_HOST_CODE ?
		    verdict->percent :
		    0,
	    tr("Batch normalisations synchronise all ranks"),
	    tr("Use plain BatchNorm where batches are large enough (without "
	       "torch.nn.SyncBatchNorm.convert_sync_batchnorm()), or one that gathers all its "
	       "statistics at once."),
	    tr("%" PRIu64 " of them in the recording"), norms.count);
	add(rules, "device_compile", RULE_COMPILE, (double)compiled.count,
	    share(compiled.ns, all_ns), tr("Operators are compiled while the job runs"),
	    tr("Call torch_npu.npu.set_compile_mode(jit_compile=False) at the start of the script; "
	       "use fixed shapes."),
	    tr("%" PRIu64 " calls that compile an operator took %.3f ms"), compiled.count,
	    (double)compiled.ns / 1e6);
}

int job_rules_judge(const struct model *model, const struct verdict_facts *facts,
		    const struct verdict *verdict, const struct api_results *api,
		    const struct host_results *host, struct advice_results *advice)
{
	struct rules rules = {
		.model = model, .facts = facts, .verdict = verdict, .advice = advice
	};

	if (verdict->state == VERDICT_HEALTHY || verdict->busy)
		return 0;
	judge_pipelines(&rules, host);
	judge_garbage(&rules);
	judge_pauses(&rules);
	if (api)
		judge_calls(&rules, api);
	advice_sort(advice);
	return rules.failed ? -ENOMEM : 0;
}
