/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * session_maps.h - the maps between the daemon and a session's BPF programs: settings, probes and their places, layouts of
 * interpreters, counts.
 *
 * Private to one build, like the records (events.h).
 */
#ifndef PROFBPF_BPF_SESSION_MAPS_H
#define PROFBPF_BPF_SESSION_MAPS_H

#include "events.h"

/* How one probe reads its arguments; one entry per probe in map "probes". */
struct probe_argument {
	__u8 position;		/* 1-based argument position; 0 = not used */
	__u8 width;		/* bytes to keep: 1, 2, 4 or 8 */
	__s16 deref;		/* offset to read at if the argument is a pointer; -1 = the value itself */
	__s16 inner;		/* if the value read there is a pointer, too: offset to read at; -1 = it is not */
};

/* probe_conf.flags */
#define PROBE_STRING 0x01	/* argument string_position is a C string to send */
#define PROBE_STRING_IN 0x04	/* its address is in the object that the argument points to, at string_offset */
#define PROBE_OUT 0x02		/* args[2] is read through its pointer when the function returns */
#define PROBE_RETURN 0x08	/* args[2] is the returned value */
#define PROBE_KEEP 0x10		/* recorded even if short: it names an object that other calls use */
#define PROBE_MEMORY 0x20	/* an argument lies in memory, not in a register */
#define PROBE_NAME_KEPT 0x40	/* with PROBE_STRING_IN, not PROBE_MEMORY: the name holds until a call with PROBE_NAMES_CHANGED */
#define PROBE_NAMES_CHANGED 0x80
#define PROBE_VALUE 0x100	/* the returned value is read: the call does not end where that is not set yet */

struct probe_conf {
	struct probe_argument args[REC_ARGS];
	__u8 string_position;
	__u8 entry_only;	/* the ends of its calls are not seen: calls are recorded at their entry */
	__u16 string_offset;	/* with PROBE_STRING_IN */
	__u16 flags;
	__u16 below;		/* bytes by which the stack pointer at the probe is below its value at the function's first instruction */
	__u64 exit;		/* cookie of the exit if the function's first instruction is one; 0 = it is not */
};

#define PROBES_IN_CHUNK 1024	/* places in each of the maps in map "probes"; a power of two */

/*
 * The bits of a probe's cookie, which describe its place. Bits 0..31: the number of the probe at an entry, the
 * number of the exit elsewhere.
 */
#define PLACE_KIND_SHIFT 32	/* bits 32..34: enum place_kind */
#define PLACE_KIND_MASK 7
#define PLACE_RETURN_PLAIN (1ull << 35)	/* with PLACE_RETURN: the instruction pops only the return address */
#define PLACE_BELOW_SHIFT 36	/* bits 36..47: words by which the stack pointer is below its value at the exit itself */
#define PLACE_BELOW_MASK 0xfff
#define PLACE_OFFSET_SHIFT 48	/* bits 48..59: offset in its page */
#define PLACE_EARLY (1ull << 60) /* the instruction is a jne before the exit: if it jumps, the exit is not reached */
#define PLACE_VALUE_LATER (1ull << 61) /* the function sets its return value after this instruction */

enum place_kind {
	PLACE_ENTRY = 0,
	PLACE_RETURN,		/* a return instruction */
	PLACE_JUMP,		/* a jump to code whose ends are probed */
	PLACE_JUMP_INDIRECT,	/* a jump whose target a struct exit_conf describes */
};

#define EXITS_MAX 65536		/* exits of a session, a power of two */

#define EXIT_IP 32		/* exit_conf.base */
#define EXIT_NO_REGISTER 33

/*
 * The target of an indirect jump: base + index * scale + displacement; with one load the word at that address; with two
 * loads the word at offset "inner" of the object that this word points to. Map "exit_confs".
 */
struct exit_conf {
	__u8 base, index;	/* register numbers, as in the machine's instructions */
	__u8 scale;
	__u8 loads;
	__s32 displacement, inner;
	__s32 own_start, own_end; /* bounds of the function, relative to the instruction */
};

/* Key of map "tail_targets": the target of a tail jump. */
struct tail_target {
	__u64 address;
	__u32 tgid;
	__u32 reserved;
};

/* Its values. */
#define TAIL_ASKED 0		/* the daemon was asked to probe its ends */
#define TAIL_PROBED 1		/* its ends are probed */
#define TAIL_UNKNOWN 2		/* its ends cannot be probed */

/* A target's thread and its thread pointer (fs base, TPIDR_EL0). Read from an iterator, not from a ring. */
struct thread_pointer {
	__u32 tid;
	__u32 tgid;
	__u64 address;
};

#define PROBE_REACH 64		/* bytes: the probe of a function is less than this behind its first instruction */

/* The place of a probe, for kernels that keep no cookies: key of "probed_places". */
struct probed_place {
	__u64 inode;
	__u64 offset;
	__u32 device;		/* of the file system: kernel dev_t, major << 20 | minor */
	__u32 at;		/* PROBED_ENTRY, PROBED_EXIT */
};

#define PROBED_ENTRY 0
#define PROBED_EXIT 1
#define NO_COOKIE (~0ull)

#define NO_OWNER (~0u)

