/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/flight_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profbpfd/encode/flight_private.h"

#define PART_NS_MIN 1000000000ull /* shorter segments would have more repeated than new data */
#define STACK_BYTES_MAX (8u << 20) /* compressing them takes 25 ms for each segment */

struct flight {
	struct flight_store *store;
	struct flight *next;
	bool held; /* by its session */
	struct flight_header header;
	struct flight_segment *first, *last; /* the complete segments */
	struct flight_segment *open;
	uint64_t bytes; /* size of all segments */
	uint64_t start_ns; /* start of the first segment ever */
	uint64_t dropped_old[TRACE_SOURCES], dropped_room[TRACE_SOURCES]; /* dropped records */
};

struct flight_store {
	pthread_mutex_t lock;
	uint64_t budget, window_ns;
	uint64_t bytes;
	struct flight *flights;
};

struct flight_store *flight_store_new(uint64_t budget, uint64_t window_ns)
{
	struct flight_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	pthread_mutex_init(&store->lock, NULL);
	store->budget = budget;
	store->window_ns = window_ns;
	return store;
}

/* The window and the budget may change while sessions record. */
static uint64_t window_of(const struct flight_store *store)
{
	return __atomic_load_n(&store->window_ns, __ATOMIC_RELAXED);
}

static uint64_t budget_of(const struct flight_store *store)
{
	return __atomic_load_n(&store->budget, __ATOMIC_RELAXED);
}

/* ---- Segments; the caller holds the lock */

static void free_segment(struct flight_segment *segment)
{
	while (segment->first) {
		struct flight_chunk *next = segment->first->next;

		free(segment->first);
		segment->first = next;
	}
	free(segment);
}

static void release(struct flight_segment *segment)
{
	if (!--segment->holders)
		free_segment(segment);
}

static void add_records(const struct flight_segment *segment, uint64_t *counts)
{
	for (unsigned int i = 0; i < TRACE_SOURCES; i++)
		counts[i] += segment->end.source[i].delivered - segment->begin.source[i].delivered;
}

static void drop_first(struct flight *flight, uint64_t *counts)
{
	struct flight_segment *segment = flight->first;

	flight->first = segment->next;
	if (!flight->first)
		flight->last = NULL;
	add_records(segment, counts);
	flight->bytes -= segment->bytes;
	flight->store->bytes -= segment->bytes;
	release(segment);
}

static void free_flight(struct flight *flight)
{
	struct flight **link = &flight->store->flights;

	while (*link != flight)
		link = &(*link)->next;
	*link = flight->next;
	free(flight->header.data);
	free(flight);
}

static void drop_old(struct flight_store *store, uint64_t now_ns)
{
	struct flight *next;

	for (struct flight *f = store->flights; f; f = next) {
		next = f->next;
		while (f->first && f->first->to_ns + window_of(store) < now_ns)
			drop_first(f, f->dropped_old);
		if (!f->held && !f->first)
			free_flight(f);
	}
}

/* Drops a segment of the largest flight, so that no user displaces others' data. Returns false if none is complete. */
static bool drop_oldest(struct flight_store *store)
{
	struct flight *largest = NULL;

	for (struct flight *f = store->flights; f; f = f->next)
		if (f->first && (!largest || f->bytes > largest->bytes))
			largest = f;
	if (!largest)
		return false;
	drop_first(largest, largest->dropped_room);
	if (!largest->held && !largest->first)
		free_flight(largest);
	return true;
}

static int make_room(struct flight_store *store, size_t size)
{
	while (store->bytes + size > budget_of(store))
		if (!drop_oldest(store))
			return -ENOSPC;
	return 0;
}

/* ---- Flights */

/* Segments that are too old by the new window are dropped when the next segment ends, as usual. */
void flight_store_limit(struct flight_store *store, uint64_t budget, uint64_t window_ns)
{
	pthread_mutex_lock(&store->lock);
	__atomic_store_n(&store->budget, budget, __ATOMIC_RELAXED);
	__atomic_store_n(&store->window_ns, window_ns, __ATOMIC_RELAXED);
	make_room(store, 0);
	pthread_mutex_unlock(&store->lock);
}

void flight_store_free(struct flight_store *store)
{
	struct flight *flight;

	if (!store)
		return;
	while ((flight = store->flights)) {
		while (flight->first)
			drop_first(flight, flight->dropped_old);
		if (flight->open)
			release(flight->open);
		free_flight(flight);
	}
	pthread_mutex_destroy(&store->lock);
	free(store);
}

