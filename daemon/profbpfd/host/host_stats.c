/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/host_stats.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/trace/clocks.h"
#include "lib/trace/column.h"

static struct item *pack(Profbpf__Packet__Kind kind, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	struct item *item = item_new(ITEM_BODY, size ? size : 1);

	if (!item)
		return NULL;
	item->body = kind;
	item->size = protobuf_c_message_pack(message, item->data);
	return item;
}

struct cpu_columns {
	struct column_u32 cpu;
	struct column_u64 user, system, irq, softirq, iowait, idle, steal;
};

static void add_cpu(struct cpu_columns *c, unsigned int cpu, const unsigned long long *ticks)
{
	const uint64_t tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK);

	column_u32_push(&c->cpu, cpu);
	column_u64_push(&c->user, (ticks[0] + ticks[1]) * tick_ns);
	column_u64_push(&c->system, ticks[2] * tick_ns);
	column_u64_push(&c->idle, ticks[3] * tick_ns);
	column_u64_push(&c->iowait, ticks[4] * tick_ns);
	column_u64_push(&c->irq, ticks[5] * tick_ns);
	column_u64_push(&c->softirq, ticks[6] * tick_ns);
	column_u64_push(&c->steal, ticks[7] * tick_ns);
}

/* proc(5): user nice system idle iowait irq softirq steal, in ticks of _SC_CLK_TCK. */
static void read_line(Profbpf__CpuStats *m, struct cpu_columns *c, const char *line)
{
	unsigned long long t[8], value;
	unsigned int cpu;

	/* Skips the first line, "cpu  ", the sum of all CPUs, whose blanks %u would accept. */
	if (isdigit((unsigned char)line[3]) &&
	    sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1], &t[2],
		   &t[3], &t[4], &t[5], &t[6], &t[7]) == 9)
		add_cpu(c, cpu, t);
	else if (sscanf(line, "ctxt %llu", &value) == 1)
		m->context_switches = value;
	else if (sscanf(line, "processes %llu", &value) == 1)
		m->forks = value;
	else if (sscanf(line, "procs_running %llu", &value) == 1)
		m->runnable = value;
	else if (sscanf(line, "procs_blocked %llu", &value) == 1)
		m->blocked = value;
}

static void free_columns(struct cpu_columns *c)
{
	column_u32_free(&c->cpu);
	column_u64_free(&c->user);
	column_u64_free(&c->system);
	column_u64_free(&c->irq);
	column_u64_free(&c->softirq);
	column_u64_free(&c->iowait);
	column_u64_free(&c->idle);
	column_u64_free(&c->steal);
}

struct item *host_stats_cpus(void)
{
	Profbpf__CpuStats m = PROFBPF__CPU_STATS__INIT;
	FILE *f = fopen("/proc/stat", "re");
	struct cpu_columns c = { 0 };
	struct timespec now;
	struct item *item;
	char *line = NULL;
	size_t capacity = 0;

	if (!f)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &now);
	m.ts_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	while (getline(&line, &capacity, f) > 4)
		read_line(&m, &c, line);
	free(line);
	fclose(f);
	COLUMN_EXPORT_ALWAYS(&c.cpu, &m, cpu);
	COLUMN_EXPORT_ALWAYS(&c.user, &m, user_ns);
	COLUMN_EXPORT_ALWAYS(&c.system, &m, system_ns);
	COLUMN_EXPORT_ALWAYS(&c.irq, &m, irq_ns);
	COLUMN_EXPORT_ALWAYS(&c.softirq, &m, softirq_ns);
	COLUMN_EXPORT_ALWAYS(&c.iowait, &m, iowait_ns);
	COLUMN_EXPORT_ALWAYS(&c.idle, &m, idle_ns);
	COLUMN_EXPORT_ALWAYS(&c.steal, &m, steal_ns);
	item = pack(PROFBPF__PACKET__KIND__CPU_STATS, &m.base);
	free_columns(&c);
	return item;
}

struct item *host_stats_clocks(void)
{
	Profbpf__Clocks m = PROFBPF__CLOCKS__INIT;
	struct clock_snapshot s;

	if (clock_snapshot_take(&s))
		return NULL;
	m.n_monotonic_ns = m.n_monotonic_raw_ns = m.n_boottime_ns = m.n_realtime_ns = 1;
	m.n_counter = 1;
	m.monotonic_ns = &s.monotonic_ns;
	m.monotonic_raw_ns = &s.monotonic_raw_ns;
	m.boottime_ns = &s.boottime_ns;
	m.realtime_ns = &s.realtime_ns;
	m.counter = &s.counter;
	return pack(PROFBPF__PACKET__KIND__CLOCKS, &m.base);
}
