/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/small_model.h"

#include <stdio.h>
#include <stdlib.h>

static void need(bool ok)
{
	if (ok)
		return;
	fputs("small_model: out of memory or rows out of order\n", stderr);
	abort();
}

struct model *small_model(uint64_t start_ns, uint64_t end_ns)
{
	struct model *model = model_new();

	need(model);
	model->info.start_ns = model->info.session_start_ns = start_ns;
	model->info.end_ns = model->info.session_end_ns = end_ns;
	model->info.arch = model_string(model, "x86_64");
	return model;
}

uint32_t small_process(struct model *model, uint32_t pid, const char *name, bool target)
{
	struct process process = { .pid = pid,
				   .name = model_string(model, name),
				   .target = target };

	need(MODEL_PUSH(&model->processes, process));
	return model->processes.count - 1;
}

uint32_t small_thread(struct model *model, uint32_t process, uint32_t tid, const char *name)
{
	struct thread thread = { .tid = tid,
				 .process = process,
				 .name = model_string(model, name),
				 .target = model->processes.row[process].target,
				 .first_ns = model->info.start_ns,
				 .last_ns = model->info.end_ns,
				 .parent = INDEX_NONE };
	struct timeline timeline = { 0 };

	need(MODEL_PUSH(&model->threads, thread) && MODEL_PUSH(&model->timelines, timeline));
	return model->threads.count - 1;
}

uint32_t small_function(struct model *model, const char *family, const char *name,
			Profbpf__Function__Kind kind)
{
	struct function function = { .runtime = model_string(model, family),
				     .family = model_string(model, family),
				     .name = model_string(model, name),
				     .kind = (uint8_t)kind };

	need(MODEL_PUSH(&model->functions, function));
	return model->functions.count - 1;
}

uint32_t small_call(struct model *model, uint32_t thread, uint32_t function, uint64_t start_ns,
		    uint64_t end_ns)
{
	struct call call = { .start_ns = start_ns,
			     .end_ns = end_ns,
			     .thread = thread,
			     .function = function,
			     .task = INDEX_NONE };

	need(MODEL_PUSH(&model->calls, call));
	return model->calls.count - 1;
}

struct span *small_span(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
			enum thread_state state)
{
	struct timeline *timeline = &model->timelines.row[thread];
	struct span span = { .start_ns = start_ns,
			     .end_ns = end_ns,
			     .other = INDEX_NONE,
			     .syscall = -1,
			     .state = (uint8_t)state };

	if (timeline->count == 0)
		timeline->first = model->spans.count;
	need(timeline->first + timeline->count == model->spans.count);
	need(MODEL_PUSH(&model->spans, span));
	timeline->count++;
	return &model->spans.row[model->spans.count - 1];
}

void small_sleep(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
		 int16_t syscall, uint32_t waker, uint8_t flags)
{
	struct span *span = small_span(model, thread, start_ns, end_ns, STATE_SLEEP);

	span->syscall = syscall;
	span->other = waker;
	span->flags = flags;
}

uint32_t small_device(struct model *model, uint32_t process, const char *name, uint8_t clock)
{
	struct device device = { .id = model->devices.count,
				 .process = process,
				 .name = model_string(model, name),
				 .kind = model_string(model, "gpu"),
				 .source = model_string(model, "test"),
				 .clock = clock };

	need(MODEL_PUSH(&model->devices, device));
	return model->devices.count - 1;
}

struct device_task *small_task(struct model *model, uint32_t device, uint64_t start_ns,
			       uint64_t end_ns)
{
	struct device_task task = { .start_ns = start_ns,
				    .end_ns = end_ns,
				    .stream = 1,
				    .device = device,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL };

	need(MODEL_PUSH(&model->tasks, task));
	return &model->tasks.row[model->tasks.count - 1];
}

void small_index(struct model *model)
{
	need(model_index(model));
}
