/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_find.h: how often a turn must repeat, and which evidence wins, at the bounds of each rule.
 *
 * Events are written as texts: a letter is work, equal letters are equal work; "O" is work of an optimizer, "C" a
 * collective, a digit a whole graph; '>' copies to the device, '<' to the host, '.' is anything else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/calls/loop_find.h"

#define EVENTS_MAX 4096

#define TWICE(text) text text
#define FOUR(text) text text text text
#define EIGHT(text) FOUR(text) FOUR(text)

static uint8_t kind_of(char c)
{
	return c == '>' ? LOOP_FEED : c == '<' ? LOOP_RESULT : c == '.' ? LOOP_OTHER : LOOP_WORK;
}

static uint32_t events_of(const char *text, struct loop_event *events)
{
	uint32_t count = 0;

	for (; text[count]; count++) {
		char c = text[count];

		assert_true(count < EVENTS_MAX);
		events[count] = (struct loop_event){ .ns = count,
						     .kind = kind_of(c),
						     .symbol = (uint32_t)c,
						     .whole = c >= '0' && c <= '9',
						     .optimizer = c == 'O',
						     .collective = c == 'C' };
	}
	return count;
}

/* The evidence by which loop_find() finds turns; they must begin at @begins, "0 3 6", or anywhere if that is NULL. */
static uint8_t find(const char *text, const char *begins)
{
	static struct loop_event events[EVENTS_MAX];
	struct loop_finding finding;
	char found[4096] = "";
	size_t used = 0;
	uint8_t evidence;

	assert_int_equal(loop_find(events, events_of(text, events), &finding), 0);
	for (uint32_t i = 0; i < finding.count; i++)
		used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%u", i ? " " : "", finding.begins[i]);
	if (begins)
		assert_string_equal(found, begins);
	evidence = finding.evidence;
	loop_finding_free(&finding);
	return evidence;
}

/* The confidence, in tenths of a percent, if a turn begins behind each bar. */
static int confidence(const char *text)
{
	static struct loop_event events[EVENTS_MAX];
	uint32_t begins[EVENTS_MAX], count = 0, work, *order;
	char plain[EVENTS_MAX];
	uint32_t used = 0;
	double percent;

	for (; *text; text++) {
		if (*text == '|')
			begins[count++] = used;
		else
			plain[used++] = *text;
	}
	plain[used] = '\0';
	order = loop_order(events, events_of(plain, events), &work);
	assert_non_null(order);
	percent = loop_confidence(events, order, work, begins, count);
	free(order);
	assert_true(percent >= 0 && percent <= 100);
	return (int)(10 * percent + 0.5);
}

/* ---- Confidence */

static void work_in_half_of_the_turns_is_regular(void **state)
{
	(void)state;
	/* The last turn may be unfinished: four count. */
	assert_int_equal(confidence("|ab|ab|ab|ab|"), 1000);
	assert_int_equal(confidence("|abx|ab|abx|ab|ab"), 1000);
	assert_int_equal(confidence("|abx|ab|ab|ab|ab"), 889); /* 8 of 9 */
}

static void work_as_often_as_usual_in_four_of_five_turns_is_regular(void **state)
{
	(void)state;
	assert_int_equal(confidence("|a|a|a|a|aa|a"), 667); /* 4 of 6 */
	assert_int_equal(confidence("|a|a|a|aaa|aa|a"), 0);
	assert_int_equal(confidence("|aa|aa|a|aa|aa|a"), 889); /* 8 of 9 */
}

/* The usual number is that of most turns, wherever they are. */
static void the_usual_number_is_that_of_most_turns(void **state)
{
	(void)state;
	assert_int_equal(confidence("|aaa|a|a|a|a|a"), 571); /* 4 of 7 */
	assert_int_equal(confidence("|a|a|aaa|a|a|a"), 571);
}

static void work_before_the_first_turn_and_after_the_last_begin_may_be_a_turn_each(void **state)
{
	(void)state;
	assert_int_equal(confidence("ab|ab|ab|ab|ab"), 1000);
	assert_int_equal(confidence("c|ab|ab|ab|ab"), 1000);
	/* 6 of what three turns of five should have: 15 * 3 / 5 */
	assert_int_equal(confidence("cdefcde|ab|ab|ab|ab"), 667);
}

static void without_work_there_is_no_confidence(void **state)
{
	(void)state;
	assert_int_equal(confidence("|.|.|.|."), 0);
}

/* ---- Evidence */

static void turns_begin_with_copies_to_the_device(void **state)
{
	(void)state;
	assert_int_equal(find(">ab>ab>ab", "0 3 6"), LOOP_BY_FEED);
	assert_int_equal(find(">ab>ab", ""), LOOP_BY_NOTHING);
	/* One run, with another call in between. */
	assert_int_equal(find(">.>ab>.>ab>.>ab", "0 5 10"), LOOP_BY_FEED);
}

