/* SPDX-License-Identifier: Apache-2.0 */
/* random_code.c - code locations of the threads of a random job, and limits of their cgroups. */
#include "tests/tools/random.h"

#define FRAMES 14
#define STACKS 40

enum { NATIVE = 1, LIBRARY = 4, KERNEL = 7, GENERATED = 9, PYTHON = 10 }; /* the first frame of each kind */

static const char *const NAMES[] = { "main",	  "compute",	  "wait",	    "copy",  "at::native::copy_",
				     "gc_collect_main", "do_sys_poll", "futex_wait", "jitted", "train",
				     "load",	  "collate",	  "<module>", "_worker_loop", "train.py",
				     "loader.py" };
#define SOURCE 15 /* ids of the last two */

static void put_frames(struct world *w)
{
	Profbpf__Stacks m = PROFBPF__STACKS__INIT;
	Profbpf__StackFile file[2] = { PROFBPF__STACK_FILE__INIT, PROFBPF__STACK_FILE__INIT };
	Profbpf__StackFile *files[] = { &file[0], &file[1] };
	Profbpf__Stacks__Kind kinds[FRAMES];
	uint32_t in_file[FRAMES], named[FRAMES], source[FRAMES], line[FRAMES];
	uint32_t depth[STACKS], frame[STACKS * 6], frames = 0;
	uint64_t offset[FRAMES];

	file[0].id = 1;
	file[0].path = "/bin/job";
	file[1].id = 2;
	file[1].path = "/usr/lib/libtorch_cpu.so";
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t id = i + 1;

		kinds[i] = id >= PYTHON	     ? PROFBPF__STACKS__KIND__PYTHON
			   : id == GENERATED ? PROFBPF__STACKS__KIND__GENERATED
			   : id >= KERNEL    ? PROFBPF__STACKS__KIND__KERNEL
					     : PROFBPF__STACKS__KIND__USER;
		in_file[i] = id < LIBRARY ? 1 : id < KERNEL ? 2 : 0;
		offset[i] = in_file[i] ? 0x1000 + 16 * i : 0;
		/* A frame without a name is an address in its file. */
		named[i] = id == NATIVE + 2 ? 0 : id;
		source[i] = id >= PYTHON ? SOURCE + id % 2 : 0;
		line[i] = id >= PYTHON ? 7 * id : 0;
	}
	/* Innermost first: kernel frames, native frames, Python frames. */
	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t before = frames;

		if (up_to(w, 3) == 0)
			frame[frames++] = KERNEL + up_to(w, 2);
		if (up_to(w, 3))
			frame[frames++] = NATIVE + up_to(w, GENERATED - NATIVE + 1);
		if (up_to(w, 2))
			frame[frames++] = NATIVE + up_to(w, KERNEL - NATIVE);
		if (up_to(w, 2))
			frame[frames++] = PYTHON + up_to(w, FRAMES - PYTHON + 1);
		frame[frames++] = up_to(w, 2) ? PYTHON + up_to(w, FRAMES - PYTHON + 1) : NATIVE;
		depth[i] = frames - before;
	}
	m.n_file = 2;
	m.file = files;
	m.first_name = m.first_frame = m.first_stack = 1;
	m.n_name = COUNT(NAMES);
	m.name = (char **)NAMES;
	m.n_kind = m.n_in_file = m.n_offset = m.n_named = m.n_source = m.n_line = FRAMES;
	m.kind = kinds;
	m.in_file = in_file;
	m.offset = offset;
	m.named = named;
	m.source = source;
	m.line = line;
	m.n_depth = STACKS;
	m.depth = depth;
	m.n_frame = frames;
	m.frame = frame;
	every_put(w->b, PROFBPF__PACKET__KIND__STACKS, &m.base);
}

