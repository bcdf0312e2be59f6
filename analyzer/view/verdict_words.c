/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/verdict_words.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/analyse/cluster/cluster.h"
#include "analyzer/analyse/device/device_advice.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/idle/job_verdicts.h"
#include "analyzer/analyse/device/operators.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/idle/unnamed_code.h"
#include "analyzer/model/translate.h"
#include "analyzer/view/append_text.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/roots_view.h"
#include "analyzer/view/stage_words.h"
#include "analyzer/view/straggler_view.h"

#define TEXT_SIZE 1024
#define LARGEST_SAMPLES 4 /* fewer samples do not show where most of the time goes */
#define BUSY_NAMED 3

const struct pipeline_steps *verdict_steps(const struct results *results)
{
	const struct verdict *verdict = results->verdict;

	return verdict->op == INDEX_NONE ? NULL : &results->steps->pipelines[verdict->pipeline];
}

const struct bottleneck *verdict_bottleneck(const struct results *results)
{
	const struct verdict *verdict = results->verdict;
	const struct bottleneck *b;

	if (verdict->op == INDEX_NONE || verdict->pipeline >= results->advice->count)
		return NULL;
	b = &results->advice->bottlenecks[verdict->pipeline];
	return b->kind != BOTTLENECK_NONE && b->op == verdict->op ? b : NULL;
}

static void name_operator(const struct model *model, const struct results *results, char *text,
			  size_t size)
{
	const struct pipeline_steps *steps = verdict_steps(results);
	const struct pipeline *pipeline;

	*text = '\0';
	if (!steps)
		return;
	pipeline = steps->usage->pipeline;
	snprintf(text, size, tr("%s's %.128s"), pipeline->framework,
		 model_text(model, pipeline->operators.row[results->verdict->op].name));
}

void verdict_stage_name(const struct model *model, const struct results *results, char *text,
			size_t size)
{
	name_operator(model, results, text, size);
	if (!*text)
		stage_name(model, results, text, size);
}

const char *verdict_of_text(uint8_t of)
{
	switch (of) {
	case VERDICT_OF_STEP_TIME: return tr("step time");
	case VERDICT_OF_WALL_TIME: return tr("the time");
	default: return tr("device time");
	}
}

/* Names the threads whose time it is: "main thread python 17", "thread worker 19", "the threads that launch". */
static void name_waiter(const struct model *model, const struct results *results, char *text,
			size_t size)
{
	const struct host_waits *waits = results->waits;
	char who[TEXT_SIZE];

	*text = '\0';
	if (!waits || !waits->thread_count)
		return;
	root_thread_text(model, waits->threads[0], who, sizeof(who));
	if (waits->why == WAITS_OF_LAST)
		append(text, size, tr("the rank that the others wait for (%.128s)"), who);
	else if (waits->thread_count == 1)
		append(text, size, "%s %.128s",
		       waits->why == WAITS_OF_MAIN	? tr("main thread")
		       : waits->why == WAITS_OF_BUSIEST ? tr("the busiest thread")
							: tr("thread"),
		       who);
	else
		append(text, size, "%s",
		       waits->why == WAITS_OF_LAUNCHES ? tr("the threads that launch")
		       : waits->why == WAITS_OF_MAIN   ? tr("the main threads")
						       : tr("those threads"));
	if (waits->thread_count > 1)
		append(text, size, tr(" (%u, the first %.128s)"), waits->thread_count, who);
}

/* " The main thread only waits; 3 threads compute, on average for 95.0 % of the time: a 17, b 18, c 19." */
static void tell_busy(const struct model *model, const struct results *results, char *text, size_t size)
{
	const struct host_waits *waits = results->waits;
	double percent;

	if (!results->verdict->by_threads || !waits || waits->busy_count < 2)
		return;
	percent = 100 * (double)waits->busy_run_ns / waits->busy_count / (double)(waits->to_ns - waits->from_ns);
	if (percent < VERDICT_NOISE_PERCENT)
		return;
	append(text, size,
	       tr(" The main thread only waits; %u threads like this one compute, on average for %.1f %% of the time: "),
	       waits->busy_count, percent);
	for (uint32_t i = 0; i < waits->busy_count && i < BUSY_NAMED; i++) {
		char who[TEXT_SIZE];

		root_thread_text(model, waits->busy[i], who, sizeof(who));
		append(text, size, "%s%.64s", i ? ", " : "", who);
	}
	if (waits->busy_count > BUSY_NAMED)
		append(text, size, tr(" and %u more"), waits->busy_count - BUSY_NAMED);
	append(text, size, "%s", tr("."));
}

