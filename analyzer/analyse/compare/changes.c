/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/compare/changes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One figure over the parts of a recording. */
struct spread {
	unsigned int parts; /* number of parts that have it */
	double value[CHANGE_PARTS]; /* the values of these parts */
	double mean;
	double error; /* standard error of the mean */
	double weight; /* mean */
};

static int compare_key(const struct figure *row, uint8_t kind, const char *name)
{
	return row->kind != kind ? (row->kind > kind) - (row->kind < kind)
				 : strcmp(row->name, name);
}

static const struct figure *find(const struct figures *figures, uint8_t kind, const char *name)
{
	uint32_t low = 0, high = figures->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare_key(&figures->row[middle], kind, name);

		if (order == 0)
			return &figures->row[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Are there figures of this kind, or is it known that there are none? Then a share without a row is 0, not unknown. */
static bool has_kind(const struct figures *figures, uint8_t kind)
{
	bool has = figures->told & 1u << kind;

	for (uint32_t i = 0; i < figures->count && !has; i++)
		has = figures->row[i].kind == kind;
	return has;
}

static struct spread spread_of(const struct figures *parts, uint8_t kind, const char *name)
{
	struct spread spread = { 0 };
	double squares = 0;

	for (unsigned int i = 0; i < CHANGE_PARTS; i++) {
		const struct figure *row = find(&parts[i], kind, name);

		if (!row && !(figure_is_share(kind) && has_kind(&parts[i], kind)))
			continue;
		spread.value[spread.parts] = row ? figure_value(row) : 0;
		spread.mean += spread.value[spread.parts++];
		spread.weight += row ? row->weight : 0;
	}
	if (!spread.parts)
		return spread;
	spread.mean /= spread.parts;
	spread.weight /= spread.parts;
	for (unsigned int i = 0; i < spread.parts; i++)
		squares += (spread.value[i] - spread.mean) * (spread.value[i] - spread.mean);
	if (spread.parts > 1)
		spread.error = sqrt(squares / (spread.parts - 1) / spread.parts);
	return spread;
}

static struct change judge(uint8_t kind, const char *name, const struct spread *before,
			   const struct spread *after)
{
	bool share = figure_is_share(kind);
	double floor = share ? NOISE_POINTS : before->mean * NOISE_PERCENT / 100;
	double noise = NOISE_ERRORS * hypot(before->error, after->error);
	double difference = after->mean - before->mean;
	struct change change = {
		.kind = kind,
		.name = name,
		.before = before->mean,
		.after = after->mean,
		.before_parts = (uint8_t)before->parts,
		.after_parts = (uint8_t)after->parts,
	};

	memcpy(change.before_part, before->value, sizeof(change.before_part));
	memcpy(change.after_part, after->value, sizeof(change.after_part));
	change.noise = noise > floor ? noise : floor;
	change.significant = fabs(difference) > change.noise;
	change.size = share		 ? fabs(difference)
		      : before->mean > 0 ? 100 * fabs(difference) / before->mean
					 : 0;
	return change;
}

static int add(const struct figures *before, const struct figures *after, uint8_t kind,
	       const char *name, struct changes *changes)
{
	struct spread first = spread_of(before, kind, name), then = spread_of(after, kind, name);
	struct change change;

	if (kind == FIGURE_STEP && (first.parts < CHANGE_PARTS_MIN || then.parts < CHANGE_PARTS_MIN))
		changes->steps_too_few = first.parts && then.parts;
	if (first.parts < CHANGE_PARTS_MIN || then.parts < CHANGE_PARTS_MIN ||
	    (first.weight < CHANGE_WEIGHT_MIN && then.weight < CHANGE_WEIGHT_MIN))
		return 0;
	change = judge(kind, name, &first, &then);
	changes->significant += change.significant;
	return MODEL_PUSH(changes, change) ? 0 : -ENOMEM;
}

/* Does no earlier part have this figure? */
static bool is_new(const struct figures *before, const struct figures *after, unsigned int part,
		   const struct figure *row)
{
	for (unsigned int i = 0; i < part && i < CHANGE_PARTS; i++)
		if (find(&before[i], row->kind, row->name))
			return false;
	for (unsigned int i = CHANGE_PARTS; i < part; i++)
		if (find(&after[i - CHANGE_PARTS], row->kind, row->name))
			return false;
	return true;
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->significant != y->significant)
		return x->significant ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
				  : strcmp(x->name, y->name);
}

int changes_find(const struct figures *before, const struct figures *after, struct changes *changes)
{
	int err = 0;

	for (unsigned int part = 0; part < 2 * CHANGE_PARTS && !err; part++) {
		const struct figures *figures = part < CHANGE_PARTS ? &before[part]
								    : &after[part - CHANGE_PARTS];

		for (uint32_t i = 0; i < figures->count && !err; i++)
			if (is_new(before, after, part, &figures->row[i]))
				err = add(before, after, figures->row[i].kind, figures->row[i].name,
					  changes);
	}
	if (changes->count)
		qsort(changes->row, changes->count, sizeof(*changes->row), compare_changes);
	return err;
}

const struct change *changes_of(const struct changes *changes, uint8_t kind, const char *name)
{
	for (uint32_t i = 0; i < changes->count; i++)
		if (changes->row[i].kind == kind &&
		    (!name || strcmp(changes->row[i].name, name) == 0))
			return &changes->row[i];
	return NULL;
}
