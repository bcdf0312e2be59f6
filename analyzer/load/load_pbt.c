/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/load_pbt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/load/loader_private.h"
#include "analyzer/load/survey.h"
#include "lib/base/progress.h"

/* A body unpacks to at most eight times its size, except repeated messages, which take more. */
#define ARENA_LIMIT (1ull << 30)

struct loader *loader_new(struct model *model)
{
	struct loader *loader = calloc(1, sizeof(*loader));

	if (!loader)
		return NULL;
	loader->model = model;
	loader->rows = LOAD_ALL;
	loader->window.model = model;
	loader->digest.model = model;
	loader->far.model = model;
	arena_init(&loader->arena, ARENA_LIMIT);
	return loader;
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	arena_release(&loader->arena);
	free(loader->strings);
	survey_free(&loader->survey);
	window_free(&loader->window);
	near_tasks_free(&loader->near_tasks);
	digest_free(&loader->digest);
	far_launches_free(&loader->far);
	free(loader->objects.row);
	for (uint32_t i = 0; i < loader->sessions.count; i++)
		free(loader->sessions.row[i].segments.row);
	free(loader->sessions.row);
	free(loader->task_rows.row);
	free(loader->tids.row);
	map_free(&loader->process_map);
	map_free(&loader->tid_map);
	map_free(&loader->launch_map);
	map_free(&loader->function_map);
	map_free(&loader->readable_map);
	map_free(&loader->device_map);
	map_free(&loader->driver_map);
	map_free(&loader->cgroup_map);
	map_free(&loader->stack_files);
	map_free(&loader->stack_names);
	map_free(&loader->stack_frames);
	map_free(&loader->stacks);
	free(loader);
}

typedef bool load_fn(struct loader *loader, const struct pbt_packet *packet);

static load_fn *const BODIES[] = {
	[PROFBPF__PACKET__KIND__CLOCKS] = load_clocks,
	[PROFBPF__PACKET__KIND__STRINGS] = load_strings,
	[PROFBPF__PACKET__KIND__FUNCTIONS] = load_functions,
	[PROFBPF__PACKET__KIND__TASKS] = load_tasks,
	[PROFBPF__PACKET__KIND__CALLS] = load_calls,
	[PROFBPF__PACKET__KIND__IOCTLS] = load_ioctls,
	[PROFBPF__PACKET__KIND__SWITCHES] = load_switches,
	[PROFBPF__PACKET__KIND__WAKES] = load_wakes,
	[PROFBPF__PACKET__KIND__ACCOUNTS] = load_accounts,
	[PROFBPF__PACKET__KIND__CPU_STATS] = load_cpu_stats,
	[PROFBPF__PACKET__KIND__DEVICES] = load_devices,
	[PROFBPF__PACKET__KIND__DEVICE_TASKS] = load_device_tasks,
	[PROFBPF__PACKET__KIND__COVERAGE] = load_coverage,
	[PROFBPF__PACKET__KIND__ENDS] = load_ends,
	[PROFBPF__PACKET__KIND__SHED] = load_shed,
	[PROFBPF__PACKET__KIND__NOTES] = load_notes,
	[PROFBPF__PACKET__KIND__STATISTICS] = load_statistics,
	[PROFBPF__PACKET__KIND__DRIVERS] = load_drivers,
	[PROFBPF__PACKET__KIND__PROCESSES] = load_processes,
	[PROFBPF__PACKET__KIND__CGROUPS] = load_cgroups,
	[PROFBPF__PACKET__KIND__CGROUP_STATS] = load_cgroup_stats,
	[PROFBPF__PACKET__KIND__CODE_NAMES] = load_code_names,
	[PROFBPF__PACKET__KIND__THREAD_ROLES] = load_thread_roles,
	[PROFBPF__PACKET__KIND__STACKS] = load_stacks,
	[PROFBPF__PACKET__KIND__STACK_SAMPLES] = load_stack_samples,
	[PROFBPF__PACKET__KIND__SLEEP_OBJECTS] = load_sleep_objects,
	[PROFBPF__PACKET__KIND__INTERRUPTS] = load_interrupts,
	[PROFBPF__PACKET__KIND__COUNTERS] = load_counters,
	[PROFBPF__PACKET__KIND__PYTHONS] = load_pythons,
	[PROFBPF__PACKET__KIND__FAULTS] = load_faults,
	[PROFBPF__PACKET__KIND__BLOCK_REQUESTS] = load_block_requests,
};

/* Functions for the kinds of rows that are only counted. */
static const struct {
	uint32_t rows; /* enum load_rows */
	load_fn *count;
} SURVEYS[] = {
	[PROFBPF__PACKET__KIND__CALLS] = { LOAD_CALLS, survey_calls },
	[PROFBPF__PACKET__KIND__IOCTLS] = { LOAD_IOCTLS, survey_ioctls },
	[PROFBPF__PACKET__KIND__SWITCHES] = { LOAD_SCHEDULE, survey_switches },
	[PROFBPF__PACKET__KIND__WAKES] = { LOAD_SCHEDULE, survey_wakes },
	[PROFBPF__PACKET__KIND__DEVICE_TASKS] = { LOAD_TASKS, survey_device_tasks },
};

