/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/host_counters.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/trace/column.h"

#define NAME_MAX_BYTES 48
#define STATES_MAX 16 /* idle states of a CPU */
#define PRESSURES 6 /* "some" and "full", each for CPUs, I/O and memory */

/* The values read; the texts must stay valid until the message is packed. */
struct reading {
	char (*name)[NAME_MAX_BYTES];
	char **names;
	size_t count;
	size_t capacity;
	struct column_u32 cpu;	/* 1 + CPU, 0 = the whole machine */
	struct column_u32 unit;
	struct column_u64 value;
};

static void add(struct reading *r, int cpu, uint32_t unit, uint64_t value, const char *name)
{
	if (r->count == r->capacity || column_u32_reserve(&r->cpu, 1) ||
	    column_u32_reserve(&r->unit, 1) || column_u64_reserve(&r->value, 1))
		return;
	snprintf(r->name[r->count], NAME_MAX_BYTES, "%s", name);
	r->names[r->count] = r->name[r->count];
	r->count++;
	column_u32_push(&r->cpu, (uint32_t)(cpu + 1));
	column_u32_push(&r->unit, unit);
	column_u64_push(&r->value, value);
}

/* Lines are "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds. */
static void read_pressure(struct reading *r, const char *what)
{
	char path[64], line[160], kind[8], name[NAME_MAX_BYTES];
	uint64_t total;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/pressure/%s", what);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%7s avg10=%*s avg60=%*s avg300=%*s total=%" SCNu64, kind,
			   &total) != 2)
			continue;
		snprintf(name, sizeof(name), "pressure_%s_%s", what, kind);
		add(r, -1, PROFBPF__COUNTERS__UNIT__NS_TOTAL, total * 1000, name);
	}
	fclose(f);
}

static bool read_number(const char *path, uint64_t *value)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fscanf(f, "%" SCNu64, value) == 1;
	fclose(f);
	return ok;
}

static void read_idle_states(struct reading *r, int cpu)
{
	char path[128], state[24], name[NAME_MAX_BYTES];
	uint64_t us;

	for (int i = 0; i < STATES_MAX; i++) {
		FILE *f;
		bool named;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/name",
			 cpu, i);
		f = fopen(path, "re");
		if (!f)
			return;
		named = fscanf(f, "%23s", state) == 1;
		fclose(f);
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/time",
			 cpu, i);
		if (!named || !read_number(path, &us))
			continue;
		snprintf(name, sizeof(name), "idle_%s", state);
		add(r, cpu, PROFBPF__COUNTERS__UNIT__NS_TOTAL, us * 1000, name);
	}
}

static void read_cpus(struct reading *r, long cpus)
{
	char path[128];
	uint64_t khz;

	for (int cpu = 0; cpu < cpus; cpu++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
		if (read_number(path, &khz))
			add(r, cpu, PROFBPF__COUNTERS__UNIT__HZ, khz * 1000, "frequency");
		read_idle_states(r, cpu);
	}
}

static struct item *pack(struct reading *r)
{
	Profbpf__Counters m = PROFBPF__COUNTERS__INIT;
	struct item *item = NULL;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	m.ts_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	m.n_name = r->count;
	m.name = r->names;
	COLUMN_EXPORT(&r->cpu, &m, cpu);
	COLUMN_EXPORT_ENUM(&r->unit, &m, unit);
	COLUMN_EXPORT(&r->value, &m, value);
	item = item_new(ITEM_BODY, protobuf_c_message_get_packed_size(&m.base));
	if (!item)
		return NULL;
	item->body = PROFBPF__PACKET__KIND__COUNTERS;
	item->size = protobuf_c_message_pack(&m.base, item->data);
	return item;
}

struct item *host_counters(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct reading r = { .capacity = PRESSURES };
	struct item *item = NULL;

	if (cpus > 0)
		r.capacity += (size_t)cpus * (1 + STATES_MAX);
	r.name = calloc(r.capacity, sizeof(*r.name));
	r.names = calloc(r.capacity, sizeof(*r.names));
	if (r.name && r.names) {
		read_pressure(&r, "cpu");
		read_pressure(&r, "io");
		read_pressure(&r, "memory");
		read_cpus(&r, cpus);
		item = r.count ? pack(&r) : NULL;
	}
	free(r.name);
	free(r.names);
	column_u32_free(&r.cpu);
	column_u32_free(&r.unit);
	column_u64_free(&r.value);
	return item;
}
