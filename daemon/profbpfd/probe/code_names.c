/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/code_names.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/profbpfd/capture/capture.h"
#include "lib/elf/elf_addresses.h"
#include "lib/elf/process_maps.h"

#define TABLE_SIZE (2 * CODE_NAMES_MAX) /* power of two, at most half full */

/* One address of one process; pid 0 = a free place of the table. */
struct noted {
	uint32_t pid;
	uint64_t address;
	uint64_t from_ns;
	/* Used during the look-up: */
	uint32_t dev;
	uint64_t inode;
	char *name;
};

struct code_names {
	_Atomic uint8_t slot[CAPTURE_PROBES_MAX]; /* 1 + argument; 0 = none */
	struct noted *seen; /* reader thread only */
	size_t seen_count;
	struct item_queue *queue;
	const struct right *right;
	pthread_mutex_t lock;
	struct noted *waiting; /* under lock */
	size_t waiting_count, waiting_capacity;
	bool news; /* reader thread only */
};

struct code_names *code_names_new(struct item_queue *queue)
{
	struct code_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->seen = calloc(TABLE_SIZE, sizeof(*names->seen));
	if (!names->seen) {
		free(names);
		return NULL;
	}
	names->queue = queue;
	pthread_mutex_init(&names->lock, NULL);
	return names;
}

void code_names_limit(struct code_names *names, const struct right *right)
{
	names->right = right;
}

void code_names_free(struct code_names *names)
{
	if (!names)
		return;
	pthread_mutex_destroy(&names->lock);
	free(names->seen);
	free(names->waiting);
	free(names);
}

void code_names_watch(struct code_names *names, uint32_t probe, unsigned int slot)
{
	if (probe < CAPTURE_PROBES_MAX && slot < REC_ARGS)
		atomic_store_explicit(&names->slot[probe], slot + 1, memory_order_relaxed);
}

static struct noted *place_of(struct code_names *names, uint32_t pid, uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ull >> 40 ^ pid * 2654435761u) & (TABLE_SIZE - 1);

	while (names->seen[i].pid &&
	       (names->seen[i].pid != pid || names->seen[i].address != address))
		i = (i + 1) & (TABLE_SIZE - 1);
	return &names->seen[i];
}

static void wait_for_name(struct code_names *names, const struct noted *noted)
{
	pthread_mutex_lock(&names->lock);
	if (names->waiting_count == names->waiting_capacity) {
		size_t capacity = names->waiting_capacity ? 2 * names->waiting_capacity : 64;
		void *grown = reallocarray(names->waiting, capacity, sizeof(*noted));

		if (!grown)
			goto unlock;
		names->waiting = grown;
		names->waiting_capacity = capacity;
	}
	names->waiting[names->waiting_count++] = *noted;
	names->news = true;
unlock:
	pthread_mutex_unlock(&names->lock);
}

void code_names_see(struct code_names *names, const struct rec_call *call)
{
	struct noted *noted;
	unsigned int slot;

	if (call->probe >= CAPTURE_PROBES_MAX)
		return;
	slot = atomic_load_explicit(&names->slot[call->probe], memory_order_relaxed);
	if (!slot || !call->args[slot - 1] || !call->tgid)
		return;
	noted = place_of(names, call->tgid, call->args[slot - 1]);
	if (noted->pid ? noted->from_ns <= call->header.ts_ns : names->seen_count == CODE_NAMES_MAX)
		return;
	names->seen_count += !noted->pid;
	*noted = (struct noted){ .pid = call->tgid,
				 .address = call->args[slot - 1],
				 .from_ns = call->header.ts_ns };
	wait_for_name(names, noted);
}

/* Overwrites the address instead of freeing the place, because look-ups would stop at a free place. */
void code_names_forget(struct code_names *names, pid_t pid)
{
	for (size_t i = 0; names->seen_count && i < TABLE_SIZE; i++)
		if (names->seen[i].pid == (uint32_t)pid)
			names->seen[i].address = 0;
}

bool code_names_waiting(struct code_names *names)
{
	bool news = names->news;

	names->news = false;
	return news;
}