uint64_t flight_store_bytes(struct flight_store *store)
{
	uint64_t bytes;

	pthread_mutex_lock(&store->lock);
	bytes = store->bytes;
	pthread_mutex_unlock(&store->lock);
	return bytes;
}

struct flight *flight_new(struct flight_store *store)
{
	struct flight *flight = calloc(1, sizeof(*flight));

	if (!flight)
		return NULL;
	flight->store = store;
	flight->held = true;
	pthread_mutex_lock(&store->lock);
	flight->next = store->flights;
	store->flights = flight;
	pthread_mutex_unlock(&store->lock);
	return flight;
}

static void end_open(struct flight *flight, const struct flight_cut *cut)
{
	struct flight_segment *segment = flight->open;

	if (!segment)
		return;
	segment->to_ns = cut->ts_ns;
	segment->end = *cut->books;
	if (flight->last)
		flight->last->next = segment;
	else
		flight->first = segment;
	flight->last = segment;
	flight->open = NULL;
}

void flight_let_go(struct flight *flight)
{
	struct flight_store *store;

	if (!flight)
		return;
	store = flight->store;
	pthread_mutex_lock(&store->lock);
	flight->held = false;
	if (flight->open) {
		flight->bytes -= flight->open->bytes;
		store->bytes -= flight->open->bytes;
		release(flight->open);
		flight->open = NULL;
	}
	if (!flight->first)
		free_flight(flight);
	pthread_mutex_unlock(&store->lock);
}

int flight_describe(struct flight *flight, const Profbpf__Segment *segment)
{
	struct flight_header header = { .size = profbpf__segment__get_packed_size(segment) };

	header.data = malloc(header.size + 1);
	if (!header.data)
		return -ENOMEM;
	profbpf__segment__pack(segment, header.data);
	pthread_mutex_lock(&flight->store->lock);
	free(flight->header.data);
	flight->header = header;
	pthread_mutex_unlock(&flight->store->lock);
	return 0;
}

int flight_cut(struct flight *flight, const struct flight_cut *cut)
{
	struct flight_segment *segment = calloc(1, sizeof(*segment));

	pthread_mutex_lock(&flight->store->lock);
	end_open(flight, cut);
	drop_old(flight->store, cut->ts_ns);
	if (segment) {
		segment->holders = 1;
		segment->from_ns = cut->ts_ns;
		segment->realtime_ns = cut->realtime_ns;
		segment->begin = *cut->books;
		segment->bytes = sizeof(*segment);
		flight->bytes += segment->bytes;
		flight->store->bytes += segment->bytes;
		flight->open = segment;
		if (!flight->start_ns)
			flight->start_ns = cut->ts_ns;
	}
	pthread_mutex_unlock(&flight->store->lock);
	return segment ? 0 : -ENOMEM;
}

void flight_end(struct flight *flight, const struct flight_cut *cut)
{
	pthread_mutex_lock(&flight->store->lock);
	end_open(flight, cut);
	pthread_mutex_unlock(&flight->store->lock);
}

/* Adds all chunks or none, so that a packet without room leaves no part. */
static int add_chunks(struct flight *flight, size_t wanted)
{
	struct flight_segment *segment = flight->open;
	struct flight_chunk *chunk;
	int err = 0;

	while (!err && wanted) {
		err = make_room(flight->store, sizeof(*chunk));
		chunk = err ? NULL : malloc(sizeof(*chunk));
		if (!chunk)
			return err ? err : -ENOMEM;
		chunk->next = NULL;
		chunk->size = 0;
		if (segment->last)
			segment->last->next = chunk;
		else
			segment->first = chunk;
		segment->last = chunk;
		segment->bytes += sizeof(*chunk);
		flight->bytes += sizeof(*chunk);
		flight->store->bytes += sizeof(*chunk);
		wanted -= wanted < FLIGHT_CHUNK ? wanted : FLIGHT_CHUNK;
	}
	return err;
}

static int append(struct flight *flight, const uint8_t *packet, size_t size)
{
	struct flight_segment *segment = flight->open;
	struct flight_chunk *chunk = segment->last;
	size_t room = chunk ? FLIGHT_CHUNK - chunk->size : 0;
	int err = size > room ? add_chunks(flight, size - room) : 0;

	if (err)
		return err;
	if (!chunk || !room)
		chunk = chunk ? chunk->next : segment->first;
	while (size) {
		size_t part = FLIGHT_CHUNK - chunk->size;

		part = part < size ? part : size;
		memcpy(chunk->data + chunk->size, packet, part);
		chunk->size += part;
		packet += part;
		size -= part;
		chunk = chunk->next;
	}
	return 0;
}

