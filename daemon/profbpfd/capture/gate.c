/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/gate.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/session_maps.h"
#include "daemon/profbpfd/capture/programs.h"

#include "bpf/gate_programs.skel.h"

/* The programs of the gate; exists while any session has a seat. */
struct hall {
	struct gate_programs *programs;
	struct gate_marks *marks; /* TARGET_MARKS elements */
	struct waiting_count *waiting; /* one per CPU */
	int cpus;
	uint32_t taken; /* a bit for each slot */
	bool attached;
};

struct gate {
	pthread_mutex_t lock;
	struct hall *hall; /* NULL: no seat is taken */
	bool impossible;
};

struct gate_seat {
	struct gate *gate;
	struct hall *hall;
	uint32_t slot;
};

static size_t in_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static size_t marks_bytes(void)
{
	return in_pages(TARGET_MARKS * sizeof(struct gate_marks));
}

static size_t waiting_bytes(const struct hall *hall)
{
	return in_pages(hall->cpus * sizeof(struct waiting_count));
}

static void *map_memory(const struct bpf_map *map, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void close_hall(struct hall *hall)
{
	if (!hall)
		return;
	if (hall->marks)
		munmap(hall->marks, marks_bytes());
	if (hall->waiting)
		munmap(hall->waiting, waiting_bytes(hall));
	gate_programs__destroy(hall->programs);
	free(hall);
}

static struct gate_programs *load(int cpus, const struct features *features)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	char path[PROGRAMS_PATH_SIZE];
	struct gate_programs *programs;

	programs_options(&options, features, path);
	programs = gate_programs__open_opts(&options);
	if (!programs)
		return NULL;
	bpf_map__set_max_entries(programs->maps.gate_waiting, (uint32_t)cpus);
	if (!gate_programs__load(programs))
		return programs;
	gate_programs__destroy(programs);
	return NULL;
}

static struct hall *open_hall(const struct features *features)
{
	struct hall *hall = calloc(1, sizeof(*hall));

	if (!hall)
		return NULL;
	hall->cpus = libbpf_num_possible_cpus();
	if (hall->cpus > 0)
		hall->programs = load(hall->cpus, features);
	if (hall->programs) {
		hall->marks = map_memory(hall->programs->maps.gate_marks, marks_bytes());
		hall->waiting = map_memory(hall->programs->maps.gate_waiting, waiting_bytes(hall));
	}
	if (hall->marks && hall->waiting)
		return hall;
	close_hall(hall);
	return NULL;
}

struct gate *gate_new(void)
{
	struct gate *gate = calloc(1, sizeof(*gate));

	if (gate)
		pthread_mutex_init(&gate->lock, NULL);
	return gate;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	close_hall(gate->hall);
	pthread_mutex_destroy(&gate->lock);
	free(gate);
}

/* Returns the lowest free slot, because the programs check all slots up to the highest taken one; -1: none is free. */
static int lowest_free(uint32_t taken)
{
	return ~taken ? __builtin_ctz(~taken) : -1;
}

static void tell_slots(struct hall *hall)
{
	hall->programs->bss->slots_used = hall->taken ? 32 - (uint32_t)__builtin_clz(hall->taken)
						      : 0;
}

static bool sit_down(struct gate_seat *seat, const struct features *features)
{
	struct gate *gate = seat->gate;
	int slot;

	if (!gate->hall && !gate->impossible && features->gate)
		gate->hall = open_hall(features);
	gate->impossible |= !gate->hall;
	slot = gate->hall ? lowest_free(gate->hall->taken) : -1;
	if (slot < 0)
		return false;
	seat->hall = gate->hall;
	seat->slot = (uint32_t)slot;
	gate->hall->taken |= 1u << slot;
	tell_slots(gate->hall);
	return true;
}

struct gate_seat *gate_take(struct gate *gate, const struct features *features)
{
	struct gate_seat *seat = calloc(1, sizeof(*seat));
	bool seated;