/* Weights are copied before the first turn: of the runs of 4, 2 and 2 copies, the last 2 count each. */
static void more_copies_than_usual_are_no_part_of_a_turn(void **state)
{
	(void)state;
	assert_int_equal(find(">>>>ab>>ab>>ab", "2 6 10"), LOOP_BY_FEED);
	assert_int_equal(find(">>>ab>>>ab>ab", "0 5 10"), LOOP_BY_FEED);
}

static void turns_begin_with_a_whole_graph(void **state)
{
	(void)state;
	assert_int_equal(find("1ab1ab1ab", "0 3 6"), LOOP_BY_WHOLE);
	/* Its own copies belong to it, but not those of a call between. */
	assert_int_equal(find("a>1a1b>1a1b>1a1b", "1 6 11"), LOOP_BY_FEED);
	/* Of two kinds, that which explains all work; of such, that with more turns. */
	assert_int_equal(find("1a2b2b1a2b2b1a2b2b", "0 6 12"), LOOP_BY_WHOLE);
	assert_int_equal(find("2b2b1a2b2b1a2b2b1a", "4 10 16"), LOOP_BY_WHOLE);
	assert_int_equal(find("12a2a2a2a2a2a2a2a", "1 3 5 7 9 11 13 15"), LOOP_BY_WHOLE);
}

static void turns_end_with_the_optimizer(void **state)
{
	(void)state;
	assert_int_equal(find("abOabOabO", "0 3 6"), LOOP_BY_OPTIMIZER);
	assert_int_equal(find("abOOabOOabOO", "0 4 8"), LOOP_BY_OPTIMIZER);
	assert_int_equal(find("abOab", ""), LOOP_BY_NOTHING);
	/* What follows the last one is the begin of another turn. */
	assert_int_equal(find("abOabOab", "0 3 6"), LOOP_BY_OPTIMIZER);
}

static void turns_end_with_results(void **state)
{
	(void)state;
	assert_int_equal(find("abc<abc<abc<", "0 4 8"), LOOP_BY_RESULT);
	/* A wait for every second piece of work is the least. */
	assert_int_equal(find("ab<ab<ab<", "0 3 6"), LOOP_BY_RESULT);
	assert_int_equal(find("a<ab<ab<ab<", ""), LOOP_BY_NOTHING);
	/* Other calls in between make no difference. */
	assert_int_equal(find("ab.<.<ab<ab<", "0 6 9"), LOOP_BY_RESULT);
}

/* Each kind of graph takes a pass over all events: eight are tried. */
static void few_kinds_of_graphs_are_tried(void **state)
{
	(void)state;
	assert_int_equal(find("0123456" FOUR("7a"), "7 9 11 13"), LOOP_BY_WHOLE);
	assert_int_equal(find("01234567" FOUR("8a"), ""), LOOP_BY_NOTHING);
}

/* ---- Collectives */

#define LONG EIGHT("a") EIGHT("b") /* LOOP_STRETCH_MIN pieces of work */

static void turns_begin_behind_the_collective_before_a_long_stretch(void **state)
{
	(void)state;
	assert_int_equal(find(LONG "C" LONG "C" LONG "C", "0 17 34"), LOOP_BY_COLLECTIVE);
	assert_int_equal(find(EIGHT("a") "bbbbbbbC" EIGHT("a") "bbbbbbbC" EIGHT("a") "bbbbbbbC", ""), LOOP_BY_NOTHING);
	assert_int_equal(find(LONG "CdCeC" LONG "CdCeC" LONG "CdCeC", "0 21 42"), LOOP_BY_COLLECTIVE);
}

/* Half of the usual length is long, too; less is a part of a turn. */
static void half_of_the_usual_stretch_is_a_turn_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(find(TWICE(LONG "C" EIGHT("a") "C" LONG "C") LONG "C", "0 17 26 43 60 69 86"),
			 LOOP_BY_COLLECTIVE);
	assert_int_equal(find(FOUR(LONG "CdddddddC"), "0 25 50 75"), LOOP_BY_COLLECTIVE);
}

#define SHORT EIGHT("a") "bbbbbbb" /* one piece less */
#define SIXTY(text) EIGHT(TWICE(text) FOUR(text)) EIGHT(text) FOUR(text)
#define FOUR_SHORT FOUR(SHORT "C")

