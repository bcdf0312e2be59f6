/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/diff.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/view/render/written.h"
#include "analyzer/view/render/json.h"
#include "analyzer/view/render/table.h"
#include "lib/base/duration.h"

#define VALUE_SIZE 64
#define NOISE_LARGE_PERCENT 20.0 /* of steps: smaller changes than that are of interest, too */
#define TIMES_MIN 10 /* from this factor on, changes are shown as factors, not percents */

static const char *value_text(uint8_t kind, double value, char *text, size_t size)
{
	if (figure_is_share(kind))
		snprintf(text, size, "%.1f %%", value);
	else
		duration_format((uint64_t)value, text, size);
	return text;
}

const char *diff_change_text(const struct change *change, char *text, size_t size)
{
	double difference = change->after - change->before;

	if (figure_is_share(change->kind))
		snprintf(text, size, "%+.1f points", difference);
	else if (change->before > 0 && change->after >= TIMES_MIN * change->before)
		snprintf(text, size, "%.0f times", change->after / change->before);
	else if (change->before > 0)
		snprintf(text, size, "%+.1f %%", 100 * difference / change->before);
	else
		snprintf(text, size, "new");
	return text;
}

const char *diff_noise_text(const struct change *change, char *text, size_t size)
{
	if (figure_is_share(change->kind))
		snprintf(text, size, "%.1f points", change->noise);
	else if (change->before > 0)
		snprintf(text, size, "%.1f %%", 100 * change->noise / change->before);
	else
		snprintf(text, size, "unknown");
	return text;
}

/*
 * Returns the change that grew (or shrank) most among the components of a step: the reason to report, if there is one.
 */
static const struct change *reason(const struct changes *changes, bool grew)
{
	const struct change *best = NULL;

	for (uint32_t i = 0; i < changes->count; i++) {
		const struct change *row = &changes->row[i];

		if (!row->significant ||
		    (row->kind != FIGURE_ROOT && row->kind != FIGURE_OPERATOR) ||
		    (row->after > row->before) != grew)
			continue;
		/* Waits are in percent of all time, an operator in percent of its own: a wait takes precedence. */
		if (!best || (row->kind == FIGURE_ROOT && best->kind != FIGURE_ROOT))
			best = row;
	}
	return best;
}

static void say_step(const struct changes *changes, const struct change *step, char *text,
		     size_t size)
{
	const struct change *why = reason(changes, step->after > step->before);
	char before[VALUE_SIZE], after[VALUE_SIZE], change[VALUE_SIZE];
	size_t length;

	snprintf(text, size, "A step takes %s instead of %s (%s)",
		 value_text(step->kind, step->after, after, sizeof(after)),
		 value_text(step->kind, step->before, before, sizeof(before)),
		 diff_change_text(step, change, sizeof(change)));
	length = strlen(text);
	if (why)
		snprintf(text + length, size - length, "; %s %s: %s instead of %s.",
			 figure_kind_name(why->kind), why->name,
			 value_text(why->kind, why->after, after, sizeof(after)),
			 value_text(why->kind, why->before, before, sizeof(before)));
	else
		snprintf(text + length, size - length, "; no cause of it stands out.");
}

static const struct change *largest(const struct changes *changes, uint8_t kind)
{
	const struct change *row = changes_of(changes, kind, NULL);

	return row && row->significant ? row : NULL;
}

/*
 * Returns the most important change if there are no steps. A root says more than the share of a CPU that follows from
 * it. If no root grew, those that shrank may have made room for an operator that takes longer.
 */
static const struct change *foremost(const struct changes *changes)
{
	const struct change *root = reason(changes, true), *operator;

	if (root && root->kind == FIGURE_ROOT)
		return root;
	operator = largest(changes, FIGURE_OPERATOR);
	root = largest(changes, FIGURE_ROOT);
	return operator ? operator : root ? root : &changes->row[0];
}

const char *diff_state(const struct changes *changes)
{
	const struct change *step = changes_of(changes, FIGURE_STEP, NULL);

	if (!changes->count)
		return "unknown";
	if (step && step->significant)
		return step->after > step->before ? "worse" : "better";
	return changes->significant ? "changed" : "unchanged";
}

/* Why the sentence is not about steps. */
static const char *without_steps(const struct changes *changes)
{
	return changes->steps_too_few ? "Steps are in too few parts of a recording to compare their times"
				      : "No steps are known";
}

