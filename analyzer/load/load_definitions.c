/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that define ids: clocks, strings, functions, drivers, devices. */
#include "analyzer/load/loader_private.h"

#include <stdlib.h>
#include <string.h>

#include "proto/trace.pb-c.h"
#include "lib/trace/column.h"
#include "lib/elf/readable_symbol.h"

#define STRINGS_MAX (1u << 24) /* ids of one segment */
#define FUNCTIONS_MAX (1u << 20)
#define DRIVERS_MAX (1u << 16)
#define DEVICES_MAX (1u << 16)

static uint32_t text_id(struct loader *loader, const char *text)
{
	uint32_t id = model_string(loader->model, text);

	if (id == INDEX_NONE) {
		loader->no_memory = true;
		return 0;
	}
	return id;
}

bool load_clocks(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Clocks *clocks = LOADER_UNPACK(clocks, packet);
	struct clock_snapshot now = { 0 };
	size_t rows;

	if (!clocks || COLUMN_ROWS(&rows, clocks->n_monotonic_ns, clocks->n_monotonic_raw_ns,
				   clocks->n_boottime_ns, clocks->n_realtime_ns, clocks->n_counter))
		return false;
	for (size_t i = 0; i < rows; i++) {
		now.monotonic_ns += COLUMN_AT(clocks, monotonic_ns, i);
		now.monotonic_raw_ns += COLUMN_AT(clocks, monotonic_raw_ns, i);
		now.boottime_ns += COLUMN_AT(clocks, boottime_ns, i);
		now.realtime_ns += COLUMN_AT(clocks, realtime_ns, i);
		now.counter += COLUMN_AT(clocks, counter, i);
		if (clock_table_add(loader->model->clocks, &now) != 0)
			return loader_out_of_memory(loader);
	}
	return true;
}

static bool make_string_room(struct loader *loader, uint32_t count)
{
	uint32_t capacity = loader->string_capacity ? loader->string_capacity : 256;
	uint32_t *grown;

	if (count > loader->string_capacity) {
		while (capacity < count)
			capacity *= 2;
		grown = reallocarray(loader->strings, capacity, sizeof(*grown));
		if (!grown)
			return false;
		loader->strings = grown;
		loader->string_capacity = capacity;
	}
	if (count > loader->string_count) {
		memset(loader->strings + loader->string_count, 0,
		       (count - loader->string_count) * sizeof(*loader->strings));
		loader->string_count = count;
	}
	return true;
}

bool load_strings(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Strings *strings = LOADER_UNPACK(strings, packet);

	if (!strings)
		return false;
	if (strings->n_text == 0)
		return true;
	if (strings->first_id >= STRINGS_MAX || strings->n_text > STRINGS_MAX - strings->first_id)
		return false;
	/* Ids restart in each segment, even in one whose header could not be read. */
	if (strings->first_id <= 1)
		loader->string_count = 0;
	if (!make_string_room(loader, strings->first_id + (uint32_t)strings->n_text))
		return loader_out_of_memory(loader);
	for (size_t i = 0; i < strings->n_text; i++)
		loader->strings[strings->first_id + i] = text_id(loader, strings->text[i]);
	loader->strings[0] = 0;
	return !loader->no_memory;
}

bool load_sleep_objects(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__SleepObjects *m = LOADER_UNPACK(sleep_objects, packet);
	struct model *model = loader->model;
	size_t rows;

	if (!m || m->first_id == 0 ||
	    COLUMN_ROWS(&rows, m->n_kind, m->n_device, m->n_object, m->n_name, m->n_peer))
		return false;
	if (m->first_id == 1)
		loader->objects.count = 0;
	/* A packet in between was damaged: the ids would be shifted. */
	if (m->first_id != loader->objects.count + 1)
		return false;
	for (size_t i = 0; i < rows; i++) {
		uint32_t kind = COLUMN_AT(m, kind, i);
		struct sleep_object row = {
			.kind = loader_value(loader, kind, SLEEP_OBJECT_KINDS - 1,
					     PROFBPF__SLEEP_OBJECTS__KIND__NOTHING),
			.device = COLUMN_AT(m, device, i),
			.object = COLUMN_AT(m, object, i),
			.name = loader_string(loader, COLUMN_AT(m, name, i)),
			.peer = COLUMN_AT(m, peer, i),
		};

		if (!MODEL_PUSH(&loader->objects, model->sleep_objects.count) ||
		    !MODEL_PUSH(&model->sleep_objects, row))
			return loader_out_of_memory(loader);
	}
	return true;
}