static void put_groups(struct world *w)
{
	Profbpf__Cgroups m = PROFBPF__CGROUPS__INIT;
	Profbpf__Cgroup rows[GROUPS], *list[GROUPS];
	static const char *const paths[GROUPS] = { "/jobs", "/jobs/one", "/jobs/two" };

	for (uint32_t i = 0; i < GROUPS; i++) {
		profbpf__cgroup__init(&rows[i]);
		rows[i].id = 90 + i;
		rows[i].path = (char *)paths[i];
		list[i] = &rows[i];
	}
	m.n_cgroup = GROUPS;
	m.cgroup = list;
	every_put(w->b, PROFBPF__PACKET__KIND__CGROUPS, &m.base);
}

void random_code_begin(struct world *w)
{
	put_frames(w);
	put_groups(w);
}

static void put_samples(struct world *w)
{
	Profbpf__StackSamples m = PROFBPF__STACK_SAMPLES__INIT;
	struct samples *rows = &w->samples;

	m.n_ts_ns = m.n_dur_ns = m.n_tid = m.n_tgid = m.n_stack = m.n_flags = m.n_waker = rows->count;
	m.ts_ns = rows->ts_ns;
	m.dur_ns = rows->dur_ns;
	m.tid = rows->tid;
	m.tgid = rows->tgid;
	m.stack = rows->stack;
	m.flags = rows->flags;
	m.waker = rows->waker;
	m.rate = 99;
	every_put(w->b, PROFBPF__PACKET__KIND__STACK_SAMPLES, &m.base);
	*rows = (struct samples){ .last_ns = 0 };
}

static void add_sample(struct world *w, uint32_t who, uint64_t slept_ns, uint32_t flags)
{
	struct samples *rows = &w->samples;
	uint32_t i = rows->count++;

	rows->ts_ns[i] = (int64_t)(w->now_ns - rows->last_ns);
	rows->last_ns = w->now_ns;
	rows->dur_ns[i] = slept_ns;
	rows->tid[i] = WHO[who].tid;
	rows->tgid[i] = WHO[who].tgid;
	rows->stack[i] = up_to(w, STACKS + 1);
	rows->flags[i] = flags | (up_to(w, 3) ? 32 : 0);
	rows->waker[i] = flags & 8 && up_to(w, 3) ? WHO[up_to(w, 3)].tid : 0;
	if (rows->count == ROWS)
		put_samples(w);
}

void random_code_runs(struct world *w, uint32_t who)
{
	uint32_t lock = up_to(w, 3);

	if (WHO[who].flags != 1 || up_to(w, 4))
		return;
	add_sample(w, who, 0, lock == 0 ? 4 : lock == 1 ? 64 : 0);
	if (WHO[who].tgid == 100 && up_to(w, 2))
		add_sample(w, who, 0, 2 | (lock == 0 ? 4 : lock == 1 ? 64 : 0));
}

void random_code_slept(struct world *w, uint32_t who, uint64_t ns)
{
	uint32_t flags = 1 | (up_to(w, 4) == 0 ? 8 : 0) | (up_to(w, 8) == 0 ? 16 : 0);

	if (WHO[who].flags == 1 && up_to(w, 2))
		add_sample(w, who, ns, flags);
}

