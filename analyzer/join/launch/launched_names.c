/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launched_names.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/join/launch/call_kind.h"
#include "lib/base/bisect.h"

/* A handle may get its name from a second handle, which got its name from a third. */
#define PASSES 3

/* From this instant on the handle or address has this name. */
struct naming {
	uint64_t value;
	uint64_t ts_ns;
	uint32_t process;
	uint32_t family;
	uint32_t name;
	bool code; /* an address, not a handle */
};

struct namings {
	struct model *model;
	MODEL_ARRAY(struct naming) known;
	uint32_t sorted; /* number of sorted entries in known */
};

bool call_launches(const struct model *model, const struct call *call)
{
	const struct function *function = call_function(model, call);

	return function && (function->kind == PROFBPF__FUNCTION__KIND__LAUNCH ||
			    function->kind == PROFBPF__FUNCTION__KIND__COLLECTIVE);
}

static bool argument(const struct function *function, const struct call *call, int role,
		     uint64_t *value)
{
	for (int i = 0; i < 3; i++) {
		if (function->roles[i] != role || call->args[i] == 0)
			continue;
		*value = call->args[i];
		return true;
	}
	return false;
}

static bool makes_names(const struct function *function)
{
	bool out = false, code = false;

	for (int i = 0; i < 3; i++) {
		out |= function->roles[i] == PROFBPF__FUNCTION__ROLE__OUT_HANDLE;
		code |= function->roles[i] == PROFBPF__FUNCTION__ROLE__CODE;
	}
	return (function->kind == PROFBPF__FUNCTION__KIND__LOAD ||
		function->kind == PROFBPF__FUNCTION__KIND__COMPILE) &&
	       (out || code);
}

static int compare(const void *a, const void *b)
{
	const struct naming *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->code != y->code)
		return x->code ? 1 : -1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

/* Returns the name of @wanted's value at its instant; 0 = it has no name. */
static uint32_t look_up(const struct namings *namings, const struct naming *wanted)
{
	uint32_t next = BISECT(i, 0, namings->sorted, compare(&namings->known.row[i], wanted) <= 0);
	const struct naming *found;

	if (next == 0)
		return 0;
	found = &namings->known.row[next - 1];
	return found->process == wanted->process && found->family == wanted->family &&
			       found->code == wanted->code && found->value == wanted->value
		       ? found->name
		       : 0;
}

static uint32_t symbol_at(const struct model *model, uint32_t process, uint64_t address,
			  uint64_t ts_ns)
{
	const struct code_name *rows = model->code_names.row;
	uint32_t next = BISECT(i, 0, model->code_names.count,
			       rows[i].process < process ||
				       (rows[i].process == process &&
					(rows[i].address < address ||
					 (rows[i].address == address && rows[i].from_ns <= ts_ns))));

	return next > 0 && rows[next - 1].process == process && rows[next - 1].address == address
		       ? rows[next - 1].name
		       : 0;
}

/* Returns the name of the call's handle or address. */
static uint32_t name_of(const struct namings *namings, const struct call *call, uint8_t *named)
{
	const struct model *model = namings->model;
	const struct function *function = call_function(model, call);
	struct naming wanted = { .ts_ns = call->start_ns, .family = function->family };
	uint32_t name = 0;

	wanted.process = model->threads.row[call->thread].process;
	*named = NAMED_HANDLE;
	if (argument(function, call, PROFBPF__FUNCTION__ROLE__HANDLE, &wanted.value))
		name = look_up(namings, &wanted);
	wanted.code = true;
	if (!name && argument(function, call, PROFBPF__FUNCTION__ROLE__CODE, &wanted.value)) {
		name = look_up(namings, &wanted);
		/* cudaLaunchKernel() also accepts a kernel's handle. */
		wanted.code = false;
		if (!name)
			name = look_up(namings, &wanted);
		if (!name) {
			*named = NAMED_SYMBOL;
			name = symbol_at(model, wanted.process, wanted.value, wanted.ts_ns);
		}
	}
	return name;
}

/* Modules and registrations contain the mangled names of C++ kernels. */
static uint32_t readable(struct model *model, uint32_t name)
{
	const char *symbol = model_text(model, name);
	char *text;
	uint32_t id = INDEX_NONE;

	if (strncmp(symbol, "_Z", 2) != 0)
		return name;
	text = cplus_demangle_v3(symbol, DMGL_NO_OPTS);
	if (text)
		id = model_string(model, text);
	free(text);
	return id == INDEX_NONE ? name : id;
}

