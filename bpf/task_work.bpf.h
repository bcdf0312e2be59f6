/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * task_work.bpf.h - makes a thread run a BPF callback before it returns to user space.
 *
 * Kernels support this since 6.18; since 7.0 under another name, because the verifier adds the last argument. The names
 * here end in ___ours, a suffix that the loader drops when it looks them up in the running kernel: the vmlinux.h
 * of the build may declare the plain names.
 */
#ifndef PROFBPF_TASK_WORK_BPF_H
#define PROFBPF_TASK_WORK_BPF_H

#include "profbpf.bpf.h"

/* Member of a map's value; kernels identify it by this name. profbpf.bpf.h has renamed the one in vmlinux.h. */
struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

typedef int (*task_work_callback)(struct bpf_map *map, void *key, void *value);

extern int bpf_task_work_schedule_resume_impl___ours(struct task_struct *task,
						     struct bpf_task_work *work, void *map,
						     task_work_callback callback,
						     void *added) __ksym __weak;
extern int bpf_task_work_schedule_resume___ours(struct task_struct *task,
						struct bpf_task_work *work, void *map,
						task_work_callback callback) __ksym __weak;

/*
 * task_work_schedule - makes @task call @callback with the value of @map that contains @work
 *
 * May be called with any lock held: an interrupt after the program does the rest. Returns true if
 * @callback will be called; false if it cannot be, or if a call with this @work is still pending.
 */
static __always_inline bool task_work_schedule(struct task_struct *task, struct bpf_task_work *work,
					       void *map, task_work_callback callback)
{
	if (!settings.stacks_when_back)
		return false;
	if (bpf_ksym_exists(bpf_task_work_schedule_resume___ours))
		return !bpf_task_work_schedule_resume___ours(task, work, map, callback);
	if (bpf_ksym_exists(bpf_task_work_schedule_resume_impl___ours))
		return !bpf_task_work_schedule_resume_impl___ours(task, work, map, callback, NULL);
	return false;
}

#endif /* PROFBPF_TASK_WORK_BPF_H */
