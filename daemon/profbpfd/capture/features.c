/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "daemon/profbpfd/capture/kernel_types.h"
#include "daemon/profbpfd/probe/uprobe_multi.h"

static bool has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, btf_members(t)[i].name_off);

		if (name && !strcmp(name, member))
			return true;
	}
	return false;
}

/* Returns the number of a tracepoint's parameters without the hidden first one; -1 if it does not exist. */
static int tracepoint_parameters(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *t;
	char name[128];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	t = t ? btf__type_by_id(btf, t->type) : NULL; /* the pointer type */
	t = t ? btf__type_by_id(btf, t->type) : NULL; /* the function type */
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1;
}

static bool has_enumerator(const struct btf *btf, const char *type, const char *enumerator)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, btf_enum(t)[i].name_off);

		if (name && !strcmp(name, enumerator))
			return true;
	}
	return false;
}

static bool has_helper(const struct btf *btf, const char *enumerator)
{
	return has_enumerator(btf, "bpf_func_id", enumerator);
}

static enum block_source block_source(const struct btf *btf)
{
	if (tracepoint_parameters(btf, "block_rq_complete") < 0)
		return BLOCK_SOURCE_NONE;
	if (tracepoint_parameters(btf, "block_io_start") >= 0)
		return BLOCK_SOURCE_REQUEST;
	switch (tracepoint_parameters(btf, "block_getrq")) {
	case 1: return BLOCK_SOURCE_BIO;
	/* Three parameters, before 5.11: 5.10's verifier refuses the programs for it. */
	default: return BLOCK_SOURCE_NONE;
	}
}

static bool has_syscall_tracepoints(void)
{
	return !access("/sys/kernel/tracing/events/syscalls/sys_enter_ioctl/id", F_OK) ||
	       !access("/sys/kernel/debug/tracing/events/syscalls/sys_enter_ioctl/id", F_OK);
}

#if defined(__x86_64__)
#define IOCTL_FUNCTION "__x64_sys_ioctl"
#define IOCTL_COMPAT_FUNCTION "__ia32_compat_sys_ioctl"
#else
#define IOCTL_FUNCTION "__arm64_sys_ioctl"
#define IOCTL_COMPAT_FUNCTION "__arm64_compat_sys_ioctl"
#endif

/*
 * Can programs be attached to the entry of IOCTL_FUNCTION? Locked-down kernels refuse to load them; other kernels
 * cannot call them from ftrace (arm64 before 6.4).
 */
static bool takes_function_programs(const struct btf *btf)
{
	const struct bpf_insn return_0[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY);
	int id = btf__find_by_name_kind(btf, IOCTL_FUNCTION, BTF_KIND_FUNC), fd;

	if (id < 0 || !has_function(btf, "register_ftrace_direct"))
		return false;
	options.attach_btf_id = id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", return_0, 2, &options);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Does the verifier accept global functions with pointers to memory? Missing privileges are reported elsewhere. */
static bool takes_global_pointers(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf ? btf__add_int(btf, "int", 4, BTF_INT_SIGNED) : -ENOMEM;
	int pointer, called, caller, fd = -1;
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1 },
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options);
	int err;

	if (number < 0)
		return false;
	pointer = btf__add_ptr(btf, number);
	caller = btf__add_func(btf, "caller", BTF_FUNC_STATIC, btf__add_func_proto(btf, number));
	called = btf__add_func_proto(btf, number);
	btf__add_func_param(btf, "of", pointer);
	called = btf__add_func(btf, "called", BTF_FUNC_GLOBAL, called);
	if (caller > 0 && called > 0 && !btf__load_into_kernel(btf)) {
		const struct bpf_func_info functions[] = { { 0, caller }, { 3, called } };

		options.prog_btf_fd = btf__fd(btf);
		options.func_info = functions;
		options.func_info_cnt = 2;
		options.func_info_rec_size = sizeof(functions[0]);
		fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, 5, &options);
	}
	err = errno;
	btf__free(btf);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || err == EPERM;
}