/* Do sentences about name_waiter() require the plural? */
static bool are_several(const struct results *results)
{
	return results->waits && results->waits->thread_count > 1;
}

/* Returns why no CPU is available, after "because". */
static const char *cpu_text(const struct idle_verdict *idle)
{
	if (idle->cause == IDLE_THROTTLED)
		return tr("the job's CPU quota is used up");
	if (idle->cause == IDLE_IRQ)
		return tr("interrupts have the CPUs");
	switch (idle->kind) {
	case IDLE_KIND_OWN_CPU: return tr("the job's own threads take the CPUs from each other");
	case IDLE_KIND_RECORDED_CPU: return tr("other recorded processes have the CPUs");
	case IDLE_KIND_WAKE_UP: return tr("idle CPUs took that long to wake up");
	default: return tr("others have the CPUs");
	}
}

/* The host's activity in a device file's own timeline; whether it ran on a CPU then is unknown. */
static const char *scope_of(const struct model *model, const struct idle_root *row)
{
	const struct root *root = row ? &row->root : NULL;

	if (!root || root->place_kind != PLACE_FUNCTION || root->place >= model->functions.count ||
	    !model->functions.row[root->place].scope)
		return "";
	return model_text(model, model->functions.row[root->place].name);
}

static void tell_data(const struct model *model, const struct results *results, char *text,
		      size_t size)
{
	const struct verdict *verdict = results->verdict;
	char op[TEXT_SIZE], waiter[TEXT_SIZE];

	name_operator(model, results, op, sizeof(op));
	name_waiter(model, results, waiter, sizeof(waiter));
	if (verdict->restarts) {
		append(text, size,
		       tr("Starved for data: %.1f %% of the time goes into ending and starting the worker processes of "
			  "%s between epochs"),
		       verdict->percent, op);
		return;
	}
	if (verdict->of == VERDICT_OF_STEP_TIME)
		append(text, size, tr("Starved for data: %.1f %% of the steps' time is lost to "),
		       verdict->percent);
	else if (verdict->of == VERDICT_OF_WALL_TIME)
		append(text, size,
		       are_several(results) ? tr("Starved for data: %s wait for %.1f %% of the time for ")
					    : tr("Starved for data: %s waits for %.1f %% of the time for "),
		       waiter, verdict->percent);
	else
		append(text, size,
		       tr("Starved for data: the device is idle for %.1f %% of its time by "),
		       verdict->percent);
	if (!*op)
		snprintf(op, sizeof(op), "%.256s", scope_of(model, verdict->idle.most));
	append(text, size, tr("the data pipeline%s%s"), *op ? tr(", most of all by ") : "", op);
}

/* Words for a kind that is not all of its cause. */
static const char *most_of_it(const struct idle_verdict *idle)
{
	return idle->ns < idle->cause_ns ? tr(", most of it") : "";
}

