/* SPDX-License-Identifier: Apache-2.0 */
/* every_host.c - the kernel's records of threads, processes, cgroups, CPUs and storage. */
#include "tests/tools/every.h"

#include <stdio.h>
#include <stdlib.h>

#define SYS_READ 63 /* aarch64 */

void every_put(struct trace_builder *b, Profbpf__Packet__Kind kind, const ProtobufCMessage *message)
{
	uint8_t body[16384];

	if (protobuf_c_message_get_packed_size(message) > sizeof(body))
		abort();
	trace_packet(b, kind, body, protobuf_c_message_pack(message, body));
}

static void interrupts(struct trace_builder *b)
{
	Profbpf__Interrupts m = PROFBPF__INTERRUPTS__INIT;
	int64_t ts_ns[] = { START + 60 * MS, 2 * MS, 2 * MS, 2 * MS };
	uint64_t dur_ns[] = { 1000, 20000, 300000, 7000 };
	uint32_t tid[] = { JOB, JOB, JOB, JOB }, flags[] = { 2, 4, 8, 2 | 4 };

	m.n_ts_ns = m.n_dur_ns = m.n_tid = m.n_flags = COUNT(flags);
	m.ts_ns = ts_ns;
	m.dur_ns = dur_ns;
	m.tid = tid;
	m.flags = flags;
	every_put(b, PROFBPF__PACKET__KIND__INTERRUPTS, &m.base);
}

static void storage(struct trace_builder *b)
{
	Profbpf__Faults f = PROFBPF__FAULTS__INIT;
	Profbpf__BlockRequests r = PROFBPF__BLOCK_REQUESTS__INIT;
	Profbpf__BlockRequests__Operation operations[8];
	int64_t fault_end[] = { START + 3 * STEP + 3 * MS, 4 * STEP }, end[8];
	uint64_t fault_dur[] = { 2 * MS, MS }, address[] = { 0x7f0000001000, 0x7f0000003000 },
		 dur[8], wait[8];
	uint32_t ids[] = { JOB, JOB, JOB, JOB, JOB, JOB, JOB, JOB }, rdev[8], bytes[8], flags[8];

	f.n_end_ns = f.n_dur_ns = f.n_tid = f.n_tgid = f.n_address = 2;
	f.end_ns = fault_end;
	f.dur_ns = fault_dur;
	f.tid = f.tgid = ids;
	f.address = address;
	every_put(b, PROFBPF__PACKET__KIND__FAULTS, &f.base);
	for (uint32_t i = 0; i < 8; i++) {
		operations[i] = i % 5;
		end[i] = i ? 30 * MS : START + 100 * MS;
		dur[i] = (i + 1) * MS;
		wait[i] = (i + 1) * 1000;
		rdev[i] = DISK;
		bytes[i] = 4096 << i;
		flags[i] = i < 7 ? 1u << i : 0;
	}
	r.n_end_ns = r.n_dur_ns = r.n_wait_ns = r.n_tid = r.n_tgid = r.n_rdev = r.n_operation = 8;
	r.n_bytes = r.n_flags = 8;
	r.end_ns = end;
	r.dur_ns = dur;
	r.wait_ns = wait;
	r.tid = r.tgid = ids;
	r.rdev = rdev;
	r.operation = operations;
	r.bytes = bytes;
	r.flags = flags;
	every_put(b, PROFBPF__PACKET__KIND__BLOCK_REQUESTS, &r.base);
}

