/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * task_work.bpf.h - having a thread run a function of ours before it returns to user space.
 *
 * Kernels do this since 6.18; since 7.0 by another name, for the verifier adds the last argument.
 * The names here end in ___ours, which is cut off when they are looked up in the running kernel: the
 * one on which this is built may declare them, or not.
 */
#ifndef PROFBPF_TASK_WORK_BPF_H
#define PROFBPF_TASK_WORK_BPF_H

#include "profbpf.bpf.h"

/* In a map's value; kernels know it by this name. profbpf.bpf.h has renamed the building machine's. */
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
 * task_work_schedule - has @task call @callback with the value of @map that @work is in
 *
 * May be called with any lock held: an interrupt does the rest, after the program. True if
 * @callback will be called; false if it can't be, or still has to be with this @work.
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
