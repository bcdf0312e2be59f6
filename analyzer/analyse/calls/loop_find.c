/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/loop_find.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

#include "analyzer/analyse/tally.h"
#include "analyzer/model/model.h"
#include "analyzer/model/translate.h"
#include "lib/base/bisect.h"

#define WHOLES_MAX 8 /* kinds of graphs that are tried: if a step has several, any one suffices */
#define LONGER_MAX 16 /* kinds of work that are tried as evidence of a longer unit */

struct turns {
	MODEL_ARRAY(uint32_t) begins;
};

struct search {
	const struct loop_event *events;
	uint32_t count;
	uint32_t *order; /* work by (symbol, index) */
	uint32_t work;
	struct loop_finding *best;
};

const char *loop_evidence_text(uint8_t evidence)
{
	switch (evidence) {
	case LOOP_BY_MARKS: return tr("marks");
	case LOOP_BY_FEED: return tr("copies to the device");
	case LOOP_BY_WHOLE: return tr("launches of whole graphs");
	case LOOP_BY_OPTIMIZER: return tr("the optimizer's work");
	case LOOP_BY_RESULT: return tr("copies to the host and waits for the device");
	case LOOP_BY_COLLECTIVE: return tr("the collectives that end them");
	default: return "";
	}
}

/* Does @text contain a word that begins with @part, with no letter before it? "fused_adam_kernel", "ApplyAdam" */
static bool has_word(const char *text, const char *part, bool ends)
{
	size_t length = strlen(part);

	for (const char *at = strcasestr(text, part); at; at = strcasestr(at + 1, part)) {
		bool begins = at == text || !isalpha((unsigned char)at[-1]) ||
			      (islower((unsigned char)at[-1]) && isupper((unsigned char)*at));
		char after = at[length];

		if (begins && (!ends || !islower((unsigned char)after)))
			return true;
	}
	return false;
}

bool loop_is_optimizer(const char *name)
{
	static const char *const WHOLE_WORDS[] = {
		"adam", "adamw",    "sgd",  "lamb",    "lion",
		"lars", "momentum", "ftrl", "rmsprop", "adadelta"
	};
	static const char *const WORDS[] = { "optimizer", "adagrad", "adafactor",
					     "multi_tensor_apply" };

	/* Gradients are zeroed before a pass or after the update: zeroing ends no turn. */
	if (strcasestr(name, "zero_grad"))
		return false;
	for (size_t i = 0; i < sizeof(WHOLE_WORDS) / sizeof(*WHOLE_WORDS); i++)
		if (has_word(name, WHOLE_WORDS[i], true))
			return true;
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
		if (has_word(name, WORDS[i], false))
			return true;
	return false;
}

uint32_t *loop_order(const struct loop_event *events, uint32_t count, uint32_t *work)
{
	uint32_t *order = malloc(((size_t)count + 1) * sizeof(*order));
	struct tally symbols = { 0 };
	bool ok = order != NULL;

	*work = 0;
	for (uint32_t i = 0; i < count && ok; i++) {
		if (events[i].kind != LOOP_WORK)
			continue;
		ok = tally_add(&symbols, events[i].symbol);
		++*work;
	}
	ok = ok && tally_sort(&symbols);
	for (uint32_t i = 0; i < count && ok; i++)
		if (events[i].kind == LOOP_WORK)
			order[tally_kind_of(&symbols, events[i].symbol)->first++] = i;
	tally_free(&symbols);
	if (!ok) {
		free(order);
		order = NULL;
	}
	return order;
}

/* Rows of one kind of work, and the turns that contain them. */
struct kind_rows {
	const uint32_t *rows; /* indices of events */
	uint32_t at;
	uint32_t end;
	const uint32_t *begins;
	uint32_t count;
	uint32_t turn; /* the last turn found: the next one is near */
};

/* Returns the number of rows in the next whole turn that has any; 0 = there is no such turn. */
static uint32_t next_turn(struct kind_rows *of)
{
	uint32_t first, turn;

	while (of->at < of->end && of->rows[of->at] < of->begins[0])
		of->at++;
	if (of->at == of->end)
		return 0;
	turn = BISECT_NEAR(i, 0, of->count, of->turn, of->begins[i] <= of->rows[of->at]);
	of->turn = turn;
	if (turn == of->count)
		return 0;
	for (first = of->at; of->at < of->end && of->rows[of->at] < of->begins[turn];)
		of->at++;
	return of->at - first;
}

