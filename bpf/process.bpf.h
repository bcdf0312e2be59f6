/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* process.bpf.h - the kernel's figures of a process as a whole, as a record. */
#ifndef PROFBPF_PROCESS_BPF_H
#define PROFBPF_PROCESS_BPF_H

#include "task.bpf.h"

/* Indices of mm_struct.rss_stat, include/linux/mm_types_task.h; the same since 4.5. */
#define RSS_FILE 0
#define RSS_ANON 1
#define RSS_SHMEM 3

#define PAGE_SHIFT_MIN 12

/* Before 6.2: plain counters instead of one per CPU and a sum. */
struct mm_rss_stat___before_6_2 {
	atomic_long_t count[4];
} __attribute__((preserve_access_index));

struct mm_struct___before_6_2 {
	struct mm_rss_stat___before_6_2 rss_stat;
} __attribute__((preserve_access_index));

struct mm_struct___since_6_2 {
	struct percpu_counter rss_stat[4];
} __attribute__((preserve_access_index));

struct memory {
	__u64 resident; /* pages */
	__u64 peak;
	bool known;
};

static __always_inline __u64 rss_pages(struct mm_struct *mm, int what)
{
	struct mm_struct___before_6_2 *old = (void *)mm;
	struct mm_struct___since_6_2 *new = (void *)mm;
	__s64 pages;

	if (bpf_core_field_exists(old->rss_stat.count))
		pages = BPF_CORE_READ(old, rss_stat.count[what].counter);
	else
		pages = BPF_CORE_READ(new, rss_stat[what].count);
	return pages > 0 ? pages : 0;
}

static __always_inline bool rss_readable(void)
{
	struct mm_struct___before_6_2 *old = NULL;
	struct mm_struct___since_6_2 *new = NULL;

	return bpf_core_field_exists(old->rss_stat.count) ||
	       bpf_core_field_exists(new->rss_stat[0].count);
}

/* Like getrusage(2): the peak is the largest of all programs that this process has run. */
static __always_inline void memory_of(struct task_struct *task, struct memory *memory)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 mark;

	memory->resident = 0;
	memory->peak = BPF_CORE_READ(task, signal, maxrss);
	memory->known = mm && rss_readable();
	if (!memory->known)
		return;
	memory->resident =
		rss_pages(mm, RSS_FILE) + rss_pages(mm, RSS_ANON) + rss_pages(mm, RSS_SHMEM);
	mark = BPF_CORE_READ(mm, hiwater_rss);
	if (mark > memory->peak)
		memory->peak = mark;
	if (memory->resident > memory->peak)
		memory->peak = memory->resident;
}

/* The cgroup whose CPU quota applies to this process. */
static __always_inline __u64 cgroup_of(struct task_struct *task)
{
	struct cgroup_subsys_state *css;

	if (!settings.cpu_cgroup_v1)
		return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, cpu_cgrp_id))
		return 0;
	css = BPF_CORE_READ(task, cgroups,
			    subsys[bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id)]);
	return css ? BPF_CORE_READ(css, cgroup, kn, id) : 0;
}

/* Fills in the process id in the process' own, innermost pid namespace. */
static __always_inline void inner_pid(struct task_struct *task, struct rec_process *r)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	unsigned int level = pid ? BPF_CORE_READ(pid, level) : 0;
	struct pid_namespace *ns = NULL;
	struct upid upid = {};

	if (!pid || level > 32)
		return;
	bpf_core_read(&upid, sizeof(upid),
		      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      level * bpf_core_type_size(struct upid));
	r->ns_pid = upid.nr;
	ns = upid.ns;
	if (ns)
		r->ns_inode = BPF_CORE_READ(ns, ns.inum);
}

/* @task is the first thread of a process, or with PROCESS_FINAL the last one. */
static __always_inline void emit_process(struct task_struct *task, const struct memory *memory,
					 __u64 cgroup, __u16 flags)
{
	struct emit e;
	struct rec_process *r = emit_begin(&e, SOURCE_TASK, sizeof(*r));

	if (!r)
		return;
	if (memory->known)
		flags |= PROCESS_HAS_RSS;
	header_fill(&r->header, REC_PROCESS, flags, bpf_ktime_get_ns());
	r->tgid = BPF_CORE_READ(task, tgid);
	r->threads = BPF_CORE_READ(task, signal, nr_threads);
	r->ns_pid = 0;
	r->ns_inode = 0;
	if (settings.owner_uid == NO_OWNER || flags & PROCESS_TARGET)
		inner_pid(task, r);
	r->cgroup = cgroup;
	r->rss_pages = memory->resident;
	r->peak_pages = memory->peak;
	r->gone_run_ns = BPF_CORE_READ(task, signal, sum_sched_runtime);
	r->gone_user_ns = BPF_CORE_READ(task, signal, utime);
	r->gone_system_ns = BPF_CORE_READ(task, signal, stime);
	emit_end(&e, false);
}

#endif /* PROFBPF_PROCESS_BPF_H */
