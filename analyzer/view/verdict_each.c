/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts of several jobs, in a few words each. */
#include "analyzer/analyse/idle/job_verdicts.h"
#include "analyzer/model/translate.h"
#include "analyzer/view/append_text.h"
#include "analyzer/view/verdict_words.h"

static const char *state_words(const struct verdict *verdict)
{
	if (verdict->busy)
		return tr("the device itself takes the time");
	switch (verdict->state) {
	case VERDICT_DATA: return tr("starved for data");
	case VERDICT_CPU: return tr("starved by CPUs");
	case VERDICT_HOST_CODE: return tr("held up by the host's own code");
	case VERDICT_DEVICE: return tr("held up by the device itself");
	case VERDICT_COMMUNICATION: return tr("held up by other ranks");
	case VERDICT_HEALTHY: return tr("healthy");
	default: return tr("what holds it up cannot be known");
	}
}

void verdict_each(const struct model *model, const struct results *results, char *text, size_t size)
{
	const struct job_verdicts *jobs = results->jobs;

	*text = '\0';
	for (uint32_t i = 0; jobs && i < jobs->count; i++) {
		const struct verdict *verdict = &jobs->row[i].verdict;
		const struct process *process = &model->processes.row[jobs->row[i].process];
		const char *name = model_text(model, process->name);

		append(text, size, "%s%.64s %u: %s", i ? "; " : "", *name ? name : tr("process"), process->pid,
		       state_words(verdict));
		if (verdict->has_percent && verdict->state != VERDICT_HEALTHY)
			append(text, size, tr(", %.1f %% of %s"), verdict->percent,
			       verdict_of_text(verdict->of));
		if (i == jobs->only)
			append(text, size, "%s", tr(" (the one above)"));
	}
	if (!*text)
		return;
	if (jobs->less)
		append(text, size, tr("; %u more are held up less"), jobs->less);
	if (jobs->more)
		append(text, size, tr("; %u more were not judged"), jobs->more);
	append(text, size, "%s", tr(". More on one: analyzer report --pid PID, or profctl why PID."));
}
