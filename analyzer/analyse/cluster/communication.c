/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/cluster/communication.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/cluster/collective_rate.h"

/* Cache of names by which tasks are grouped: those of recent tasks. */
struct known_name {
	uint32_t name; /* string: a task's name */
	uint32_t does; /* string of the collection: the name without its numbers, which says what the task does */
};

#define KNOWN_NAMES 256 /* a power of 2; the index is the low bits of a name */

struct operation_key {
	uint32_t device;
	uint32_t does;
	uint32_t group; /* string */
};

/* State of a single pass over the tasks in their order: tasks may lie in files. */
struct collection {
	struct string_table *names;
	struct string_table *keys; /* id: 1 + index into operations */
	struct known_name known[KNOWN_NAMES];
	MODEL_ARRAY(struct communication_usage) operations;
};

static size_t name_length(const char *name)
{
	const char *numbers = strstr(name, "__");

	return numbers ? (size_t)(numbers - name) : strlen(name);
}

const char *communication_name(const char *name, char *into, size_t size)
{
	snprintf(into, size, "%.*s", (int)name_length(name), name);
	return into;
}

static bool is_collective(const struct model *model, const struct analysis_options *options,
			  const struct analysis_window *window, const struct device_task *task)
{
	return task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION &&
	       !(task->flags & MODEL_TASK_UNTIMED) && task->device < model->devices.count &&
	       analysis_has(task->start_ns, window) &&
	       analysis_wants_process(model, options, model->devices.row[task->device].process);
}

