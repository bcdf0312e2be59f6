/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * compat.bpf.h - differences between kernels, behind one name each.
 *
 * The daemon sets the features of this kernel in "settings", which is constant for the verifier: it prunes the
 * other branch, so a helper that this kernel lacks may stand there.
 *
 *	current_task()			bpf_get_current_task_btf(), 5.11
 *	field_of(pointer, field)	a field behind this pointer, or behind one read from it
 *	thread_find(), thread_make()	task storage, 5.11
 *	user_regs()			bpf_task_pt_regs(), 5.15
 *	attach_cookie()			bpf_get_attach_cookie(), 5.15
 */
#ifndef PROFBPF_COMPAT_BPF_H
#define PROFBPF_COMPAT_BPF_H

/*
 * The current thread. Its fields are read by field_of() or BPF_CORE_READ(), never directly: on older kernels
 * the verifier does not know the type of this pointer. (It knows the types of arguments of tracepoints and iterators.)
 */
static __always_inline struct task_struct *current_task(void)
{
	return settings.typed_task ? bpf_get_current_task_btf() :
				     (struct task_struct *)bpf_get_current_task();
}

#define field_of(pointer, field) \
	(settings.typed_task ? (pointer)->field : BPF_CORE_READ(pointer, field))

/*
 * DEFINE_THREAD_MAP(NAME, TYPE, THREADS) - a value of TYPE for each thread that needs one, initially zero
 *
 * Without task storage the values are in a hash map with room for THREADS, by the address of the thread's
 * task_struct; forget_thread() (forget.bpf.c) removes an entry when the kernel frees the task_struct. The hash is
 * preallocated: before 6.1 programs on probes may not use maps that allocate.
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

/* The value of @task in a map of DEFINE_THREAD_MAP(); NULL if there is none */
#define thread_find(name, task)                                          \
	(settings.task_storage ? bpf_task_storage_get(&name, task, 0, 0) : \
				 find_by_task(&name##_by_task, task))

/* The same, but makes a missing value. NULL: no memory or no room. Not for samples, which may interrupt any code. */
#define thread_make(name, task)                                                             \
	(settings.task_storage ?                                                            \
		 bpf_task_storage_get(&name, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE) : \
		 make_by_task(&name##_by_task, task))

/* Frees the value of @task. The kernel frees task storage itself. */
static __always_inline void forget_by_task(void *map, struct task_struct *task)
{
	__u64 key = (__u64)task;

	bpf_map_delete_elem(map, &key);
}

#define thread_forget(name, task) forget_by_task(&name##_by_task, task)

/* The kinds of programs that ask for registers: a program of one kind can interrupt one of another. */
enum registers_of {
	REGISTERS_OF_SAMPLE,
	REGISTERS_OF_SWITCH,	/* programs of the scheduler, which run with interrupts off */
	REGISTERS_OF_ITERATOR,
	REGISTERS_OF
};

#define REGISTER_WORDS 64 /* at least the size of struct pt_regs of any kernel */

struct saved_registers {
	__u64 word[REGISTER_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, REGISTERS_OF);
	__type(key, __u32);
	__type(value, struct saved_registers);
} saved_registers __weak_map;

/* The registers and two more words, which x86-64 kernels with CONFIG_X86_FRED keep at the top of the kernel stack. */
struct fred_frame___kept {
	int unused;
} __attribute__((preserve_access_index));

/* The address of a thread's user-space registers: the top of its kernel stack. */
static __always_inline __u64 user_regs_address(struct task_struct *task)
{
	__u64 bytes = bpf_core_type_size(struct pt_regs);

	if (settings.task_registers)
		return (__u64)bpf_task_pt_regs(task);
	if (bpf_core_type_exists(struct fred_frame___kept))
		bytes = bpf_core_type_size(struct fred_frame___kept);
	return (__u64)BPF_CORE_READ(task, stack) + settings.kernel_stack_bytes - bytes;
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
 * Valid until a program of the same kind, @by, asks again on this CPU. NULL: there are none, as for kernel threads.
 */
static __always_inline const struct pt_regs *user_regs(struct task_struct *task,
							enum registers_of by)
{
	return settings.task_registers ? (const struct pt_regs *)bpf_task_pt_regs(task) :
					 copied_regs(task, by);
}

/* Cookies of probes by file and offset, filled by the daemon, for kernels that do not keep cookies. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct probed_place);
	__type(value, __u64);
} probed_places __weak_map;

/* Only kernels before 6.1 have the field that this reads; all later ones keep cookies. */
struct vmacache___before_6_1 {
	struct vm_area_struct *vmas[4];
} __attribute__((preserve_access_index));

struct task_struct___before_6_1 {
	struct vmacache___before_6_1 vmacache;
} __attribute__((preserve_access_index));

/* One search, per CPU: on these kernels nothing else runs on the CPU during a probe's program. */
struct place_search {
	struct probed_place place;
	__u64 ip;
	__u64 mm;
	__u64 start, first; /* start of the mapping: its address, and its page number in the file */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct place_search);
} place_searches __weak_map;

/* These functions are not inlined, because a probe's program has little stack. */
static __noinline bool is_around(struct vm_area_struct *area, const struct place_search *search)
{
	return search->ip >= search->start && search->ip < BPF_CORE_READ(area, vm_end) &&
	       search->mm == (__u64)BPF_CORE_READ(area, vm_mm);
}

/* Another thread may have changed the mapping meanwhile. */
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
 * Finds the mapping that contains the breakpoint in the thread's cache of its last lookups: the kernel itself has just
 * looked it up for this thread.
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
 * attach_cookie - the cookie of the breakpoint that the current thread hit
 *
 * @at: PROBED_ENTRY or PROBED_EXIT, since the same address may have both. Returns NO_COOKIE if the place is
 * unknown, which loses the call (LOSS_PLACE). Returns through the kernel's trampoline have no place: they work only
 * with settings.cookies.
 */
#define attach_cookie(ctx, at) \
	(settings.cookies ? bpf_get_attach_cookie(ctx) : cookie_of_place(ctx, at))

#endif /* PROFBPF_COMPAT_BPF_H */
