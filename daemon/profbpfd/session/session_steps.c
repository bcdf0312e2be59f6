/* SPDX-License-Identifier: Apache-2.0 */
/* session_steps.c - a recording that begins with a step: until then it keeps the last seconds, as a flight recorder. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "daemon/profbpfd/encode/flight_store.h"
#include "daemon/profbpfd/session/session_private.h"

/* The beginning of a step is known after at most a second; a segment lasts a second and is dropped as a whole. */
#define KEPT_NS 5000000000ull

int session_steps_start(struct session *s)
{
	struct session_steps *steps = &s->steps;

	if (!s->request.step_call)
		return 0;
	steps->store = flight_store_new(STEPS_KEPT_BYTES, KEPT_NS);
	steps->flight = steps->store ? flight_new(steps->store) : NULL;
	steps->gate = step_gate_new(s->request.step_call, s->request.first_step, s->request.steps);
	return steps->flight && steps->gate ? 0 : -ENOMEM;
}

void session_steps_free(struct session *s)
{
	flight_let_go(s->steps.flight);
	flight_store_free(s->steps.store);
	step_gate_free(s->steps.gate);
}

static void say_over(struct session *s, const struct step_gate_facts *facts)
{
	char text[160];

	if (facts->exited)
		snprintf(text, sizeof(text), "process %" PRIu32 ", whose steps are recorded, has ended", facts->tgid);
	else
		snprintf(text, sizeof(text), "steps %" PRIu64 " to %" PRIu64 " of process %" PRIu32 " are over",
			 s->request.first_step, s->request.first_step + s->request.steps - 1, facts->tgid);
	session_end(s, false, text);
}

/* Warns once about each cause of wrong numbers of steps. */
static void say_left_out(struct session *s, const struct step_gate_facts *facts)
{
	char text[256];

	if (facts->functions_left_out && !s->steps.functions_told) {
		s->steps.functions_told = true;
		snprintf(text, sizeof(text),
			 "'%s' matches more than %u functions: calls of further ones begin no "
			 "step; use a narrower pattern (--step-call)",
			 s->request.step_call, STEP_FUNCTIONS_MAX);
		session_warn(s, text);
	}
	if (facts->uncounted && !s->steps.uncounted_told) {
		s->steps.uncounted_told = true;
		snprintf(text, sizeof(text),
			 "some steps were not counted, because more than %u began within a second, "
			 "or memory was short: the numbers of later steps are too low; choose a "
			 "function that is called less often (--step-call)",
			 STEP_PENDING_MAX);
		session_warn(s, text);
	}
}

void session_steps_look(struct session *s)
{
	struct step_gate_facts facts;

	if (!s->steps.gate)
		return;
	step_gate_facts(s->steps.gate, &facts);
	say_left_out(s, &facts);
	if (facts.state == STEPS_AWAITED) {
		if (flight_wants_cut(s->steps.flight, session_now_ns()))
			session_cut(s, &(struct cut_row){ 0 });
		return;
	}
	if (!s->steps.opened)
		session_cut(s, &(struct cut_row){ .open = true });
	s->steps.opened = true;
	if (!s->steps.let_go && writer_opened_ns(s->writer)) {
		/* The writer has taken the segments that it needs, and holds them until they are written. */
		flight_store_limit(s->steps.store, 0, KEPT_NS);
		s->steps.let_go = true;
	}
	if (facts.state == STEPS_OVER)
		say_over(s, &facts);
}

void session_steps_end(struct session *s)
{
	struct step_gate_facts facts;
	char text[256];

	if (!s->steps.gate)
		return;
	step_gate_facts(s->steps.gate, &facts);
	if (facts.state != STEPS_AWAITED)
		return;
	if (facts.steps)
		snprintf(text, sizeof(text), "step %" PRIu64 " has not begun: process %" PRIu32 " began %" PRIu64 " (%.120s)",
			 s->request.first_step, facts.tgid, facts.steps, s->reason);
	else
		snprintf(text, sizeof(text), "no step has begun: %s (%.120s)",
			 facts.functions ? "the function that begins a step was not called" :
					   "no probed function begins a step",
			 s->reason);
	session_end(s, true, text);
}