static void tell_cpu(const struct model *model, const struct results *results, char *text,
		     size_t size)
{
	const struct verdict *verdict = results->verdict;
	const struct bottleneck *b = verdict_bottleneck(results);
	char op[TEXT_SIZE], waiter[TEXT_SIZE];

	name_operator(model, results, op, sizeof(op));
	name_waiter(model, results, waiter, sizeof(waiter));
	if (verdict->of == VERDICT_OF_DEVICE_TIME)
		append(text, size,
		       tr("Starved by CPUs: the device is idle for %.1f %% of its time%s because %s"),
		       verdict->percent, most_of_it(&verdict->idle), cpu_text(&verdict->idle));
	else if (verdict->by_threads && !(b && b->kind == BOTTLENECK_TAKES_CPU))
		append(text, size,
		       are_several(results)
			       ? tr("Starved by CPUs: %s are held up for %.1f %% of %s%s because %s")
			       : tr("Starved by CPUs: %s is held up for %.1f %% of %s%s because %s"),
		       waiter, verdict->percent, verdict_of_text(verdict->of),
		       most_of_it(&verdict->idle), cpu_text(&verdict->idle));
	else if (b && b->kind == BOTTLENECK_STARVED)
		append(text, size,
		       tr("Starved by CPUs: %.1f %% of the steps' time is lost because %s gets no CPU"),
		       verdict->percent, op);
	else if (b && b->kind == BOTTLENECK_TAKES_CPU)
		append(text, size,
		       tr("Starved by CPUs: %.1f %% of the steps' time is lost because %s uses the "
			  "CPUs that the trainer needs"),
		       verdict->percent, op);
	else
		append(text, size,
		       tr("Starved by CPUs: for %.1f %% of the steps' time the trainer's thread "
			  "was ready to run, but others had its CPU"),
		       verdict->percent);
}

/* Writes "the device is busy for at least 61 %, at most 74 % of the time", and what is likely. */
static void tell_bounds(const struct results *results, char *text, size_t size)
{
	const struct device_bounds *bounds = &results->waits->bounds;

	append(text, size,
	       tr("according to the calls that wait for it, the device is busy for at least %.0f "
		  "%%, at most %.0f %% of the time"),
	       bounds->at_least_percent, bounds->at_most_percent);
	if (device_bounds_likely_tells(bounds))
		append(text, size,
		       tr(", and probably for at most %.0f %%, since launches that no call had to wait for hardly take longer than others"),
		       bounds->likely_most_percent);
}

/* Describes the waits for a device without recorded tasks. */
static void tell_device_waits(const struct model *model, const struct results *results, char *text,
			      size_t size)
{
	const struct verdict *verdict = results->verdict;
	char waiter[TEXT_SIZE];

	name_waiter(model, results, waiter, sizeof(waiter));
	if (verdict->busy)
		append(text, size, tr("The device itself takes the time: "));
	else
		append(text, size,
		       are_several(results)
			       ? tr("Held up by the device itself: %s wait for it for %.1f %% of the time; ")
			       : tr("Held up by the device itself: %s waits for it for %.1f %% of the time; "),
		       waiter, verdict->percent);
	tell_bounds(results, text, size);
}

/* Says what kind of work it is, and that it is done under a lock, if that is known. */
static void tell_kind(const struct idle_root *most, char *text, size_t size)
{
	if (most && most->word)
		append(text, size, ": %s", tr(most->word));
	if (most && most->turns)
		append(text, size, "%s", tr(", in threads that take turns, as under a lock"));
}

static void tell_host_code(const struct model *model, const struct results *results, char *text,
			   size_t size)
{
	const struct verdict *verdict = results->verdict;
	char waiter[TEXT_SIZE];

	append(text, size, tr("Held up by the host's own code: "));
	if (!verdict->by_threads) {
		const char *scope = scope_of(model, verdict->idle.most);

		append(text, size,
		       tr("the device is idle for %.1f %% of its time by it, most of all %s%s"),
		       verdict->percent, *scope ? tr("in ") : "",
		       *scope ? scope : tr(idle_cause_text(verdict->idle.cause)));
		tell_kind(verdict->idle.most, text, size);
		return;
	}
	if (results->waits->why == WAITS_OF_LAST && !results->waits->bounds.known) {
		root_thread_text(model, results->waits->threads[0], waiter, sizeof(waiter));
		append(text, size, tr("the others wait for %.128s, where it takes %.1f %% of %s, most of all %s"), waiter,
		       verdict->percent, verdict_of_text(verdict->of), tr(idle_cause_text(verdict->idle.cause)));
		tell_kind(verdict->idle.most, text, size);
		return;
	}
	name_waiter(model, results, waiter, sizeof(waiter));
	if (!results->waits->bounds.known) {
		append(text, size,
		       are_several(results) ? tr("%s wait for %.1f %% of %s for it, most of all %s")
					    : tr("%s waits for %.1f %% of %s for it, most of all %s"),
		       waiter, verdict->percent, verdict_of_text(verdict->of),
		       tr(idle_cause_text(verdict->idle.cause)));
		tell_kind(verdict->idle.most, text, size);
		return;
	}
	append(text, size, tr("it takes %.1f %% of the time of %s, most of all %s; "), verdict->percent,
	       waiter, tr(idle_cause_text(verdict->idle.cause)));
	tell_bounds(results, text, size);
}

