/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * session_maps.h - what the daemon and a session's BPF programs tell each other in maps: settings, probes and their places,
 * where an interpreter keeps things, what is only counted.
 *
 * As private to one build as the records (events.h).
 */
#ifndef PROFBPF_BPF_SESSION_MAPS_H
#define PROFBPF_BPF_SESSION_MAPS_H

#include "events.h"

/* How one probe reads its arguments; one entry per probe in map "probes". */
struct probe_argument {
	__u8 position;		/* 1-based argument position; 0 = not used */
	__u8 width;		/* bytes to keep: 1, 2, 4 or 8 */
	__s16 deref;		/* offset to read at if the argument is a pointer; -1 = the value itself */
	__s16 inner;		/* what is there is a pointer, too: offset to read at; -1 = it is not */
};

/* probe_conf.flags */
#define PROBE_STRING 0x01	/* argument string_position is a C string to send */
#define PROBE_STRING_IN 0x04	/* its address is at string_offset of what the argument points to */
#define PROBE_OUT 0x02		/* args[2] is read through its pointer when the function returns */
#define PROBE_RETURN 0x08	/* args[2] is the returned value */
#define PROBE_KEEP 0x10		/* recorded however short: it names what other calls use */
#define PROBE_MEMORY 0x20	/* an argument lies in memory, not in a register */
#define PROBE_NAME_KEPT 0x40	/* with PROBE_STRING_IN, not PROBE_MEMORY: it stays until one with PROBE_NAMES_CHANGED */
#define PROBE_NAMES_CHANGED 0x80

struct probe_conf {
	struct probe_argument args[REC_ARGS];
	__u8 string_position;
	__u8 flags;
	__u16 string_offset;	/* with PROBE_STRING_IN */
	__u16 entry_only;	/* its ends are not seen: calls are recorded as they begin */
	__u16 below;		/* bytes that the stack pointer is below its place at the function's first instruction */
	__u64 exit;		/* cookie of the exit that its first instruction is; 0 = it is none */
};

#define PROBES_IN_CHUNK 1024	/* places in each of the maps in map "probes"; a power of two */

/*
 * What a probe's cookie tells of the place that it is at. Bits 0..31: the probe's number at
 * an entry, the exit's number elsewhere.
 */
#define PLACE_KIND_SHIFT 32	/* bits 32..34: enum place_kind */
#define PLACE_KIND_MASK 7
#define PLACE_RETURN_PLAIN (1ull << 35)	/* of PLACE_RETURN: a return that takes nothing else off the stack */
#define PLACE_BELOW_SHIFT 36	/* bits 36..47: words that the stack pointer is below its place at the exit itself */
#define PLACE_BELOW_MASK 0xfff
#define PLACE_OFFSET_SHIFT 48	/* bits 48..59: offset in its page */

enum place_kind {
	PLACE_ENTRY = 0,
	PLACE_RETURN,		/* a return instruction */
	PLACE_JUMP,		/* a jump to code whose ends are probed */
	PLACE_JUMP_INDIRECT,	/* a jump to where a struct exit_conf tells */
};

#define EXITS_MAX 65536		/* exits of a session, a power of two */

#define EXIT_IP 32		/* exit_conf.base */
#define EXIT_NO_REGISTER 33

/*
 * Where an indirect jump leads: base + index * scale + displacement, or what lies there, or with two loads what lies at
 * inner of what that points to. Map "exit_confs".
 */
struct exit_conf {
	__u8 base, index;	/* as the machine's instructions number registers */
	__u8 scale;
	__u8 loads;
	__s32 displacement, inner;
	__s32 own_start, own_end; /* from the instruction: what leads there stays in the function */
};

/* Key of map "tail_targets": code that a function goes on in. */
struct tail_target {
	__u64 address;
	__u32 tgid;
	__u32 reserved;
};

/* Its values. */
#define TAIL_ASKED 0		/* the daemon was told of it */
#define TAIL_PROBED 1		/* its ends are probed */
#define TAIL_UNKNOWN 2		/* its ends can't be probed */

/* A target's thread and its thread pointer (fs base, TPIDR_EL0). Read from an iterator, not from a ring. */
struct thread_pointer {
	__u32 tid;
	__u32 tgid;
	__u64 address;
};

#define PROBE_REACH 64		/* bytes: a function's probe lies less far behind its first instruction */

/* Where a probe is, for kernels that keep no cookies: key of "probed_places". */
struct probed_place {
	__u64 inode;
	__u64 offset;
	__u32 device;		/* of the file's system: kernel dev_t, major << 20 | minor */
	__u32 at;		/* PROBED_ENTRY, PROBED_EXIT */
};

#define PROBED_ENTRY 0
#define PROBED_EXIT 1
#define NO_COOKIE (~0ull)

#define NO_OWNER (~0u)

