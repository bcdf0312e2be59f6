/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_find.h - where the turns of a loop begin, in what a host submitted or a device ran.
 *
 * Layers of a network repeat, too: what repeats is a loop only if something is there that a loop does
 * once a turn. These are tried:
 *
 *   feed       copies to the device, one after the other with no work in between: a turn begins with them
 *   whole      one graph, model or program that is launched as a whole: a turn begins with it
 *   optimizer  the optimizer's work: a turn ends with it
 *   result     copies to the host and waits for the device: a turn ends with them. They are no
 *              evidence if each piece of work is waited for (blocking launches)
 *
 * and, where none of these is a sign, because layers may have them, too,
 *
 *   collective gradients that ranks exchange: a turn ends with the last one before a long stretch of work, LOOP_STRETCH_MIN
 *              pieces or more and half of what is usual for the longest. Only if nothing repeats regularly at
 *              a greater distance: then these would be parts of a turn. An optimizer that nothing shows to be one
 *              is the begin of the next turn
 *
 * Each cuts the events into turns. How well it explains them is the percent of all work that is there equally
 * often in turn after turn: of a kind of work in half of the turns or more (others may be evaluations), and
 * in four fifths of these as often as usual. Of what explains the same, within LOOP_SAME_PERCENT, that with
 * more turns counts: epochs are made of steps; and the first in the order above.
 *
 * Copies to the device directly before the event with which a turn begins belong to that turn.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_LOOP_FIND_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_LOOP_FIND_H

#include <stdbool.h>
#include <stdint.h>

#define LOOP_TURNS_MIN 3 /* fewer prove nothing */
#define LOOP_CONFIDENCE_MIN 50 /* percent of the work */
#define LOOP_SAME_PERCENT 1
#define LOOP_STRETCH_MIN 16 /* pieces of work: a layer between two collectives has less */

enum loop_kind { LOOP_WORK, LOOP_FEED, LOOP_RESULT, LOOP_OTHER };

struct loop_event {
	uint64_t ns;
	uint32_t symbol; /* of work: the same for the same work */
	uint8_t kind; /* enum loop_kind */
	bool whole; /* a graph, model or program */
	bool optimizer;
	bool collective; /* ranks exchange something; work or not */
};

enum loop_evidence {
	LOOP_BY_NOTHING,
	LOOP_BY_MARKS, /* somebody said so; loop_find() never does */
	LOOP_BY_FEED,
	LOOP_BY_WHOLE,
	LOOP_BY_OPTIMIZER,
	LOOP_BY_RESULT,
	LOOP_BY_COLLECTIVE,
};

struct loop_finding {
	uint8_t evidence; /* enum loop_evidence; LOOP_BY_NOTHING: there is no loop */
	double confidence; /* percent of the work that it explains: 0 to 100 */
	uint32_t *begins; /* indices of events, ascending */
	uint32_t count;
};

/*
 * loop_find - fill @finding, from @count events in order of time
 *
 * Returns 0 or -ENOMEM; in both cases loop_finding_free() is to be called.
 */
int loop_find(const struct loop_event *events, uint32_t count, struct loop_finding *finding);
void loop_finding_free(struct loop_finding *finding);

/* "the copies to the device", ... in words. Static text. */
const char *loop_evidence_text(uint8_t evidence);

/* Does a kernel or function of this name work for an optimizer? */
bool loop_is_optimizer(const char *name);

/*
 * loop_confidence - how well turns explain the work
 *
 * @order: the events that are work, by (symbol, index), @work of them. @begins: indices of events. 0 to 100.
 */
double loop_confidence(const struct loop_event *events, const uint32_t *order, uint32_t work,
		       const uint32_t *begins, uint32_t count);

/* The order that loop_confidence() needs, *@work of them. NULL without memory; the caller frees. */
uint32_t *loop_order(const struct loop_event *events, uint32_t count, uint32_t *work);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_LOOP_FIND_H */
