/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/root_text.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/analyse/host/cgroup_limits.h"
#include "analyzer/analyse/host/sleep_reason.h"
#include "analyzer/model/translate.h"
#include "proto/trace.pb-c.h"

#define NAME_LONG 100 /* bytes; longer names of functions are shown without their template arguments */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void root_thread_text(const struct model *model, uint32_t thread, char *text, size_t size)
{
	const char *name;

	if (thread >= model->threads.count) {
		snprintf(text, size, tr("unknown"));
		return;
	}
	name = model_text(model, model->threads.row[thread].name);
	snprintf(text, size, "%.64s %u", *name ? name : tr("thread"), model->threads.row[thread].tid);
}

static void runner_text(const struct model *model, uint32_t thread, char *text, size_t size)
{
	const struct thread *row = &model->threads.row[thread];
	const char *name = model_text(model, row->name);

	if (row->process >= model->processes.count)
		root_thread_text(model, thread, text, size);
	else
		snprintf(text, size, tr("%.64s of process %u"), *name ? name : tr("a thread"),
			 model->processes.row[row->process].pid);
}

void root_who_text(const struct model *model, const struct root *root, char *text, size_t size)
{
	*text = '\0';
	if (root->who_kind == WHO_IDLE_CPU)
		snprintf(text, size, tr("an idle CPU"));
	else if (root->who_kind == WHO_RUNNER && root->who < model->threads.count)
		runner_text(model, root->who, text, size);
	else if (root->who_kind == WHO_THREAD)
		root_thread_text(model, root->who, text, size);
}

/* Is the '<' or '>' part of an operator's name, or of "->"? */
static bool is_literal(const char *name, size_t at)
{
	size_t first = at;

	while (first && strchr("<>-=", name[first - 1]))
		first--;
	return name[first] == '-' || (first >= 8 && !strncmp(name + first - 8, "operator", 8));
}

/*
 * The name of a C++ function, with "<...>" for template arguments if it is long: the function's own name is at the end,
 * which must not be cut.
 */
static void function_text(const char *name, char *text, size_t size)
{
	int depth = 0;
	size_t used = 0;

	if (strlen(name) > NAME_LONG) {
		for (size_t i = 0; name[i] && used + sizeof("...>") < size; i++) {
			bool bracket = strchr("<>", name[i]) && !is_literal(name, i);

			if (bracket && name[i] == '>' && depth && --depth == 0)
				used += (size_t)snprintf(text + used, size - used, "...");
			if (!depth)
				text[used++] = name[i];
			depth += bracket && name[i] == '<' && i;
		}
		text[used] = '\0';
	}
	if (depth || !used)
		snprintf(text, size, "%s", name);
}

/* A function's place: source file and line for Python, the binary file for others. */
static void frame_place_text(const struct model *model, uint32_t index, char *text, size_t size)
{
	const struct code_frame *frame = &model->code_frames.row[index];
	const char *source = base_name(model_text(model, frame->source));
	const char *file = "";
	char name[256];

	function_text(model_text(model, frame->name), name, sizeof(name));

	if (frame->file < model->code_files.count)
		file = base_name(model_text(model, model->code_files.row[frame->file].path));
	if (*source && frame->line)
		snprintf(text, size, "%.128s:%u %s", source, frame->line, name);
	else if (*source)
		snprintf(text, size, "%.128s %s", source, name);
	else if (*file || *name)
		snprintf(text, size, "%.128s%s%s", file, *file && *name ? " " : "", name);
	else
		snprintf(text, size, "%s", tr("code without a name"));
}

/* ", called by run_batch" */
static void caller_text(const struct model *model, uint32_t caller, char *text, size_t size)
{
	char name[256];

	function_text(model_text(model, model->code_frames.row[caller].name), name, sizeof(name));
	snprintf(text, size, tr(", called by %s"), name);
}

/* " in read": of the kernel's functions only the system call or exception. */
static void entry_text(const struct model *model, uint32_t entry, char *text, size_t size)
{
	static const char *const before[] = { "__x64_sys_", "__arm64_sys_", "__se_sys_",
					      "__do_sys_",  "ksys_",	    "do_sys_",
					      "__sys_" };
	const char *name = model_text(model, model->code_frames.row[entry].name);

	if (strstr(name, "page_fault") || !strncmp(name, "el0_da", 6) ||
	    !strncmp(name, "do_mem_abort", 12))
		name = tr("a page fault");
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		if (!strncmp(name, before[i], strlen(before[i])))
			name += strlen(before[i]);
	snprintf(text, size, tr(" in %.64s"), name);
}

