/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_find.h - find where the turns of a loop begin, in the work that a host submitted or a device ran.
 *
 * Layers of a network repeat, too: a repetition is a loop only if it contains an event that a loop has once a turn.
 * These kinds of evidence are tried:
 *
 *   feed       consecutive copies to the device with no work in between: a turn begins with them
 *   whole      a graph, model or program that is launched as a whole: a turn begins with it
 *   optimizer  the optimizer's work: a turn ends with it
 *   result     copies to the host and waits for the device: a turn ends with them. They are no
 *              evidence if each piece of work is waited for (blocking launches)
 *
 * and, if none of these is found, because layers may have them, too,
 *
 *   collective gradients that ranks exchange: a turn ends with the last exchange before a long stretch of work, of
 *              LOOP_STRETCH_MIN or more pieces and at least half of the usual longest stretch. Only if nothing repeats
 *              regularly at a greater distance: then the exchanges would be parts of a turn. An optimizer that is not
 *              recognised as such falls into the start of the next turn
 *
 * Each kind cuts the events into turns. Its confidence is the percentage of all work that occurs equally often in
 * each turn: a kind of work that is in half of the turns or more (other turns may be evaluations), and in four fifths
 * of these as often as usual. Among kinds of equal confidence, within LOOP_SAME_PERCENT, the kind with more turns is
 * chosen, because epochs are made of steps; then the first in the order above.
 *
 * Copies to the device directly before the event with which a turn begins belong to that turn.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_LOOP_FIND_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_LOOP_FIND_H

#include <stdbool.h>
#include <stdint.h>

#define LOOP_TURNS_MIN 3 /* fewer are no evidence */
#define LOOP_CONFIDENCE_MIN 50 /* percent of the work */
#define LOOP_SAME_PERCENT 1
#define LOOP_STRETCH_MIN 16 /* pieces of work: a layer has fewer between two collectives */

enum loop_kind { LOOP_WORK, LOOP_FEED, LOOP_RESULT, LOOP_OTHER };

struct loop_event {
	uint64_t ns;
	uint32_t symbol; /* work: equal for equal work */
	uint8_t kind; /* enum loop_kind */
	bool whole; /* a graph, model or program */
	bool optimizer;
	bool collective; /* an exchange between ranks; may be work or not */
};

enum loop_evidence {
	LOOP_BY_NOTHING,
	LOOP_BY_MARKS, /* marks of the program; never set by loop_find() */
	LOOP_BY_FEED,
	LOOP_BY_WHOLE,
	LOOP_BY_OPTIMIZER,
	LOOP_BY_RESULT,
	LOOP_BY_COLLECTIVE,
};

struct loop_finding {
	uint8_t evidence; /* enum loop_evidence; LOOP_BY_NOTHING: there is no loop */
	double confidence; /* percentage of the work that it explains: 0 to 100 */
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

/* The evidence in words, "the copies to the device", ... Static text. */
const char *loop_evidence_text(uint8_t evidence);

/* Does the name of a kernel or function belong to an optimizer? */
bool loop_is_optimizer(const char *name);

/*
 * loop_confidence - the percentage of the work that the turns explain, 0 to 100
 *
 * @order: the @work events that are work, sorted by (symbol, index). @begins: indices of events.
 */
double loop_confidence(const struct loop_event *events, const uint32_t *order, uint32_t work,
		       const uint32_t *begins, uint32_t count);

/* Returns the order that loop_confidence() needs, of *@work events; NULL without memory. The caller frees it. */
uint32_t *loop_order(const struct loop_event *events, uint32_t count, uint32_t *work);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_LOOP_FIND_H */
