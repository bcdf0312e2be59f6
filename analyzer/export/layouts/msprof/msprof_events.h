/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_events.h - events of msprof's timelines: for msprof_events.c, msprof_timeline.c and msprof_step_timeline.c alone.
 *
 * As msprof of CANN 8.5 and 9 writes them (csrc/application/timeline of its source): one array of Chrome's events, "ts" a
 * text in microseconds with three decimals, "dur" a number. A layer is a process, whose number is
 * process << 10 | layer << 5 | device, the host's 31 for a device. Calls and tasks are joined by connection_id and by
 * flows "HostToDevice", whose id is connection_id << 32; as the number of a model or a subtask 4294967295 means "none".
 * Unknown arguments are "N/A" if readers need them, else left out.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_LAYOUTS_MSPROF_MSPROF_EVENTS_H
#define PROFBPF_ANALYZER_EXPORT_LAYOUTS_MSPROF_MSPROF_EVENTS_H

#include "analyzer/export/layouts/msprof/msprof.h"
#include "analyzer/view/render/json.h"

#define MSPROF_DEVICES_MAX 30 /* largest number that a process's number has room for */
#define MSPROF_HOST 31
#define MSPROF_NO_ID UINT32_MAX

/* Numbers of layers, by which viewers sort them. */
enum msprof_layer {
	LAYER_CANN = 7,
	LAYER_HARDWARE = 13,
	LAYER_COMMUNICATION = 15,
	LAYER_OVERLAP = 29,
};

struct msprof_events {
	const struct msprof *msprof;
	struct json *json;
	FILE *out;
};

/* Begin and end NAME_<time>.json. 0 or a negative errno; the end also when writing failed. */
int msprof_events_open(struct msprof_events *events, const struct msprof *msprof, const char *name);
int msprof_events_close(struct msprof_events *events);

/* The number of a layer's process: of the device or, of LAYER_CANN, of the host. */
uint64_t msprof_layer_pid(const struct msprof *msprof, enum msprof_layer layer);

/* Write the name and the sort position of a process (layer) and of a thread. */
void msprof_name_layer(struct msprof_events *events, enum msprof_layer layer, const char *name);
void msprof_name_thread(struct msprof_events *events, enum msprof_layer layer, uint64_t tid,
			const char *name);

/*
 * msprof_begin_slice - a complete event, up to its "args", which the caller writes
 *
 * @category: NULL = none. msprof_end_slice() ends both.
 */
void msprof_begin_slice(struct msprof_events *events, const char *name, const char *category,
			enum msprof_layer layer, uint64_t tid, uint64_t start_ns, uint64_t end_ns);
void msprof_end_slice(struct msprof_events *events);

/* One end of an arrow: @phase "s" or "f". */
void msprof_flow(struct msprof_events *events, const char *phase, uint32_t connection,
		 enum msprof_layer layer, uint64_t tid, uint64_t ns);

/* Write microseconds, an instant as a text; an unknown instant, 0, is "N/A". */
void msprof_event_instant(struct msprof_events *events, const char *key, uint64_t ns);
void msprof_event_us(struct msprof_events *events, const char *key, int64_t ns);

/* The rows of the device's steps, in either file. */
void msprof_put_steps(struct msprof_events *events, const struct device_step_trace *trace);

#endif /* PROFBPF_ANALYZER_EXPORT_LAYOUTS_MSPROF_MSPROF_EVENTS_H */
