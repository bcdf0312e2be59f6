/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_state.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/trace.pb-c.h"
#include "daemon/live/live_feeds.h"
#include "daemon/profctl/top/top_calls.h"
#include "daemon/profctl/top/top_rows.h"
#include "lib/trace/column.h"
#include "lib/elf/readable_symbol.h"

#define CPUS_MAX 4096
#define FUNCTIONS_MAX (1u << 20)

struct top_state *top_state_new(void)
{
	struct top_state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->before = calloc(CPUS_MAX, sizeof(*s->before));
	s->now = calloc(CPUS_MAX, sizeof(*s->now));
	s->feeds = live_feeds_new();
	if (!s->before || !s->now || !s->feeds) {
		top_state_free(s);
		return NULL;
	}
	return s;
}

static void forget_strings(struct top_state *s)
{
	for (size_t i = 0; i < s->string_count; i++)
		free(s->strings[i]);
	free(s->strings);
	s->strings = NULL;
	s->string_count = 0;
}

void top_state_free(struct top_state *s)
{
	if (!s)
		return;
	forget_strings(s);
	tdestroy(s->threads, free);
	tdestroy(s->processes, free);
	tdestroy(s->counters, free);
	free(s->functions);
	live_feeds_free(s->feeds);
	free(s->before);
	free(s->now);
	free(s);
}

static struct process *process_of(struct top_state *s, uint32_t pid)
{
	bool new;
	struct process *p = top_rows_get(&s->processes, pid, sizeof(*p), &new);

	if (p && new) {
		p->now.pid = pid;
		s->process_total++;
	}
	return p;
}

static void take_strings(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__Strings *m = profbpf__strings__unpack(NULL, packet->size, packet->body);
	size_t count = m ? (size_t)m->first_id + m->n_text : 0;
	char **strings = m && m->n_text ? reallocarray(s->strings, count, sizeof(*strings)) : NULL;

	/* Ids go up without a hole, from 1. */
	if (strings && (m->first_id == s->string_count || !s->string_count)) {
		for (size_t i = s->string_count; i < m->first_id; i++)
			strings[i] = NULL;
		for (size_t i = 0; i < m->n_text; i++)
			strings[m->first_id + i] = strdup(m->text[i]);
		s->string_count = count;
	}
	if (strings)
		s->strings = strings;
	profbpf__strings__free_unpacked(m, NULL);
}

static const char *text(const struct top_state *s, uint32_t id)
{
	return id < s->string_count && s->strings[id] ? s->strings[id] : "";
}

/* Tasks come before their figures: an id that is used again begins anew here. */
static void note_thread(struct top_state *s, uint32_t tid, uint64_t start_ns)
{
	struct thread *t = top_rows_get(&s->threads, tid, sizeof(*t), NULL);

	if (!t || !start_ns || t->start_ns == start_ns)
		return;
	if (t->known)
		top_rows_leave(s, t);
	*t = (struct thread){ .key = tid, .start_ns = start_ns };
}

static void take_tasks(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__Tasks *m = profbpf__tasks__unpack(NULL, packet->size, packet->body);
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_ts_ns, m->n_tid, m->n_tgid, m->n_parent_tgid, m->n_event,
			      m->n_name, m->n_cmdline, m->n_flags, m->n_start_ns))
		rows = 0;
	for (size_t i = 0; i < rows; i++) {
		uint32_t pid = COLUMN_AT(m, tgid, i), event = COLUMN_AT(m, event, i);
		uint32_t cmdline = COLUMN_AT(m, cmdline, i);
		struct process *p;

		note_thread(s, COLUMN_AT(m, tid, i), COLUMN_AT(m, start_ns, i));
		if (COLUMN_AT(m, tid, i) != pid)
			continue;
		p = process_of(s, pid);
		if (!p)
			continue;
		snprintf(p->now.name, sizeof(p->now.name), "%s", text(s, COLUMN_AT(m, name, i)));
		if (COLUMN_AT(m, parent_tgid, i))
			p->now.parent = COLUMN_AT(m, parent_tgid, i);
		live_feeds_process(s->feeds, pid, COLUMN_AT(m, parent_tgid, i), p->now.name);
		if (cmdline)
			snprintf(p->now.cmdline, sizeof(p->now.cmdline), "%s", text(s, cmdline));
		p->now.target |= COLUMN_AT(m, flags, i) & PROFBPF__TASKS__FLAG__TARGET;
		/* The first thread may exit before the others. */
		p->gone = event == PROFBPF__TASKS__EVENT__EXIT && p->alive <= 1;
		if (event == PROFBPF__TASKS__EVENT__EXIT)
			live_feeds_gone(s->feeds, pid);
		p->active = true;
	}
	profbpf__tasks__free_unpacked(m, NULL);
}

