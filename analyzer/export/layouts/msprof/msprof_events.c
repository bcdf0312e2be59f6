/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/layouts/msprof/msprof_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int msprof_events_open(struct msprof_events *events, const struct msprof *msprof, const char *name)
{
	char path[PATH_MAX + 64];

	*events = (struct msprof_events){ .msprof = msprof };
	snprintf(path, sizeof(path), "%s/%s_%s.json", msprof->folder, name, msprof->stamp);
	events->out = fopen(path, "w");
	if (!events->out)
		return -errno;
	events->json = json_new(events->out, false);
	if (!events->json) {
		fclose(events->out);
		return -ENOMEM;
	}
	json_array(events->json, NULL);
	return 0;
}

int msprof_events_close(struct msprof_events *events)
{
	int err;

	json_array_close(events->json);
	err = json_end(events->json);
	return fclose(events->out) != 0 && !err ? -errno : err;
}

uint64_t msprof_layer_pid(const struct msprof *msprof, enum msprof_layer layer)
{
	const struct model *model = msprof->model;
	const struct device *device = &model->devices.row[msprof->device];
	uint64_t pid = device->process < model->processes.count
			       ? model->processes.row[device->process].pid
			       : 0;

	return pid << 10 | (uint64_t)layer << 5 | (layer == LAYER_CANN ? MSPROF_HOST : device->id);
}

/* Writes a metadata event with one argument, @text, or @number if that is NULL. */
static void put_name(struct msprof_events *events, const char *what, uint64_t pid, uint64_t tid,
		     const char *key, const char *text, uint64_t number)
{
	struct json *json = events->json;

	json_map(json, NULL);
	json_text(json, "name", what);
	json_u64(json, "pid", pid);
	json_u64(json, "tid", tid);
	json_text(json, "ph", "M");
	json_map(json, "args");
	if (text)
		json_text(json, key, text);
	else
		json_u64(json, key, number);
	json_map_close(json);
	json_map_close(json);
}

void msprof_name_layer(struct msprof_events *events, enum msprof_layer layer, const char *name)
{
	uint64_t pid = msprof_layer_pid(events->msprof, layer);
	char label[32] = "CPU";

	if (layer != LAYER_CANN)
		snprintf(label, sizeof(label), "NPU %" PRIu64, pid & 31);
	put_name(events, "process_name", pid, 0, "name", name, 0);
	put_name(events, "process_labels", pid, 0, "labels", label, 0);
	put_name(events, "process_sort_index", pid, 0, "sort_index", NULL, layer);
}

void msprof_name_thread(struct msprof_events *events, enum msprof_layer layer, uint64_t tid,
			const char *name)
{
	uint64_t pid = msprof_layer_pid(events->msprof, layer);

	put_name(events, "thread_name", pid, tid, "name", name, 0);
	put_name(events, "thread_sort_index", pid, tid, "sort_index", NULL, tid);
}

void msprof_event_instant(struct msprof_events *events, const char *key, uint64_t ns)
{
	uint64_t real_ns = msprof_real_ns(events->msprof, ns);
	char text[32] = "N/A";

	if (ns)
		snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, real_ns / 1000,
			 real_ns % 1000);
	json_text(events->json, key, text);
}

void msprof_event_us(struct msprof_events *events, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char text[32];

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%03" PRIu64, ns < 0 ? "-" : "", size / 1000,
		 size % 1000);
	json_number(events->json, key, text);
}

void msprof_begin_slice(struct msprof_events *events, const char *name, const char *category,
			enum msprof_layer layer, uint64_t tid, uint64_t start_ns, uint64_t end_ns)
{
	struct json *json = events->json;

	json_map(json, NULL);
	json_text(json, "name", name);
	json_u64(json, "pid", msprof_layer_pid(events->msprof, layer));
	json_u64(json, "tid", tid);
	msprof_event_instant(events, "ts", start_ns);
	msprof_event_us(events, "dur", (int64_t)(end_ns - start_ns));
	json_text(json, "ph", "X");
	if (category)
		json_text(json, "cat", category);
	json_map(json, "args");
}

void msprof_end_slice(struct msprof_events *events)
{
	json_map_close(events->json);
	json_map_close(events->json);
}

void msprof_flow(struct msprof_events *events, const char *phase, uint32_t connection,
		 enum msprof_layer layer, uint64_t tid, uint64_t ns)
{
	struct json *json = events->json;
	char id[24], name[48];

	snprintf(id, sizeof(id), "%" PRIu64, (uint64_t)connection << 32);
	snprintf(name, sizeof(name), "HostToDevice%s", id);
	json_map(json, NULL);
	json_text(json, "name", name);
	json_u64(json, "pid", msprof_layer_pid(events->msprof, layer));
	json_u64(json, "tid", tid);
	json_text(json, "ph", phase);
	json_text(json, "cat", "HostToDevice");
	json_text(json, "id", id);
	msprof_event_instant(events, "ts", ns);
	if (*phase == 'f')
		json_text(json, "bp", "e");
	json_map_close(json);
}
