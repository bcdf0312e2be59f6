/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_json.h"

#include <stdlib.h>

#include "daemon/profctl/json_text.h"
#include "daemon/profctl/top/top_job.h"
#include "daemon/live/live_pipeline.h"

static void json_cpu(struct json *json, const struct top_cpu *c)
{
	json_number(json, "user_ns", c->user_ns);
	json_number(json, "system_ns", c->system_ns);
	json_number(json, "irq_ns", c->irq_ns);
	json_number(json, "softirq_ns", c->softirq_ns);
	json_number(json, "iowait_ns", c->iowait_ns);
	json_number(json, "idle_ns", c->idle_ns);
	json_number(json, "steal_ns", c->steal_ns);
}

static void json_host(struct json *json, const struct top_frame *frame)
{
	json_object(json, "host");
	json_cpu(json, &frame->all);
	json_number(json, "context_switches", frame->context_switches);
	json_number(json, "forks", frame->forks);
	json_number(json, "runnable", frame->runnable);
	json_number(json, "blocked", frame->blocked);
	json_array(json, "cpus");
	for (size_t i = 0; i < frame->cpu_count; i++) {
		json_object(json, NULL);
		json_number(json, "cpu", frame->cpus[i].cpu);
		json_cpu(json, &frame->cpus[i]);
		json_close_object(json);
	}
	json_close_array(json);
	json_close_object(json);
}

static void json_process(struct json *json, const struct top_process *p)
{
	json_object(json, NULL);
	json_number(json, "pid", p->pid);
	json_text(json, "name", p->name);
	if (*p->cmdline)
		json_text(json, "cmdline", p->cmdline);
	json_bool(json, "target", p->target);
	json_number(json, "run_ns", p->run_ns);
	json_number(json, "runnable_ns", p->runnable_ns);
	if (p->threads) {
		json_number(json, "blocked_ns", p->blocked_ns);
		json_number(json, "threads", p->threads);
	}
	if (p->rss_bytes)
		json_number(json, "rss_bytes", p->rss_bytes);
	json_number(json, "read_chars", p->read_chars);
	json_number(json, "write_chars", p->write_chars);
	json_number(json, "read_bytes", p->read_bytes);
	json_number(json, "write_bytes", p->write_bytes);
	json_number(json, "faults", p->faults);
	json_close_object(json);
}

static void json_operator(struct json *json, const struct live_operator *op)
{
	json_object(json, NULL);
	json_number(json, "pid", op->pid);
	json_number(json, "id", (uint64_t)op->id);
	json_text(json, "name", op->name);
	if (op->instance)
		json_number(json, "instance", op->instance);
	json_number(json, "run_ns", op->run_ns);
	json_number(json, "runnable_ns", op->runnable_ns);
	if (op->elements)
		json_number(json, "elements", op->elements);
	if (op->has_queue) {
		json_object(json, "queue");
		json_number(json, "capacity", op->capacity);
		if (op->has_size)
			json_number(json, "fill_percent",
				    (uint64_t)(100 * op->mean_size /
					       (op->capacity ? op->capacity : 1)));
		else if (op->never_empty)
			json_bool(json, "never_empty", true);
		json_number(json, "pushes", op->pushes);
		json_number(json, "pops", op->pops);
		if (op->has_push_wait)
			json_number(json, "push_wait_ns", op->push_wait_ns);
		if (op->has_pop_wait)
			json_number(json, "pop_wait_ns", op->pop_wait_ns);
		json_close_object(json);
	}
	json_close_object(json);
}

static void json_job(struct json *json, const struct top_frame *frame, uint32_t pid)
{
	struct top_job job = top_job_of(frame, pid);

	if (!job.devices && !job.has_wait)
		return;
	json_object(json, NULL);
	json_number(json, "pid", pid);
	if (job.devices) {
		json_number(json, "devices", job.devices);
		json_number(json, "device_busy_ns", job.busy_ns);
	}
	if (job.has_wait)
		json_number(json, "data_wait_ns", job.wait_ns);
	json_close_object(json);
}

static void json_lists(struct json *json, const struct top_frame *frame)
{
	json_array(json, "calls");
	for (size_t i = 0; i < frame->call_count; i++) {
		json_object(json, NULL);
		json_text(json, "runtime", frame->calls[i].runtime);
		json_text(json, "function", frame->calls[i].function);
		json_number(json, "pid", frame->calls[i].pid);
		json_number(json, "count", frame->calls[i].count);
		json_number(json, "total_ns", frame->calls[i].total_ns);
		json_close_object(json);
	}
	json_close_array(json);
	json_array(json, "operators");
	for (size_t i = 0; i < frame->operator_count; i++)
		json_operator(json, &frame->operators[i]);
	json_close_array(json);
	json_array(json, "jobs");
	for (size_t i = 0; i < frame->process_count; i++)
		json_job(json, frame, frame->processes[i].pid);
	json_close_array(json);
	json_array(json, "devices");
	for (size_t i = 0; i < frame->device_count; i++) {
		json_object(json, NULL);
		json_text(json, "name", frame->devices[i].name);
		json_number(json, "pid", frame->devices[i].pid);
		json_number(json, "tasks", frame->devices[i].tasks);
		json_number(json, "busy_ns", frame->devices[i].busy_ns);
		json_close_object(json);
	}
	json_close_array(json);
	json_number(json, "left_out", frame->left_out);
	json_array(json, "sources");
	for (size_t i = 0; i < frame->loss_count; i++) {
		json_object(json, NULL);
		json_text(json, "name", frame->losses[i].source);
		json_number(json, "produced", frame->losses[i].produced);
		json_number(json, "lost", frame->losses[i].lost);
		json_close_object(json);
	}
	json_close_array(json);
}

int top_json(struct top_frame *frame, const struct top_choice *choice)
{
	struct top_row *rows;
	struct json json;
	size_t count;

	if (json_begin(&json))
		return -1;
	count = top_order_rows(frame, choice, &rows);
	top_order_calls(frame);
	json_object(&json, NULL);
	json_text(&json, "schema", "profbpf.top/1");
	json_number(&json, "duration_ns", frame->duration_ns);
	if (frame->cost_known)
		json_number(&json, "daemon_cpu_ns", frame->daemon_cpu_ns);
	json_host(&json, frame);
	json_array(&json, "processes");
	for (size_t i = 0; i < count; i++)
		json_process(&json, rows[i].process);
	free(rows);
	json_close_array(&json);
	json_lists(&json, frame);
	json_close_object(&json);
	return json_end(&json);
}
