/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/segment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "daemon/common/topics.h"
#include "lib/trace/clocks.h"
#include "lib/trace/pbt.h"

#define TOPICS_MAX 16

struct segment {
	Profbpf__Segment m;
	struct utsname host;
	uint8_t uuid[16];
	char boot_id[64];
	char producer[64];
	char *topics[TOPICS_MAX];
	uint32_t *targets;
	char **notes;
	Profbpf__ProbeCost costs[INSTRUCTION_CLASSES];
	Profbpf__ProbeCost *cost_pointers[INSTRUCTION_CLASSES];
};

static void read_boot_id(struct segment *s)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, s->boot_id, sizeof(s->boot_id) - 1);

	if (fd >= 0)
		close(fd);
	s->boot_id[n > 0 ? n : 0] = '\0';
	s->boot_id[strcspn(s->boot_id, "\n")] = '\0';
	s->m.boot_id.data = (uint8_t *)s->boot_id;
	s->m.boot_id.len = strlen(s->boot_id);
}

static void fill_host(struct segment *s)
{
	uname(&s->host);
	s->m.hostname = s->host.nodename;
	s->m.kernel = s->host.release;
	s->m.arch = s->host.machine;
	s->m.cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (getrandom(s->uuid, sizeof(s->uuid), 0) == sizeof(s->uuid)) {
		s->m.session_uuid.data = s->uuid;
		s->m.session_uuid.len = sizeof(s->uuid);
	}
	snprintf(s->producer, sizeof(s->producer), "profbpf %s", PROFBPF_VERSION);
	s->m.producer = s->producer;
	read_boot_id(s);
}

static void fill_start(struct segment *s, uint64_t start_ns)
{
	struct clock_snapshot now;

	s->m.session_start_ns = start_ns;
	if (!clock_snapshot_take(&now) && now.realtime_ns)
		s->m.session_start_realtime_ns = now.realtime_ns - (now.monotonic_ns - start_ns);
}

static void fill_topics(struct segment *s, unsigned int topics)
{
	const char *name;

	s->m.topics = s->topics;
	for (unsigned int i = 0; i < TOPICS_MAX && (name = topic_name(i)); i++)
		if (topics & 1u << i)
			s->topics[s->m.n_topics++] = (char *)name;
}

static void fill_costs(struct segment *s, const struct probe_costs *costs)
{
	s->m.probe_cost_ns = costs->by_class[INSTRUCTION_EMULATED].inside_ns;
	s->m.probe_string_ns = costs->string_ns;
	s->m.probe_costs = s->cost_pointers;
	for (int i = 0; i < INSTRUCTION_CLASSES; i++) {
		Profbpf__ProbeCost *cost = &s->costs[s->m.n_probe_costs];

		if (!costs->by_class[i].whole_ns)
			continue;
		profbpf__probe_cost__init(cost);
		cost->instruction = (char *)instruction_class_name(i);
		cost->inside_ns = costs->by_class[i].inside_ns;
		cost->whole_ns = costs->by_class[i].whole_ns;
		s->cost_pointers[s->m.n_probe_costs++] = cost;
	}
}

static int copy_lists(struct segment *s, const struct session_request *request, char *const *notes,
		      size_t note_count)
{
	s->targets = calloc(request->pid_count + 1, sizeof(*s->targets));
	s->notes = calloc(note_count + 1, sizeof(*s->notes));
	if (!s->targets || !s->notes)
		return -1;
	for (size_t i = 0; i < request->pid_count; i++)
		s->targets[i] = request->pids[i];
	s->m.n_targets = request->pid_count;
	s->m.targets = s->targets;
	for (size_t i = 0; i < note_count; i++) {
		s->notes[i] = strdup(notes[i]);
		if (!s->notes[i])
			return -1;
		s->m.n_notes++;
	}
	s->m.notes = s->notes;
	return 0;
}

struct segment *segment_new(const struct session_request *request, const struct features *features,
			    uint64_t start_ns, char *const *notes, size_t note_count,
			    const struct probe_costs *costs)
{
	struct segment *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	profbpf__segment__init(&s->m);
	s->m.format = PBT_FORMAT;
	fill_host(s);
	fill_start(s, start_ns);
	fill_topics(s, request->topics);
	s->m.system_wide = request->system_wide;
	s->m.follow = request->follow;
	s->m.interval_ns = request->interval_ns;
	s->m.min_duration_ns = request->min_duration_ns;
	fill_costs(s, costs);
	s->m.probe_method = (char *)probe_method_name(features->method);
	if (copy_lists(s, request, notes, note_count)) {
		segment_free(s);
		return NULL;
	}
	return s;
}

const Profbpf__Segment *segment_message(const struct segment *segment)
{
	return &segment->m;
}

void segment_free(struct segment *segment)
{
	if (!segment)
		return;
	for (size_t i = 0; segment->notes && i < segment->m.n_notes; i++)
		free(segment->notes[i]);
	free(segment->notes);
	free(segment->targets);
	free(segment);
}