void loader_choose(struct loader *loader, uint32_t rows)
{
	loader->rows = rows;
	loader->model->survey.schedule = !(rows & LOAD_SCHEDULE);
}

void loader_choose_part(struct loader *loader, uint64_t from_ns, uint64_t to_ns,
			uint64_t margin_ns)
{
	loader->window = (struct load_window){
		.model = loader->model,
		.wanted = true,
		.after_start_ns = from_ns,
		.before_start_ns = margin_ns,
		.until_ns = to_ns > UINT64_MAX - margin_ns ? UINT64_MAX : to_ns + margin_ns,
	};
	loader->model->survey.schedule = true;
}

void loader_digest(struct loader *loader, bool loops)
{
	loader->digest.wanted = true;
	loader->far.loops = loops;
}

void loader_keep_calls(struct loader *loader)
{
	loader->window.all_calls = true;
	loader->model->survey.all_calls = true;
}

bool loader_part_moved(const struct loader *loader)
{
	return (loader->window.session_start_ns &&
		loader->window.session_start_ns != loader->model->info.session_start_ns) ||
	       near_tasks_doubtful(&loader->near_tasks, loader->model);
}

static load_fn *body_of(const struct loader *loader, unsigned int kind)
{
	if (kind < sizeof(SURVEYS) / sizeof(SURVEYS[0]) && SURVEYS[kind].count &&
	    (!(loader->rows & SURVEYS[kind].rows) ||
	     (loader->window.wanted && !loader->window.all_calls && !loader->digest.wanted &&
	      SURVEYS[kind].count == survey_calls)))
		return SURVEYS[kind].count;
	return BODIES[kind];
}

/* Counts a packet with a correct checksum and an invalid body. */
static void bad_body(struct loader *loader, const struct pbt_packet *packet)
{
	struct pbt_damage *damage = &loader->model->damage;

	damage->packets_skipped++;
	if (!damage->first_reason[0]) {
		damage->first_offset = packet->offset;
		snprintf(damage->first_reason, sizeof(damage->first_reason),
			 "the packet's body (kind %d) is not valid", (int)packet->kind);
	}
}

static int load_packet(struct loader *loader, const struct pbt_packet *packet, char *error,
		       size_t error_size)
{
	unsigned int kind = (unsigned int)packet->kind;
	int err = 0;

	arena_reset(&loader->arena);
	if (packet->kind == PROFBPF__PACKET__KIND__SEGMENT) {
		err = load_segment(loader, packet, error, error_size);
		if (err == -EBADMSG) {
			bad_body(loader, packet);
			err = 0;
		}
		return err;
	}
	/* Skips kinds of packets of a later version of the format. */
	if (kind >= sizeof(BODIES) / sizeof(BODIES[0]) || !BODIES[kind]) {
		loader->model->unknown_batches++;
		return 0;
	}
	if (!loader_need_session(loader))
		loader->no_memory = true;
	else if (!body_of(loader, kind)(loader, packet) && !loader->no_memory)
		bad_body(loader, packet);
	if (loader->no_memory) {
		snprintf(error, error_size,
			 "out of memory; analyse a shorter recording, set TMPDIR to a folder on a "
			 "disk with free space, or use a machine with more memory");
		err = -ENOMEM;
	}
	return !err && far_launches_doubtful(&loader->far) ? -EAGAIN : err;
}

struct far_counts loader_take_far(struct loader *loader)
{
	struct far_counts counts = loader->far.counts;

	loader->far.counts = (struct far_counts){ 0 };
	return counts;
}

static void add_damage(struct pbt_damage *all, const struct pbt_damage *one)
{
	if (!all->first_reason[0] && one->first_reason[0]) {
		all->first_offset = one->first_offset;
		memcpy(all->first_reason, one->first_reason, sizeof(all->first_reason));
	}
	all->packets_read += one->packets_read;
	all->packets_skipped += one->packets_skipped;
	all->bytes_skipped += one->bytes_skipped;
	all->torn_tail |= one->torn_tail;
}

void loader_watch(struct loader *loader, struct progress *progress)
{
	loader->progress = progress;
}

/* The size is unknown for pipes. */
static uint64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static void show_progress(struct loader *loader, const char *path, uint64_t done)
{
	char what[256];

	if (!loader->progress || !progress_wanted(loader->progress))
		return;
	snprintf(what, sizeof(what), "reading %s", path);
	progress_part(loader->progress, what, done, size_of(path));
}

int load_pbt(struct loader *loader, const char *path, char *error, size_t error_size)
{
	struct model *model = loader->model;
	struct pbt_packet packet;
	struct pbt_reader *reader;
	uint32_t name = model_string(model, path);
	int err;

	if (name == INDEX_NONE || !MODEL_PUSH(&model->files, name)) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	reader = pbt_open(path, error, error_size);
	if (!reader)
		return -EINVAL;
	loader->path = path;
	loader->string_count = 0;
	while ((err = pbt_next(reader, &packet)) > 0) {
		err = load_packet(loader, &packet, error, error_size);
		if (err)
			goto cleanup;
		show_progress(loader, path, packet.offset);
	}
	if (err < 0) {
		snprintf(error, error_size, "cannot read: %s", strerror(-err));
		goto cleanup;
	}
	add_damage(&model->damage, pbt_damage(reader));
cleanup:
	pbt_close(reader);
	return err;
}
