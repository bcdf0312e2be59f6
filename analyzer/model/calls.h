/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - rows of the model (model.h): calls of runtimes and of device drivers, and the functions and commands that were called. */
#ifndef PROFBPF_ANALYZER_MODEL_CALLS_H
#define PROFBPF_ANALYZER_MODEL_CALLS_H

#include <stdint.h>

/*
 * The kind of a host slice in a device file. Of nested slices the one with the largest number is the most
 * informative; of equal numbers the inner one, but the outer one of operators.
 */
enum host_scope {
	SCOPE_NONE = 0, /* a runtime function, or a traced call */
	SCOPE_LIBRARY, /* a function of Python that is not the job's own */
	SCOPE_OPERATOR, /* of the framework: aten::mm */
	SCOPE_PYTHON, /* a function of the job's own Python */
	SCOPE_RANGE, /* the job marked it: record_function(), NVTX, ROCTX */
	SCOPE_MODULE, /* nn.Module: Linear_0 */
	SCOPE_OPTIMIZER, /* Optimizer.step#SGD.step */
	SCOPE_DATA, /* enumerate(DataLoader)#... */
	SCOPES
};

/* A probed function of a file, as the daemon described it. Strings but for numbers. */
struct function {
	uint32_t runtime;
	uint32_t family;
	uint32_t name; /* C++ names are demangled, without parameters */
	uint32_t symbol; /* as in the file's symbol table */
	uint32_t file;
	uint32_t instruction; /* "nop5", "emulated", "stepped" */
	uint8_t kind; /* Profbpf__Function__Kind */
	uint8_t layer;
	uint8_t scope; /* enum host_scope; its kind is MARKER then, unless it is SCOPE_NONE */
	uint8_t error; /* Profbpf__Function__Error */
	uint8_t roles[3]; /* Profbpf__Function__Role of args[0..2] */
	uint32_t probe_inside_ns; /* the probe's share of a recorded duration; 0 = unknown */
	uint32_t probe_whole_ns; /* ... and to that of a call around it */
	uint32_t probe_string_ns; /* more in both if a string argument was kept */
	uint64_t counted_calls; /* of a survey */
	uint64_t counted_texts; /* counted calls with a string argument */
	uint32_t launches; /* string: the operation that it launches or prepares, if its name contains it; 0 = unknown */
};

/* The source of the name of the operation that a call launched. */
enum call_named {
	NAMED_NOT = 0, /* unknown */
	NAMED_ARGUMENT, /* a string argument */
	NAMED_FUNCTION, /* the function's own name: aclnnAdd */
	NAMED_HANDLE, /* the call that made the handle or registered the address */
	NAMED_SYMBOL, /* the program's symbol table */
	NAMED_INNER, /* a launching call nested in this one */
	NAMED_TASK, /* the device task that it launched */
};

/* flags of calls */
#define MODEL_CALL_OPEN 0x01 /* had not returned when the thread or the session ended */
#define MODEL_CALL_ERROR 0x02 /* returned an error by the function's convention */
#define MODEL_CALL_INNER 0x04 /* inside a call of the same family: its time is not in totals */
#define MODEL_CALL_PART 0x08 /* a launch, copy or collective inside another of the same family: the same work */
#define MODEL_CALL_SHARED 0x10 /* it submitted the same task as another call, which the task belongs to */
#define MODEL_CALL_LEFT 0x20 /* an exception, longjmp or unwinding left it: it never returned */
#define MODEL_CALL_ENTRY 0x40 /* only its entry was seen */
#define MODEL_CALL_VALUE_UNKNOWN 0x80 /* it returned a value that was not seen */
/* Calls whose end is unknown: end_ns is start_ns. */
#define MODEL_CALL_END_UNKNOWN (MODEL_CALL_LEFT | MODEL_CALL_ENTRY)
/* Calls whose return was not seen: results, output arguments and duration are unknown. */
#define MODEL_CALL_NOT_RETURNED (MODEL_CALL_OPEN | MODEL_CALL_END_UNKNOWN)

/* A call of a function; its return may not have been seen. */
struct call {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread;
	uint32_t function;
	uint32_t ret;
	uint32_t text; /* string argument, or the name of the launched operation; 0 = none */
	uint64_t args[3];
	uint32_t task; /* device task that it launched (the first, if several) or INDEX_NONE */
	uint8_t flags;
	uint8_t depth;
	uint8_t named; /* enum call_named: where text comes from, of launching calls */
};

/* A command to a device driver. */
/* flags of ioctls only */
#define MODEL_IOCTL_BEFORE 0x10 /* was under way when recording began (start_ns): its duration is a lower bound */
#define MODEL_IOCTL_UNSEEN 0x20 /* with MODEL_IOCTL_BEFORE: its return was not seen; it was still under way at end_ns */

struct ioctl_call {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread;
	uint32_t driver; /* index into drivers */
	uint32_t cmd;
	int32_t ret;
	uint8_t flags; /* MODEL_CALL_OPEN, MODEL_IOCTL_ */
};

/* The driver of a device number. */
struct driver {
	uint32_t rdev;
	uint32_t driver; /* string: driver name */
	uint32_t module; /* string: driver bound to the device; 0 = none */
	uint32_t device; /* string: device node */
	uint32_t first_command; /* names of its commands: model.commands[first .. first + count) */
	uint32_t command_count;
};

/* The name of a driver's command; the first row that matches counts. */
struct driver_command {
	uint32_t value; /* of the command number and mask */
	uint32_t mask;
	uint32_t name;
};

/* The symbol at an address of a program. */
struct code_name {
	uint64_t address;
	uint64_t from_ns;
	uint32_t process;
	uint32_t name; /* as people write it */
};

/* A process launched with a function, in calls that are not among the model's. */
struct launch_caller {
	uint32_t function;
	uint32_t process; /* INDEX_NONE: not known which */
};

/* Calls of a process that were too short to be recorded one by one. */
struct short_calls {
	uint32_t function;
	uint32_t process;
	uint64_t count;
	uint64_t total_ns; /* total of the calls with a known duration */
	uint64_t unended; /* number of calls in "count" without a known duration */
};

#endif /* PROFBPF_ANALYZER_MODEL_CALLS_H */
