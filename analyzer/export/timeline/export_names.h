/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_names.h - the names of slices and tracks in exported timelines.
 *
 * Both writers use the same names, so that users find the same things in both
 * viewers. Names of slices are short and stable, because viewers colour by name;
 * values that differ from one slice to the next are arguments.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_EXPORT_NAMES_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_EXPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/* Arguments of slices. */
enum export_arg {
	ARG_STREAM,
	ARG_BYTES,
	ARG_COPY_KIND,
	ARG_CORRELATION,
	ARG_COUNT,
	ARG_DEVICE,
	ARG_BLOCKING,
	ARG_VALUE,
	ARG_TEXT,
	ARG_LAUNCHED,
	ARG_RET,
	ARG_STATUS,
	ARG_OPEN,
	ARG_LEFT,
	ARG_END_UNKNOWN,
	ARG_CUT,
	ARG_COMMAND,
	ARG_QUEUE_DELAY_NS,
	ARG_WHO,
	ARG_DETAIL,
	ARG_GAP_NS,
	ARG_SYSCALL,
	ARG_OBJECT,
	ARG_WOKEN_BY,
	ARG_SECTOR,
	ARG_LATENCY_NS,
	ARG_FAILED,
	ARG_TYPE,
	ARG_CORE,
	ARG_INPUT_SHAPES,
	ARG_INPUT_TYPES,
	ARG_OUTPUT_SHAPES,
	EXPORT_ARGS
};

/* "stream", "bytes", ... Static text. */
const char *export_arg_name(enum export_arg arg);

/* The argument under which a call's args[i] of this role is shown; EXPORT_ARGS = not shown. */
enum export_arg export_arg_of_role(uint8_t role);

/* Is a call's text the name of the launched operation (ARG_LAUNCHED), or its string argument (ARG_TEXT)? */
enum export_arg export_arg_of_text(const struct model *model, const struct call *call);

/* Is it a handle or an address, to be written in hexadecimal? */
bool export_arg_is_handle(enum export_arg arg);

/* Categories of the job's own marks, and of arrows from the forward to the backward pass; PyTorch's names. */
#define EXPORT_RANGE "range"
#define EXPORT_PASSES "fwdbwd"

/* Category of a device task: "kernel", "copy", ... Static text. */
const char *export_task_category(uint8_t kind);

/* Names that are put together; each returns @into. */
#define EXPORT_NAME_SIZE 256

/* "ioctl nvidiactl 0xc00846d2": driver and command */
const char *export_ioctl_name(const struct model *model, const struct ioctl_call *ioctl, char *into,
			      size_t size);

/* "NVIDIA H200", "device 3" */
const char *export_device_name(const struct model *model, uint32_t device, char *into, size_t size);

/* "Stream 7 (python3 4242)"; numbers too large for a stream are handles: "Stream 0x55d0c3a8";
 * "No stream" for tasks without one */
const char *export_stream_name(const struct model *model, uint32_t device, uint64_t stream,
			       char *into, size_t size);

/* Name of a thread, process, function or task; "unknown" and the like where there is none. */
const char *export_thread_name(const struct model *model, uint32_t thread, uint32_t tid, char *into,
			       size_t size);
const char *export_process_name(const struct model *model, uint32_t process, char *into,
				size_t size);
const char *export_function_name(const struct model *model, uint32_t function, char *into,
				 size_t size);
/* "api: 12 records lost: ring full", for one reason */
const char *export_loss_text(const struct model *model, const struct source_loss *source,
			     uint32_t reason, char *into, size_t size);
const char *export_task_name(const struct model *model, const struct device_task *task);

/* A file's texts about a task: strings of the model, by argument; 0 = none. */
#define EXPORT_TASK_TEXTS 5
struct export_text {
	enum export_arg arg;
	uint32_t text;
};
void export_task_texts(const struct model *model, const struct device_task *task,
		       struct export_text texts[EXPORT_TASK_TEXTS]);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_EXPORT_NAMES_H */
