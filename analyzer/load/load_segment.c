/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a segment: finds its session, and reads the trace's header. */
#include "analyzer/load/loader_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGETS_MAX 4096
#define SESSIONS_MAX 4096
#define NOTES_MAX 256

static bool add_session(struct loader *loader)
{
	struct session session = { 0 };

	if (!MODEL_PUSH(&loader->sessions, session))
		return false;
	loader->session = loader->sessions.count - 1;
	return true;
}

bool loader_need_session(struct loader *loader)
{
	return loader->sessions.count > 0 || add_session(loader);
}

/* Finds the session of a segment or creates it. */
static bool enter_session(struct loader *loader, const ProtobufCBinaryData *uuid)
{
	uint8_t id[SESSION_UUID_SIZE] = { 0 };

	memcpy(id, uuid->data, uuid->len < sizeof(id) ? uuid->len : sizeof(id));
	for (uint32_t i = 0; i < loader->sessions.count; i++) {
		struct session *session = &loader->sessions.row[i];

		/* Rows before the first readable header belong to the session of that header. */
		if (!session->known)
			memcpy(session->uuid, id, sizeof(id));
		if (memcmp(session->uuid, id, sizeof(id)) == 0) {
			loader->session = i;
			return true;
		}
	}
	if (!add_session(loader))
		return false;
	memcpy(loader_session(loader)->uuid, id, sizeof(id));
	return true;
}

static bool add_targets(struct model *model, const Profbpf__Segment *segment)
{
	struct trace_info *info = &model->info;
	uint32_t *grown;

	if (segment->n_targets > TARGETS_MAX - info->target_count)
		return true;
	grown = reallocarray(info->targets, info->target_count + segment->n_targets + 1,
			     sizeof(*grown));
	if (!grown)
		return false;
	info->targets = grown;
	for (size_t i = 0; i < segment->n_targets; i++) {
		uint32_t known = 0;

		while (known < info->target_count && grown[known] != segment->targets[i])
			known++;
		if (known == info->target_count)
			grown[info->target_count++] = segment->targets[i];
	}
	return true;
}

static bool add_notes(struct model *model, char *const *notes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t id = model_string(model, notes[i]);
		uint32_t known = 0;

		if (id == INDEX_NONE)
			return false;
		if (id == 0)
			continue;
		while (known < model->notes.count && model->notes.row[known] != id)
			known++;
		if (known == NOTES_MAX)
			break;
		if (known == model->notes.count && !MODEL_PUSH(&model->notes, id))
			return false;
	}
	return true;
}

bool load_notes(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Notes *notes = LOADER_UNPACK(notes, packet);

	if (!notes)
		return false;
	return add_notes(loader->model, notes->text, notes->n_text) || loader_out_of_memory(loader);
}

static uint32_t join_topics(struct model *model, const Profbpf__Segment *segment)
{
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < segment->n_topics; i++) {
		int size = snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "",
				    segment->topics[i]);

		if (size < 0 || (size_t)size >= sizeof(text) - used)
			break;
		used += (size_t)size;
	}
	return model_string(model, text);
}

/* Reads the host's part of the header, from the first segment. */
static bool take_host(struct model *model, const Profbpf__Segment *segment)
{
	struct trace_info *info = &model->info;

	info->hostname = model_string(model, segment->hostname);
	info->kernel = model_string(model, segment->kernel);
	info->arch = model_string(model, segment->arch);
	info->producer = model_string(model, segment->producer);
	info->probe_method = model_string(model, segment->probe_method);
	info->topics = join_topics(model, segment);
	info->cpus = segment->cpus;
	info->interval_ns = segment->interval_ns;
	info->min_duration_ns = segment->min_duration_ns;
	info->follow = segment->follow;
	return info->hostname != INDEX_NONE && info->kernel != INDEX_NONE &&
	       info->arch != INDEX_NONE && info->producer != INDEX_NONE &&
	       info->probe_method != INDEX_NONE && info->topics != INDEX_NONE;
}

