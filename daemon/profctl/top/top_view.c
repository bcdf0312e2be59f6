/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profctl/message.h"
#include "daemon/profctl/top/top_job.h"
#include "daemon/live/live_pipeline.h"

#define LINE_MAX_BYTES 512
#define BAR_MAX 60
#define INDENT_MAX 10 /* levels of a tree */
#define WHY_INDENT 9 /* width of "verdict  " */
#define WHY_LINES 3 /* of each part of a verdict */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The rate per second in the frame. */
static double rate(const struct top_frame *frame, uint64_t count)
{
	return frame->duration_ns ? (double)count * 1e9 / (double)frame->duration_ns : 0;
}

static uint64_t all_ns(const struct top_cpu *c)
{
	return c->user_ns + c->system_ns + c->irq_ns + c->softirq_ns + c->iowait_ns + c->idle_ns +
	       c->steal_ns;
}

static void print(top_line *line, void *context, enum top_style style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void print(top_line *line, void *context, enum top_style style, const char *format, ...)
{
	char text[LINE_MAX_BYTES], safe[LINE_MAX_BYTES];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	line(context, style, printable(text, safe, sizeof(safe)));
}

/* 1536 -> "1.5K"; of @size bytes at least 8. */
static const char *short_size(double bytes, char *text, size_t size)
{
	static const char units[] = "BKMGTP";
	size_t unit = 0;

	for (; bytes >= 1000 && unit + 2 < sizeof(units); unit++)
		bytes /= 1024;
	snprintf(text, size, unit && bytes < 10 ? "%.1f%c" : "%.0f%c", bytes, units[unit]);
	return text;
}

/* | user, # system, ! interrupts, x stolen, w waiting for I/O */
static void bar(const struct top_cpu *cpu, int width, char *text)
{
	const struct {
		uint64_t ns;
		char sign;
	} parts[] = { { cpu->user_ns, '|' },
		      { cpu->system_ns, '#' },
		      { cpu->irq_ns + cpu->softirq_ns, '!' },
		      { cpu->steal_ns, 'x' },
		      { cpu->iowait_ns, 'w' } };
	uint64_t all = all_ns(cpu), sum = 0;
	int at = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && all; i++) {
		sum += parts[i].ns;
		while (at < width && (uint64_t)at < (sum * (uint64_t)width + all / 2) / all)
			text[at++] = parts[i].sign;
	}
	while (at < width)
		text[at++] = ' ';
	text[at] = '\0';
}

static void cpu_line(const struct top_cpu *cpu, const char *name, int width, top_line *line,
		     void *context)
{
	uint64_t all = all_ns(cpu);
	char text[BAR_MAX + 1];
	int bar_width = width < TOP_WIDE ? width - 15 : width - 66;

	if (bar_width > BAR_MAX)
		bar_width = BAR_MAX;
	if (bar_width < 10)
		bar_width = 10;
	bar(cpu, bar_width, text);
	if (width < TOP_WIDE) {
		print(line, context, TOP_PLAIN, "%-5s[%s] %5.1f%%", name, text,
		      percent(cpu->user_ns + cpu->system_ns + cpu->irq_ns + cpu->softirq_ns, all));
		return;
	}
	print(line, context, TOP_PLAIN,
	      "%-5s[%s] %5.1f%%  us %4.1f sy %4.1f irq %4.1f wa %4.1f id %5.1f st %4.1f", name,
	      text, percent(cpu->user_ns + cpu->system_ns + cpu->irq_ns + cpu->softirq_ns, all),
	      percent(cpu->user_ns, all), percent(cpu->system_ns, all),
	      percent(cpu->irq_ns + cpu->softirq_ns, all), percent(cpu->iowait_ns, all),
	      percent(cpu->idle_ns, all), percent(cpu->steal_ns, all));
}

#define CPU_LINES 8 /* more CPUs than these are shown as one bar */