static uint64_t session_key(const struct loader *loader, uint32_t id)
{
	return (uint64_t)loader->session << 32 | id;
}

static uint32_t add_function(struct loader *loader, uint64_t key)
{
	struct model *model = loader->model;
	struct function unknown = { 0 };

	if (model->functions.count >= FUNCTIONS_MAX)
		return INDEX_NONE;
	if (!map_put(&loader->function_map, key, model->functions.count) ||
	    !MODEL_PUSH(&model->functions, unknown)) {
		loader->no_memory = true;
		return INDEX_NONE;
	}
	return model->functions.count - 1;
}

uint32_t loader_function(struct loader *loader, uint32_t id)
{
	struct seen_function *seen = &loader->seen_functions[id % SEEN_FUNCTIONS];
	uint64_t key = session_key(loader, id);
	uint32_t index;

	if (seen->key == key + 1)
		return seen->index;
	index = map_get(&loader->function_map, key);
	if (index == MAP_NONE)
		index = add_function(loader, key);
	if (index != INDEX_NONE)
		*seen = (struct seen_function){ key + 1, index };
	return index;
}

/* Text that is not a mangled symbol stays unchanged. */
uint32_t loader_symbol(struct loader *loader, const char *symbol)
{
	char *readable = readable_symbol(symbol);
	uint32_t id = text_id(loader, readable ? readable : symbol);

	free(readable);
	return id;
}

/* An unmeasured class costs at least as much as the cheapest measured class. */
static void take_probe_cost(const struct session *session, struct function *function)
{
	const struct probe_cost *best = NULL;

	for (uint32_t i = 0; i < session->probe_cost_count; i++) {
		const struct probe_cost *cost = &session->probe_costs[i];

		if (cost->instruction == function->instruction) {
			best = cost;
			break;
		}
		if (!best || cost->whole_ns < best->whole_ns)
			best = cost;
	}
	function->probe_inside_ns = best ? best->inside_ns : 0;
	function->probe_whole_ns = best ? best->whole_ns : 0;
	function->probe_string_ns = session->probe_string_ns;
}

static void take_function(struct loader *loader, const Profbpf__Function *from,
			  struct function *function)
{
	function->runtime = text_id(loader, from->runtime);
	function->family = text_id(loader, *from->family ? from->family : from->runtime);
	function->name = loader_symbol(loader, from->name);
	function->symbol = text_id(loader, from->name);
	function->file = text_id(loader, from->file);
	function->instruction = text_id(loader, from->instruction);
	function->kind = loader_value(loader, from->kind, PROFBPF__FUNCTION__KIND__STAGE,
				      PROFBPF__FUNCTION__KIND__OTHER);
	function->layer = (uint8_t)(from->layer <= UINT8_MAX ? from->layer : UINT8_MAX);
	function->error = loader_value(loader, from->error, PROFBPF__FUNCTION__ERROR__NEGATIVE,
				       PROFBPF__FUNCTION__ERROR__NEVER);
	for (size_t i = 0; i < from->n_roles && i < 3; i++)
		function->roles[i] = loader_value(loader, from->roles[i],
						  PROFBPF__FUNCTION__ROLE__TASK,
						  PROFBPF__FUNCTION__ROLE__NOTHING);
	function->launches = text_id(loader, from->operator_);
	take_probe_cost(loader_session(loader), function);
}

bool load_functions(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Functions *functions = LOADER_UNPACK(functions, packet);

	if (!functions)
		return false;
	for (size_t i = 0; i < functions->n_function; i++) {
		uint32_t index = loader_function(loader, functions->function[i]->id);

		if (index == INDEX_NONE) {
			loader->model->bad_rows++;
			continue;
		}
		take_function(loader, functions->function[i], &loader->model->functions.row[index]);
	}
	return !loader->no_memory;
}

uint32_t loader_driver(struct loader *loader, uint32_t rdev)
{
	struct model *model = loader->model;
	uint32_t index = map_get(&loader->driver_map, rdev);
	struct driver unknown = { .rdev = rdev };

	if (index != MAP_NONE)
		return index;
	if (model->drivers.count >= DRIVERS_MAX)
		return INDEX_NONE;
	index = model->drivers.count;
	if (!map_put(&loader->driver_map, rdev, index) || !MODEL_PUSH(&model->drivers, unknown)) {
		loader->no_memory = true;
		return INDEX_NONE;
	}
	return index;
}