/* Older sessions have the cost of one class only, and only its share in the call itself. */
static void take_probe_costs(struct model *model, const Profbpf__Segment *segment,
			     struct session *session)
{
	session->probe_cost_count = 0;
	for (size_t i = 0; i < segment->n_probe_costs && i < PROBE_COSTS_MAX; i++) {
		const Profbpf__ProbeCost *from = segment->probe_costs[i];
		uint32_t name = model_string(model, from->instruction);

		session->probe_costs[session->probe_cost_count++] = (struct probe_cost){
			.instruction = name == INDEX_NONE ? 0 : name,
			.inside_ns = from->inside_ns,
			.whole_ns = from->whole_ns,
		};
	}
	if (!session->probe_cost_count && segment->probe_cost_ns)
		session->probe_costs[session->probe_cost_count++] = (struct probe_cost){
			.inside_ns = segment->probe_cost_ns,
			.whole_ns = segment->probe_cost_ns,
		};
	session->probe_string_ns = segment->probe_string_ns;
	if (model->info.probe_cost_count)
		return;
	memcpy(model->info.probe_costs, session->probe_costs, sizeof(session->probe_costs));
	model->info.probe_cost_count = session->probe_cost_count;
	model->info.probe_string_ns = session->probe_string_ns;
}

static bool take_segment(struct loader *loader, const Profbpf__Segment *segment)
{
	struct model *model = loader->model;
	struct trace_info *info = &model->info;
	struct session *session;

	if (!enter_session(loader, &segment->session_uuid))
		return false;
	session = loader_session(loader);
	if (!session->known) {
		session->known = true;
		session->start_ns = segment->session_start_ns;
		take_probe_costs(model, segment, session);
		if (!info->session_start_ns || session->start_ns < info->session_start_ns) {
			info->session_start_ns = session->start_ns;
			info->start_realtime_ns = segment->session_start_realtime_ns;
		}
	}
	info->system_wide |= segment->system_wide;
	if (!loader->any_segment && !take_host(model, segment))
		return false;
	loader->any_segment = true;
	return add_targets(model, segment) && add_notes(model, segment->notes, segment->n_notes);
}

/* A segment that is given twice must not be counted twice. */
static bool read_before(const struct session *session, uint32_t index)
{
	for (uint32_t i = 0; i < session->segments.count; i++)
		if (session->segments.row[i] == index)
			return true;
	return false;
}

int load_segment(struct loader *loader, const struct pbt_packet *packet, char *error,
		 size_t error_size)
{
	Profbpf__Segment *segment =
		profbpf__segment__unpack(&loader->arena.allocator, packet->size, packet->body);
	uint8_t boot_id[sizeof(loader->boot_id)] = { 0 };

	if (!segment || loader->sessions.count >= SESSIONS_MAX)
		return -EBADMSG;
	if (segment->format < PBT_FORMAT_OLDEST || segment->format > PBT_FORMAT) {
		snprintf(error, error_size,
			 "the trace has format %u, this analyzer reads formats %u to %u; use the "
			 "analyzer of the profbpf that recorded it",
			 segment->format, PBT_FORMAT_OLDEST, PBT_FORMAT);
		return -EINVAL;
	}
	memcpy(boot_id, segment->boot_id.data,
	       segment->boot_id.len < sizeof(boot_id) ? segment->boot_id.len : sizeof(boot_id));
	if (loader->any_segment && memcmp(boot_id, loader->boot_id, sizeof(boot_id)) != 0) {
		snprintf(error, error_size,
			 "recorded on another host or after a reboot: its clock is not related to "
			 "that of the traces before; analyse it separately");
		return -EINVAL;
	}
	memcpy(loader->boot_id, boot_id, sizeof(boot_id));
	loader->string_count = 0;
	loader->objects.count = 0;
	if (!take_segment(loader, segment)) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	if (read_before(loader_session(loader), segment->index)) {
		snprintf(error, error_size,
			 "part %u of this recording was read before; give each file once",
			 segment->index + 1);
		return -EINVAL;
	}
	if (!MODEL_PUSH(&loader_session(loader)->segments, segment->index)) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	return 0;
}