void top_view_summary(const struct top_frame *frame, const struct top_view *view, int width,
		      top_line *line, void *context)
{
	uint64_t lost = 0;
	char name[16];

	cpu_line(&frame->all, "CPUs", width, line, context);
	for (size_t i = 0; i < frame->cpu_count && frame->cpu_count <= CPU_LINES; i++) {
		snprintf(name, sizeof(name), "%u", frame->cpus[i].cpu);
		cpu_line(&frame->cpus[i], name, width, line, context);
	}
	print(line, context, TOP_PLAIN,
	      width < TOP_WIDE ? "%u processes; %u threads ready, %u blocked; %.0f switches/s" :
				 "%u processes; threads: %u running or ready, %u blocked; "
				 "%.0f switches/s, %.0f new/s",
	      frame->process_total, frame->runnable, frame->blocked,
	      rate(frame, frame->context_switches), rate(frame, frame->forks));
	for (size_t i = 0; i < frame->loss_count; i++) {
		const struct top_loss *loss = &frame->losses[i];

		lost += loss->lost;
		if (loss->lost)
			print(line, context, TOP_WARNING, "LOST: %s %llu of %llu records",
			      loss->source, (unsigned long long)loss->lost,
			      (unsigned long long)loss->produced);
	}
	if (frame->left_out)
		print(line, context, TOP_WARNING, "TABLES FULL: %llu entries left out; figures of "
						  "pipelines, devices may be too low",
		      (unsigned long long)frame->left_out);
	if (!frame->cost_known) {
		if (!lost)
			print(line, context, TOP_PLAIN, "nothing lost");
		return;
	}
	print(line, context, TOP_PLAIN, "%scost: profbpfd %.1f %%, profctl %.1f %%%s",
	      lost ? "" : "nothing lost; ", percent(frame->daemon_cpu_ns, frame->duration_ns),
	      percent(view->own_cpu_ns, frame->duration_ns),
	      width < TOP_WIDE ? "" : " of one CPU");
}

void top_view_jobs(const struct top_frame *frame, top_line *line, void *context)
{
	for (size_t i = 0; i < frame->process_count; i++) {
		const struct top_process *p = &frame->processes[i];
		struct top_job job = top_job_of(frame, p->pid);
		char busy[48] = "", wait[48] = "";

		if (job.devices)
			snprintf(busy, sizeof(busy), "device%s busy %.1f %%",
				 job.devices > 1 ? "s" : "",
				 percent(job.busy_ns, frame->duration_ns * job.devices));
		if (job.has_wait)
			snprintf(wait, sizeof(wait), "data wait %.1f %%",
				 percent(job.wait_ns, frame->duration_ns));
		if (*busy || *wait)
			print(line, context, TOP_TARGET, "now      %.10s %u: %s%s%s", p->name,
			      p->pid, busy, *busy && *wait ? ", " : "", wait);
	}
}

/* Prints the text behind its label, wrapped between words and cut after WHY_LINES. */
static void why_part(const char *text, size_t length, int width, top_line *line, void *context)
{
	size_t room = width > 2 * WHY_INDENT ? (size_t)width : LINE_MAX_BYTES / 2;

	if (room >= LINE_MAX_BYTES)
		room = LINE_MAX_BYTES - 1;
	for (int i = 0; i < WHY_LINES && length; i++) {
		int indent = i ? WHY_INDENT : 0;
		size_t take = room - (size_t)indent;

		if (take >= length) {
			take = length;
		} else if (i + 1 < WHY_LINES) {
			while (take && text[take] != ' ')
				take--;
			take = take ? take : room - (size_t)indent;
		}
		print(line, context, TOP_PLAIN, "%*s%.*s", indent, "", (int)take, text);
		text += take;
		length -= take;
		while (length && *text == ' ') {
			text++;
			length--;
		}
	}
}

void top_view_why(const char *text, int width, top_line *line, void *context)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");

		if (length)
			why_part(text, length, width, line, context);
		text += length + (text[length] == '\n');
	}
}

/* The last parts of a name that fit, if it has several parts. */
static const char *end_of(const char *name, int width)
{
	const char *next;

	while ((int)strlen(name) > width && (next = strstr(name, "::")))
		name = next + 2;
	return name;
}

static void narrow_calls(const struct top_frame *frame, int width, size_t rows, top_line *line,
			 void *context)
{
	print(line, context, TOP_HEADING, "%8s %7s %8s  %s", "calls/s", "in it %", "pid", "function");
	for (size_t i = 0; i < frame->call_count && i < rows; i++) {
		const struct top_call *c = &frame->calls[i];

		print(line, context, TOP_PLAIN, "%8.0f %7.1f %8u  %s", rate(frame, c->count),
		      percent(c->total_ns, frame->duration_ns), c->pid, end_of(c->function, width - 27));
	}
}

