/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/metrics/metric_watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One series, for one trigger. */
struct series {
	uint32_t trigger; /* id of the trigger */
	char *name; /* with labels */
	double value; /* at the last check */
	uint64_t look; /* number of the last check */
	bool beyond;
};

struct metric_watch {
	struct series *series;
	size_t count, next; /* next: index after the last found series: lines come in the same order each time */
	uint64_t look, look_ns, last_ns; /* number and time of this check, time of the previous one */
};

/* A line of the text. */
struct sample {
	const char *line;
	size_t name, whole; /* lengths: the name; with labels */
	double value;
};

struct metric_watch *metric_watch_new(void)
{
	return calloc(1, sizeof(struct metric_watch));
}

void metric_watch_free(struct metric_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->count; i++)
		free(watch->series[i].name);
	free(watch->series);
	free(watch);
}

static bool read_sample(const char *line, size_t length, struct sample *sample)
{
	const char *value = memrchr(line, ' ', length);

	if (*line == '#' || !value)
		return false;
	sample->line = line;
	sample->name = strcspn(line, "{ ");
	sample->whole = (size_t)(value - line);
	sample->value = strtod(value, NULL);
	return sample->name <= sample->whole;
}

/* Returns the value of a numeric label; 0 = there is none. */
static uint32_t label(const struct sample *sample, const char *name)
{
	size_t length = strlen(name);
	const char *at = sample->line + sample->name;
	const char *end = sample->line + sample->whole;

	/* Quotes in values of other labels are escaped, so a match is a label. */
	for (; at + length + 2 < end; at++)
		if (strchr("{,", *at) && !strncmp(at + 1, name, length) && at[length + 1] == '=' && at[length + 2] == '"')
			return (uint32_t)strtoul(at + length + 3, NULL, 10);
	return 0;
}

static struct series *series_of(struct metric_watch *watch, uint32_t trigger, const struct sample *sample)
{
	struct series *larger;
	char *name;

	for (size_t n = 0; n < watch->count; n++) {
		size_t i = (watch->next + n) % watch->count;
		struct series *s = &watch->series[i];

		if (s->trigger != trigger || strncmp(s->name, sample->line, sample->whole) || s->name[sample->whole])
			continue;
		watch->next = i + 1;
		return s;
	}
	if (watch->count == METRIC_WATCH_SERIES_MAX)
		return NULL;
	larger = realloc(watch->series, (watch->count + 1) * sizeof(*larger));
	if (!larger)
		return NULL;
	watch->series = larger;
	name = strndup(sample->line, sample->whole);
	if (!name)
		return NULL;
	larger[watch->count] = (struct series){ .trigger = trigger, .name = name };
	return &larger[watch->count++];
}

static bool only_grows(const char *name)
{
	size_t length = strlen(name);

	return length > 6 && !strcmp(name + length - 6, "_total");
}

/* Computes the value to compare with the limit; returns false if it is unknown. */
static bool judged(const struct metric_watch *watch, const struct trigger *trigger, const struct series *series,
		   double value, double *compared)
{
	if (!only_grows(trigger->call)) {
		*compared = value;
		return true;
	}
	/* If the last check lacked the series, or it restarted from 0, there is no previous value. */
	if (!series->look || series->look + 1 != watch->look || value < series->value || watch->look_ns <= watch->last_ns)
		return false;
	*compared = (value - series->value) * 1e9 / (double)(watch->look_ns - watch->last_ns);
	return true;
}

static void describe(const struct trigger *trigger, double value, struct metric_hit *hit)
{
	char who[32] = "";

	if (hit->pid)
		snprintf(who, sizeof(who), "process %d: ", (int)hit->pid);
	snprintf(hit->text, sizeof(hit->text), "%s%s %s %g%s, %s %g", who, trigger->call,
		 only_grows(trigger->call) ? "grows by" : "is", value, only_grows(trigger->call) ? " a second" : "",
		 trigger->below ? "below" : "above", trigger->limit);
}

static void look_at(struct metric_watch *watch, const struct trigger *trigger, const struct sample *sample,
		    void (*told)(void *context, const struct metric_hit *hit), void *context)
{
	struct series *series = series_of(watch, trigger->id, sample);
	struct metric_hit hit = { .trigger = trigger };
	bool beyond = false;
	double value;

	if (!series)
		return;
	if (judged(watch, trigger, series, sample->value, &value)) {
		beyond = trigger->below ? value < trigger->limit : value > trigger->limit;
		if (beyond && !series->beyond) {
			hit.session = label(sample, "session");
			hit.pid = (pid_t)label(sample, "pid");
			describe(trigger, value, &hit);
			told(context, &hit);
		}
	}
	series->beyond = beyond;
	series->value = sample->value;
	series->look = watch->look;
}

static void forget_gone(struct metric_watch *watch)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->count; i++) {
		if (watch->series[i].look == watch->look)
			watch->series[kept++] = watch->series[i];
		else
			free(watch->series[i].name);
	}
	watch->count = kept;
}

void metric_watch_look(struct metric_watch *watch, const struct trigger *rows, size_t count, const char *text,
		       uint64_t now_ns, void (*hit)(void *context, const struct metric_hit *hit), void *context)
{
	watch->look++;
	watch->next = 0;
	watch->last_ns = watch->look_ns;
	watch->look_ns = now_ns;
	while (*text) {
		size_t length = strcspn(text, "\n");
		struct sample sample;

		for (size_t i = 0; i < count && read_sample(text, length, &sample); i++)
			if (rows[i].kind == TRIGGER_METRIC && strlen(rows[i].call) == sample.name &&
			    !strncmp(rows[i].call, text, sample.name))
				look_at(watch, &rows[i], &sample, hit, context);
		text += length + (text[length] != '\0');
	}
	forget_gone(watch);
}