/* Records a call that names a handle or an address. Calls that copy names are handled when @pass > 0. */
static bool note_call(struct namings *namings, const struct call *call, int pass)
{
	struct model *model = namings->model;
	const struct function *function = call_function(model, call);
	struct naming naming = { .ts_ns = call->start_ns, .name = call->text };
	uint8_t named;

	if (call->flags & (MODEL_CALL_ERROR | MODEL_CALL_OPEN) || (pass == 0) != (call->text != 0))
		return true;
	if (pass)
		naming.name = name_of(namings, call, &named);
	if (!naming.name)
		return true;
	naming.name = readable(model, naming.name);
	naming.process = model->threads.row[call->thread].process;
	naming.family = function->family;
	if (!argument(function, call, PROFBPF__FUNCTION__ROLE__OUT_HANDLE, &naming.value)) {
		naming.code = true;
		if (pass || !argument(function, call, PROFBPF__FUNCTION__ROLE__CODE, &naming.value))
			return true;
	}
	return MODEL_PUSH(&namings->known, naming);
}

static bool any_makes_names(const struct model *model)
{
	for (uint32_t i = 0; i < model->functions.count; i++)
		if (makes_names(&model->functions.row[i]))
			return true;
	return false;
}

static bool collect(struct namings *namings)
{
	const struct model *model = namings->model;

	/* Avoids a pass over possibly many calls. */
	if (!any_makes_names(model))
		return true;
	for (int pass = 0; pass < PASSES; pass++) {
		uint32_t before = namings->known.count;

		for (uint32_t i = 0; i < model->calls.count; i++) {
			const struct call *call = &model->calls.row[i];
			const struct function *function = call_function(model, call);

			if (function && makes_names(function) && !note_call(namings, call, pass))
				return false;
		}
		if (pass > 1 && namings->known.count == before)
			break;
		if (namings->known.count)
			qsort(namings->known.row, namings->known.count, sizeof(*namings->known.row),
			      compare);
		namings->sorted = namings->known.count;
	}
	return true;
}

/* Names a launching call. Returns true if the name is known. */
static bool name_call(const struct namings *namings, struct call *call)
{
	struct model *model = namings->model;
	const struct function *function = call_function(model, call);
	uint8_t named;
	uint32_t name;

	/* The call may have been named already before the launch join. */
	if (call->text) {
		if (!call->named)
			call->named = NAMED_ARGUMENT;
		return true;
	}
	name = function->launches;
	named = NAMED_FUNCTION;
	if (!name)
		name = name_of(namings, call, &named);
	if (name) {
		call->text = name;
		call->named = named;
	} else if (call->named != NAMED_NOT) {
		call->named = NAMED_NOT;
	}
	return name != 0;
}

/* Calls are sorted by thread and start: the calls inside a call follow it directly. */
static uint32_t inner_name(const struct model *model, uint32_t index)
{
	const struct call *outer = &model->calls.row[index];

	for (uint32_t i = index + 1; i < model->calls.count; i++) {
		const struct call *inner = &model->calls.row[i];

		if (inner->thread != outer->thread || inner->start_ns > outer->end_ns ||
		    inner->depth <= outer->depth)
			break;
		if (inner->text && call_launches(model, inner))
			return inner->text;
	}
	return 0;
}

static void name_by_inner(struct model *model, uint32_t index)
{
	struct call *call = &model->calls.row[index];

	uint32_t name = inner_name(model, index);

	/* Its text is empty. Rows that do not change are not written: they may lie in a file. */
	if (!name)
		return;
	call->text = name;
	call->named = NAMED_INNER;
}

static void name_by_task(struct model *model, struct call *call)
{
	uint32_t name = call->task < model->tasks.count ? model->tasks.row[call->task].name : 0;

	if (!name)
		return;
	call->text = name;
	call->named = NAMED_TASK;
}

int launched_names_find(struct model *model)
{
	struct namings namings = { .model = model };
	bool ok = collect(&namings), left = false;

	for (uint32_t i = 0; ok && i < model->calls.count; i++)
		if (call_launches(model, &model->calls.row[i]) &&
		    !name_call(&namings, &model->calls.row[i]))
			left = true;
	for (uint32_t i = 0; ok && left && i < model->calls.count; i++)
		if (call_launches(model, &model->calls.row[i]) && !model->calls.row[i].text)
			name_by_inner(model, i);
	free(namings.known.row);
	return ok ? 0 : -ENOMEM;
}

int launched_names_join(struct model *model)
{
	int err = launched_names_find(model);

	for (uint32_t i = 0; !err && model->tasks.count && i < model->calls.count; i++)
		if (call_launches(model, &model->calls.row[i]) && !model->calls.row[i].text)
			name_by_task(model, &model->calls.row[i]);
	for (uint32_t i = 0; !err && i < model->tasks.count; i++) {
		struct device_task *task = &model->tasks.row[i];

		if (!task->name && task->call < model->calls.count &&
		    call_launches(model, &model->calls.row[task->call]))
			task->name = model->calls.row[task->call].text;
	}
	return err;
}