static void take_processes(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__Processes *m = profbpf__processes__unpack(NULL, packet->size, packet->body);
	size_t rows;

	if (!m ||
	    COLUMN_ROWS(&rows, m->n_ts_ns, m->n_tgid, m->n_flags, m->n_threads, m->n_rss_bytes))
		rows = 0;
	for (size_t i = 0; i < rows; i++) {
		uint32_t flags = COLUMN_AT(m, flags, i), pid = COLUMN_AT(m, tgid, i);
		struct process *p = flags & PROFBPF__PROCESSES__FLAG__FINAL
					    ? top_rows_find(&s->processes, pid)
					    : process_of(s, pid);

		if (!p)
			continue;
		p->now.threads = COLUMN_AT(m, threads, i);
		if (flags & PROFBPF__PROCESSES__FLAG__HAS_RSS)
			p->now.rss_bytes = COLUMN_AT(m, rss_bytes, i);
		p->now.target |= flags & PROFBPF__PROCESSES__FLAG__TARGET;
		p->gone |= flags & PROFBPF__PROCESSES__FLAG__FINAL;
	}
	profbpf__processes__free_unpacked(m, NULL);
}

static void take_account(struct top_state *s, const Profbpf__Accounts *m, size_t i)
{
	uint32_t flags = COLUMN_AT(m, flags, i), tid = COLUMN_AT(m, tid, i);
	uint32_t pid = COLUMN_AT(m, tgid, i);
	struct thread *t = top_rows_get(&s->threads, tid, sizeof(*t), NULL);
	struct process *p;
	struct top_process growth;
	bool old;

	if (!t)
		return;
	t->gone |= flags & PROFBPF__ACCOUNTS__FLAG__FINAL;
	/* For processes that are no targets this is the only record of their end. */
	if (t->gone && tid == pid && !(flags & PROFBPF__ACCOUNTS__FLAG__TARGET))
		live_feeds_gone(s->feeds, pid);
	/* Last figures can come when the process is off the list. */
	p = t->gone ? top_rows_find(&s->processes, pid) : process_of(s, pid);
	if (!p)
		return;
	/* The first figures of a thread that is older than the session contain its past. */
	old = !t->known &&
	      (flags & PROFBPF__ACCOUNTS__FLAG__FIRST || t->start_ns < s->session_start_ns);
	if (!t->known)
		p->alive++;
	t->known = true;
	t->pid = pid;
	growth.run_ns = top_rows_grown(&t->run_ns, COLUMN_AT(m, run_ns, i));
	growth.runnable_ns = top_rows_grown(&t->runnable_ns, COLUMN_AT(m, runnable_ns, i));
	growth.faults =
		top_rows_grown(&t->faults, COLUMN_AT(m, minor_faults, i) + COLUMN_AT(m, major_faults, i));
	growth.read_chars = top_rows_grown(&t->read_chars, COLUMN_AT(m, read_chars, i));
	growth.write_chars = top_rows_grown(&t->write_chars, COLUMN_AT(m, write_chars, i));
	growth.read_bytes = top_rows_grown(&t->read_bytes, COLUMN_AT(m, read_bytes, i));
	growth.write_bytes = top_rows_grown(&t->write_bytes, COLUMN_AT(m, write_bytes, i));
	p->now.target |= flags & PROFBPF__ACCOUNTS__FLAG__TARGET;
	if (old || flags & PROFBPF__ACCOUNTS__FLAG__FIRST)
		return;
	p->active = true;
	live_feeds_ran(s->feeds, t->pid, tid, growth.run_ns, growth.runnable_ns);
	p->now.run_ns += growth.run_ns;
	p->now.runnable_ns += growth.runnable_ns;
	p->now.faults += growth.faults;
	p->now.read_chars += growth.read_chars;
	p->now.write_chars += growth.write_chars;
	p->now.read_bytes += growth.read_bytes;
	p->now.write_bytes += growth.write_bytes;
}