void root_place_text(const struct model *model, struct syscall_table *syscalls,
		     const struct root *root, char *text, size_t size)
{
	const char *name;
	size_t used;

	*text = '\0';
	switch (root->place_kind) {
	case PLACE_FUNCTION:
		if (root->place < model->functions.count)
			snprintf(text, size, "%s",
				 model_text(model, model->functions.row[root->place].name));
		break;
	case PLACE_SYSCALL:
		name = syscall_name(syscalls, (int16_t)root->place);
		if (name)
			snprintf(text, size, "%s", name);
		else
			snprintf(text, size, tr("system call %u"), root->place);
		break;
	case PLACE_FAULT: snprintf(text, size, tr("page fault")); break;
	case PLACE_FRAME:
		if (root->place < model->code_frames.count)
			frame_place_text(model, root->place, text, size);
		used = strlen(text);
		if (root->caller < model->code_frames.count)
			caller_text(model, root->caller, text + used, size - used);
		used += strlen(text + used);
		if (root->entry < model->code_frames.count)
			entry_text(model, root->entry, text + used, size - used);
		break;
	default: break;
	}
}

static const char *node_of(const struct model *model, uint32_t driver)
{
	return driver < model->drivers.count ? model_text(model, model->drivers.row[driver].device)
					     : "";
}

static void command_text(const struct model *model, const struct root *root, char *text,
			 size_t size)
{
	const char *node = node_of(model, root->object);
	const char *name =
		model_text(model, model_command_name(model, root->object, root->command));

	if (*name)
		snprintf(text, size, "%.128s %.128s", *node ? node : tr("unknown device"), name);
	else
		snprintf(text, size, tr("%.128s ioctl 0x%08x"), *node ? node : tr("unknown device"),
			 root->command);
}

/* "/job (quota: 20 % of a CPU)" */
static void cgroup_text(const struct model *model, uint32_t cgroup, char *text, size_t size)
{
	const char *path = model_text(model, model->cgroups.row[cgroup].path);
	uint64_t quota_ns, period_ns;

	if (cgroup_quota(model, cgroup, &quota_ns, &period_ns))
		snprintf(text, size, tr("%s (quota: %.0f %% of a CPU)"), path,
			 100 * (double)quota_ns / (double)period_ns);
	else
		snprintf(text, size, "%s", path);
}

/* An interrupt of several kinds is named by the first of these. */
static const char *interrupt_kind(uint32_t flags)
{
	if (flags & PROFBPF__WAKES__FLAG__HARDIRQ)
		return tr("a device's interrupt");
	if (flags & PROFBPF__WAKES__FLAG__SOFTIRQ)
		return tr("a software interrupt");
	return flags & PROFBPF__WAKES__FLAG__TIMER ? tr("a timer") : "";
}

void root_object_text(const struct model *model, const struct root *root, char *text, size_t size)
{
	const char *disk = node_of(model, root->disk);
	size_t used;

	*text = '\0';
	switch (root->object_kind) {
	case OBJECT_SLEEP:
		sleep_object_text(model, &model->sleep_objects.row[root->object], text, size);
		break;
	case OBJECT_COMMAND: command_text(model, root, text, size); break;
	case OBJECT_CGROUP:
		cgroup_text(model, root->object, text, size);
		break;
	case OBJECT_DEVICE:
		snprintf(text, size, "%s",
			 model_text(model, model->devices.row[root->object].name));
		break;
	case OBJECT_INTERRUPT_KIND:
		snprintf(text, size, "%s", interrupt_kind(root->object));
		break;
	case OBJECT_INTERPRETER: snprintf(text, size, tr("the interpreter's lock")); break;
	case OBJECT_INTERRUPT: snprintf(text, size, "%s", model_text(model, root->object)); break;
	default: break;
	}
	used = strlen(text);
	if (*disk)
		snprintf(text + used, size - used, "%s%.64s", used ? tr(" on ") : "", disk);
}

uint32_t root_subject(const struct root *root)
{
	return root->who_kind == WHO_THREAD || root->who_kind == WHO_RUNNER ? root->who
									    : root->thread;
}

void root_work_text(const struct model *model, const struct root *root, char *text, size_t size)
{
	const struct code_frame *frame =
		root->place_kind == PLACE_FRAME && root->place < model->code_frames.count
			? &model->code_frames.row[root->place]
			: NULL;

	/* Code that was made at run time is called by what made it, as a virtual machine's entry. */
	if (frame && !frame->name && frame->file >= model->code_files.count)
		snprintf(text, size, "%s", tr("its code"));
	else if (frame && root->caller < model->code_frames.count)
		function_text(model_text(model, model->code_frames.row[root->caller].name), text, size);
	else
		root_place_text(model, NULL, root, text, size);
}