/* Constants that the daemon sets before it loads the programs. */
struct session_settings {
	__u32 daemon_tgid;	/* never traced */
	__u32 system_wide;	/* every process is a target */
	__u32 follow;		/* processes forked by targets become targets */
	__u32 wake_bytes;	/* fill of a ring at which the reader is woken */
	__u32 owner_uid;	/* the ordinary user whom the session serves; NO_OWNER = a user who may see everything */
	__u32 owner_gid;
	__u32 cpu_cgroup_v1;	/* the CPU controller has a hierarchy of its own */
	__u64 min_duration_ns;	/* calls shorter than this are counted, not recorded */
	__u64 stack_block_ns;	/* sleeps shorter than this leave no stack */
	__u32 time_interrupts;	/* interrupts of targets are recorded */
	__u32 faults;		/* the start of a sleep in a page fault is kept for the fault's record */
	__u32 block_by_bio;	/* the first bio identifies a request until it is issued */
	__u32 switches;		/* switches and wake-ups are recorded */
	__u32 sleep_stacks;	/* stacks of long sleeps are recorded */
	__u32 gated;		/* the scheduler's events come through the gate (gate.bpf.h) */
	__u32 gate_slot;	/* the session's slot at the gate */
	__u32 stacks_when_back;	/* user stacks of sleeps are walked after them, not before */
	__u32 unwind;		/* user stacks are walked by unwind tables where there are any */
	/* Features of this kernel; see compat.bpf.h. */
	__u32 typed_task;	/* programs can follow the pointer to the current thread */
	__u32 typed_pointers;	/* programs can follow other kernel pointers (bpf_rdonly_cast) */
	/* BTF ids of the types for that, as the verifier needs them. */
	__u32 type_file, type_fdtable, type_list_head, type_socket;
	__u32 task_storage;
	__u32 global_pointers;	/* global functions may take pointers */
	__u32 task_registers;	/* bpf_task_pt_regs() */
	__u32 cookies;		/* the kernel keeps a cookie for each probe */
	__u32 page_shift;
	__u32 kernel_stack_bytes; /* size of a thread's kernel stack */
	__u32 near_stacks;	/* entries of map "near_stacks", a power of two */
	__u32 known_threads;	/* entries of the map of known threads, a power of two */
};

/* The number of threads per CPU that can have a walk pending between getting the CPU and returning to user space. */
#define RETURNING_PER_CPU 8 /* a power of two */

#define TARGET_MARKS 32768 /* marks, by the low bits of the process id; a power of two */

/* The most sessions of one daemon at its gate: the kernel limits the number of consecutive tail calls. */
#define GATE_SLOTS 32

/* The sessions that may want the events of a process. Bytes, because two may be set at the same time. */
struct gate_marks {
	union {
		__u8 slot[GATE_SLOTS];
		__u64 words[GATE_SLOTS / 8];
	};
};

/* The number of targets that wait for a CPU. */
struct waiting_count {
	__s32 count;
	__u8 line[60]; /* pads to a cache line, because each CPU changes its own count */
};

/* Kinds of runs of a session's programs, whose cost the interrupted thread pays; index into map "run_costs". */
enum run_kind {
	RUN_SAMPLE = 0,		/* samples of threads on a CPU, with their stacks */
	RUN_SWITCH,		/* switches of targets, without the stacks of sleeps */
	RUN_WAKE,		/* wake-ups of targets */
	RUN_SLEEP,		/* stacks of sleeps, taken at switches */
	RUN_KINDS
};

#define RUNS_PER_TIMING 16	/* one run of so many is timed */

/* The cost of one kind on one CPU since the session began. */
struct run_cost {
	__u64 runs;		/* including runs that were only counted, because the kind is shed */
	__u64 timed;
	__u64 timed_ns;		/* total time of the timed runs */
};

/* Key and value of "short_calls": calls under --min-duration, counted but not recorded. */
struct short_key {
	__u32 probe;
	__u32 tgid;
};

struct short_value {
	__u64 count;
	__u64 total_ns;
	__u64 unended;		/* calls among them whose end was not seen: they have no duration */
};

/* The addresses on which threads of a process sleep while they wait for its interpreter's lock. */
struct python_range {
	__u64 first;
	__u64 last;	/* the first address behind the range */
};

/* How to walk a thread's Python stack: offsets in CPython's structures, which depend on its version. */
struct python_layout {
	__u16 state_id;	/* PyThreadState: pthread_t of its thread */
	__u16 state_cframe;	/* PyThreadState: pointer to the structure with "state_frame"; PYTHON_LAYOUT_NONE: PyThreadState has it */
	__u16 state_frame;	/* the innermost frame */
	__u16 frame_previous;
	__u16 frame_code;
	__u16 frame_instruction;
	__u16 frame_owner;	/* PYTHON_LAYOUT_NONE: frames have no owner */
	__u16 frame_entry;	/* byte that is not 0 where the interpreter's loop was entered; PYTHON_LAYOUT_NONE: each frame enters it,
				 * or frames owned by C code separate the entries */
	__u16 lock_locked;	/* the interpreter's lock: an int that is 1 while a thread holds it */
	__u16 lock_holder;	/* the interpreter's lock: PyThreadState of its last holder */
	__u16 reserved[2];
	__u64 lock;		/* address of the interpreter's lock; 0 = unknown */
};
#define PYTHON_LAYOUT_NONE 0xffff
#define PYTHON_OWNED_BY_C 3	/* owner of a frame that stands for C code; enum _frameowner of 3.12 to 3.14 */

/* The owner of a PyThreadState. */
struct python_thread_key {
	__u32 tgid;
	__u32 tid;
};

#endif /* PROFBPF_BPF_SESSION_MAPS_H */