/* Two runs of a job never take the same nanoseconds. */
static bool are_equal(const struct changes *changes)
{
	for (uint32_t i = 0; i < changes->count; i++) {
		const struct change *row = &changes->row[i];

		if (row->before != row->after || row->before_parts != row->after_parts ||
		    memcmp(row->before_part, row->after_part, row->before_parts * sizeof(*row->before_part)) != 0)
			return false;
	}
	return changes->count > 0;
}

static void say_unchanged(const struct changes *changes, const struct change *step, char *text, size_t size)
{
	char change[VALUE_SIZE], noise[VALUE_SIZE];

	if (are_equal(changes))
		snprintf(text, size, "Nothing differs: %s equal on both sides, as in one recording and its copy.",
			 changes->count == 1 ? "the one figure that can be compared is" :
					       "all figures that can be compared are");
	else if (!step)
		snprintf(text, size, "Nothing changed by more than its noise. %s.", without_steps(changes));
	else
		snprintf(text, size, "Nothing changed by more than its noise; steps differ by %s (noise %s%s).",
			 diff_change_text(step, change, sizeof(change)),
			 diff_noise_text(step, noise, sizeof(noise)),
			 100 * step->noise > NOISE_LARGE_PERCENT * step->before ?
				 ": too much to see a smaller change; record for longer" :
				 "");
}

const char *diff_sentence(const struct changes *changes, char *text, size_t size)
{
	const struct change *step = changes_of(changes, FIGURE_STEP, NULL);
	const struct change *first = changes->count ? foremost(changes) : NULL;
	char change[VALUE_SIZE], noise[VALUE_SIZE];

	if (!changes->count)
		snprintf(text, size,
			 "Nothing can be compared: the recordings have too few figures in common.");
	else if (step && step->significant)
		say_step(changes, step, text, size);
	else if (!changes->significant)
		say_unchanged(changes, step, text, size);
	else
		snprintf(text, size, "%s; what changed most is %s %s: %s (noise %s).",
			 step ? "Steps take as long as before, within their noise"
			      : without_steps(changes),
			 figure_kind_name(first->kind), first->name,
			 diff_change_text(first, change, sizeof(change)),
			 diff_noise_text(first, noise, sizeof(noise)));
	return text;
}

static void put_row(struct table *table, const struct change *row)
{
	char text[VALUE_SIZE];

	table_row(table);
	table_text(table, figure_kind_name(row->kind));
	table_text(table, row->name);
	table_text(table, value_text(row->kind, row->before, text, sizeof(text)));
	table_text(table, value_text(row->kind, row->after, text, sizeof(text)));
	table_text(table, diff_change_text(row, text, sizeof(text)));
	table_text(table, diff_noise_text(row, text, sizeof(text)));
}

static int put_table(FILE *out, const struct changes *changes, bool significant,
		     const struct report_options *options, uint32_t *left)
{
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	table_column(table, "what", TABLE_LEFT);
	table_column(table, "name", TABLE_SHRINK);
	table_column(table, "before", TABLE_RIGHT);
	table_column(table, "after", TABLE_RIGHT);
	table_column(table, "change", TABLE_RIGHT);
	table_column(table, "noise", TABLE_RIGHT);
	*left = 0;
	for (uint32_t i = 0, shown = 0; i < changes->count; i++) {
		if (changes->row[i].significant != significant)
			continue;
		if (options->top && shown++ >= options->top)
			(*left)++;
		else
			put_row(table, &changes->row[i]);
	}
	err = table_print(table, out);
	table_free(table);
	return err;
}

static void put_side(FILE *out, const char *label, const struct diff_side *side)
{
	char name[512], from[VALUE_SIZE], to[VALUE_SIZE];

	fprintf(out, "%s %s, %s to %s\n", label, printable(side->name, name, sizeof(name)),
		side->from_ns ? duration_format(side->from_ns, from, sizeof(from)) : "0",
		duration_format(side->to_ns, to, sizeof(to)));
}

