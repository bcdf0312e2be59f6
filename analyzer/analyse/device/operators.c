/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/operators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/fuzzy.h"

/* A group of tasks, and the key by which groups are summed up. */
struct member {
	const struct operator_group *group;
	uint32_t device;
	uint32_t name;
	uint32_t type;
	uint32_t shapes; /* string: its input shapes */
	uint8_t kind;
	uint8_t core;
};

struct selection {
	const struct model *model;
	const struct analysis_options *options;
	struct member *members;
	uint32_t count;
	struct operator_metrics *metrics;
};

const char *operator_type(const struct model *model, const struct operator_usage *row)
{
	return row->type ? model_text(model, row->type) : task_kind_name(row->kind);
}

size_t operator_scope(const char *name, uint32_t depth)
{
	size_t length = 0;

	for (const char *slash = strchr(name, '/'); slash && depth; depth--) {
		length = (size_t)(slash - name);
		slash = strchr(slash + 1, '/');
	}
	return length;
}

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

/* Shapes separate operators only with OPERATOR_BY_SHAPE. */
static int compare_operators(const struct selection *of, const struct member *x,
			     const struct member *y)
{
	int order = compare(x->device, y->device);

	order = order ? order : compare(x->core, y->core);
	order = order ? order : compare(x->kind, y->kind);
	order = order ? order : compare(x->type, y->type);
	order = order ? order : compare(x->name, y->name);
	if (order || of->options->operators.by != OPERATOR_BY_SHAPE)
		return order;
	return compare(x->shapes, y->shapes);
}

/* Equal shapes are adjacent, so that shapes can be counted; groups are in their order, which is that of their tasks. */
static int by_member(const void *a, const void *b, void *context)
{
	const struct member *x = a, *y = b;
	int order = compare_operators(context, x, y);

	order = order ? order : compare(x->shapes, y->shapes);
	return order ? order : compare((uintptr_t)x->group, (uintptr_t)y->group);
}

static struct member member_of(const struct selection *of, const struct operator_group *group)
{
	enum operator_by by = of->options->operators.by;
	struct member member = { .group = group,
				 .device = group->key.device,
				 .shapes = group->key.shapes };

	if (by == OPERATOR_BY_SCOPE) {
		const char *name = model_text(of->model, group->key.name);
		uint32_t depth = of->options->operators.scope_depth;

		member.name = string_table_add(
			of->model->strings, name,
			operator_scope(name, depth ? depth : OPERATOR_SCOPE_DEPTH));
		return member;
	}
	member.core = group->key.core;
	if (by == OPERATOR_BY_CORE)
		return member;
	member.kind = group->key.kind;
	member.type = group->key.type;
	if (by != OPERATOR_BY_TYPE)
		member.name = group->key.name;
	return member;
}

static bool select_groups(struct selection *of, const struct operator_groups *groups)
{
	of->members = calloc((size_t)groups->count + 1, sizeof(*of->members));
	if (!of->members)
		return false;
	for (uint32_t i = 0; i < groups->count; i++) {
		of->members[of->count++] = member_of(of, &groups->row[i]);
		if (of->members[i].name == STRING_NONE)
			return false;
	}
	qsort_r(of->members, of->count, sizeof(*of->members), by_member, of);
	return true;
}

static void add_group(struct operator_usage *row, const struct operator_group *group)
{
	if (row->count == 0 || group->min_ns < row->min_ns)
		row->min_ns = group->min_ns;
	if (group->max_ns > row->max_ns)
		row->max_ns = group->max_ns;
	row->count += group->count;
	row->total_ns += group->total_ns;
}

static uint64_t value_of(const struct operator_usage *row, enum operator_value value)
{
	switch (value) {
	case OPERATOR_MAX: return row->max_ns;
	case OPERATOR_MIN: return row->min_ns;
	case OPERATOR_MEAN: return row->total_ns / row->count;
	default: return row->total_ns;
	}
}