/* The usual stretch is that with the middle piece of all work: half of it is in short ones, or one piece less. */
static void stretches_with_half_of_the_work_are_usual(void **state)
{
	(void)state;
	assert_int_equal(find(FOUR_SHORT SIXTY("e") "C" FOUR_SHORT SIXTY("f") "C" FOUR_SHORT SIXTY("g") "C" FOUR_SHORT
			      SIXTY("h") "C", ""),
			 LOOP_BY_NOTHING);
	assert_int_equal(find(FOUR_SHORT SIXTY("e") "C" FOUR_SHORT SIXTY("f") "C" FOUR_SHORT SIXTY("g") "C" FOUR_SHORT
			      SIXTY("h") "hC", "64 189 314 439"),
			 LOOP_BY_COLLECTIVE);
}

/* Work of some turns that repeats at a distance of several: these turns are parts of one, of a network's layers. */
static void a_longer_unit_is_no_turn(void **state)
{
	(void)state;
	/* "d" is in every second turn. */
	assert_int_equal(find(FOUR(LONG "C" LONG "dC"), ""), LOOP_BY_NOTHING);
	assert_int_equal(find(TWICE(LONG "C" LONG "dC") LONG "C", "0 17 35 52 70"), LOOP_BY_COLLECTIVE);
	/* What is in four of five turns is a habit of these turns. */
	assert_int_equal(find(FOUR(LONG "dC") LONG "C" LONG, "0 18 36 54 72 89"), LOOP_BY_COLLECTIVE);
}

/* ---- Which evidence wins */

static void turns_explain_half_of_the_work(void **state)
{
	(void)state;
	assert_int_equal(find(">ab>ac>ad>ae>af", "0 3 6 9 12"), LOOP_BY_FEED);
	assert_int_equal(find(">abg>ac>ad>ae>af", ""), LOOP_BY_NOTHING);
}

static void collectives_are_the_last_resort(void **state)
{
	(void)state;
	assert_int_equal(find(FOUR(">" LONG "C" LONG "C"), "0 35 70 105"), LOOP_BY_FEED);
}

static void more_turns_of_equal_confidence_win(void **state)
{
	(void)state;
	/* An epoch of four steps begins with a copy; a step ends with the optimizer. */
	assert_int_equal(find(">abOabOabOabO>abOabOabOabO>abOabOabOabO", "0 4 7 10 13 17 20 23 26 30 33 36"),
			 LOOP_BY_OPTIMIZER);
}

/* Of three turns four are not many more, five are. */
static void one_turn_more_is_not_more(void **state)
{
	(void)state;
	assert_int_equal(find(">abO>abO>abOabO", "0 4 8"), LOOP_BY_FEED);
	assert_int_equal(find(">abOabO>abOabO>abO", "0 4 7 11 14"), LOOP_BY_OPTIMIZER);
}

#define ELEVEN(text) EIGHT(text) text text text

/* 99 and 100 % are the same: the first kind of evidence stays, or that with more turns wins. */
static void a_percent_more_is_not_more(void **state)
{
	(void)state;
	/* 34 turns end with the optimizer, one of which has 1 piece more than the usual 99; 3 begin with copies. */
	assert_int_equal(find(">" ELEVEN("abO") ">x" ELEVEN("abO") ">" ELEVEN("abO") "abO", NULL), LOOP_BY_OPTIMIZER);
	/* 34 turns begin with copies, two of which have 1 piece more than the usual 198; 3 end with the optimizer. */
	assert_int_equal(find(ELEVEN(">abcdef") "O" ELEVEN(">abcdef") "O" ELEVEN(">abcdef") ">abcdefO", NULL),
			 LOOP_BY_FEED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_in_half_of_the_turns_is_regular),
		cmocka_unit_test(work_as_often_as_usual_in_four_of_five_turns_is_regular),
		cmocka_unit_test(the_usual_number_is_that_of_most_turns),
		cmocka_unit_test(work_before_the_first_turn_and_after_the_last_begin_may_be_a_turn_each),
		cmocka_unit_test(without_work_there_is_no_confidence),
		cmocka_unit_test(turns_begin_with_copies_to_the_device),
		cmocka_unit_test(more_copies_than_usual_are_no_part_of_a_turn),
		cmocka_unit_test(turns_begin_with_a_whole_graph),
		cmocka_unit_test(few_kinds_of_graphs_are_tried),
		cmocka_unit_test(turns_end_with_the_optimizer),
		cmocka_unit_test(turns_end_with_results),
		cmocka_unit_test(turns_begin_behind_the_collective_before_a_long_stretch),
		cmocka_unit_test(half_of_the_usual_stretch_is_a_turn_of_its_own),
		cmocka_unit_test(stretches_with_half_of_the_work_are_usual),
		cmocka_unit_test(a_longer_unit_is_no_turn),
		cmocka_unit_test(turns_explain_half_of_the_work),
		cmocka_unit_test(collectives_are_the_last_resort),
		cmocka_unit_test(more_turns_of_equal_confidence_win),
		cmocka_unit_test(one_turn_more_is_not_more),
		cmocka_unit_test(a_percent_more_is_not_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