/* Do tail calls in subprograms return to the caller of the subprogram? Tries it, too. */
static bool takes_tail_calls_in_functions(void)
{
	struct btf *btf = btf__new_empty();
	int map = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, NULL, 4, 4, 1, NULL);
	int number = btf ? btf__add_int(btf, "int", 4, BTF_INT_SIGNED) : -ENOMEM;
	int caller, called, fd = -1;
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_2, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options);
	int err;

	caller = number > 0 ? btf__add_func_proto(btf, number) : number;
	caller = btf__add_func(btf, "caller", BTF_FUNC_STATIC, caller);
	called = btf__add_func_proto(btf, number);
	btf__add_func_param(btf, "ctx", btf__add_ptr(btf, 0));
	called = btf__add_func(btf, "called", BTF_FUNC_STATIC, called);
	if (map >= 0 && caller > 0 && called > 0 && !btf__load_into_kernel(btf)) {
		const struct bpf_func_info functions[] = { { 0, caller }, { 2, called } };

		options.prog_btf_fd = btf__fd(btf);
		options.func_info = functions;
		options.func_info_cnt = 2;
		options.func_info_rec_size = sizeof(functions[0]);
		fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", insns, 8, &options);
	}
	err = errno;
	btf__free(btf);
	if (map >= 0)
		close(map);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || err == EPERM;
}

static void probe_ioctls(struct features *features, const struct btf *btf)
{
	static const char *const words[IOCTL_METHODS] = { "function", "kprobe", "tracepoint" };
	const char *only = getenv("PROFBPF_IOCTLS");
	bool function = has_function(btf, IOCTL_FUNCTION);

	features->ioctls[IOCTL_METHOD_FUNCTION] = takes_function_programs(btf);
	features->ioctls[IOCTL_METHOD_KPROBE] =
		function && !access("/sys/bus/event_source/devices/kprobe/type", F_OK);
	features->ioctls[IOCTL_METHOD_TRACEPOINT] = has_syscall_tracepoints();
	features->ioctl_compat = has_function(btf, IOCTL_COMPAT_FUNCTION);
	for (int i = 0; only && i < IOCTL_METHODS; i++)
		features->ioctls[i] &= !strcmp(only, words[i]);
}

/* The inode of the initial pid namespace, include/linux/proc_ns.h: PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

static bool in_first_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_PID_NAMESPACE;
}

/*
 * May a program at a return instruction execute the return itself? Tries to load a program that writes the
 * instruction pointer: some kernels allow it since 6.18.
 */
static bool may_write_registers(enum probe_method method)
{
#if defined(__x86_64__)
	const struct bpf_insn write_ip[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_STX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_0,
		  .off = offsetof(struct user_regs_struct, rip) },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = ATTACH_UPROBE_MULTI);
	int fd;

	if (method != PROBE_METHOD_SESSION && method != PROBE_METHOD_MULTI)
		return false;
	fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", write_ip, 3, &options);
	if (fd < 0)
		return false;
	close(fd);
	return true;
#else
	return false; /* the kernel simulates the instruction, which costs no more */
#endif
}

static enum probe_method best_method(const struct btf *btf)
{
	/* 6.10 has the session functions, but only for kprobes. */
	if (has_enumerator(btf, "bpf_attach_type", "BPF_TRACE_UPROBE_SESSION") &&
	    has_function(btf, "bpf_session_cookie"))
		return PROBE_METHOD_SESSION;
	if (has_function(btf, "bpf_uprobe_multi_link_attach"))
		return PROBE_METHOD_MULTI;
	if (!access("/sys/bus/event_source/devices/uprobe/type", F_OK))
		return PROBE_METHOD_PERF;
	return PROBE_METHOD_NONE;
}