int flight_append(struct flight *flight, const void *packet, size_t size)
{
	int err = -ENOMEM;

	pthread_mutex_lock(&flight->store->lock);
	if (flight->open)
		err = append(flight, packet, size);
	pthread_mutex_unlock(&flight->store->lock);
	return err;
}

static uint64_t open_bytes(struct flight *flight)
{
	uint64_t bytes;

	pthread_mutex_lock(&flight->store->lock);
	bytes = flight->open ? flight->open->bytes : 0;
	pthread_mutex_unlock(&flight->store->lock);
	return bytes;
}

uint64_t flight_window_ns(const struct flight *flight)
{
	return window_of(flight->store);
}

bool flight_wants_cut(struct flight *flight, uint64_t now_ns)
{
	uint64_t part_ns = window_of(flight->store) / FLIGHT_PARTS, from_ns;

	pthread_mutex_lock(&flight->store->lock);
	from_ns = flight->open ? flight->open->from_ns : now_ns;
	pthread_mutex_unlock(&flight->store->lock);
	if (part_ns < PART_NS_MIN)
		part_ns = PART_NS_MIN;
	return now_ns >= from_ns + part_ns || open_bytes(flight) >= budget_of(flight->store) / FLIGHT_PARTS;
}

bool flight_is_full(struct flight *flight)
{
	return open_bytes(flight) >= 2 * budget_of(flight->store) / FLIGHT_PARTS;
}

uint64_t flight_stack_bytes(const struct flight *flight)
{
	uint64_t share = budget_of(flight->store) / FLIGHT_PARTS;

	return share < STACK_BYTES_MAX ? share : STACK_BYTES_MAX;
}

bool flight_is_heavy(const struct flight *flight, uint64_t bytes)
{
	return bytes >= budget_of(flight->store) / (2 * FLIGHT_PARTS);
}

/* ---- Windows */

void flight_segment_release(struct flight_store *store, struct flight_segment *segment)
{
	pthread_mutex_lock(&store->lock);
	release(segment);
	pthread_mutex_unlock(&store->lock);
}

static int take(struct flight *flight, uint64_t from_ns, struct flight_window *window)
{
	struct flight_window_facts *facts = &window->facts;
	uint64_t old[TRACE_SOURCES];
	size_t count = 0;

	for (struct flight_segment *s = flight->first; s; s = s->next)
		count++;
	window->segments = calloc(count + 1, sizeof(*window->segments));
	window->header.data = malloc(flight->header.size + 1);
	if (!window->segments || !window->header.data || !flight->header.data)
		return -ENOMEM;
	window->header.size = flight->header.size;
	memcpy(window->header.data, flight->header.data, flight->header.size);
	memcpy(old, flight->dropped_old, sizeof(old));
	for (struct flight_segment *s = flight->first; s; s = s->next) {
		if (s->to_ns <= from_ns) {
			add_records(s, old);
			continue;
		}
		s->holders++;
		window->segments[window->count++] = s;
	}
	if (!window->count)
		return -ENOENT;
	facts->from_ns = window->segments[0]->from_ns;
	facts->to_ns = flight->last->to_ns;
	facts->from_realtime_ns = window->segments[0]->realtime_ns;
	facts->before = window->segments[0]->begin;
	facts->books = flight->last->end;
	session_books_since(&facts->books, &window->segments[0]->begin);
	for (unsigned int i = 0; i < TRACE_SOURCES; i++) {
		facts->books.source[i].dropped_old = old[i];
		facts->books.source[i].dropped_room = flight->dropped_room[i];
	}
	facts->processes = (uint32_t)window->target_count;
	facts->recorded_ns = facts->to_ns - flight->start_ns;
	return 0;
}

struct flight_window *flight_take(struct flight *flight, uint64_t from_ns, const pid_t *targets, size_t count)
{
	struct flight_window *window = calloc(1, sizeof(*window));
	int err;

	if (!window)
		return NULL;
	window->store = flight->store;
	window->targets = calloc(count + 1, sizeof(*window->targets));
	if (!window->targets) {
		free(window);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		window->targets[window->target_count++] = (uint32_t)targets[i];
	pthread_mutex_lock(&flight->store->lock);
	err = take(flight, from_ns, window);
	pthread_mutex_unlock(&flight->store->lock);
	if (!err)
		return window;
	flight_window_free(window);
	return NULL;
}