/* Adds figures of groups, some of them unknown, and the processes of the groups. */
void random_code_figures(struct world *w, bool first, bool final)
{
	Profbpf__CgroupStats m = PROFBPF__CGROUP_STATS__INIT;
	Profbpf__Processes p = PROFBPF__PROCESSES__INIT;
	static uint32_t flags[GROUPS] = { 4, 1 | 2 | 4 | 8, 1 | 2 };
	static uint32_t tgid[] = { 100, 200, 300 };
	static uint64_t cgroup[] = { 91, 92, 0 }, id[GROUPS] = { 90, 91, 92 };
	int64_t ts_ns[GROUPS] = { (int64_t)w->now_ns };
	uint64_t quota[GROUPS], period[GROUPS], user[GROUPS], system[GROUPS], rss[3], peak[3];
	uint32_t of[3], threads[] = { 4, 2, 2 };

	for (uint32_t i = 0; i < GROUPS; i++) {
		if (!first) {
			uint64_t periods = up_to(w, 6);

			w->groups[i].periods += periods;
			w->groups[i].throttled_periods += up_to(w, (uint32_t)periods + 1);
			w->groups[i].throttled_ns += UNIT * up_to(w, 100);
			w->groups[i].usage_ns += UNIT * up_to(w, 400);
		}
		quota[i] = i == 2 && up_to(w, 2) ? 0 : 50 * MS;
		period[i] = 100 * MS;
		w->rows_of_groups[0][i] = w->groups[i].periods;
		w->rows_of_groups[1][i] = w->groups[i].throttled_periods;
		w->rows_of_groups[2][i] = w->groups[i].throttled_ns;
		w->rows_of_groups[3][i] = w->groups[i].usage_ns;
		user[i] = w->groups[i].usage_ns / 4 * 3;
		system[i] = w->groups[i].usage_ns / 4;
	}
	m.n_ts_ns = m.n_cgroup = m.n_flags = m.n_quota_ns = m.n_period_ns = m.n_periods = GROUPS;
	m.n_throttled_periods = m.n_throttled_ns = m.n_usage_ns = m.n_user_ns = m.n_system_ns = GROUPS;
	m.ts_ns = ts_ns;
	m.cgroup = id;
	m.flags = flags;
	m.quota_ns = quota;
	m.period_ns = period;
	m.periods = w->rows_of_groups[0];
	m.throttled_periods = w->rows_of_groups[1];
	m.throttled_ns = w->rows_of_groups[2];
	m.usage_ns = w->rows_of_groups[3];
	m.user_ns = user;
	m.system_ns = system;
	every_put(w->b, PROFBPF__PACKET__KIND__CGROUP_STATS, &m.base);
	for (uint32_t i = 0; i < 3; i++) {
		of[i] = (i < 2 ? 8 : 0) | (first ? 16 : 0) | (final && i == 1 ? 1 : 0) | (up_to(w, 4) ? 2 : 0);
		rss[i] = 4096ull * up_to(w, 1000);
		peak[i] = rss[i] + 4096ull * up_to(w, 2);
	}
	p.n_ts_ns = p.n_tgid = p.n_flags = p.n_threads = p.n_cgroup = p.n_rss_bytes = p.n_peak_rss_bytes = 3;
	p.ts_ns = ts_ns;
	p.tgid = tgid;
	p.flags = of;
	p.threads = threads;
	p.cgroup = cgroup;
	p.rss_bytes = rss;
	p.peak_rss_bytes = peak;
	every_put(w->b, PROFBPF__PACKET__KIND__PROCESSES, &p.base);
}

/* Adds what was shed for some time: samples, sleeps, ends of a function's calls. */
static void put_shed(struct world *w)
{
	static Profbpf__Shed__What what[] = { 1, 3, 1, 2, 3, 2 };
	static Profbpf__Shed__Reason reason[] = { 0, 1, 0, 0, 1, 1 };
	uint32_t kept[] = { 500, 0, 1000, 250, 1000, 1000 }, cost[] = { 90000, 0, 20000, 70000, 0, 10000 };
	int64_t ts_ns[6];
	Profbpf__Shed m = PROFBPF__SHED__INIT;

	for (uint32_t i = 0; i < 6; i++)
		ts_ns[i] = (int64_t)((i ? 0 : START) + UNIT * up_to(w, 1500));
	m.n_what = m.n_ts_ns = m.n_kept_permille = m.n_reason = m.n_cost_ppm = 6;
	m.what = what;
	m.ts_ns = ts_ns;
	m.kept_permille = kept;
	m.reason = reason;
	m.cost_ppm = cost;
	every_put(w->b, PROFBPF__PACKET__KIND__SHED, &m.base);
}

void random_code_end(struct world *w)
{
	put_samples(w);
	put_shed(w);
}
