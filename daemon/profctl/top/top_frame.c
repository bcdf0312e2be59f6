/* SPDX-License-Identifier: Apache-2.0 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/live/live_feeds.h"
#include "daemon/profctl/top/top_rows.h"
#include "daemon/profctl/top/top_state.h"

static void sum_cpu(struct top_cpu *sum, const struct top_cpu *cpu)
{
	sum->user_ns += cpu->user_ns;
	sum->system_ns += cpu->system_ns;
	sum->irq_ns += cpu->irq_ns;
	sum->softirq_ns += cpu->softirq_ns;
	sum->iowait_ns += cpu->iowait_ns;
	sum->idle_ns += cpu->idle_ns;
	sum->steal_ns += cpu->steal_ns;
}

static void frame_cpus(struct top_state *s, struct top_frame *frame)
{
	for (size_t i = 0; i < s->cpu_count; i++) {
		struct top_cpu *from = &s->before[i], now = s->now[i];
		struct top_cpu *cpu = &frame->cpus[frame->cpu_count++];

		/* A CPU came online or went offline: the previous figures belong to another CPU. */
		if (from->cpu != now.cpu)
			*from = now;
		*cpu = (struct top_cpu){
			now.cpu,
			top_rows_grown(&from->user_ns, now.user_ns),
			top_rows_grown(&from->system_ns, now.system_ns),
			top_rows_grown(&from->irq_ns, now.irq_ns),
			top_rows_grown(&from->softirq_ns, now.softirq_ns),
			top_rows_grown(&from->iowait_ns, now.iowait_ns),
			top_rows_grown(&from->idle_ns, now.idle_ns),
			top_rows_grown(&from->steal_ns, now.steal_ns),
		};
		sum_cpu(&frame->all, cpu);
	}
}

static void frame_process(const void *node, VISIT visit, void *closure)
{
	struct process *p = *(struct process *const *)node;
	struct top_frame *frame = ((struct top_state *)closure)->frame;
	struct top_process *row = &frame->processes[frame->process_count];
	uint64_t there, busy;

	if (visit != postorder && visit != leaf)
		return;
	if (p->active || p->now.target) {
		*row = p->now;
		there = p->now.threads * frame->duration_ns;
		busy = p->now.run_ns + p->now.runnable_ns;
		row->blocked_ns = there > busy ? there - busy : 0;
		frame->process_count++;
	}
	p->active = false;
	p->now.run_ns = p->now.runnable_ns = p->now.faults = 0;
	p->now.read_chars = p->now.write_chars = p->now.read_bytes = p->now.write_bytes = 0;
}

static void frame_call(const void *node, VISIT visit, void *closure)
{
	struct counter *c = *(struct counter *const *)node;
	struct top_state *s = closure;
	struct top_call *row = &s->frame->calls[s->frame->call_count];
	uint64_t calls = c->count + c->kept;
	uint32_t function = c->key >> 32;

	/* Without a name: the calls with which the daemon measures the cost of a probe. */
	if ((visit != postorder && visit != leaf) || calls == c->shown_count ||
	    function >= s->function_count || !*s->functions[function].name)
		return;
	*row = (struct top_call){ .pid = (uint32_t)c->key,
				  .count = top_rows_grown(&c->shown_count, calls),
				  .total_ns = top_rows_grown(&c->shown_ns, c->total_ns + c->kept_ns) };
	memcpy(row->runtime, s->functions[function].runtime, sizeof(row->runtime));
	memcpy(row->function, s->functions[function].name, sizeof(row->function));
	s->frame->call_count++;
}

struct count {
	size_t rows;
	uint64_t *gone;
	size_t gone_count;
};

static void count_row(const void *node, VISIT visit, void *closure)
{
	if (visit == postorder || visit == leaf)
		((struct count *)closure)->rows++;
}

static size_t rows_of(const void *tree)
{
	struct count count = { 0 };

	twalk_r(tree, count_row, &count);
	return count.rows;
}

/* For processes that are no targets only the ends of threads are recorded. */
static void leave_process(const void *node, VISIT visit, void *closure)
{
	const struct thread *t = *(struct thread *const *)node;

	if ((visit == postorder || visit == leaf) && t->gone && t->known)
		top_rows_leave(closure, t);
}