static void take_accounts(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__Accounts *m = profbpf__accounts__unpack(NULL, packet->size, packet->body);
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_ts_ns, m->n_tid, m->n_tgid, m->n_flags, m->n_run_ns,
			      m->n_runnable_ns, m->n_minor_faults, m->n_major_faults,
			      m->n_read_chars, m->n_write_chars, m->n_read_bytes, m->n_write_bytes))
		rows = 0;
	for (size_t i = 0; i < rows; i++)
		take_account(s, m, i);
	profbpf__accounts__free_unpacked(m, NULL);
}

static void take_cpus(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__CpuStats *m = profbpf__cpu_stats__unpack(NULL, packet->size, packet->body);
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_cpu, m->n_user_ns, m->n_system_ns, m->n_irq_ns,
			      m->n_softirq_ns, m->n_iowait_ns, m->n_idle_ns, m->n_steal_ns))
		goto cleanup;
	s->cpu_count = 0;
	for (size_t i = 0; i < rows && i < CPUS_MAX; i++)
		s->now[s->cpu_count++] = (struct top_cpu){
			COLUMN_AT(m, cpu, i),	     COLUMN_AT(m, user_ns, i),
			COLUMN_AT(m, system_ns, i),  COLUMN_AT(m, irq_ns, i),
			COLUMN_AT(m, softirq_ns, i), COLUMN_AT(m, iowait_ns, i),
			COLUMN_AT(m, idle_ns, i),    COLUMN_AT(m, steal_ns, i),
		};
	s->now_ns = m->ts_ns;
	s->switches = m->context_switches;
	s->forks = m->forks;
	s->runnable = m->runnable;
	s->blocked = m->blocked;
	if (!s->before_ns) {
		memcpy(s->before, s->now, s->cpu_count * sizeof(*s->now));
		s->before_ns = s->now_ns;
		s->switches_before = s->switches;
		s->forks_before = s->forks;
	}
cleanup:
	profbpf__cpu_stats__free_unpacked(m, NULL);
}

static void name_function(struct function *function, const char *symbol)
{
	char *readable = readable_symbol(symbol);

	snprintf(function->name, sizeof(function->name), "%s", readable ? readable : symbol);
	free(readable);
}

static void take_functions(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__Functions *m = profbpf__functions__unpack(NULL, packet->size, packet->body);

	for (size_t i = 0; m && i < m->n_function; i++) {
		const Profbpf__Function *from = m->function[i];
		struct function *grown_to;

		if (from->id >= FUNCTIONS_MAX)
			continue;
		if (from->id >= s->function_count) {
			grown_to = reallocarray(s->functions, from->id + 1, sizeof(*grown_to));
			if (!grown_to)
				break;
			memset(grown_to + s->function_count, 0,
			       (from->id + 1 - s->function_count) * sizeof(*grown_to));
			s->functions = grown_to;
			s->function_count = from->id + 1;
		}
		snprintf(s->functions[from->id].runtime, sizeof(s->functions->runtime), "%s",
			 from->runtime);
		name_function(&s->functions[from->id], from->name);
		live_feeds_function(s->feeds, from);
	}
	profbpf__functions__free_unpacked(m, NULL);
}

static struct device *device_of(struct top_state *s, uint32_t id)
{
	for (size_t i = 0; i < s->device_count; i++)
		if (s->devices[i].id == id)
			return &s->devices[i];
	if (s->device_count == DEVICES_MAX)
		return NULL;
	s->devices[s->device_count] = (struct device){ .id = id };
	return &s->devices[s->device_count++];
}

static void take_devices(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__Devices *m = profbpf__devices__unpack(NULL, packet->size, packet->body);

	for (size_t i = 0; m && i < m->n_device; i++) {
		struct device *d = device_of(s, m->device[i]->id);

		if (!d) {
			s->left_out++;
			continue;
		}
		d->pid = m->device[i]->tgid;
		snprintf(d->name, sizeof(d->name), "%s", m->device[i]->name);
	}
	profbpf__devices__free_unpacked(m, NULL);
}