static void tell_healthy(const struct model *model, const struct results *results, char *text,
			 size_t size)
{
	const struct verdict *verdict = results->verdict;
	char waiter[TEXT_SIZE];

	if (!verdict->by_threads) {
		append(text, size,
		       tr("Healthy: from its first to its last task the device is busy for %.1f %% "
		       "of the time, and nothing on the host holds it up"),
		       verdict->percent);
		return;
	}
	name_waiter(model, results, waiter, sizeof(waiter));
	append(text, size,
	       are_several(results)
		       ? tr("Healthy: %s are at work for %.1f %% of %s, and nothing holds them up for long")
		       : tr("Healthy: %s is at work for %.1f %% of %s, and nothing holds it up for long"),
	       waiter, verdict->own_percent, verdict_of_text(verdict->of));
}

/* A healthy job's largest operator or function: where to begin if it should become faster. */
static void tell_largest(const struct model *model, const struct results *results, char *text, size_t size)
{
	const struct idle_root *most = results->verdict->idle.most;
	const struct operator_list *list = results->devices ? &results->devices->operators : NULL;
	char place[256] = "";

	if (!results->verdict->by_threads) {
		const struct operator_usage *largest = list ? operators_largest(list) : NULL;

		if (largest && largest->name)
			append(text, size, tr(" Of its tasks' time, %.200s takes the most: %.1f %%."),
			       model_text(model, largest->name), largest->percent);
		return;
	}
	if (most && most->samples >= LARGEST_SAMPLES)
		root_place_text(model, NULL, &most->root, place, sizeof(place));
	if (*place)
		append(text, size, tr(" Most often it is in %.200s."), place);
}

static void tell_device(const struct model *model, const struct results *results, char *text,
			size_t size)
{
	const struct verdict *verdict = results->verdict;

	if (verdict->by_threads) {
		tell_device_waits(model, results, text, size);
		return;
	}

	if (!verdict->busy) {
		append(text, size,
		       tr("Held up by the device itself: for %.1f %% of its time it is idle "
			  "although the host has done its part: tasks are submitted but not "
			  "started, or the host is not yet notified of their end"),
		       verdict->percent);
		return;
	}
	append(text, size, tr("The device itself takes the time: it is busy for %.1f %% of it"),
	       verdict->percent);
	if (verdict->copies_percent >= VERDICT_COPIES_PERCENT)
		append(text, size, tr(", for %.1f %% with copies alone"), verdict->copies_percent);
	if (verdict->idle.most)
		append(text, size, tr("; the largest cause of the rest, %s, costs %.1f %%"),
		       idle_cause_name(verdict->idle.cause),
		       verdict->idle_percent * (double)verdict->idle.ns /
			       (double)results->devices->idle.total_ns);
}

static void tell_communication(const struct model *model, const struct verdict *verdict, char *text,
			       size_t size)
{
	const struct device *device;

	append(text, size,
	       tr("Held up by other ranks: devices wait for each other in collectives for %.1f %% of "
	       "their time"),
	       verdict->percent);
	if (verdict->straggler >= model->devices.count)
		return;
	device = &model->devices.row[verdict->straggler];
	append(text, size, tr(", most of it for %s %u"), device->has_rank ? tr("rank") : tr("device"),
	       device->has_rank ? device->rank : device->id);
	straggler_text(model, &verdict->why, text + strlen(text), size - strlen(text));
}

/* The threads' own time, and the bounds of the device's, which do not tell which of the two holds up the job. */
static void tell_either(const struct model *model, const struct results *results, char *text,
			size_t size)
{
	const struct verdict *verdict = results->verdict;
	char waiter[TEXT_SIZE];

	name_waiter(model, results, waiter, sizeof(waiter));
	append(text, size, tr("the code of %s takes %.1f %% of %s, but "), waiter, verdict->percent,
	       verdict_of_text(verdict->of));
	tell_bounds(results, text, size);
}