static void list_thread(const void *node, VISIT visit, void *closure)
{
	const struct thread *t = *(struct thread *const *)node;
	struct count *count = closure;

	if ((visit == postorder || visit == leaf) && t->gone)
		count->gone[count->gone_count++] = t->key;
}

static void list_process(const void *node, VISIT visit, void *closure)
{
	const struct process *p = *(struct process *const *)node;
	struct count *count = closure;

	if ((visit == postorder || visit == leaf) && p->gone)
		count->gone[count->gone_count++] = p->key;
}

/* Removes rows of ended threads and processes; returns their number. */
static size_t sweep(void **tree, void (*list)(const void *, VISIT, void *))
{
	struct count count = { .gone = calloc(rows_of(*tree) + 1, sizeof(uint64_t)) };

	if (!count.gone)
		return 0;
	twalk_r(*tree, list, &count);
	for (size_t i = 0; i < count.gone_count; i++) {
		void **found = tfind(&count.gone[i], tree, top_rows_by_key);
		void *row = found ? *found : NULL;

		tdelete(&count.gone[i], tree, top_rows_by_key);
		free(row);
	}
	free(count.gone);
	return count.gone_count;
}

static void frame_devices(struct top_state *s, struct top_frame *frame)
{
	for (size_t i = 0; i < s->device_count; i++) {
		struct device *d = &s->devices[i];
		struct top_device *row = &frame->devices[frame->device_count++];

		*row = (struct top_device){ .pid = d->pid,
					    .tasks = d->busy.tasks,
					    .busy_ns = d->busy.busy_ns };
		memcpy(row->name, d->name, sizeof(row->name));
		d->busy.tasks = d->busy.busy_ns = 0;
	}
}

bool top_state_frame(struct top_state *s, struct top_frame *frame)
{
	*frame = (struct top_frame){ .duration_ns = s->now_ns - s->before_ns };
	frame->cpus = calloc(s->cpu_count + 1, sizeof(*frame->cpus));
	frame->processes = calloc(rows_of(s->processes) + 1, sizeof(*frame->processes));
	frame->calls = calloc(rows_of(s->counters) + 1, sizeof(*frame->calls));
	frame->devices = calloc(s->device_count + 1, sizeof(*frame->devices));
	frame->losses = calloc(s->loss_count + 1, sizeof(*frame->losses));
	if (!frame->cpus || !frame->processes || !frame->calls || !frame->devices ||
	    !frame->losses) {
		top_frame_free(frame);
		return false;
	}
	frame_cpus(s, frame);
	s->frame = frame;
	twalk_r(s->processes, frame_process, s);
	twalk_r(s->counters, frame_call, s);
	frame_devices(s, frame);
	frame->operator_count = live_feeds_frame(s->feeds, s->before_ns, s->now_ns, &frame->operators,
						 &frame->waits, &frame->wait_count);
	memcpy(frame->losses, s->losses, s->loss_count * sizeof(*frame->losses));
	frame->loss_count = s->loss_count;
	frame->left_out = s->left_out + live_feeds_left_out(s->feeds);
	frame->context_switches = top_rows_grown(&s->switches_before, s->switches);
	frame->forks = top_rows_grown(&s->forks_before, s->forks);
	frame->runnable = s->runnable;
	frame->blocked = s->blocked;
	/* At first it has the start of the session in it. */
	frame->cost_known = s->cpu_before > 0;
	frame->daemon_cpu_ns = top_rows_grown(&s->cpu_before, s->cpu);
	twalk_r(s->threads, leave_process, s);
	sweep(&s->threads, list_thread);
	s->process_total -= sweep(&s->processes, list_process);
	frame->process_total = s->process_total;
	s->before_ns = s->now_ns;
	return true;
}

void top_frame_free(struct top_frame *frame)
{
	free(frame->cpus);
	free(frame->processes);
	free(frame->calls);
	free(frame->devices);
	free(frame->operators);
	free(frame->waits);
	free(frame->losses);
	*frame = (struct top_frame){ 0 };
}
