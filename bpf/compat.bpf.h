/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * compat.bpf.h - what kernels differ in, behind one name each.
 *
 * The daemon says in "settings" what this kernel offers; the verifier then never looks at the other
 * way, so that a helper that the kernel does not have does no harm there.
 *
 *	current_task()			bpf_get_current_task_btf(), 5.11
 *	field_of(pointer, field)	a field of what it, or such a pointer, points to
 *	thread_find(), thread_make()	task storage, 5.11
 *	user_regs()			bpf_task_pt_regs(), 5.15
 *	attach_cookie()			bpf_get_attach_cookie(), 5.15
 */
#ifndef PROFBPF_COMPAT_BPF_H
#define PROFBPF_COMPAT_BPF_H

/*
 * The current thread. Its fields are read by field_of() or BPF_CORE_READ(), never directly: older kernels
 * do not tell the verifier what this points to. (What tracepoints and iterators hand over, they do.)
 */
static __always_inline struct task_struct *current_task(void)
{
	return settings.typed_task ? bpf_get_current_task_btf() :
				     (struct task_struct *)bpf_get_current_task();
}

#define field_of(pointer, field) \
	(settings.typed_task ? (pointer)->field : BPF_CORE_READ(pointer, field))

/*
 * DEFINE_THREAD_MAP(NAME, TYPE, THREADS) - a TYPE for each thread that asks for one, zeroes at first
 *
 * Without task storage: in a hash by the address of the thread's task_struct, which has room for THREADS;
 * forget_thread() (forget.bpf.c) takes them out when the kernel frees that. All room is taken beforehand,
 * for before 6.1 a program of a probe may not do it.
 */
#define DEFINE_THREAD_MAP(name, thread_type, threads)                                   \
	struct {                                                                        \
		__uint(type, BPF_MAP_TYPE_TASK_STORAGE);                                \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                   \
		__type(key, int);                                                       \
		__type(value, thread_type);                                             \
	} name __weak_map;                                                              \
	struct {                                                                        \
		__uint(type, BPF_MAP_TYPE_HASH);                                        \
		__uint(max_entries, threads);                                           \
		__type(key, __u64);                                                     \
		__type(value, thread_type);                                             \
	} name##_by_task __weak_map;                                                    \
	_Static_assert(sizeof(thread_type) <= ZEROES, "there are too few zeroes")

#define ZEROES 4096
const volatile __u8 zeroes[ZEROES] __weak = {};

static __always_inline void *find_by_task(void *map, struct task_struct *task)
{
	__u64 key = (__u64)task;

	return bpf_map_lookup_elem(map, &key);
}

static __always_inline void *make_by_task(void *map, struct task_struct *task)
{
	__u64 key = (__u64)task;
	void *found = bpf_map_lookup_elem(map, &key);

	if (found)
		return found;
	bpf_map_update_elem(map, &key, (const void *)zeroes, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, &key);
}