static void tell_unknown(const struct model *model, const struct results *results, char *text,
			 size_t size)
{
	const struct verdict *verdict = results->verdict;
	char waiter[TEXT_SIZE];
	static const char *const why[] = {
		[VERDICT_LACK_NONE] = N_("the records do not show why"),
		[VERDICT_LACK_RECORDS] = N_("parts of the recording cannot be read"),
		[VERDICT_LACK_TRACE] = N_("the host was not recorded"),
		[VERDICT_LACK_STREAM] =
			N_("there are neither tasks of a device nor steps of a data pipeline"),
		[VERDICT_LACK_STEPS] = N_("there are no tasks of a device"),
		[VERDICT_LACK_SCHED] = N_("what threads did was not recorded"),
		[VERDICT_LACK_LAUNCHES] = N_("no launching call is known to belong to a task"),
		[VERDICT_LACK_PROCESS] = N_("the job waited for a process that was not traced"),
		[VERDICT_LACK_THREAD] = N_("none of the requested threads is in the recording"),
		[VERDICT_LACK_SWITCHES] =
			N_("none of its threads went to sleep or woke up during the recording"),
		[VERDICT_LACK_KERNELS] =
			N_("its file lists work as a whole, not the kernels in it, between which it may be idle"),
		[VERDICT_LACK_TASKS] = N_("what the job did before and after them is not idle time of a device"),
		[VERDICT_LACK_EVENTS] =
			N_("no event arrived that it could have handled: it has nothing to do, or it hangs"),
		[VERDICT_LACK_ROOTS] = N_("for most of that time the records do not show why"),
	};

	name_waiter(model, results, waiter, sizeof(waiter));
	append(text, size, tr("What holds the job up cannot be known: "));
	if (verdict->lack == VERDICT_LACK_BUSY) {
		tell_either(model, results, text, size);
		return;
	}
	if (verdict->lack == VERDICT_LACK_TASKS)
		append(text, size, tr("the device has tasks in %.2g %% of the file's time alone, and "),
		       verdict->percent);
	else if (verdict->has_percent && verdict->of == VERDICT_OF_DEVICE_TIME)
		append(text, size, tr("the device is idle for %s%.1f %% of its time, and "),
		       verdict->at_least ? tr("at least ") : "", verdict->percent);
	else if (verdict->has_percent && verdict->by_threads)
		append(text, size,
		       are_several(results) ? tr("%s wait for %.1f %% of %s, and ")
					    : tr("%s waits for %.1f %% of %s, and "),
		       waiter, verdict->percent, verdict_of_text(verdict->of));
	if (verdict->lack == VERDICT_LACK_RECORDS && verdict->source != INDEX_NONE)
		append(text, size, tr("%" PRIu64 " records were lost, too many of source %s"),
		       verdict->lost, model_text(model, model->sources.row[verdict->source].name));
	else
		append(text, size, "%s", tr(why[verdict->lack]));
	if (verdict->lack == VERDICT_LACK_STEPS)
		append(text, size, tr("; it is not data: steps wait for it for %.1f %% of their time"),
		       verdict->percent);
}

/* Without records of the host its files may still say which rank has more work than the others. */
static void tell_slowest(const struct model *model, const struct results *results, char *text, size_t size)
{
	const struct cluster_results *cluster = results->cluster;
	const struct device *device;
	bool found = false;

	if (results->verdict->lack != VERDICT_LACK_TRACE || !cluster || !cluster->count)
		return;
	for (uint32_t i = 0; i < cluster->finding_count; i++)
		found |= cluster->findings[i].rule <= CLUSTER_COMPUTATION &&
			 cluster->findings[i].device == cluster->ranks[cluster->slowest].device;
	device = &model->devices.row[cluster->ranks[cluster->slowest].device];
	if (found)
		append(text, size, tr("; %s %u has the most work of all, %.1f %% more than the mean (section cluster)"),
		       device->has_rank ? tr("rank") : tr("device"), device->has_rank ? device->rank : device->id,
		       cluster->imbalance);
}

