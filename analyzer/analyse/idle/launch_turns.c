/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/launch_turns.h"

#include <sys/param.h>

struct turns {
	const struct model *model;
	const struct host_moment *moments;
	uint32_t count;
	uint32_t function; /* the one whose calls limit turns */
	/* Of the measured turns. */
	uint32_t measured;
	uint32_t others; /* turns with launches that were not measured */
	uint64_t longest_ns;
	uint32_t most_launches;
};

/* The turns between two calls that waited. */
struct stretch {
	uint32_t turns;
	uint32_t working; /* turns with launches */
	uint32_t most_launches; /* in one turn */
	uint32_t launches; /* in the current turn */
};

static const struct call *call_of(const struct turns *t, uint32_t i)
{
	return &t->model->calls.row[t->moments[i].call];
}

/* Finds the function of more than half of the calls that waited, by a majority vote. Is there one, called by one thread? */
static bool find_function(struct turns *t)
{
	uint32_t lead = 0, waited = 0, mine = 0, thread = INDEX_NONE;

	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t function = call_of(t, i)->function;

		if (!t->moments[i].waited_ns)
			continue;
		waited++;
		if (!lead)
			t->function = function;
		lead += t->function == function ? 1 : -1;
	}
	for (uint32_t i = 0; i < t->count; i++) {
		const struct call *call = call_of(t, i);

		if (!t->moments[i].waits || call->function != t->function)
			continue;
		if (thread != INDEX_NONE && call->thread != thread)
			return false;
		thread = call->thread;
		mine += t->moments[i].waited_ns > 0;
	}
	return 2 * mine > waited;
}

static bool one_process(const struct turns *t)
{
	uint32_t process = INDEX_NONE;

	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t other = t->model->threads.row[call_of(t, i)->thread].process;

		if (process != INDEX_NONE && other != process)
			return false;
		process = other;
	}
	return true;
}

static void end_turn(struct stretch *stretch)
{
	stretch->turns++;
	stretch->working += stretch->launches > 0;
	stretch->most_launches = MAX(stretch->most_launches, stretch->launches);
	stretch->launches = 0;
}

static void measure(struct turns *t, const struct stretch *stretch, uint64_t ns)
{
	if (stretch->turns > 1) {
		t->others += stretch->working;
	} else if (stretch->working) {
		t->measured++;
		t->longest_ns = MAX(t->longest_ns, ns);
		t->most_launches = MAX(t->most_launches, stretch->most_launches);
	}
}

/* The longest likely work of a stretch of @ns, whose last call waited for @waited_ns. */
static uint64_t work_of(const struct turns *t, const struct stretch *stretch, uint64_t ns, uint64_t waited_ns)
{
	uint64_t likely_ns = stretch->working * t->longest_ns;

	if (stretch->turns < 2 || stretch->most_launches > t->most_launches || waited_ns > likely_ns)
		return ns;
	return MIN(ns, likely_ns);
}

/*
 * Visits the stretches. Measures the turns if @busy_ns is NULL; else adds the work, and all time before the first and
 * after the last call that waited.
 */
static void visit(struct turns *t, uint64_t from_ns, uint64_t to_ns, uint64_t *busy_ns)
{
	struct stretch stretch = { 0 };
	uint64_t since_ns = from_ns;
	bool first = true;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct host_moment *moment = &t->moments[i];

		if (!moment->waits) {
			stretch.launches++;
			continue;
		}
		if (call_of(t, i)->function != t->function)
			continue;
		end_turn(&stretch);
		if (!moment->waited_ns)
			continue;
		if (busy_ns)
			*busy_ns += first ? moment->ts_ns - since_ns
					  : work_of(t, &stretch, moment->ts_ns - since_ns, moment->waited_ns);
		else if (!first)
			measure(t, &stretch, moment->ts_ns - since_ns);
		first = false;
		since_ns = moment->ts_ns;
		stretch = (struct stretch){ 0 };
	}
	if (busy_ns)
		*busy_ns += to_ns - since_ns;
}

uint64_t launch_turns_busy(const struct model *model, const struct host_moment *moments,
			   uint32_t count, uint64_t from_ns, uint64_t to_ns)
{
	struct turns t = { .model = model, .moments = moments, .count = count };
	uint64_t busy_ns = 0;

	if (!find_function(&t) || !one_process(&t))
		return to_ns - from_ns;
	visit(&t, from_ns, to_ns, NULL);
	if (t.measured < TURNS_MIN || t.measured < t.others)
		return to_ns - from_ns;
	visit(&t, from_ns, to_ns, &busy_ns);
	return busy_ns;
}