bool load_drivers(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Drivers *drivers = LOADER_UNPACK(drivers, packet);

	if (!drivers)
		return false;
	for (size_t i = 0; i < drivers->n_driver; i++) {
		uint32_t index = loader_driver(loader, drivers->driver[i]->rdev);

		if (index == INDEX_NONE) {
			loader->model->bad_rows++;
			continue;
		}
		loader->model->drivers.row[index].driver =
			text_id(loader, drivers->driver[i]->driver);
		loader->model->drivers.row[index].device =
			text_id(loader, drivers->driver[i]->device);
		loader->model->drivers.row[index].module =
			text_id(loader, drivers->driver[i]->module);
		if (!load_commands(loader, drivers->driver[i], &loader->model->drivers.row[index]))
			return loader_out_of_memory(loader);
	}
	return !loader->no_memory;
}

/* Device ids are valid in the whole session and are repeated in each segment. */
static struct device *device_row(struct loader *loader, uint32_t id)
{
	struct model *model = loader->model;
	uint32_t index = map_get(&loader->device_map, session_key(loader, id));
	struct device unknown = { .id = id, .process = 0 };

	if (index != MAP_NONE)
		return &model->devices.row[index];
	if (model->devices.count >= DEVICES_MAX)
		return NULL;
	index = model->devices.count;
	if (!map_put(&loader->device_map, session_key(loader, id), index) ||
	    !MODEL_PUSH(&model->devices, unknown)) {
		loader->no_memory = true;
		return NULL;
	}
	return &model->devices.row[index];
}

bool load_devices(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Devices *devices = LOADER_UNPACK(devices, packet);

	if (!devices)
		return false;
	for (size_t i = 0; i < devices->n_device; i++) {
		const Profbpf__Device *from = devices->device[i];
		struct device *device = device_row(loader, from->id);

		if (!device) {
			loader->model->bad_rows++;
			continue;
		}
		device->process = from->tgid;
		device->name = text_id(loader, from->name);
		device->kind = text_id(loader, from->kind);
		device->source = text_id(loader, from->source);
		device->anchored = strcmp(from->kind, "cpu") != 0;
		device->clock = loader_value(loader, from->clock,
					     PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME,
					     PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	}
	return !loader->no_memory;
}

bool load_coverage(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Coverage *coverage = LOADER_UNPACK(coverage, packet);
	size_t rows;

	if (!coverage ||
	    COLUMN_ROWS(&rows, coverage->n_tgid, coverage->n_file, coverage->n_mapped_ns,
			coverage->n_probed_ns, coverage->n_functions, coverage->n_state))
		return false;
	for (size_t i = 0; i < rows; i++) {
		struct coverage row = {
			.process = COLUMN_AT(coverage, tgid, i),
			.file = loader_string(loader, COLUMN_AT(coverage, file, i)),
			.mapped_ns = COLUMN_AT(coverage, mapped_ns, i),
			.probed_ns = COLUMN_AT(coverage, probed_ns, i),
			.functions = COLUMN_AT(coverage, functions, i),
			.session_start_ns = loader_session(loader)->start_ns,
		};
		uint32_t state = COLUMN_AT(coverage, state, i);

		if (!loader_knows(loader, state, PROFBPF__COVERAGE__STATE__MAPPED))
			continue;
		row.state = (uint8_t)state;
		if (!MODEL_PUSH(&loader->model->coverage, row))
			return loader_out_of_memory(loader);
	}
	return true;
}

bool load_thread_roles(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__ThreadRoles *roles = LOADER_UNPACK(thread_roles, packet);
	struct thread_role row = { 0 };
	size_t rows;

	if (!roles || COLUMN_ROWS(&rows, roles->n_tid, roles->n_operator_id, roles->n_name,
				  roles->n_tree))
		return false;
	row.ts_ns = roles->ts_ns;
	row.framework = text_id(loader, roles->framework);
	for (size_t i = 0; i < rows; i++) {
		row.thread = COLUMN_AT(roles, tid, i);
		row.op = COLUMN_AT(roles, operator_id, i);
		row.tree = COLUMN_AT(roles, tree, i);
		row.name = roles->n_name ? text_id(loader, roles->name[i]) : 0;
		if (!row.thread) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->thread_roles, row) ||
		    !loader_saw_thread(loader, row.thread, roles->tgid, row.ts_ns))
			return loader_out_of_memory(loader);
	}
	return !loader->no_memory;
}