/*
 * Returns the number of rows in most turns, if more than half have the same; *@present: the number of turns with any.
 */
static uint32_t usual_number(struct kind_rows of, uint32_t *present)
{
	uint32_t usual = 0, votes = 0;

	*present = 0;
	for (uint32_t here; (here = next_turn(&of)) != 0; ++*present) {
		if (!votes)
			usual = here;
		if (here == usual)
			votes++;
		else
			votes--;
	}
	return usual;
}

/* How often a kind of work occurs in turns. */
struct kind_habit {
	uint64_t all;
	uint32_t usual; /* its number in most turns that have any */
	uint32_t present; /* number of turns that have any */
	uint32_t as_usual; /* number of turns with @usual */
};

static struct kind_habit habit_of(struct kind_rows of)
{
	struct kind_habit habit = { 0 };

	habit.usual = usual_number(of, &habit.present);
	for (uint32_t here; (here = next_turn(&of)) != 0; habit.all += here)
		habit.as_usual += here == habit.usual;
	return habit;
}

static void judge_kind(struct kind_rows of, uint64_t *regular, uint64_t *all)
{
	struct kind_habit habit = habit_of(of);

	*all += habit.all;
	if ((uint64_t)habit.present * 2 >= of.count - 1 &&
	    (uint64_t)habit.as_usual * 5 >= (uint64_t)habit.present * 4)
		*regular += (uint64_t)habit.as_usual * habit.usual;
}

/*
 * A repetition in a small part of all work is no loop: before the first begin and after the last one there can be at
 * most a part of a turn each.
 */
double loop_confidence(const struct loop_event *events, const uint32_t *order, uint32_t work,
		       const uint32_t *begins, uint32_t count)
{
	double expected = (double)work * (count - 1) / (count + 1);
	uint64_t regular = 0, all = 0;

	for (uint32_t first = 0, end; first < work; first = end) {
		struct kind_rows of = { order, first, first, begins, count, 0 };

		for (end = first;
		     end < work && events[order[end]].symbol == events[order[first]].symbol;)
			end++;
		of.end = end;
		judge_kind(of, &regular, &all);
	}
	expected = MAX(expected, (double)all);
	return expected > 0 ? 100 * (double)regular / expected : 0;
}

/* Copies to the device directly before an event belong to its turn. */
static uint32_t with_feeds(const struct search *search, uint32_t begin)
{
	while (begin && search->events[begin - 1].kind == LOOP_FEED)
		begin--;
	return begin;
}

