/* SPDX-License-Identifier: Apache-2.0 */
/* What the verdict advises. */
#include <string.h>

#include "analyzer/analyse/device/device_advice.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/device/operators.h"
#include "analyzer/model/translate.h"
#include "analyzer/view/append_text.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/stage_words.h"
#include "analyzer/view/verdict_words.h"

/* The kind of bottleneck that follows from the cause of an operator's delay, if the steps do not show it. */
static enum bottleneck_kind kind_by_cause(uint8_t cause)
{
	switch (cause) {
	case IDLE_USER_CODE:
	case IDLE_RUNTIME: return BOTTLENECK_BUSY;
	case IDLE_IO:
	case IDLE_PAGE_FAULT: return BOTTLENECK_STORAGE;
	default: return BOTTLENECK_SLEEPS;
	}
}

static void tell_pipeline_remedy(const struct model *model, const struct results *results,
				 char *text, size_t size)
{
	const struct verdict *verdict = results->verdict;
	const struct bottleneck *b = verdict_bottleneck(results);
	const struct pipeline_steps *steps = verdict_steps(results);

	if (steps)
		bottleneck_remedy(model, steps->usage->pipeline, verdict->op,
				  b ? b->kind : kind_by_cause(verdict->idle.cause),
				  host_idle_cpus(results->host), text, size);
	else
		append(text, size,
		       tr("More workers or prefetching for that stage, or less to do for each "
		       "element; see the section pipeline."));
}

static void tell_operator(const struct model *model, const struct results *results, char *text,
			  size_t size)
{
	const struct operator_usage *largest = operators_largest(&results->devices->operators);

	if (largest && largest->name)
		append(text, size,
		       tr("Begin with %.200s, %.1f %% of its device's tasks' time (section "
		       "operators)."),
		       model_text(model, largest->name), largest->percent);
	else
		append(text, size, tr("The section operators shows what it does."));
}

/* The remedy; "" for a healthy job. */
void verdict_remedy(const struct model *model, const struct results *results, char *text,
		    size_t size)
{
	const struct verdict *verdict = results->verdict;

	*text = '\0';
	switch (verdict->state) {
	case VERDICT_HEALTHY: break;
	case VERDICT_UNKNOWN: verdict_needs(model, verdict, text, size); break;
	case VERDICT_DATA: tell_pipeline_remedy(model, results, text, size); break;
	case VERDICT_COMMUNICATION:
		append(text, size,
		       tr("Examine what the late rank does before its collectives: its own report, "
			  "the section communication."));
		break;
	case VERDICT_DEVICE:
		if (verdict->busy && verdict->by_threads) {
			append(text, size, "%s",
			       tr("The device's own profiler (--device) or its layer "
				  "(libprofbpf-*.so) shows which of its tasks take the time."));
			break;
		}
		if (verdict->busy) {
			tell_operator(model, results, text, size);
			break;
		}
		/* fall through */
	default:
		if (stage_remedy(model, results, text, size))
			break;
		if (verdict->idle.most)
			idle_remedy(model, &verdict->idle, text, size);
		else if (verdict->state == VERDICT_HOST_CODE && results->waits && results->waits->why == WAITS_OF_LAST)
			append(text, size, "%s",
			       tr("Give the other ranks a part of the work that this rank does outside of MPI, or make it cheaper."));
		else if (verdict_bottleneck(results))
			tell_pipeline_remedy(model, results, text, size);
		else
			append(text, size, tr("Give the job CPUs of its own, or fewer threads."));
	}
}