static void wide_calls(const struct top_frame *frame, size_t rows, top_line *line, void *context)
{
	print(line, context, TOP_HEADING, "%10s %9s %10s %8s  %-12s %s", "calls/s", "in it %",
	      "mean us", "pid", "runtime", "function");
	for (size_t i = 0; i < frame->call_count && i < rows; i++) {
		const struct top_call *c = &frame->calls[i];

		print(line, context, TOP_PLAIN, "%10.0f %9.1f %10.1f %8u  %-12s %s",
		      rate(frame, c->count), percent(c->total_ns, frame->duration_ns),
		      (double)c->total_ns / 1000 / (double)c->count, c->pid, c->runtime,
		      c->function);
	}
}

void top_view_calls(struct top_frame *frame, int width, size_t rows, top_line *line, void *context)
{
	if (!frame->call_count || !rows)
		return;
	top_order_calls(frame);
	if (width < TOP_WIDE)
		narrow_calls(frame, width, rows, line, context);
	else
		wide_calls(frame, rows, line, context);
	if (frame->call_count > rows)
		print(line, context, TOP_PLAIN, "... and %zu more functions",
		      frame->call_count - rows);
}

void top_view_devices(const struct top_frame *frame, top_line *line, void *context)
{
	if (!frame->device_count)
		return;
	print(line, context, TOP_HEADING, "%10s %9s %8s  %s", "tasks/s", "busy %", "pid", "device");
	for (size_t i = 0; i < frame->device_count; i++) {
		const struct top_device *d = &frame->devices[i];

		print(line, context, TOP_PLAIN, "%10.0f %9.1f %8u  %s", rate(frame, d->tasks),
		      percent(d->busy_ns, frame->duration_ns), d->pid, d->name);
	}
}

#define QUEUE_BAR 10
#define QUEUE_BAR_NARROW 6

/* "[######    ] 4.9/8": the fill of the queue, which shows at a glance which side waits. */
static void queue_text(const struct live_operator *op, int width, char *text, size_t size)
{
	char bar[QUEUE_BAR + 1];
	int full;

	if (!op->has_queue || !op->has_size || !op->capacity) {
		snprintf(text, size, "%s",
			 !op->has_queue ? "" : op->never_empty ? "never empty" : "?");
		return;
	}
	full = (int)(op->mean_size * width / op->capacity + 0.5);
	for (int i = 0; i < width; i++)
		bar[i] = i < full ? '#' : ' ';
	bar[width] = '\0';
	snprintf(text, size, "[%s] %.1f/%u", bar, op->mean_size, op->capacity);
}

/* Percent of the frame, "?" if unknown. */
static const char *wait_text(const struct top_frame *frame, bool known, uint64_t ns, char *text,
			     size_t size)
{
	snprintf(text, size, "?");
	if (known)
		snprintf(text, size, "%.1f", percent(ns, frame->duration_ns));
	return text;
}

static void operator_line(const struct top_frame *frame, const struct live_operator *op, bool narrow,
			  top_line *line, void *context)
{
	char queue[48], put[16], get[16], name[sizeof(op->name) + 16];

	/* Data sets that are made alike. */
	if (op->instance > 1)
		snprintf(name, sizeof(name), "#%u %s", op->instance, op->name);
	else
		snprintf(name, sizeof(name), "%s", op->name);
	queue_text(op, narrow ? QUEUE_BAR_NARROW : QUEUE_BAR, queue, sizeof(queue));
	wait_text(frame, op->has_push_wait, op->push_wait_ns, put, sizeof(put));
	wait_text(frame, op->has_pop_wait, op->pop_wait_ns, get, sizeof(get));
	if (narrow)
		print(line, context, TOP_PLAIN, "%8u %6.1f  %-17.17s %-18.18s %5s", op->pid,
		      percent(op->run_ns, frame->duration_ns), name, queue, get);
	else
		print(line, context, TOP_PLAIN,
		      "%8u  %6.1f %6.1f  %-22.22s %-22s %8.0f %7s %7s", op->pid,
		      percent(op->run_ns, frame->duration_ns),
		      percent(op->runnable_ns, frame->duration_ns), name, queue,
		      rate(frame, op->elements ? op->elements : op->pops), put, get);
}

void top_view_operators(const struct top_frame *frame, int width, size_t rows, top_line *line,
			void *context)
{
	bool narrow = width < TOP_WIDE;

	if (!frame->operator_count || !rows)
		return;
	if (narrow)
		print(line, context, TOP_HEADING, "%8s %6s  %-17s %-18s %5s", "pid", "CPU %",
		      "operator", "its queue", "get %");
	else
		print(line, context, TOP_HEADING, "%8s  %6s %6s  %-22s %-22s %8s %7s %7s", "pid",
		      "CPU %", "ready%", "operator", "its queue", "rows/s", "put %", "get %");
	for (size_t i = 0; i < frame->operator_count && i < rows; i++)
		operator_line(frame, &frame->operators[i], narrow, line, context);
	if (frame->operator_count > rows)
		print(line, context, TOP_PLAIN, "... and %zu more operators",
		      frame->operator_count - rows);
}