/* Returns false without memory. */
static bool sum_up(const struct selection *of, struct operator_usage *rows, uint32_t *rows_count)
{
	uint32_t count = 0;

	of->metrics->count = 0;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct member *member = &of->members[i];
		const struct operator_group *group = member->group;

		if (i == 0 || compare_operators(of, member - 1, member)) {
			rows[count] = (struct operator_usage){ .name = member->name,
							       .device = member->device,
							       .type = member->type,
							       .kind = group->key.kind,
							       .core = member->core,
							       .place = count };
			count++;
		}
		add_group(&rows[count - 1], group);
		if (!operator_figures_merge(of->model, &group->figures, &group->metrics,
					    &rows[count - 1].figures, of->metrics))
			return false;
	}
	*rows_count = count;
	return true;
}

static void set_values(struct operator_usage *rows, uint32_t count, enum operator_value value)
{
	for (uint32_t i = 0; i < count; i++)
		rows[i].value_ns = value_of(&rows[i], value);
}

/* Sums all rows of each device, selected or not. @totals has one entry per device. */
static void sum_devices(const struct operator_usage *rows, uint32_t count, double *totals)
{
	for (uint32_t i = 0; i < count; i++)
		totals[rows[i].device] += (double)rows[i].value_ns;
}

static void set_percent(struct operator_usage *rows, uint32_t count, const double *totals)
{
	for (uint32_t i = 0; i < count; i++) {
		if (totals[rows[i].device] > 0)
			rows[i].percent = 100.0 * (double)rows[i].value_ns / totals[rows[i].device];
	}
}

/* Groups of one row may have different data types. */
static bool has_dtype(const struct model *model, const struct operator_key *key, const char *dtype)
{
	return !dtype || (key->detailed && text_fuzzy(model_text(model, key->types), dtype));
}

static bool has_type(const struct model *model, const struct operator_key *key, const char *types)
{
	const char *kind = task_kind_name(key->kind);

	return !types || text_in_list(key->type ? model_text(model, key->type) : kind, types) ||
	       text_in_list(kind, types) || text_in_list(operator_core_name(key->core), types);
}

static bool wanted(const struct model *model, const struct operator_options *options,
		   const struct operator_key *key)
{
	return has_type(model, key, options->types) && has_dtype(model, key, options->dtype) &&
	       text_fuzzy(model_text(model, key->name), options->name);
}

bool operator_wanted(const struct model *model, const struct operator_options *options,
		     const struct device_task *task)
{
	const struct operator_key key = operator_key_of(model, task);

	return wanted(model, options, &key);
}

static bool wanted_row(const struct operator_options *options, const struct operator_usage *row)
{
	return row->value_ns >= options->min_ns &&
	       (!options->max_ns || row->value_ns <= options->max_ns);
}

static uint32_t keep_wanted(const struct operator_options *options, struct operator_usage *rows,
			    uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (wanted_row(options, &rows[i]))
			rows[kept++] = rows[i];
	}
	return kept;
}

static void drop_unwanted(struct selection *of)
{
	const struct operator_options *options = &of->options->operators;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < of->count; i++) {
		if (wanted(of->model, options, &of->members[i].group->key))
			of->members[kept++] = of->members[i];
	}
	of->count = kept;
}

struct ordering {
	const struct model *model;
	const struct operator_options *options;
};

/* The figure to sort by; an unknown figure is below all others. */
static double figure_of(const struct ordering *by, const struct operator_usage *row)
{
	double value = -1;

	switch (by->options->order) {
	case OPERATOR_ORDER_FLOPS: return row->figures.counted ? row->figures.flops : -1;
	case OPERATOR_ORDER_BYTES: return row->figures.moved ? row->figures.moved_bytes : -1;
	case OPERATOR_ORDER_RATE: operator_flops_rate(&row->figures, &value); break;
	case OPERATOR_ORDER_BANDWIDTH: operator_bandwidth(&row->figures, &value); break;
	default:
		operator_flops_percent(by->model, row->device, &row->figures, &value);
		break;
	}
	return value;
}

static int compare_figures(const struct ordering *by, const struct operator_usage *x,
			   const struct operator_usage *y)
{
	double first = figure_of(by, x), second = figure_of(by, y);

	return first < second ? -1 : first > second;
}