/* Adds threads with each initial state; the job's figures grow by the values of its row. */
static void accounts(struct trace_builder *b)
{
	static const uint32_t flags[] = { 16 | 2 | 8, 16 | 4, 16,    16 | 32,	16 | 64,
					  16 | 128,   8,      1 | 8, 256 | 512, 8 };
	static const uint32_t tids[] = { JOB, 50, 51, 52, 53, 54, JOB, WORKER, OTHER, JOB };
	static const uint32_t at_ms[] = { 1, 1, 1, 1, 1, 1, 900, 1900, 2000, 2100 };
	Profbpf__Accounts m = PROFBPF__ACCOUNTS__INIT;
	int64_t ts_ns[COUNT(flags)];
	uint64_t figures[14][COUNT(flags)];
	uint32_t tgids[COUNT(flags)], syscalls[COUNT(flags)];

	for (size_t i = 0; i < COUNT(flags); i++) {
		ts_ns[i] = (int64_t)(i ? (at_ms[i] - at_ms[i - 1]) * MS : START + MS);
		tgids[i] = tids[i] == WORKER ? JOB : tids[i];
		syscalls[i] = i == 2 ? 1 + SYS_READ : 0;
		for (size_t f = 0; f < 14; f++)
			figures[f][i] = (f < 4 || f == 9 ? MS : 1) * (i + 1) * (f + 3) * 7;
	}
	m.n_ts_ns = m.n_tid = m.n_tgid = m.n_flags = m.n_run_ns = m.n_runnable_ns = COUNT(flags);
	m.n_user_ns = m.n_system_ns = m.n_voluntary = m.n_involuntary = m.n_migrations =
		COUNT(flags);
	m.n_minor_faults = m.n_major_faults = m.n_io_ns = m.n_syscall = COUNT(flags);
	m.n_read_bytes = m.n_write_bytes = m.n_read_chars = m.n_write_chars = COUNT(flags);
	m.ts_ns = ts_ns;
	m.tid = (uint32_t *)tids;
	m.tgid = tgids;
	m.flags = (uint32_t *)flags;
	m.run_ns = figures[0];
	m.runnable_ns = figures[1];
	m.user_ns = figures[2];
	m.system_ns = figures[3];
	m.voluntary = figures[4];
	m.involuntary = figures[5];
	m.migrations = figures[6];
	m.minor_faults = figures[7];
	m.major_faults = figures[8];
	m.io_ns = figures[9];
	m.read_bytes = figures[10];
	m.write_bytes = figures[11];
	m.read_chars = figures[12];
	m.write_chars = figures[13];
	m.syscall = syscalls;
	every_put(b, PROFBPF__PACKET__KIND__ACCOUNTS, &m.base);
}

#define GROUP                                                                                       \
	"/kubepods.slice/kubepods-pod12345678_9abc_def0_1234_56789abcdef0.slice/cri-containerd-"    \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope"

static void processes(struct trace_builder *b)
{
	Profbpf__Cgroups g = PROFBPF__CGROUPS__INIT;
	Profbpf__Cgroup group = PROFBPF__CGROUP__INIT, *groups[] = { &group };
	Profbpf__Processes m = PROFBPF__PROCESSES__INIT;
	int64_t ts_ns[] = { START + MS, 0, 500 * MS, 200 * MS };
	uint32_t tgid[] = { JOB, OTHER, JOB, 30 }, flags[] = { 2 | 8 | 16, 16, 2 | 8, 1 };
	uint32_t threads[] = { 2, 1, 3, 1 }, ns_pid[] = { 4, 0, 4, 0 };
	uint64_t cgroup[] = { 99, 0, 99, 0 }, rss[] = { 5000, 6000, 7000, 8000 },
		 peak[] = { 9000, 9001, 9002, 9003 };

	group.id = 99;
	group.path = GROUP;
	group.container_name = "trainer";
	group.image = "registry.example/llm:3";
	group.pod_name = "train-0";
	group.pod_namespace = "research";
	g.n_cgroup = 1;
	g.cgroup = groups;
	every_put(b, PROFBPF__PACKET__KIND__CGROUPS, &g.base);
	m.n_ts_ns = m.n_tgid = m.n_flags = m.n_threads = m.n_ns_pid = m.n_cgroup = 4;
	m.n_rss_bytes = m.n_peak_rss_bytes = 4;
	m.ts_ns = ts_ns;
	m.tgid = tgid;
	m.flags = flags;
	m.threads = threads;
	m.ns_pid = ns_pid;
	m.cgroup = cgroup;
	m.rss_bytes = rss;
	m.peak_rss_bytes = peak;
	every_put(b, PROFBPF__PACKET__KIND__PROCESSES, &m.base);
}