static void process_heading(int width, top_line *line, void *context)
{
	if (width < TOP_WIDE)
		print(line, context, TOP_HEADING, "%8s  %6s %6s %7s  %s", "pid", "CPU %", "ready%",
		      "RSS", "command");
	else
		print(line, context, TOP_HEADING, "%8s  %6s %6s %8s %5s %7s %8s %8s %8s %8s  %s",
		      "pid", "CPU %", "ready%", "blocked%", "thr", "RSS", "read/s", "write/s",
		      "disk/s", "faults/s", "command");
}

/* The program without its folder: there is no room for both. */
static const char *without_folder(const char *command)
{
	const char *end = command + strcspn(command, " "), *name = end;

	while (name > command && name[-1] != '/')
		name--;
	return name;
}

static void process_line(const struct top_frame *frame, const struct top_row *row, int width,
			 top_line *line, void *context)
{
	const struct top_process *p = row->process;
	enum top_style style = p->target ? TOP_TARGET : TOP_PLAIN;
	char rss[16], read[16], written[16], disk[16];
	const char *name = *p->cmdline ? p->cmdline : *p->name ? p->name : "?";
	const char *memory = p->rss_bytes ? short_size((double)p->rss_bytes, rss, sizeof(rss)) : "?";
	int indent = row->depth < INDENT_MAX ? 2 * (int)row->depth : 2 * INDENT_MAX;

	if (width < TOP_WIDE) {
		print(line, context, style, "%8u%c %6.1f %6.1f %7s  %*s%s", p->pid,
		      p->target ? '*' : ' ', percent(p->run_ns, frame->duration_ns),
		      percent(p->runnable_ns, frame->duration_ns), memory, indent, "",
		      *p->cmdline ? without_folder(name) : name);
		return;
	}
	print(line, context, style, "%8u%c %6.1f %6.1f %8.1f %5u %7s %8s %8s %8s %8.0f  %*s%s",
	      p->pid, p->target ? '*' : ' ', percent(p->run_ns, frame->duration_ns),
	      percent(p->runnable_ns, frame->duration_ns),
	      percent(p->blocked_ns, frame->duration_ns), p->threads, memory,
	      short_size(rate(frame, p->read_chars), read, sizeof(read)),
	      short_size(rate(frame, p->write_chars), written, sizeof(written)),
	      short_size(rate(frame, p->read_bytes + p->write_bytes), disk, sizeof(disk)),
	      rate(frame, p->faults), indent, "", name);
}

size_t top_view_processes(const struct top_frame *frame, const struct top_view *view, int width,
			  size_t first, size_t rows, top_line *line, void *context)
{
	struct top_row *listed;
	size_t count = top_order_rows(frame, &view->choice, &listed);

	if (frame->process_count)
		process_heading(width, line, context);
	for (size_t i = first; i < count && i - first < rows; i++)
		process_line(frame, &listed[i], width, line, context);
	free(listed);
	return count;
}

void top_view_keys(top_line *line, void *context)
{
	static const char *const keys[] = {
		"c r b i m p  sort by CPU, ready, blocked, I/O, memory, pid",
		"t            show traced processes only (marked *), or all",
		"v            show a tree of processes, or a list",
		"w            find what holds the jobs of --pid up, again and",
		"             again (line root), or stop that",
		"/            show only commands with a word, or a pid; Enter",
		"             keeps the filter, Esc removes it",
		"arrows, Page Up, Page Down, Home   scroll",
		"space        pause, continue",
		"h ?          show these keys; any key closes the list",
		"q            quit",
	};

	print(line, context, TOP_HEADING, "%s", "keys");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		print(line, context, TOP_PLAIN, "%s", keys[i]);
	print(line, context, TOP_HEADING, "%s", "columns");
	print(line, context, TOP_PLAIN, "%s", "CPU %        time on CPUs; 100 is one CPU");
	print(line, context, TOP_PLAIN, "%s", "ready%       time waiting for a CPU, sum of all threads");
	print(line, context, TOP_PLAIN, "%s", "put %, get % time waiting for room in a queue, an element");
	print(line, context, TOP_PLAIN, "%s", "?            unknown");
}