/* What the daemon sets before it loads the programs. */
struct session_settings {
	__u32 daemon_tgid;	/* never traced */
	__u32 system_wide;	/* every process is a target */
	__u32 follow;		/* processes forked by targets become targets */
	__u32 wake_bytes;	/* fill of a ring at which the reader is woken */
	__u32 owner_uid;	/* the ordinary user who may see all of it; NO_OWNER = may see what there is */
	__u32 owner_gid;
	__u32 cpu_cgroup_v1;	/* the CPU controller has a hierarchy of its own */
	__u64 min_duration_ns;	/* calls shorter than this are counted, not recorded */
	__u64 stack_block_ns;	/* sleeps shorter than this leave no stack */
	__u32 time_interrupts;	/* those that interrupt targets are recorded */
	__u32 faults;		/* sleeps in page faults are kept for their records */
	__u32 block_by_bio;	/* a request is known by what it carries until it is issued */
	__u32 switches;		/* switches and wake-ups are recorded */
	__u32 sleep_stacks;	/* stacks of long sleeps are */
	__u32 gated;		/* the scheduler's events come by the gate (gate.bpf.h) ... */
	__u32 gate_slot;	/* ... where this is the session's place */
	__u32 stacks_when_back;	/* user stacks of sleeps are walked after them, not before */
	__u32 unwind;		/* user stacks are walked by tables where there are any */
	/* What this kernel offers its programs; see compat.bpf.h. */
	__u32 typed_task;	/* a pointer to the current thread that can be followed */
	__u32 typed_pointers;	/* other pointers of the kernel that can be followed */
	/* Numbers of their types in the kernel's own description; as the verifier wants them. */
	__u32 type_file, type_fdtable, type_list_head, type_socket;
	__u32 task_storage;
	__u32 global_pointers;	/* functions that are looked at once may be given pointers */
	__u32 task_registers;	/* the registers that a thread had in user space */
	__u32 cookies;		/* a number that is attached with each probe */
	__u32 page_shift;
	__u32 kernel_stack_bytes; /* of a thread */
	__u32 near_stacks;	/* places of that map, a power of two */
	__u32 known_threads;	/* the same */
};

/* How many threads that got a CPU and have not come back to user space yet can be told to walk. */
#define RETURNING_PER_CPU 8 /* a power of two */

#define TARGET_MARKS 32768 /* places of processes that may be targets; a power of two */

/* Sessions of one daemon that can have a place at its gate: no more tail calls follow each other. */
#define GATE_SLOTS 32

/* Which sessions may want the events of a process. Bytes, for two may be set at the same time. */
struct gate_marks {
	union {
		__u8 slot[GATE_SLOTS];
		__u64 words[GATE_SLOTS / 8];
	};
};

/* How many targets wait for a CPU. */
struct waiting_count {
	__s32 count;
	__u8 line[60]; /* of the cache: CPUs change their own */
};

/* What the programs of a session do that costs those in whose place they run; index into map "run_costs". */
enum run_kind {
	RUN_SAMPLE = 0,		/* samples of who is on a CPU, with their stacks */
	RUN_SWITCH,		/* switches of targets, but for the next */
	RUN_WAKE,		/* wake-ups of targets */
	RUN_SLEEP,		/* what is done at switches to find where targets sleep: stacks */
	RUN_KINDS
};

#define RUNS_PER_TIMING 16	/* one of so many is timed */

/* Of one CPU, since the session began. */
struct run_cost {
	__u64 runs;		/* also those that were counted only, because they are shed */
	__u64 timed;
	__u64 timed_ns;		/* of these */
};

/* Key and value of "short_calls": calls under --min-duration, counted but not recorded. */
struct short_key {
	__u32 probe;
	__u32 tgid;
};

struct short_value {
	__u64 count;
	__u64 total_ns;
	__u64 unended;		/* of these, calls of which only the beginning was seen: they have no time */
};

/* Addresses that threads of a process sleep on while they wait for its interpreter's lock. */
struct python_range {
	__u64 first;
	__u64 last;	/* the first that does not belong to it */
};

/* Where a thread's Python functions are found: offsets in CPython's structures, which its version decides. */
struct python_layout {
	__u16 state_id;	/* PyThreadState: pthread_t of its thread */
	__u16 state_cframe;	/* ... pointer to what has "state_frame"; PYTHON_LAYOUT_NONE: the state has it */
	__u16 state_frame;	/* the innermost frame */
	__u16 frame_previous;
	__u16 frame_code;
	__u16 frame_instruction;
	__u16 frame_owner;	/* PYTHON_LAYOUT_NONE: it has none */
	__u16 frame_entry;	/* byte that is not 0 where the interpreter's loop was entered; PYTHON_LAYOUT_NONE: each frame enters it,
				 * or those that C code owns part what one entry runs */
	__u16 lock_locked;	/* the interpreter's lock: int that is 1 while somebody has it, */
	__u16 lock_holder;	/* PyThreadState of who had it last */
	__u16 reserved[2];
	__u64 lock;		/* its address; 0 = not known */
};
#define PYTHON_LAYOUT_NONE 0xffff
#define PYTHON_OWNED_BY_C 3	/* owner of a frame that stands for C code; enum _frameowner of 3.12 to 3.14 */

/* Whose PyThreadState it is. */
struct python_thread_key {
	__u64 thread;	/* pthread_t, which is the thread pointer on x86-64 */
	__u32 tgid;
	__u32 reserved;	/* 0 */
};

#endif /* PROFBPF_BPF_SESSION_MAPS_H */
