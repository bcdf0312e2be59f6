/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/stage_words.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/idle/stage_waits.h"
#include "analyzer/model/translate.h"

static const struct pipeline_operator *operator_of(const struct stage *stage)
{
	return &stage->pipeline->operators.row[stage->op];
}

static const char *kind_text(const struct model *model, const struct pipeline_operator *op)
{
	bool process = strcmp(model_text(model, op->type), "process") == 0;

	if (op->workers == 1)
		return process ? tr("process") : tr("thread");
	return process ? tr("processes") : tr("threads");
}

void stage_text(const struct model *model, const struct results *results, char *text,
		size_t size)
{
	struct stage stage = stage_worst_find(results->verdict, results->steps);
	struct syscall_table *syscalls;
	char place[256] = "";
	size_t used = strlen(text);

	if (!stage.pipeline)
		return;
	syscalls = syscall_table_new(model_text(model, model->info.arch));
	if (syscalls && stage.wait.placed)
		root_place_text(model, syscalls, &stage.wait.placed->root, place, sizeof(place));
	syscall_table_free(syscalls);
	snprintf(text + used, size - used, tr(" It waits for %.100s (%u %s) for %.1f %%%s%s."),
		 model_text(model, operator_of(&stage)->name), operator_of(&stage)->workers,
		 kind_text(model, operator_of(&stage)), stage.wait.percent, *place ? ": " : "", place);
}

void stage_name(const struct model *model, const struct results *results, char *text,
		size_t size)
{
	struct stage stage = stage_worst_find(results->verdict, results->steps);

	*text = '\0';
	if (stage.pipeline)
		snprintf(text, size, "%s", model_text(model, operator_of(&stage)->name));
}

/* A producer and the holder of a lock look the same: their sleep ends, and they wake who waits for them. */
static const char *sleep_remedy(enum stage_habit habit, bool one)
{
	switch (habit) {
	case STAGE_TAKES_TURNS:
		return tr("Its workers take turns: one sleeps with a lock held, and the others wait for that lock. "
			  "More of them do not help: sleep without the lock.");
	case STAGE_SLEEPS_FOR_TIMER:
		return tr("It is an event loop that sleeps until its next timer: look for a sleep, a time after which "
			  "something is tried again, or a limit of a rate in what it runs, and wait for the event instead.");
	case STAGE_SLEEPS_AGAIN:
		return tr("It sleeps several times before it wakes anybody. If it polls, look at those who make what it "
			  "polls for, and wait for the event instead; if it makes an element meanwhile, more workers sleep "
			  "at the same time and need no CPU for it.");
	default:
		return one ? tr("It has one worker, which sleeps while others wait for it. If it makes an element meanwhile "
				"(a remote read, a pause in the program's own function), more workers sleep at the same time "
				"and need no CPU for it; if it holds a lock, it should sleep without it.")
			   : tr("Its workers sleep while others wait for them. If they make elements meanwhile (a remote "
				"read, a pause in the program's own function), more of them sleep at the same time and need "
				"no CPU for it; if one holds a lock, it should sleep without it.");
	}
}

bool stage_remedy(const struct model *model, const struct results *results, char *text, size_t size)
{
	struct stage stage = stage_worst_find(results->verdict, results->steps);

	if (!stage.pipeline || stage.wait.cause != IDLE_SLEEP ||
	    results->verdict->idle.cause != IDLE_SLEEP)
		return false;
	snprintf(text, size, "%s",
		 sleep_remedy(stage_habit_find(model, &stage), operator_of(&stage)->workers == 1));
	return true;
}
