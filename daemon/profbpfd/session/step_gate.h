/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_gate.h - counts a job's steps while it is recorded, for a recording that begins at one of them and lasts some.
 *
 * A step begins with each call of a function whose symbol is, or matches the pattern, that the user named; else with each
 * fetch of a batch by a trainer of MindSpore, TensorFlow or PyTorch (of PyTorch the mark around it). Step 0 begins with the
 * first such call of a process. The first process to begin the wanted step is the one that is followed.
 *
 * Calls come in batches by CPU: they are counted in the order of their timestamps when the statistics arrive, which follow all
 * batches of a second. All functions except step_gate_facts() are for the writing thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_STEP_GATE_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_STEP_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/session/texts.h"

#define STEP_CALL_MAX 160 /* bytes of a pattern, with its end */
#define STEP_FUNCTIONS_MAX 1024 /* functions whose calls begin steps: a pattern may match many */
#define STEP_PENDING_MAX (1u << 20) /* calls that begin steps within a second */

enum step_gate_state {
	STEPS_AWAITED, /* the first requested step has not begun */
	STEPS_BEGUN,
	STEPS_OVER, /* the step after the last one has begun, or the followed process has ended */
};

struct step_gate_facts {
	enum step_gate_state state;
	uint32_t tgid; /* the followed process; before the first requested step the one with the most steps; 0 = none yet */
	uint64_t steps; /* steps that it has begun */
	uint64_t first; /* the first requested step */
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC: time of the requested steps; 0 = not known yet */
	uint32_t functions; /* known functions whose calls begin steps */
	bool exited; /* STEPS_OVER because the process has ended */
	uint64_t functions_left_out; /* functions beyond STEP_FUNCTIONS_MAX, whose calls begin no step */
	uint64_t uncounted; /* steps and ends of processes without room or memory: numbers of steps are too low */
};

struct step_gate;

/* step_gate_new - for @steps steps from step @first on, by calls of @call ("": the default); NULL without memory */
struct step_gate *step_gate_new(const char *call, uint64_t first, uint64_t steps);
void step_gate_free(struct step_gate *gate); /* accepts NULL */

/* step_gate_item - examines the item; returns true if the state has changed */
bool step_gate_item(struct step_gate *gate, const struct item *item, struct texts *texts);

/* step_gate_facts - a copy of the current facts; from any thread */
void step_gate_facts(struct step_gate *gate, struct step_gate_facts *facts);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_STEP_GATE_H */