/* A thread's in a map of DEFINE_THREAD_MAP(), or NULL if there is none */
#define thread_find(name, task)                                          \
	(settings.task_storage ? bpf_task_storage_get(&name, task, 0, 0) : \
				 find_by_task(&name##_by_task, task))

/* The same; made if there is none. NULL: no memory, or no room. Not for programs of samples, which come in anywhere. */
#define thread_make(name, task)                                                             \
	(settings.task_storage ?                                                            \
		 bpf_task_storage_get(&name, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE) : \
		 make_by_task(&name##_by_task, task))

/* A thread's is given back. Storage goes by itself. */
static __always_inline void forget_by_task(void *map, struct task_struct *task)
{
	__u64 key = (__u64)task;

	bpf_map_delete_elem(map, &key);
}

#define thread_forget(name, task) forget_by_task(&name##_by_task, task)

/* Who asks for registers: of these, one can interrupt another. */
enum registers_of {
	REGISTERS_OF_SAMPLE,
	REGISTERS_OF_SWITCH,	/* programs of the scheduler, which run with interrupts off */
	REGISTERS_OF_ITERATOR,
	REGISTERS_OF
};

#define REGISTER_WORDS 64 /* not less than struct pt_regs of any kernel has */

struct saved_registers {
	__u64 word[REGISTER_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, REGISTERS_OF);
	__type(key, __u32);
	__type(value, struct saved_registers);
} saved_registers __weak_map;

/* Where the registers are that a thread had in user space: at the top of its kernel stack. */
static __always_inline __u64 user_regs_address(struct task_struct *task)
{
	if (settings.task_registers)
		return (__u64)bpf_task_pt_regs(task);
	return (__u64)BPF_CORE_READ(task, stack) + settings.kernel_stack_bytes -
	       bpf_core_type_size(struct pt_regs);
}

static __always_inline bool are_of_user(const struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return (regs->cs & 3) == 3;
#else
	return !(regs->pstate & 0xf); /* PSR_MODE_EL0t, or of 32 bits */
#endif
}

static __always_inline const struct pt_regs *copied_regs(struct task_struct *task, __u32 by)
{
	struct saved_registers *copy = bpf_map_lookup_elem(&saved_registers, &by);
	const struct pt_regs *regs = (const struct pt_regs *)copy;

	if (!copy || bpf_probe_read_kernel(copy, bpf_core_type_size(struct pt_regs),
					   (const void *)user_regs_address(task)))
		return NULL;
	return are_of_user(regs) ? regs : NULL;
}

/*
 * user_regs - the registers that @task, which is in the kernel, had in user space
 *
 * Valid until the same kind of program, @by, asks again on this CPU. NULL: not to be had, as of kernel threads.
 */
static __always_inline const struct pt_regs *user_regs(struct task_struct *task,
							enum registers_of by)
{
	return settings.task_registers ? (const struct pt_regs *)bpf_task_pt_regs(task) :
					 copied_regs(task, by);
}

/* By file and place in it, filled by the daemon: the cookies of probes where the kernel keeps none. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct probed_place);
	__type(value, __u64);
} probed_places __weak_map;

/* What this is read from is in kernels before 6.1 only; these all have cookies. */
struct vmacache___before_6_1 {
	struct vm_area_struct *vmas[4];
} __attribute__((preserve_access_index));

struct task_struct___before_6_1 {
	struct vmacache___before_6_1 vmacache;
} __attribute__((preserve_access_index));

/* A place that is looked for. A CPU's own: these kernels let nobody else in while a probe's program runs. */
struct place_search {
	struct probed_place place;
	__u64 ip;
	__u64 mm;
	__u64 start, first; /* of the mapping: where it begins in memory, and in the file, in pages */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct place_search);
} place_searches __weak_map;

/* Nothing here is inlined, for a probe's program has little stack. */
static __noinline bool is_around(struct vm_area_struct *area, const struct place_search *search)
{
	return search->ip >= search->start && search->ip < BPF_CORE_READ(area, vm_end) &&
	       search->mm == (__u64)BPF_CORE_READ(area, vm_mm);
}

/* Another thread may have changed it meanwhile. */
static __noinline bool is_unchanged(struct vm_area_struct *area, const struct place_search *search)
{
	return search->start == BPF_CORE_READ(area, vm_start) &&
	       search->first == BPF_CORE_READ(area, vm_pgoff);
}

static __noinline void read_inode(struct vm_area_struct *area, struct probed_place *place)
{
	struct inode *inode = BPF_CORE_READ(area, vm_file, f_inode);

	place->inode = BPF_CORE_READ(inode, i_ino);
	place->device = BPF_CORE_READ(inode, i_sb, s_dev);
}

static __noinline bool is_place(struct vm_area_struct *area, struct place_search *search)
{
	search->start = BPF_CORE_READ(area, vm_start);
	search->first = BPF_CORE_READ(area, vm_pgoff);
	if (!is_around(area, search))
		return false;
	read_inode(area, &search->place);
	search->place.offset = search->ip - search->start + (search->first << settings.page_shift);
	return is_unchanged(area, search);
}

static __noinline bool find_place(struct place_search *search)
{
	struct task_struct___before_6_1 *task = (void *)bpf_get_current_task();

	if (!bpf_core_field_exists(task->vmacache))
		return false;
	search->mm = (__u64)BPF_CORE_READ((struct task_struct *)task, mm);
	for (int i = 0; i < 4; i++) {
		struct vm_area_struct *area = BPF_CORE_READ(task, vmacache.vmas[i]);

		if (area && is_place(area, search))
			return true;
	}
	return false;
}

/*
 * Which mapping the breakpoint is in: the kernel itself has just looked for it, in the name of this thread,
 * which keeps those of its last looks.
 */
static __noinline __u64 cookie_of_place(struct pt_regs *ctx, __u32 at)
{
	__u32 zero = 0;
	struct place_search *search = bpf_map_lookup_elem(&place_searches, &zero);
	__u64 *cookie;

	if (!search)
		return NO_COOKIE;
	search->ip = PT_REGS_IP(ctx);
	search->place.at = at;
	if (!find_place(search))
		return NO_COOKIE;
	cookie = bpf_map_lookup_elem(&probed_places, &search->place);
	return cookie ? *cookie : NO_COOKIE;
}

/*
 * attach_cookie - of the breakpoint that the current thread ran into
 *
 * @at: PROBED_ENTRY or PROBED_EXIT, as the daemon put it there: for the same place may have both. NO_COOKIE
 * if it is not known, which is a call lost (LOSS_PLACE). Not for returns that the kernel caught by its
 * trampoline, unless settings.cookies: these have no place.
 */
#define attach_cookie(ctx, at) \
	(settings.cookies ? bpf_get_attach_cookie(ctx) : cookie_of_place(ctx, at))

#endif /* PROFBPF_COMPAT_BPF_H */
