/* SPDX-License-Identifier: Apache-2.0 */
/* Names looked up by the daemon: of code addresses and of drivers' commands; and long names of threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load/loader_private.h"

#define CODE_NAMES_MAX (1u << 20)
#define COMMANDS_MAX (1u << 20)
#define KERNEL_NAME_LEN 15 /* of a thread name, without its NUL */
#define NAME_MAX_BYTES 4096

static const char stub_mark[] = "__device_stub_", wrapper_mark[] = "__wrapper";

/*
 * Compilers replace a kernel by a host function. Its name is the kernel's name (nvcc), or that name
 * with a mark: kernel k is __device_stub__k (clang), __device_stub__Z1kv (nvcc, the mangled name
 * follows) or __wrapper__device_stub_k<int> (nvcc, templates).
 */
static uint32_t kernel_name(struct loader *loader, const char *symbol)
{
	uint32_t id = loader_symbol(loader, symbol);
	const char *readable = model_text(loader->model, id);
	const char *mark = strstr(readable, stub_mark), *rest;
	char name[NAME_MAX_BYTES];
	size_t before;

	if (!mark)
		return id;
	rest = mark + sizeof(stub_mark) - 1;
	if (strncmp(rest, "_Z", 2) == 0)
		return loader_symbol(loader, rest);
	before = mark - readable;
	if (before >= sizeof(wrapper_mark) - 1 &&
	    !strncmp(mark - (sizeof(wrapper_mark) - 1), wrapper_mark, sizeof(wrapper_mark) - 1))
		before -= sizeof(wrapper_mark) - 1;
	rest += *rest == '_';
	snprintf(name, sizeof(name), "%.*s%s", (int)before, readable, rest);
	return model_string(loader->model, name);
}

bool load_code_names(struct loader *loader, const struct pbt_packet *packet)
{
	struct model *model = loader->model;
	Profbpf__CodeNames *names;

	names = profbpf__code_names__unpack(&loader->arena.allocator, packet->size, packet->body);
	if (!names)
		return false;
	for (size_t i = 0; i < names->n_name; i++) {
		const Profbpf__CodeName *from = names->name[i];
		struct code_name row = { .address = from->address,
					 .from_ns = from->from_ns,
					 .process = from->tgid };

		if (!*from->symbol || model->code_names.count >= CODE_NAMES_MAX) {
			model->bad_rows++;
			continue;
		}
		row.name = kernel_name(loader, from->symbol);
		if (row.name == INDEX_NONE || !MODEL_PUSH(&model->code_names, row)) {
			loader->no_memory = true;
			return false;
		}
	}
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct code_name *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

void load_resolve_code_names(struct loader *loader)
{
	struct model *model = loader->model;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < model->code_names.count; i++) {
		struct code_name *row = &model->code_names.row[i];

		row->process = loader_process_at(loader, row->process, row->from_ns);
		if (row->process != INDEX_NONE)
			model->code_names.row[kept++] = *row;
	}
	model->code_names.count = kept;
	if (kept)
		qsort(model->code_names.row, kept, sizeof(*model->code_names.row), by_address);
}

/* Each segment repeats its drivers. */
static bool same_commands(const struct model *model, const Profbpf__Driver *from,
			  const struct driver *driver)
{
	if (driver->command_count != from->n_command)
		return false;
	for (size_t i = 0; i < from->n_command; i++) {
		const struct driver_command *command =
			&model->commands.row[driver->first_command + i];

		if (command->value != from->command[i]->value ||
		    command->mask != from->command[i]->mask ||
		    strcmp(model_text(model, command->name), from->command[i]->name) != 0)
			return false;
	}
	return true;
}

bool load_commands(struct loader *loader, const Profbpf__Driver *from, struct driver *driver)
{
	struct model *model = loader->model;
	uint32_t first = model->commands.count;

	if (same_commands(model, from, driver))
		return true;
	driver->command_count = 0;
	for (size_t i = 0; i < from->n_command; i++) {
		struct driver_command command = { .value = from->command[i]->value,
						  .mask = from->command[i]->mask };

		if (model->commands.count >= COMMANDS_MAX) {
			model->bad_rows++;
			break;
		}
		command.name = model_string(model, from->command[i]->name);
		if (command.name == INDEX_NONE || !MODEL_PUSH(&model->commands, command))
			return false;
	}
	driver->first_command = first;
	driver->command_count = model->commands.count - first;
	return true;
}

/* The thread of the same process whose id the call read from the handle, else the caller. */
static struct thread *named_thread(struct model *model, const struct call *call,
				   const struct function *function)
{
	uint32_t process = model->threads.row[call->thread].process;

	for (int i = 0; i < 3; i++) {
		uint32_t thread;

		if (function->roles[i] != PROFBPF__FUNCTION__ROLE__THREAD &&
		    function->roles[i] != PROFBPF__FUNCTION__ROLE__VALUE)
			continue;
		if (call->args[i] == 0 || call->args[i] > INT32_MAX)
			continue;
		thread = model_thread_at(model, (uint32_t)call->args[i], call->start_ns);
		if (thread != INDEX_NONE && model->threads.row[thread].process == process)
			return &model->threads.row[thread];
	}
	return &model->threads.row[call->thread];
}

bool load_names_threads(const struct function *function)
{
	for (int i = 0; i < 3; i++)
		if (function->roles[i] == PROFBPF__FUNCTION__ROLE__THREAD)
			return true;
	return false;
}

static bool any_names_threads(const struct model *model)
{
	for (uint32_t i = 0; i < model->functions.count; i++)
		if (load_names_threads(&model->functions.row[i]))
			return true;
	return false;
}

/* The last call that set a thread's name. */
struct last_name {
	uint64_t ts_ns;
	uint32_t text;
};

/*
 * A name that the kernel accepts is also in the trace's task events (TASK_RENAME). The kernel refuses or truncates
 * longer names: only the call has them.
 */
void load_thread_names(struct model *model)
{
	struct last_name *last;

	if (!any_names_threads(model))
		return;
	last = calloc((size_t)model->threads.count + 1, sizeof(*last));
	for (uint32_t i = 0; last && i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		const struct function *function = &model->functions.row[call->function];
		uint32_t thread;

		if (!call->text || !load_names_threads(function))
			continue;
		thread = named_thread(model, call, function) - model->threads.row;
		if (call->start_ns >= last[thread].ts_ns)
			last[thread] = (struct last_name){ call->start_ns, call->text };
	}
	for (uint32_t i = 0; last && i < model->threads.count; i++)
		if (strlen(model_text(model, last[i].text)) > KERNEL_NAME_LEN)
			model->threads.row[i].name = last[i].text;
	free(last);
}