bool features_leave_out(struct features *features, const char *name)
{
	const struct {
		const char *name;
		bool *has;
	} flags[] = {
		{ "typed-task", &features->typed_task },
		{ "task-storage", &features->task_storage },
		{ "task-registers", &features->task_registers },
		{ "global-pointers", &features->global_pointers },
		{ "loops", &features->loops },
		{ "unwind", &features->unwind },
		{ "cookies", &features->cookies },
		{ "emulated-returns", &features->emulated_returns },
		{ "early-exits", &features->early_exits },
		{ "switch-state", &features->switch_state },
		{ "task-work", &features->task_work },
		{ "typed-pointers", &features->typed_pointers },
		{ "gate", &features->gate },
		{ "late-room", &features->late_room },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(name, flags[i].name) != 0)
			continue;
		*flags[i].has = false;
		/* Both need a typed pointer to the thread. */
		features->task_storage &= features->typed_task;
		features->task_registers &= features->typed_task;
		return true;
	}
	if (!strcmp(name, "session")) {
		if (features->method == PROBE_METHOD_SESSION)
			features->method = PROBE_METHOD_MULTI;
		return true;
	}
	if (!strcmp(name, "multi")) {
		if (features->method != PROBE_METHOD_NONE)
			features->method = PROBE_METHOD_PERF;
		return true;
	}
	return false;
}

static void leave_out(struct features *features)
{
	const char *names = getenv(FEATURES_WITHOUT_ENV);
	char *copy = names ? strdup(names) : NULL, *rest = copy, *name;

	while (rest && (name = strsep(&rest, ",")))
		features_leave_out(features, name);
	free(copy);
}

#define TOO_OLD \
	"this kernel lacks BPF ring buffers or BPF iterators, through which records are read; " \
	"Linux 5.8 or later is needed"

void features_probe(struct features *features)
{
	const char *given = kernel_types_given();
	struct btf *btf;

	memset(features, 0, sizeof(*features));
	features->btf_given = given != NULL;
	if (given && kernel_types_check(given, features->error, sizeof(features->error)))
		return;
	btf = btf__load_vmlinux_btf();
	/* Kernels that are too old lack BTF, too; then their age is the message. */
	if (!btf && libbpf_probe_bpf_map_type(BPF_MAP_TYPE_ARRAY, NULL) > 0 &&
	    !libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL)) {
		snprintf(features->error, sizeof(features->error), "%s", TOO_OLD);
		return;
	}
	if (!btf) {
		snprintf(features->error, sizeof(features->error),
			 "this kernel does not publish its type information (no " KERNEL_TYPES
			 "), which the BPF programs "
			 "need; run a kernel built with CONFIG_DEBUG_INFO_BTF=y, or if it is, give profbpfd a file with "
			 "them (--btf FILE)");
		return;
	}
	features->btf = true;
	features->typed_task = has_helper(btf, "BPF_FUNC_get_current_task_btf");
	/* The helper is older than its use by tracing programs, which came with the member bpf_storage. */
	features->task_storage = has_helper(btf, "BPF_FUNC_task_storage_get") &&
				 features->typed_task &&
				 has_member(btf, "task_struct", "bpf_storage");
	features->task_registers = has_helper(btf, "BPF_FUNC_task_pt_regs");
	features->loops = has_helper(btf, "BPF_FUNC_loop");
	features->unwind = features->loops;
	features->cookies = has_helper(btf, "BPF_FUNC_get_attach_cookie");
	features->global_pointers = takes_global_pointers();
	features->gate = takes_tail_calls_in_functions();
	/* Since 6.1 BPF has its own allocator; before, the kernel prints warnings. */
	features->late_room = has_function(btf, "bpf_mem_alloc_init");
	features->places = has_member(btf, "task_struct", "vmacache");
	features->doubled_stacks = has_member(btf, "task_struct", "kasan_depth");
	features->switch_state = tracepoint_parameters(btf, "sched_switch") >= 4;
	features->task_work = has_function(btf, "bpf_task_work_schedule_resume") ||
			      has_function(btf, "bpf_task_work_schedule_resume_impl");
	features->optimized_nop = has_function(btf, "arch_uprobe_optimize");
	features->run_delay = has_member(btf, "sched_info", "run_delay");
	features->typed_pointers = has_function(btf, "bpf_rdonly_cast");
	features->symbols = has_function(btf, "bpf_iter_ksym");
	/* In the thread since 6.18, before that in a run queue of its group. */
	features->throttling =
		has_member(btf, "task_struct", "throttled") ||
		(has_member(btf, "cfs_rq", "throttled") && has_member(btf, "sched_entity", "parent"));
	features->block = block_source(btf);
	features->method = best_method(btf);
	features->uprobes = features->method != PROBE_METHOD_NONE;
	features->emulated_returns = may_write_registers(features->method);
	features->early_exits = true;
	probe_ioctls(features, btf);
	/* The newest features without a substitute. */
	if (!has_enumerator(btf, "bpf_map_type", "BPF_MAP_TYPE_RINGBUF") ||
	    btf__find_by_name_kind(btf, "bpf_iter__task", BTF_KIND_STRUCT) <= 0)
		snprintf(features->error, sizeof(features->error), "%s", TOO_OLD);
	if (!features->error[0] && !in_first_pid_namespace())
		snprintf(features->error, sizeof(features->error),
			 "profbpfd runs in a separate pid namespace, but the kernel reports the "
			 "host's process ids; run it on the host, or in a container with the "
			 "host's pid namespace (--pid=host)");
	btf__free(btf);
	leave_out(features);
	/* Kernels without cookies have only perf events. */
	if (!features->cookies && features->method != PROBE_METHOD_NONE)
		features->method = features->places ? PROBE_METHOD_PERF : PROBE_METHOD_NONE;
}