/* Finds the file mapped at each address, executable or not: "START-END PERMS OFFSET MAJ:MIN INODE PATH" */
static void find_mapping(FILE *maps, struct noted *noted, size_t count)
{
	char *line = NULL;
	size_t capacity = 0;

	while (getline(&line, &capacity, maps) > 0) {
		uint64_t start, end, inode;
		unsigned int major, minor;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %" SCNu64, &start, &end,
			   &major, &minor, &inode) != 5 ||
		    !inode)
			continue;
		for (size_t i = 0; i < count; i++) {
			if (noted[i].address < start || noted[i].address >= end)
				continue;
			noted[i].dev = KERNEL_DEV(major, minor);
			noted[i].inode = inode;
		}
	}
	free(line);
}

static int by_file(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Names the sorted addresses of one file, whose symbol tables are read only once. */
static void name_in_file(pid_t pid, const struct process_map *map, struct noted *noted,
			 size_t count)
{
	struct elf_name *names = calloc(count, sizeof(*names));
	int fd = process_map_open(pid, map);
	struct elf_file *file = NULL;
	uint64_t start;
	char error[256];

	if (fd >= 0)
		file = elf_file_open_fd(fd, map->path, error, sizeof(error));
	if (names && file && elf_file_address(file, map->offset, &start)) {
		for (size_t i = 0; i < count; i++)
			names[i].address = noted[i].address - map->start + start;
		elf_file_names_at(file, names, count);
		for (size_t i = 0; i < count; i++)
			noted[i].name = names[i].name;
	}
	elf_file_close(file);
	if (fd >= 0)
		close(fd);
	free(names);
}

static void send_names(struct code_names *names, const struct noted *noted, size_t count,
		       const char *path)
{
	Profbpf__CodeNames m = PROFBPF__CODE_NAMES__INIT;
	Profbpf__CodeName *rows = calloc(count, sizeof(*rows)), **pointers;
	struct item *item = NULL;

	pointers = calloc(count, sizeof(*pointers));
	for (size_t i = 0; rows && pointers && i < count; i++) {
		if (!noted[i].name)
			continue;
		profbpf__code_name__init(&rows[i]);
		rows[i].tgid = noted[i].pid;
		rows[i].address = noted[i].address;
		rows[i].from_ns = noted[i].from_ns;
		rows[i].symbol = noted[i].name;
		rows[i].file = (char *)path;
		pointers[m.n_name++] = &rows[i];
	}
	m.name = pointers;
	if (m.n_name)
		item = item_new(ITEM_BODY, profbpf__code_names__get_packed_size(&m));
	if (item) {
		item->size = profbpf__code_names__pack(&m, item->data);
		item->body = PROFBPF__PACKET__KIND__CODE_NAMES;
		item->repeated = true;
		item_queue_push(names->queue, item);
	}
	free(pointers);
	free(rows);
}

static void resolve_process(struct code_names *names, struct noted *noted, size_t count)
{
	struct process_maps maps;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", noted->pid);
	f = fopen(path, "re");
	if (!f)
		return;
	find_mapping(f, noted, count);
	fclose(f);
	if (process_maps_read(noted->pid, &maps))
		return;
	if (!right_holds(names->right, (pid_t)noted->pid)) {
		process_maps_free(&maps);
		return;
	}
	qsort(noted, count, sizeof(*noted), by_file);
	for (size_t first = 0, end; first < count; first = end) {
		const struct process_map *map =
			process_maps_find(&maps, noted[first].dev, noted[first].inode);

		for (end = first + 1; end < count && noted[end].dev == noted[first].dev &&
				      noted[end].inode == noted[first].inode;)
			end++;
		if (!map)
			continue;
		name_in_file(noted->pid, map, noted + first, end - first);
		send_names(names, noted + first, end - first, map->path);
	}
	process_maps_free(&maps);
}

static int by_process(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void code_names_resolve(struct code_names *names)
{
	struct noted *noted;
	size_t count;

	pthread_mutex_lock(&names->lock);
	noted = names->waiting;
	count = names->waiting_count;
	names->waiting = NULL;
	names->waiting_count = names->waiting_capacity = 0;
	pthread_mutex_unlock(&names->lock);
	if (count)
		qsort(noted, count, sizeof(*noted), by_process);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && noted[end].pid == noted[first].pid;)
			end++;
		resolve_process(names, noted + first, end - first);
	}
	for (size_t i = 0; i < count; i++)
		free(noted[i].name);
	free(noted);
}