	if (!seat)
		return NULL;
	seat->gate = gate;
	pthread_mutex_lock(&gate->lock);
	seated = sit_down(seat, features);
	pthread_mutex_unlock(&gate->lock);
	if (seated)
		return seat;
	free(seat);
	return NULL;
}

uint32_t gate_slot(const struct gate_seat *seat)
{
	return seat->slot;
}

int gate_share(const struct gate_seat *seat, const struct gate_maps *maps)
{
	const struct gate_programs *p = seat->hall->programs;
	int err = bpf_map__reuse_fd(maps->marks, bpf_map__fd(p->maps.gate_marks));

	if (!err)
		err = bpf_map__reuse_fd(maps->waiting, bpf_map__fd(p->maps.gate_waiting));
	if (!err && maps->interrupted)
		err = bpf_map__reuse_fd(maps->interrupted, bpf_map__fd(p->maps.interrupted));
	return err;
}

static void set_mark(struct gate_seat *seat, uint32_t place, uint8_t value)
{
	__atomic_store_n(&seat->hall->marks[place].slot[seat->slot], value, __ATOMIC_RELEASE);
}

static void set_marks(struct gate_seat *seat, uint8_t value)
{
	for (uint32_t place = 0; place < TARGET_MARKS; place++)
		set_mark(seat, place, value);
}

void gate_mark(struct gate_seat *seat, pid_t pid)
{
	set_mark(seat, (uint32_t)pid % TARGET_MARKS, 1);
}

void gate_mark_all(struct gate_seat *seat)
{
	set_marks(seat, 1);
}

static int program_map(const struct hall *hall, enum gate_event event)
{
	const struct gate_programs *p = hall->programs;

	switch (event) {
	case GATE_SWITCH: return bpf_map__fd(p->maps.switch_programs);
	case GATE_WAKING: return bpf_map__fd(p->maps.waking_programs);
	case GATE_MIGRATE: return bpf_map__fd(p->maps.migrate_programs);
	default: return bpf_map__fd(p->maps.wakeup_new_programs);
	}
}

static int attach(struct gate *gate, struct hall *hall)
{
	int err = 0;

	pthread_mutex_lock(&gate->lock);
	if (!hall->attached)
		err = gate_programs__attach(hall->programs);
	hall->attached = !err;
	pthread_mutex_unlock(&gate->lock);
	return err;
}

int gate_enter(struct gate_seat *seat, const int programs[GATE_EVENTS])
{
	for (int event = 0; event < GATE_EVENTS; event++)
		if (programs[event] >= 0 &&
		    bpf_map_update_elem(program_map(seat->hall, event), &seat->slot,
					&programs[event], BPF_ANY))
			return -errno;
	return attach(seat->gate, seat->hall);
}

static void forget_waits(struct hall *hall, int waiting)
{
	struct waiting_count own;

	for (int cpu = 0; cpu < hall->cpus; cpu++)
		if (!bpf_map_lookup_elem(waiting, &cpu, &own))
			__atomic_fetch_sub(&hall->waiting[cpu].count, own.count, __ATOMIC_RELAXED);
}

/* Returns the hall, for the caller to free, if this was its last seat: the next session opens another one. */
static struct hall *stand_up(struct gate_seat *seat)
{
	struct hall *hall = seat->hall;

	pthread_mutex_lock(&seat->gate->lock);
	hall->taken &= ~(1u << seat->slot);
	tell_slots(hall);
	if (hall->taken)
		hall = NULL;
	else
		seat->gate->hall = NULL;
	pthread_mutex_unlock(&seat->gate->lock);
	return hall;
}

void gate_leave(struct gate_seat *seat, int waiting)
{
	if (!seat)
		return;
	for (int event = 0; event < GATE_EVENTS; event++)
		bpf_map_delete_elem(program_map(seat->hall, event), &seat->slot);
	programs_wait();
	if (waiting >= 0)
		forget_waits(seat->hall, waiting);
	set_marks(seat, 0);
	close_hall(stand_up(seat));
	free(seat);
}