const char *probe_method_name(enum probe_method method)
{
	switch (method) {
	case PROBE_METHOD_SESSION: return "session";
	case PROBE_METHOD_MULTI: return "multi";
	case PROBE_METHOD_PERF: return "perf";
	default: return "none";
	}
}

const char *ioctl_method_name(enum ioctl_method method)
{
	switch (method) {
	case IOCTL_METHOD_FUNCTION: return "entry and return of their function";
	case IOCTL_METHOD_KPROBE: return "kprobes on their function";
	case IOCTL_METHOD_TRACEPOINT: return "system call tracepoints";
	default: return "nothing";
	}
}

/* Describes a way to see ioctls; the first available one is used. */
static const char *ioctl_detail(const struct features *f, enum ioctl_method method)
{
	for (int i = 0; i < (int)method; i++)
		if (f->ioctls[i])
			return "not needed";
	switch (method) {
	case IOCTL_METHOD_FUNCTION: return "ioctls; other system calls are not slowed down";
	case IOCTL_METHOD_KPROBE:
		return "ioctls; some are lost when many wait at once; other system calls are not slowed down";
	default: return "ioctls; a session slows down every system call of the machine";
	}
}

/* A feature, and the consequences of having and of lacking it. */
struct words {
	const char *name;
	bool available;
	const char *yes, *no;
};

/* Gets row *@index of @rows; past the end returns false and subtracts the number of rows from *@index. */
static bool pick(const struct words *rows, size_t count, size_t *index, struct words *into)
{
	if (*index >= count) {
		*index -= count;
		return false;
	}
	*into = rows[*index];
	return true;
}

/* Features for probing functions, and for the state of threads. */
static bool describe_probes(const struct features *f, size_t *index, struct words *into)
{
	const struct words rows[] = {
		{ "kernel type information", f->btf, f->btf_given ? "the file given by --btf" : KERNEL_TYPES,
		  "nothing can be traced without it" },
		{ "uprobe session links", f->method == PROBE_METHOD_SESSION,
		  "return probes of plain functions can be left out for single calls",
		  "Linux 6.13 and later; ends of calls are recorded at return instructions only" },
		{ "uprobe multi links",
		  f->method == PROBE_METHOD_SESSION || f->method == PROBE_METHOD_MULTI,
		  "hundreds of functions attach in milliseconds",
		  "functions are attached one by one; each removal takes 0.1 s, in the background" },
		{ "probe cookies", f->cookies, "each probe passes its number to the program",
		  f->places ? "Linux 5.15 and later; programs identify a probe by its file offset, which takes longer"
			    : "Linux 5.15 and later; no API calls: programs cannot identify their probe" },
		{ "storage by thread", f->task_storage, "data of a thread are stored with it",
		  "Linux 5.13 and later; data are stored in a table of 32,768 threads, 4,096 of "
		  "them in calls; calls of further threads are counted as lost" },
		{ "typed current thread", f->typed_task, "its fields are read directly",
		  "Linux 5.11 and later; each field takes a call of a helper" },
		{ "registers of threads", f->task_registers, "the kernel returns their address",
		  "Linux 5.15 and later; read at the top of the thread's kernel stack" },
		{ "optimized nop probes", f->optimized_nop, "probes on 5-byte nops cost half as much",
		  "Linux 6.18 and later on x86-64" },
		{ "returns by programs", f->emulated_returns,
		  "recording the end of a call at its return costs little",
		  "the kernel single-steps return instructions, on x86-64 ten times as expensive, "
		  "except in code with a stack protector" },
	};

	return pick(rows, sizeof(rows) / sizeof(rows[0]), index, into);
}

