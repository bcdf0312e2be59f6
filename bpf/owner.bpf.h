/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * owner.bpf.h - may the ordinary user for whom a session records look into a thread?
 *
 * This is the kernel's own rule for a user without privileges (ptrace_may_access() with
 * PTRACE_MODE_READ): all user and group ids of the thread are the user's, the thread has no capability
 * that the user lacks, and its memory is "dumpable": it runs no program that changed its credentials or that
 * the user may not read, and it has not called prctl(PR_SET_DUMPABLE, 0).
 *
 * The rule is checked each time and the answer is not cached: a thread may change its credentials in any
 * system call. Sessions of root and of the group profbpf skip the check: the verifier removes it.
 */
#ifndef PROFBPF_OWNER_BPF_H
#define PROFBPF_OWNER_BPF_H

#define DUMPABLE_MASK 3 /* MMF_DUMPABLE_MASK */
#define DUMPABLE_BY_USER 1 /* SUID_DUMP_USER */
#define USER_NS_DEPTH 33 /* one more than the kernel nests */

struct mm_struct___before_6_18 {
	unsigned long flags;
} __attribute__((preserve_access_index));

struct mm_flags___since_6_18 {
	unsigned long __mm_flags[1];
} __attribute__((preserve_access_index));

struct mm_struct___since_6_18 {
	struct mm_flags___since_6_18 flags;
} __attribute__((preserve_access_index));

struct kernel_cap___before_6_3 {
	__u32 cap[2];
} __attribute__((preserve_access_index));

struct cred___before_6_3 {
	struct kernel_cap___before_6_3 cap_permitted;
} __attribute__((preserve_access_index));

struct kernel_cap___since_6_3 {
	__u64 val;
} __attribute__((preserve_access_index));

struct cred___since_6_3 {
	struct kernel_cap___since_6_3 cap_permitted;
} __attribute__((preserve_access_index));

/* A thread that exits has no memory any more: then its ids decide. If the field is unknown, the answer is no. */
static __always_inline bool is_dumpable(struct mm_struct *mm)
{
	struct mm_struct___before_6_18 *old = (void *)mm;
	struct mm_struct___since_6_18 *new = (void *)mm;
	unsigned long flags = 0;

	if (!mm)
		return true;
	if (bpf_core_field_exists(new->flags.__mm_flags))
		flags = field_of(new, flags.__mm_flags[0]);
	else if (bpf_core_field_exists(old->flags))
		flags = field_of(old, flags);
	return (flags & DUMPABLE_MASK) == DUMPABLE_BY_USER;
}

static __always_inline bool has_capabilities(const struct cred *cred)
{
	struct cred___before_6_3 *old = (void *)cred;
	struct cred___since_6_3 *new = (void *)cred;

	if (bpf_core_field_exists(old->cap_permitted.cap))
		return field_of(old, cap_permitted.cap[0]) || field_of(old, cap_permitted.cap[1]);
	return field_of(new, cap_permitted.val) != 0;
}

/* The creator of a user namespace has all capabilities in it and in its descendants. */
static __always_inline bool is_owners_namespace(struct user_namespace *ns)
{
	for (int i = 0; i < USER_NS_DEPTH && ns; i++) {
		if (field_of(ns, level) == 1)
			return field_of(ns, owner.val) == settings.owner_uid;
		ns = field_of(ns, parent);
	}
	return false;
}

#define HAS_OWNERS(cred, what)                                  \
	(field_of(cred, what##uid.val) == settings.owner_uid && \
	 field_of(cred, what##gid.val) == settings.owner_gid)

/* Are the real, effective and saved ids the owner's? */
static __always_inline bool has_owners_ids(const struct cred *cred)
{
	return HAS_OWNERS(cred, ) && HAS_OWNERS(cred, e) && HAS_OWNERS(cred, s);
}

/* Not inlined: all programs use it. */
static __noinline bool owner_may_look(struct task_struct *task)
{
	const struct cred *cred = field_of(task, real_cred);
	struct user_namespace *ns;

	/* The daemon measures the cost of a probe on itself. */
	if (calibrating && field_of(task, tgid) == settings.daemon_tgid)
		return true;
	if (!cred || !has_owners_ids(cred) || !is_dumpable(field_of(task, mm)))
		return false;
	ns = field_of(cred, user_ns);
	if (!ns)
		return false;
	return field_of(ns, level) == 0 ? !has_capabilities(cred) : is_owners_namespace(ns);
}

/* may_look - may the session's owner still see this thread? is_target() and similar functions ask this besides membership. */
static __always_inline bool may_look(struct task_struct *task)
{
	return settings.owner_uid == NO_OWNER || owner_may_look(task);
}

#endif /* PROFBPF_OWNER_BPF_H */