/* Adds groups one after the other, each with one more known value. */
static void cgroup_stats(struct trace_builder *b)
{
	Profbpf__Cgroups g = PROFBPF__CGROUPS__INIT;
	Profbpf__Cgroup rows[4], *list[4];
	Profbpf__CgroupStats m = PROFBPF__CGROUP_STATS__INIT;
	int64_t ts_ns[8];
	uint64_t id[8], figures[8][8];
	uint32_t flags[8];
	char path[4][16];

	for (uint32_t i = 0; i < 4; i++) {
		profbpf__cgroup__init(&rows[i]);
		snprintf(path[i], sizeof(path[i]), "/known%u", 1u << i);
		rows[i].id = 100 + i;
		rows[i].path = path[i];
		rows[i].version1 = i == 3;
		list[i] = &rows[i];
	}
	g.n_cgroup = 4;
	g.cgroup = list;
	every_put(b, PROFBPF__PACKET__KIND__CGROUPS, &g.base);
	for (uint32_t i = 0; i < 8; i++) {
		ts_ns[i] = i ? 200 * MS : START;
		id[i] = 100 + i % 4;
		flags[i] = 1u << i % 4 | (i % 4 == 3 ? 4 : 0);
		for (uint32_t f = 0; f < 8; f++)
			figures[f][i] = (f + 2) * (i + 1) * (f == 2 || f == 3 ? 3 : 5 * MS);
	}
	m.n_ts_ns = m.n_cgroup = m.n_flags = m.n_quota_ns = m.n_period_ns = m.n_periods = 8;
	m.n_throttled_periods = m.n_throttled_ns = m.n_usage_ns = m.n_user_ns = m.n_system_ns = 8;
	m.ts_ns = ts_ns;
	m.cgroup = id;
	m.flags = flags;
	m.quota_ns = figures[0];
	m.period_ns = figures[1];
	m.periods = figures[2];
	m.throttled_periods = figures[3];
	m.throttled_ns = figures[4];
	m.usage_ns = figures[5];
	m.user_ns = figures[6];
	m.system_ns = figures[7];
	every_put(b, PROFBPF__PACKET__KIND__CGROUP_STATS, &m.base);
}

static void host(struct trace_builder *b)
{
	for (uint64_t i = 0; i < 3; i++) {
		struct trace_cpu_row cpus[2];
		Profbpf__Counters m = PROFBPF__COUNTERS__INIT;
		char *names[] = { "file_handles", "frequency", "pressure_cpu_some" };
		uint32_t cpu[] = { 0, 1, 0 };
		Profbpf__Counters__Unit units[] = { 0, 1, 2 };
		uint64_t values[] = { 100 + i, 2000000 + i, 30 * i * MS };

		for (uint32_t c = 0; c < 2; c++)
			cpus[c] = (struct trace_cpu_row){
				c,	    i * (301 + c) * MS, i * (41 + c) * MS, i * 5 * MS,
				i * 6 * MS, i * 7 * MS,		i * 640 * MS,	   i * 2 * MS
			};
		trace_cpu_stats(b,
				&(struct trace_host_row){ START + i * 1000 * MS, 7000 + 90 * i,
							  50 + i, 3, 1 },
				cpus, 2);
		m.ts_ns = START + i * 1000 * MS;
		m.n_name = m.n_cpu = m.n_unit = m.n_value = 3;
		m.name = names;
		m.cpu = cpu;
		m.unit = units;
		m.value = values;
		every_put(b, PROFBPF__PACKET__KIND__COUNTERS, &m.base);
	}
}

void every_host(struct trace_builder *b)
{
	interrupts(b);
	storage(b);
	accounts(b);
	processes(b);
	cgroup_stats(b);
	host(b);
}