/* In ascending order of the requested column. */
static int by_column(const struct ordering *by, const struct operator_usage *x,
		     const struct operator_usage *y)
{
	switch (by->options->order) {
	case OPERATOR_ORDER_NAME:
		return strcmp(model_text(by->model, x->name), model_text(by->model, y->name));
	case OPERATOR_ORDER_TYPE:
		return strcmp(operator_type(by->model, x), operator_type(by->model, y));
	case OPERATOR_ORDER_COUNT: return compare(x->count, y->count);
	case OPERATOR_ORDER_TOTAL: return compare(x->total_ns, y->total_ns);
	case OPERATOR_ORDER_MEAN: return compare(x->total_ns / x->count, y->total_ns / y->count);
	case OPERATOR_ORDER_MIN: return compare(x->min_ns, y->min_ns);
	case OPERATOR_ORDER_MAX: return compare(x->max_ns, y->max_ns);
	case OPERATOR_ORDER_VALUE: return compare(x->value_ns, y->value_ns);
	default: return compare_figures(by, x, y);
	}
}

static int by_order(const void *a, const void *b, void *context)
{
	const struct operator_usage *x = a, *y = b;
	const struct ordering *by = context;
	int order = by_column(by, x, y);

	if (order)
		return by->options->ascending ? order : -order;
	return compare(x->place, y->place);
}

/* First makes all rows, for the totals of the percentages; then the selected rows. Returns false without memory. */
static bool make_rows(struct selection *of, struct operator_usage *rows, uint32_t *count,
		      double *totals)
{
	const struct operator_options *options = &of->options->operators;

	if (!sum_up(of, rows, count))
		return false;
	set_values(rows, *count, options->value);
	sum_devices(rows, *count, totals);
	if (options->name || options->types || options->dtype) {
		drop_unwanted(of);
		if (!sum_up(of, rows, count))
			return false;
		set_values(rows, *count, options->value);
	}
	set_percent(rows, *count, totals);
	*count = keep_wanted(options, rows, *count);
	return true;
}

/* @sums has one entry per device. */
static void accumulate(struct operator_usage *rows, uint32_t count, double *sums, uint32_t devices)
{
	memset(sums, 0, devices * sizeof(*sums));
	for (uint32_t i = 0; i < count; i++) {
		sums[rows[i].device] += rows[i].percent;
		rows[i].cumulative = sums[rows[i].device];
	}
}

static bool is_selection(const struct operator_options *options)
{
	return options->name || options->types || options->dtype || options->min_ns || options->max_ns ||
	       options->value != OPERATOR_SUM;
}

int operators_of_groups(const struct model *model, const struct operator_groups *groups,
			const struct analysis_options *options, struct operator_list *list)
{
	struct selection of = { .model = model, .options = options, .metrics = &list->metrics };
	struct ordering order = { .model = model, .options = &options->operators };
	double *totals = calloc((size_t)model->devices.count + 1, sizeof(*totals));
	bool ok = totals && select_groups(&of, groups);

	*list = (struct operator_list){ .by = options->operators.by, .selected = is_selection(&options->operators) };
	list->rows = ok ? calloc((size_t)of.count + 1, sizeof(*list->rows)) : NULL;
	ok = list->rows && make_rows(&of, list->rows, &list->count, totals);
	if (ok) {
		qsort_r(list->rows, list->count, sizeof(*list->rows), by_order, &order);
		accumulate(list->rows, list->count, totals, model->devices.count);
	}
	free(of.members);
	free(totals);
	return ok ? 0 : -ENOMEM;
}

int operators_analyse(const struct model *model, const struct analysis_options *options,
		      struct operator_list *list)
{
	struct operator_groups groups;
	int err = operator_groups_find(model, options, &groups);

	*list = (struct operator_list){ 0 };
	if (!err)
		err = operators_of_groups(model, &groups, options, list);
	operator_groups_free(&groups);
	return err;
}

void operators_free(struct operator_list *list)
{
	free(list->rows);
	free(list->metrics.row);
	*list = (struct operator_list){ 0 };
}

const struct operator_usage *operators_largest(const struct operator_list *list)
{
	const struct operator_usage *largest = NULL;

	for (uint32_t i = 0; i < list->count && !list->selected; i++)
		if (!largest || list->rows[i].total_ns > largest->total_ns)
			largest = &list->rows[i];
	return largest;
}