static void take_device_tasks(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__DeviceTasks *m = profbpf__device_tasks__unpack(NULL, packet->size, packet->body);
	struct device *d = m ? device_of(s, m->device) : NULL;
	uint64_t queued = 0;
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_queued_ns, m->n_start_ns, m->n_end_ns))
		rows = 0;
	s->left_out += d ? 0 : rows;
	for (size_t i = 0; d && i < rows; i++) {
		int64_t duration = COLUMN_AT(m, end_ns, i);
		uint64_t start;

		queued += (uint64_t)COLUMN_AT(m, queued_ns, i);
		start = queued + (uint64_t)COLUMN_AT(m, start_ns, i);
		live_busy_add(&d->busy, duration < 0 ? 0 : start, start + (uint64_t)duration);
	}
	profbpf__device_tasks__free_unpacked(m, NULL);
}

static void take_loss(struct top_state *s, const Profbpf__SourceStatistics *from)
{
	struct top_loss *loss = &s->losses[s->loss_count];

	if (s->loss_count == LOSSES_MAX)
		return;
	*loss = (struct top_loss){ .produced = from->produced };
	snprintf(loss->source, sizeof(loss->source), "%s", from->name);
	for (size_t i = 0; i < from->n_lost; i++)
		loss->lost += from->lost[i]->count;
	s->loss_count++;
}

/* Returns true if the figures of the host have changed: then a frame is complete. */
static bool take_statistics(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__Statistics *m = profbpf__statistics__unpack(NULL, packet->size, packet->body);

	if (!m)
		return false;
	s->cpu = m->daemon_cpu_ns;
	s->loss_count = 0;
	for (size_t i = 0; i < m->n_source; i++)
		take_loss(s, m->source[i]);
	for (size_t i = 0; i < m->n_short_calls; i++) {
		const Profbpf__ShortCalls *from = m->short_calls[i];
		struct counter *c = top_rows_get(&s->counters,
					   (uint64_t)from->function << 32 | from->tgid, sizeof(*c),
					   NULL);

		if (!c)
			break;
		c->count = from->count;
		c->total_ns = from->total_ns;
	}
	profbpf__statistics__free_unpacked(m, NULL);
	return s->before_ns && s->now_ns > s->before_ns;
}

static void count_kept(void *context, const struct live_called *call, uint32_t string)
{
	struct top_state *s = context;
	struct counter *c = top_rows_get(&s->counters, (uint64_t)call->function << 32 | call->pid,
					 sizeof(*c), NULL);

	live_feeds_call(s->feeds, call, text(s, string));
	if (!c)
		return;
	c->kept++;
	c->kept_ns += call->dur_ns;
}

static void take_segment(struct top_state *s, const struct pbt_packet *packet)
{
	Profbpf__Segment *m = profbpf__segment__unpack(NULL, packet->size, packet->body);

	forget_strings(s);
	if (m)
		s->session_start_ns = m->session_start_ns;
	profbpf__segment__free_unpacked(m, NULL);
}

bool top_state_take(struct top_state *s, const struct pbt_packet *packet)
{
	switch (packet->kind) {
	case PROFBPF__PACKET__KIND__SEGMENT: take_segment(s, packet); break;
	case PROFBPF__PACKET__KIND__STRINGS: take_strings(s, packet); break;
	case PROFBPF__PACKET__KIND__FUNCTIONS: take_functions(s, packet); break;
	case PROFBPF__PACKET__KIND__TASKS: take_tasks(s, packet); break;
	case PROFBPF__PACKET__KIND__PROCESSES: take_processes(s, packet); break;
	case PROFBPF__PACKET__KIND__ACCOUNTS: take_accounts(s, packet); break;
	case PROFBPF__PACKET__KIND__CPU_STATS: take_cpus(s, packet); break;
	case PROFBPF__PACKET__KIND__THREAD_ROLES: live_feeds_roles(s->feeds, packet->body, packet->size); break;
	case PROFBPF__PACKET__KIND__CALLS:
		top_calls_read(packet, &(const struct top_counting){ count_kept, s });
		break;
	case PROFBPF__PACKET__KIND__DEVICES: take_devices(s, packet); break;
	case PROFBPF__PACKET__KIND__DEVICE_TASKS: take_device_tasks(s, packet); break;
	case PROFBPF__PACKET__KIND__STATISTICS: return take_statistics(s, packet);
	default: break;
	}
	return false;
}