/* Is the verdict about the devices of several jobs? */
static bool are_several_jobs(const struct results *results)
{
	return results->jobs && results->jobs->count && results->jobs->only == INDEX_NONE &&
	       results->verdict->of == VERDICT_OF_DEVICE_TIME && !results->verdict->by_threads;
}

void verdict_sentence(const struct model *model, const struct results *results, char *text,
		      size_t size)
{
	const struct verdict *verdict = results->verdict;

	*text = '\0';
	if (are_several_jobs(results))
		append(text, size, tr("Several jobs together: "));
	switch (verdict->state) {
	case VERDICT_DATA: tell_data(model, results, text, size); break;
	case VERDICT_CPU: tell_cpu(model, results, text, size); break;
	case VERDICT_HOST_CODE: tell_host_code(model, results, text, size); break;
	case VERDICT_DEVICE: tell_device(model, results, text, size); break;
	case VERDICT_COMMUNICATION: tell_communication(model, verdict, text, size); break;
	case VERDICT_HEALTHY: tell_healthy(model, results, text, size); break;
	default:
		tell_unknown(model, results, text, size);
		tell_slowest(model, results, text, size);
		break;
	}
	append(text, size, "%s", tr("."));
	if (verdict->state == VERDICT_HEALTHY)
		tell_largest(model, results, text, size);
	tell_busy(model, results, text, size);
	if (verdict->state == VERDICT_HOST_CODE || verdict->state == VERDICT_CPU)
		stage_text(model, results, text, size);
}

void verdict_root_text(const struct table_data *of, char *text, size_t size)
{
	const struct verdict *verdict = of->results->verdict;
	const struct idle_root *row = verdict->idle.most;
	const struct bottleneck *b = verdict_bottleneck(of->results);
	uint64_t of_ns = verdict->roots_of_ns, ns;
	bool own;

	*text = '\0';
	if (!row && b)
		append(text, size, "%s", b->reason);
	if (!row)
		return;
	/* Of the threads' own time spinning is the part that holds them up; of a wait for such a thread all is. */
	own = of->results->waits && verdict->roots == &of->results->waits->own;
	ns = own && verdict->state == VERDICT_HOST_CODE && row->spins_ns ? row->spins_ns : row->ns;
	root_told_text(of, row, text, size);
	append(text, size, tr("; %s, %.1f %% of %s"), idle_cause_name(row->root.cause),
	       of_ns ? 100 * (double)ns / (double)of_ns : 0, verdict_of_text(verdict->of));
}

/* The functions at the root have no names, but their runtime would name them. */
static void tell_unnamed(const struct model *model, const struct verdict *verdict, char *text, size_t size)
{
	uint32_t process = INDEX_NONE;
	enum code_maker maker = verdict->idle.most ? unnamed_code_maker(model, &verdict->idle.most->root, &process)
						   : CODE_MAKER_NONE;
	const char *before = *text ? tr("; ") : "";

	if (maker == CODE_MAKER_JAVA)
		append(text, size,
		       tr("%sJava's functions have no names here: run jcmd %u Compiler.perfmap (JDK 17 or later, as the "
			  "job's user), then record again"),
		       before, model->processes.row[process].pid);
	else if (maker == CODE_MAKER_NODE)
		append(text, size,
		       tr("%sJavaScript's functions have no names here: start node with --perf-basic-prof"), before);
}

void verdict_but(const struct model *model, const struct results *results, char *text, size_t size)
{
	const struct verdict *verdict = results->verdict;
	char launches[256] = "";

	*text = '\0';
	if (verdict->lost && verdict->lack != VERDICT_LACK_RECORDS)
		append(text, size, tr("%" PRIu64 " records were lost: see the section capture"), verdict->lost);
	else if (results->capture)
		text_no_launches(model, results->capture, launches, sizeof(launches));
	if (*launches)
		append(text, size, tr("%s: what the device did may have been missed (section capture)"), launches);
	tell_unnamed(model, verdict, text, size);
}