/* The event with which the turn before begins, or the work after it, lies between both: begins ascend. */
static bool push(const struct search *search, struct turns *turns, uint32_t begin)
{
	return MODEL_PUSH(&turns->begins, with_feeds(search, begin));
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * More than a batch is copied before the first turn: of each run of copies only the last ones count, up to the median
 * length.
 */
static int cut_feeds(struct turns *firsts, const struct turns *lasts)
{
	uint32_t *lengths = calloc((size_t)firsts->begins.count + 1, sizeof(*lengths));
	uint32_t usual;

	if (!lengths)
		return -ENOMEM;
	for (uint32_t i = 0; i < firsts->begins.count; i++)
		lengths[i] = lasts->begins.row[i] - firsts->begins.row[i];
	qsort(lengths, firsts->begins.count, sizeof(*lengths), by_number);
	usual = lengths[firsts->begins.count / 2];
	for (uint32_t i = 0; i < firsts->begins.count; i++)
		firsts->begins.row[i] = MAX(firsts->begins.row[i],
					    lasts->begins.row[i] - MIN(usual, lasts->begins.row[i]));
	free(lengths);
	return 0;
}

/* Finds runs of copies to the device with no work in between. */
static int find_feeds(const struct search *search, struct turns *turns)
{
	struct turns lasts = { 0 };
	bool worked = true;
	int err = 0;

	for (uint32_t i = 0; i < search->count && !err; i++) {
		if (search->events[i].kind == LOOP_WORK)
			worked = true;
		if (search->events[i].kind != LOOP_FEED)
			continue;
		if (worked && (!MODEL_PUSH(&turns->begins, i) || !MODEL_PUSH(&lasts.begins, i)))
			err = -ENOMEM;
		else
			lasts.begins.row[lasts.begins.count - 1] = i;
		worked = false;
	}
	if (!err)
		err = cut_feeds(turns, &lasts);
	free(lasts.begins.row);
	return err;
}

static bool ends_turn(const struct loop_event *event, uint8_t evidence)
{
	return evidence == LOOP_BY_RESULT ? event->kind == LOOP_RESULT : event->optimizer;
}

/* Finds turns that end with a run of results or of the optimizer's work. */
static int find_ends(const struct search *search, uint8_t evidence, struct turns *turns)
{
	uint32_t runs = 0;
	bool ended = true;

	for (uint32_t i = 0; i < search->count; i++) {
		const struct loop_event *event = &search->events[i];

		if (ends_turn(event, evidence)) {
			runs += !ended;
			ended = true;
			continue;
		}
		if (event->kind != LOOP_WORK && event->kind != LOOP_FEED)
			continue;
		if (ended && !push(search, turns, i))
			return -ENOMEM;
		ended = false;
	}
	/* Each piece of work is waited for: no evidence of a loop. */
	if (evidence == LOOP_BY_RESULT && (uint64_t)runs * 2 > search->work)
		turns->begins.count = 0;
	return 0;
}

static int find_whole(const struct search *search, uint32_t symbol, struct turns *turns)
{
	for (uint32_t i = 0; i < search->count; i++)
		if (search->events[i].whole && search->events[i].symbol == symbol &&
		    !push(search, turns, i))
			return -ENOMEM;
	return 0;
}

/* ---- Collectives */

/* Work between two collectives. */
struct stretch {
	uint32_t begin; /* index of its first event */
	uint32_t work;
};

static int by_work(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->work < y->work ? -1 : x->work > y->work;
}

static int by_begin(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * The weighted median: the length of the stretch that contains the middle piece of work, if stretches are sorted by
 * length. @all: the work of all stretches.
 */
static uint32_t usual_stretch(struct stretch *row, uint32_t count, uint64_t all)
{
	uint64_t sum = 0;
	uint32_t usual = 0;

	qsort(row, count, sizeof(*row), by_work);
	for (uint32_t i = 0; sum * 2 < all; i++) {
		usual = row[i].work;
		sum += usual;
	}
	qsort(row, count, sizeof(*row), by_begin);
	return usual;
}

/*
 * Gradients are exchanged in pieces while other gradients are computed; long stretches begin with the next forward
 * pass.
 */
static int find_collectives(const struct search *search, struct turns *turns)
{
	MODEL_ARRAY(struct stretch) stretches = { 0 };
	bool ended = true;
	uint64_t all = 0;
	uint32_t usual;
	int err = 0;

	for (uint32_t i = 0; i < search->count && !err; i++) {
		const struct loop_event *event = &search->events[i];
		struct stretch new = { .begin = i };

		ended |= event->collective;
		if (event->collective || event->kind != LOOP_WORK)
			continue;
		if (ended && !MODEL_PUSH(&stretches, new)) {
			err = -ENOMEM;
		} else {
			stretches.row[stretches.count - 1].work++;
			all++;
		}
		ended = false;
	}
	usual = stretches.count ? usual_stretch(stretches.row, stretches.count, all) : 0;
	for (uint32_t i = 0; i < stretches.count && usual >= LOOP_STRETCH_MIN && !err; i++)
		if ((uint64_t)stretches.row[i].work * 2 >= usual &&
		    !push(search, turns, stretches.row[i].begin))
			err = -ENOMEM;
	free(stretches.row);
	return err;
}

/* Keeps the turns with such work. */
static int turns_with(const struct kind_rows *of, struct turns *with)
{
	uint32_t last = INDEX_NONE;

	with->begins.count = 0;
	for (uint32_t at = of->at; at < of->end; at++) {
		uint32_t row = of->rows[at];
		uint32_t turn = BISECT(i, 0, of->count, of->begins[i] <= row);

		if (turn != last && !MODEL_PUSH(&with->begins, row))
			return -ENOMEM;
		last = turn;
	}
	return 0;
}

/* Is there work that occurs regularly, but not in each turn? Then *@is: the unit is longer than these turns. */
static int has_longer_unit(const struct search *search, const struct turns *turns, bool *is)
{
	struct turns longer = { 0 };
	uint32_t tried = 0;
	int err = 0;

	*is = false;
	for (uint32_t first = 0, end; first < search->work && !*is && !err; first = end) {
		struct kind_rows of = { search->order, first, first, turns->begins.row,
					turns->begins.count };
		uint32_t symbol = search->events[search->order[first]].symbol;
		struct kind_habit habit;

		for (end = first; end < search->work &&
				  search->events[search->order[end]].symbol == symbol;)
			end++;
		of.end = end;
		habit = habit_of(of);
		if ((uint64_t)habit.as_usual * 5 >= (uint64_t)(of.count - 1) * 4 ||
		    habit.present < LOOP_TURNS_MIN || tried++ >= LONGER_MAX)
			continue;
		err = turns_with(&of, &longer);
		*is = !err && loop_confidence(search->events, search->order, search->work,
					      longer.begins.row,
					      longer.begins.count) >= LOOP_CONFIDENCE_MIN;
	}
	free(longer.begins.row);
	return err;
}

/* Keeps the better of the earlier finding and @turns; empties @turns. */
static void judge(struct search *search, uint8_t evidence, struct turns *turns)
{
	struct loop_finding *best = search->best;
	uint32_t count = turns->begins.count;
	double percent;

	if (count >= LOOP_TURNS_MIN) {
		percent = loop_confidence(search->events, search->order, search->work,
					  turns->begins.row, count);
		if (percent >= LOOP_CONFIDENCE_MIN &&
		    (!best->evidence || percent > best->confidence + LOOP_SAME_PERCENT ||
		     (percent >= best->confidence - LOOP_SAME_PERCENT &&
		      count > best->count + best->count / 8 + 1))) {
			free(best->begins);
			*best = (struct loop_finding){ evidence, percent, turns->begins.row,
						       count };
			*turns = (struct turns){ 0 };
		}
	}
	turns->begins.count = 0;
}

static int try_wholes(struct search *search, struct turns *turns)
{
	uint32_t tried[WHOLES_MAX], count = 0, k;
	int err = 0;

	for (uint32_t i = 0; i < search->count && count < WHOLES_MAX && !err; i++) {
		uint32_t symbol = search->events[i].symbol;

		if (!search->events[i].whole)
			continue;
		for (k = 0; k < count && tried[k] != symbol;)
			k++;
		if (k < count)
			continue;
		tried[count++] = symbol;
		err = find_whole(search, symbol, turns);
		if (!err)
			judge(search, LOOP_BY_WHOLE, turns);
	}
	return err;
}

static int try_collectives(struct search *search, struct turns *turns)
{
	bool longer = false;
	int err = find_collectives(search, turns);

	if (!err && turns->begins.count >= LOOP_TURNS_MIN)
		err = has_longer_unit(search, turns, &longer);
	if (!err && !longer)
		judge(search, LOOP_BY_COLLECTIVE, turns);
	return err;
}

int loop_find(const struct loop_event *events, uint32_t count, struct loop_finding *finding)
{
	struct search search = { .events = events, .count = count, .best = finding };
	struct turns turns = { 0 };
	int err;

	*finding = (struct loop_finding){ 0 };
	search.order = loop_order(events, count, &search.work);
	err = search.order ? find_feeds(&search, &turns) : -ENOMEM;
	if (!err) {
		judge(&search, LOOP_BY_FEED, &turns);
		err = try_wholes(&search, &turns);
	}
	for (uint8_t evidence = LOOP_BY_OPTIMIZER; evidence <= LOOP_BY_RESULT && !err; evidence++) {
		err = find_ends(&search, evidence, &turns);
		if (!err)
			judge(&search, evidence, &turns);
	}
	if (!err && !finding->evidence)
		err = try_collectives(&search, &turns);
	free(search.order);
	free(turns.begins.row);
	return err;
}

void loop_finding_free(struct loop_finding *finding)
{
	free(finding->begins);
	*finding = (struct loop_finding){ 0 };
}