/* Explains the words of the table. */
static void put_legend(FILE *out, const struct changes *changes)
{
	static const char *const MEANINGS[FIGURE_KINDS] = {
		[FIGURE_STEP] = "step: its mean duration",
		[FIGURE_DEVICE] = "device: share of its time in which it is busy",
		[FIGURE_ROOT] = "root: what the job waits for in the end, or does itself on a CPU, as a share of the time",
		[FIGURE_STAGE] = "stage: CPU time of a part of the data pipeline (100 % is one CPU)",
		[FIGURE_OPERATOR] = "operator: its mean duration on the device",
		[FIGURE_API] = "api: mean duration of calls of a function",
		[FIGURE_CPU] = "cpu: share in which the host's CPUs are busy",
		[FIGURE_PROCESS] = "process: CPU time of the processes of that name (100 % is one CPU)",
	};
	bool named[FIGURE_KINDS] = { false };

	for (uint32_t i = 0; i < changes->significant; i++)
		named[changes->row[i].kind] = true;
	fputc('\n', out);
	for (int kind = 0; kind < FIGURE_KINDS; kind++) {
		if (named[kind])
			fprintf(out, "%s\n", MEANINGS[kind]);
	}
	fputs("points: difference of two percentages\n"
	      "noise: how far the figure varies within each recording; a smaller change may be chance\n",
	      out);
}

int diff_text(FILE *out, const struct diff *diff, const struct report_options *options)
{
	const struct changes *changes = &diff->changes;
	uint32_t quiet = changes->count - changes->significant, left = 0;
	char sentence[DIFF_SENTENCE_SIZE], safe[DIFF_SENTENCE_SIZE];
	int err = 0;

	diff_sentence(changes, sentence, sizeof(sentence));
	fprintf(out, "%s\n\n", printable(sentence, safe, sizeof(safe)));
	put_side(out, "before:", &diff->before);
	put_side(out, "after: ", &diff->after);
	if (changes->significant) {
		print_heading(out, options, "Changed beyond their noise");
		err = put_table(out, changes, true, options, &left);
		if (left)
			fprintf(out, "... and %u more (--top 0 lists all)\n", left);
		put_legend(out, changes);
	}
	if (!err && quiet && !options->top) {
		print_heading(out, options, "Not changed, or not beyond their noise");
		err = put_table(out, changes, false, options, &left);
	} else if (quiet) {
		fprintf(out, "\n%u %s %s (--top 0 lists %s)\n", quiet,
			quiet == 1 ? "figure is" : "figures are",
			are_equal(changes) ? "equal" : "within the noise", quiet == 1 ? "it" : "them");
	}
	return err ? err : stream_flush(out);
}

/* Durations are whole nanoseconds, shares are percents with decimals. */
static void put_value(struct json *json, const char *key, const struct change *row, double value)
{
	if (figure_is_share(row->kind))
		json_decimal(json, key, value);
	else
		json_i64(json, key, (int64_t)llround(value));
}

static void put_json_side(struct json *json, const char *key, const struct diff_side *side)
{
	json_map(json, key);
	json_text(json, "file", side->name);
	json_u64(json, "from_ns", side->from_ns);
	json_u64(json, "to_ns", side->to_ns);
	json_map_close(json);
}

static void put_parts(struct json *json, const char *key, const struct change *row,
		      const double *values, uint8_t count)
{
	json_array(json, key);
	for (uint8_t i = 0; i < count; i++)
		put_value(json, NULL, row, values[i]);
	json_array_close(json);
}

static void put_changes(struct json *json, const struct changes *changes)
{
	json_array(json, "changes");
	for (uint32_t i = 0; i < changes->count; i++) {
		const struct change *row = &changes->row[i];

		json_map(json, NULL);
		json_text(json, "what", figure_kind_name(row->kind));
		json_text(json, "name", row->name);
		json_text(json, "unit", figure_is_share(row->kind) ? "percent" : "ns");
		put_value(json, "before", row, row->before);
		put_value(json, "after", row, row->after);
		put_value(json, "change", row, row->after - row->before);
		put_value(json, "noise", row, row->noise);
		json_bool(json, "significant", row->significant);
		put_parts(json, "before_parts", row, row->before_part, row->before_parts);
		put_parts(json, "after_parts", row, row->after_part, row->after_parts);
		json_map_close(json);
	}
	json_array_close(json);
}

int diff_json(FILE *out, const struct diff *diff)
{
	struct json *json = json_new(out, true);
	char sentence[DIFF_SENTENCE_SIZE];

	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	json_text(json, "schema", DIFF_SCHEMA);
	put_json_side(json, "before", &diff->before);
	put_json_side(json, "after", &diff->after);
	json_map(json, "verdict");
	json_text(json, "state", diff_state(&diff->changes));
	json_text(json, "sentence", diff_sentence(&diff->changes, sentence, sizeof(sentence)));
	json_map_close(json);
	json_u64(json, "compared", diff->changes.count);
	json_u64(json, "significant", diff->changes.significant);
	put_changes(json, &diff->changes);
	json_map_close(json);
	return json_end(json);
}