/* By name without numbers: add_times() adds the times of parts to the first operation that matches. */
static int by_name(const void *a, const void *b, void *context)
{
	const struct model *model = context;
	const struct communication_usage *x = a, *y = b;
	const char *x_text = model_text(model, x->name), *y_text = model_text(model, y->name);
	size_t x_length = name_length(x_text), y_length = name_length(y_text);
	int order;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	order = memcmp(x_text, y_text, x_length < y_length ? x_length : y_length);
	if (order)
		return order;
	if (x_length != y_length)
		return x_length < y_length ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static void add_size(const struct model *model, struct communication_usage *usage,
		     const struct device_task *task)
{
	uint64_t ns = task->end_ns - task->start_ns;
	double factor = collective_bus_factor(model_text(model, usage->collective
									? usage->collective
									: usage->name),
					      usage->members);

	if (!task->bytes || !ns)
		return;
	usage->sized++;
	usage->bytes += task->bytes;
	usage->sized_ns += ns;
	if (factor > 0) {
		usage->bus_bytes += factor * (double)task->bytes;
		usage->bus_ns += ns;
	}
}

static struct communication_usage usage_of(const struct model *model,
					   const struct device_task *task)
{
	const struct task_detail *detail = model_task_detail(model, task);
	struct communication_usage usage = { .device = task->device, .name = task->name };

	if (detail) {
		usage.group = detail->group;
		usage.members = detail->members;
		usage.collective = detail->collective;
		usage.types = detail->input_types;
	}
	return usage;
}

static void add_task(const struct model *model, struct communication_usage *usage,
		     const struct device_task *task)
{
	const struct task_detail *detail = model_task_detail(model, task);
	uint64_t ns = task->end_ns - task->start_ns;

	add_size(model, usage, task);
	if (detail && detail->input_types != usage->types)
		usage->types = 0;

	if (!usage->count || ns < usage->min_ns)
		usage->min_ns = ns;
	if (ns > usage->max_ns)
		usage->max_ns = ns;
	usage->count++;
	usage->total_ns += ns;
}

static uint64_t known(uint64_t ns)
{
	return ns == UINT64_MAX ? 0 : ns;
}

static bool same_operation(const struct model *model, const struct communication_usage *usage,
			   const struct communication_time *time)
{
	const char *x = model_text(model, usage->name), *y = model_text(model, time->operation);
	size_t length = name_length(x);

	return time->device == usage->device && name_length(y) == length &&
	       memcmp(x, y, length) == 0;
}

/* A linear search suffices: files with parts have few kinds of operations. */
static void add_times(const struct model *model, struct communication_results *results)
{
	for (uint32_t i = 0; i < model->communication_times.count; i++) {
		const struct communication_time *time = &model->communication_times.row[i];

		for (uint32_t k = 0; k < results->operation_count; k++) {
			struct communication_usage *usage = &results->operations[k];

			if (!same_operation(model, usage, time))
				continue;
			usage->timed++;
			usage->transit_ns += known(time->transit_ns);
			usage->wait_ns += known(time->wait_ns);
			usage->synchronization_ns += known(time->synchronization_ns);
			usage->idle_ns += known(time->idle_ns);
			break;
		}
	}
}

static int by_total(const void *a, const void *b)
{
	const struct communication_usage *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static uint32_t group_of(const struct model *model, const struct device_task *task)
{
	const struct task_detail *detail = model_task_detail(model, task);

	return detail ? detail->group : 0;
}

/* Returns the string of a name without its numbers; STRING_NONE without memory. */
static uint32_t does_of(const struct model *model, struct collection *of, uint32_t name)
{
	struct known_name *known = &of->known[name % KNOWN_NAMES];
	const char *text;

	if (name && known->name == name)
		return known->does;
	text = model_text(model, name);
	*known = (struct known_name){ name, string_table_add(of->names, text, name_length(text)) };
	return known->does;
}

/* Returns a task's operation; NULL without memory. */
static struct communication_usage *operation_of(const struct model *model, struct collection *of,
						const struct device_task *task)
{
	const struct operation_key key = { task->device, does_of(model, of, task->name),
					   group_of(model, task) };
	uint32_t id;

	if (key.does == STRING_NONE)
		return NULL;
	id = string_table_add(of->keys, (const char *)&key, sizeof(key));
	if (id == STRING_NONE || (id > of->operations.count &&
				  !MODEL_PUSH(&of->operations, usage_of(model, task))))
		return NULL;
	return &of->operations.row[id - 1];
}

static int collect(const struct model *model, const struct analysis_options *options,
		   struct collection *of)
{
	struct analysis_window window = analysis_window(model, options);

	of->names = string_table_new();
	of->keys = string_table_new();
	if (!of->names || !of->keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		struct communication_usage *usage;

		if (!is_collective(model, options, &window, task))
			continue;
		usage = operation_of(model, of, task);
		if (!usage)
			return -ENOMEM;
		add_task(model, usage, task);
	}
	return 0;
}

static int sum_operations(const struct model *model, const struct analysis_options *options,
			  struct communication_results *results)
{
	struct collection of = { 0 };
	int err = collect(model, options, &of);

	string_table_free(of.names);
	string_table_free(of.keys);
	results->operations = of.operations.row;
	results->operation_count = of.operations.count;
	if (err || !results->operation_count)
		return err;
	qsort_r(results->operations, results->operation_count, sizeof(*results->operations), by_name,
		(void *)model);
	add_times(model, results);
	qsort(results->operations, results->operation_count, sizeof(*results->operations), by_total);
	return 0;
}

static int by_link(const void *a, const void *b)
{
	const struct link_usage *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->destination != y->destination)
		return x->destination < y->destination ? -1 : 1;
	return x->transport < y->transport ? -1 : x->transport > y->transport;
}

static int by_time(const void *a, const void *b)
{
	const struct link_usage *x = a, *y = b;
	uint64_t x_ns = x->transit_ns + x->wait_ns, y_ns = y->transit_ns + y->wait_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return by_link(a, b);
}

static struct link_usage link_of(const struct link_use *use)
{
	return (struct link_usage){
		.device = use->device,
		.source = use->source,
		.destination = use->destination,
		.transport = use->transport,
		.transfers = use->wait ? 0 : use->count,
		.bytes = use->bytes,
		.transit_ns = use->wait ? 0 : use->ns,
		.waits = use->wait ? use->count : 0,
		.wait_ns = use->wait ? use->ns : 0,
	};
}

static int sum_links(const struct model *model, const struct analysis_options *options,
		     struct communication_results *results)
{
	struct link_usage *links = calloc((size_t)model->link_uses.count + 1, sizeof(*links));
	uint32_t count = 0, kept = 0;

	results->links = links;
	if (!links)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->link_uses.count; i++) {
		const struct link_use *use = &model->link_uses.row[i];

		if (use->device < model->devices.count &&
		    analysis_wants_process(model, options, model->devices.row[use->device].process))
			links[count++] = link_of(use);
	}
	if (count)
		qsort(links, count, sizeof(*links), by_link);
	for (uint32_t i = 0; i < count; i++) {
		struct link_usage *last = kept ? &links[kept - 1] : NULL;

		if (!last || by_link(last, &links[i])) {
			links[kept++] = links[i];
			continue;
		}
		last->transfers += links[i].transfers;
		last->bytes += links[i].bytes;
		last->transit_ns += links[i].transit_ns;
		last->waits += links[i].waits;
		last->wait_ns += links[i].wait_ns;
	}
	results->link_count = kept;
	if (kept)
		qsort(links, kept, sizeof(*links), by_time);
	return 0;
}

int communication_analyse(const struct model *model, const struct analysis_options *options,
			  struct communication_results *results)
{
	int err;

	*results = (struct communication_results){ 0 };
	err = sum_operations(model, options, results);
	if (!err)
		err = sum_links(model, options, results);
	return err ? err : communication_ranks(model, options, results);
}

void communication_free(struct communication_results *results)
{
	free(results->operations);
	free(results->links);
	free(results->ranks);
	free(results->skews);
	*results = (struct communication_results){ 0 };
}