/* Features for stacks, switches, and objects that threads wait for. */
static bool describe_walks(const struct features *f, size_t *index, struct words *into)
{
	const struct words rows[] = {
		{ "loops", f->loops, "sessions start faster",
		  "Linux 5.17 and later; the verifier follows each iteration of a stack walk" },
		{ "unwind tables", f->unwind && f->loops, "user stacks are walked with unwind tables",
		  "Linux 5.17 and later; user stacks are walked with frame pointers" },
		{ "exact switch states", f->switch_state && f->loops, "the tracepoint passes the state",
		  "read from the task; a wake-up during the switch may hide it" },
		{ "run queue time", f->run_delay, "kept by the kernel per thread",
		  "only from switch events (CONFIG_SCHED_INFO is off)" },
		{ "typed kernel pointers", f->typed_pointers, "the object that a thread waits for is read directly",
		  "Linux 6.2 and later; reading the object that a thread waits for takes a helper call per pointer" },
		{ "task work", f->task_work, "user stacks of rare long sleeps are walked after the sleep",
		  "Linux 6.18 and later; user stacks are walked before every sleep" },
		{ "shared scheduler events", f->gate,
		  "switches of other processes cost the same for any number of sessions",
		  "Linux 6.0 and later on arm64; each session makes switches of all processes more expensive" },
		{ "kernel symbols", f->symbols, "kernel frames are named without CAP_SYSLOG",
		  "kernel frames are named if /proc/kallsyms shows addresses" },
		{ "CPU quotas of cgroups", f->throttling, "waits for a quota are recorded as such",
		  "waits for a quota are recorded as waits for a CPU (CONFIG_CFS_BANDWIDTH is off)" },
	};

	return pick(rows, sizeof(rows) / sizeof(rows[0]), index, into);
}

/* Features for requests to devices. */
static bool describe_requests(const struct features *f, size_t *index, struct words *into)
{
	const struct words rows[] = {
		{ "block requests", f->block != BLOCK_SOURCE_NONE,
		  f->block == BLOCK_SOURCE_REQUEST ? "the process that made a request, from its tracepoint"
						   : "the process that made a request, unless "
						     "another was queued before it",
		  "no topic io: this kernel has no tracepoints of block requests" },
		{ "ioctl function hooks", f->ioctls[IOCTL_METHOD_FUNCTION],
		  ioctl_detail(f, IOCTL_METHOD_FUNCTION),
		  "refused (locked-down kernel), or not available (arm64 before Linux 6.4)" },
		{ "ioctl kprobes", f->ioctls[IOCTL_METHOD_KPROBE], ioctl_detail(f, IOCTL_METHOD_KPROBE),
		  "CONFIG_KPROBES is off" },
		{ "system call tracepoints", f->ioctls[IOCTL_METHOD_TRACEPOINT],
		  ioctl_detail(f, IOCTL_METHOD_TRACEPOINT),
		  features_see_ioctls(f) ? "tracefs is not mounted on /sys/kernel/tracing"
					 : "no ioctls: mount tracefs on /sys/kernel/tracing" },
	};

	return pick(rows, sizeof(rows) / sizeof(rows[0]), index, into);
}

bool features_describe(const struct features *f, size_t index, const char **name, bool *available,
		       const char **detail)
{
	struct words row;

	if (!describe_probes(f, &index, &row) && !describe_walks(f, &index, &row) &&
	    !describe_requests(f, &index, &row))
		return false;
	*name = row.name;
	*available = row.available;
	*detail = row.available ? row.yes : row.no;
	return true;
}
