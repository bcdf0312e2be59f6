/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/control/priority.h"
#include "daemon/profbpfd/host/host_stats.h"
#include "daemon/profbpfd/encode/driver_message.h"
#include "daemon/profbpfd/encode/encode.h"
#include "daemon/profbpfd/encode/flight_window.h"
#include "daemon/profbpfd/encode/known_tasks.h"
#include "daemon/profbpfd/encode/left_out.h"
#include "daemon/profbpfd/encode/repeated_bodies.h"
#include "daemon/profbpfd/encode/statistics_message.h"
#include "daemon/profbpfd/probe/ends.h"
#include "daemon/profbpfd/encode/trace_output.h"
#include "daemon/profbpfd/encode/trace_values.h"
#include "lib/trace/clocks.h"
#include "lib/trace/pbt.h"
#include "lib/base/duration.h"
#include "lib/base/strings.h"

#define DRIVERS_MAX 4096

struct writer {
	pthread_t thread;
	struct output output;
	struct flight *flight;		/* takes the packets in place of the output; may be NULL */
	struct step_gate *gate;		/* NULL: none; if set, there is a flight until a step has begun */
	struct trigger_watch *watch;	/* NULL: none */
	struct live_figures *live;	/* NULL: none */
	struct source_count counts[TRACE_SOURCES]; /* from the last statistics */
	uint64_t reader_cpu_ns;		/* from the last statistics */
	struct session_books books;
	bool no_room;			/* memory lacked room for a packet: the segment is incomplete */
	const Profbpf__Segment *segment;
	Profbpf__Segment opened;	/* @segment for data from the step's beginning on */
	struct session_books before;	/* counts at that time */
	uint64_t opened_ns;
	struct item_queue *queue;
	struct texts *texts;
	const struct catalogs *catalogs;
	int wake_fd;
	struct pbt_encoder *packets;
	struct pbt_buffer buffer;
	struct encode *encode;		/* for bodies */
	struct message_buffer small;	/* for strings and segments, while a body is pending */
	struct string_table *strings;
	uint32_t strings_sent;
	struct repeated_bodies repeated;
	struct known_tasks tasks;
	struct item *left_out;		/* kinds of records that are left out now, for the next segment */
	struct item *unseen;		/* functions whose ends are not seen now, for the next segment */
	uint32_t drivers[DRIVERS_MAX];
	uint32_t driver_count;
	uint32_t segment_index;
	uint64_t segment_start;		/* bytes written before this segment */
	uint64_t repeated_bytes;	/* repeated data at the start of this segment */
	bool ended;
	int error;
	uint64_t bytes;
	uint64_t cpu_ns;
	uint64_t delivered[TRACE_SOURCES];
	uint64_t unwritten[TRACE_SOURCES];
};

static void fail(struct writer *w, int err)
{
	uint64_t one = 1;

	if (w->error)
		return;
	__atomic_store_n(&w->error, err, __ATOMIC_RELAXED);
	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the reader is awake anyway */
}

/* The equivalent of output_write() for memory. */
static int keep(struct writer *w)
{
	int err = flight_append(w->flight, w->buffer.data, w->buffer.size);

	if (!err)
		w->output.written += w->buffer.size;
	w->no_room |= err == -ENOSPC;
	return err == -ENOSPC ? 0 : err;
}

static void put(struct writer *w, Profbpf__Packet__Kind kind, const void *body, size_t size)
{
	int err;

	if (w->error)
		return;
	w->buffer.size = 0;
	err = pbt_encode(w->packets, kind, body, size, &w->buffer);
	if (!err)
		err = w->flight ? keep(w) : output_write(&w->output, w->buffer.data, w->buffer.size);
	if (err)
		fail(w, err);
	else
		__atomic_store_n(&w->bytes, w->output.written, __ATOMIC_RELAXED);
}

static void put_message(struct writer *w, Profbpf__Packet__Kind kind,
			const ProtobufCMessage *message)
{
	struct encoded e;
	int err = message_pack(&w->small, kind, message, &e);

	if (err)
		fail(w, err);
	else
		put(w, e.kind, e.data, e.size);
}

/* Writes strings that were added since the last call, before the message that uses them. */
static void put_strings(struct writer *w)
{
	Profbpf__Strings m = PROFBPF__STRINGS__INIT;
	uint32_t count = string_table_count(w->strings);

	if (count == w->strings_sent)
		return;
	m.first_id = w->strings_sent;
	m.n_text = count - w->strings_sent;
	m.text = calloc(m.n_text, sizeof(*m.text));
	if (!m.text) {
		fail(w, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < m.n_text; i++)
		m.text[i] = (char *)string_table_get(w->strings, m.first_id + i);
	put_message(w, PROFBPF__PACKET__KIND__STRINGS, &m.base);
	free(m.text);
	w->strings_sent = count;
}

static int put_item(struct writer *w, const struct item *item)
{
	struct encoded e, objects;
	int err = encode_item(w->encode, item, w->strings, w->texts, &e);

	if (err)
		return err;
	put_strings(w);
	if (encode_objects(w->encode, &objects))
		put(w, objects.kind, objects.data, objects.size);
	put(w, e.kind, e.data, e.size);
	return w->error;
}

static void put_driver(struct writer *w, uint32_t rdev)
{
	struct item *driver = driver_message(w->catalogs, rdev);

	if (driver)
		put(w, driver->body, driver->data, driver->size);
	else
		fail(w, -ENOMEM);
	item_free(driver);
}

static void put_drivers(struct writer *w, uint32_t first)
{
	for (uint32_t i = first; i < w->driver_count; i++)
		put_driver(w, w->drivers[i]);
}

static void note_driver(struct writer *w, uint32_t rdev)
{
	uint32_t d = 0;

	while (d < w->driver_count && w->drivers[d] != rdev)
		d++;
	if (d == w->driver_count && d < DRIVERS_MAX)
		w->drivers[w->driver_count++] = rdev;
}

/* Describes the devices of ioctls and of block requests. */
static void note_drivers(struct writer *w, const struct item *item)
{
	const struct rec_ioctl *ioctls = item->data;
	const struct rec_block *requests = item->data;
	uint32_t known = w->driver_count;

	for (uint32_t i = 0; i < item->count; i++)
		note_driver(w, item->type == REC_IOCTL ? ioctls[i].rdev : requests[i].rdev);
	put_drivers(w, known);
}

static void put_tasks(struct writer *w)
{
	struct item *item = known_tasks_rows(&w->tasks);

	if (!item) {
		fail(w, -ENOMEM);
		return;
	}
	if (item->count)
		put_item(w, item);
	item->count = 0; /* the rows own nothing: the tree owns the strings */
	item_free(item);
}

static void begin_segment(struct writer *w)
{
	Profbpf__Segment segment = *w->segment;

	w->segment_start = w->output.written;
	segment.index = w->segment_index++;
	/* Segments of a flight recorder get their headers when a snapshot is written. */
	if (!w->flight)
		put_message(w, PROFBPF__PACKET__KIND__SEGMENT, &segment.base);
	string_table_clear(w->strings);
	encode_segment(w->encode);
	w->strings_sent = string_table_count(w->strings);
	for (const struct repeated_body *r = w->repeated.first; r; r = r->next)
		put(w, r->kind, r->data, r->size);
	put_drivers(w, 0);
	put_tasks(w);
	if (w->unseen->count)
		put_item(w, w->unseen);
	if (w->left_out->count)
		put_item(w, w->left_out);
}

static void update_books(struct writer *w, bool final)
{
	for (unsigned int i = 0; i < TRACE_SOURCES; i++)
		source_books_close(&w->books.source[i], &w->counts[i], w->delivered[i], w->unwritten[i], final);
	w->books.daemon_cpu_ns = w->reader_cpu_ns + writer_cpu_ns(w);
	w->books.bytes = w->output.written;
}

static struct flight_cut cut_at(struct writer *w, uint64_t ts_ns)
{
	struct clock_snapshot now;
	bool known = !clock_snapshot_take(&now) && now.realtime_ns;

	return (struct flight_cut){ .ts_ns = ts_ns ? ts_ns : now.monotonic_ns,
				    .realtime_ns = known && ts_ns ? now.realtime_ns - (now.monotonic_ns - ts_ns) :
						   known	  ? now.realtime_ns :
								    0,
				    .books = &w->books };
}

/* Adds a note for the reader about the step's beginning. */
static void put_open_note(struct writer *w, const struct step_gate_facts *steps)
{
	Profbpf__Notes m = PROFBPF__NOTES__INIT;
	bool missing = steps->from_ns < w->opened_ns;
	char text[160], part[32], *texts[] = { text };

	duration_format(missing ? w->opened_ns - steps->from_ns : steps->from_ns - w->opened_ns, part, sizeof(part));
	snprintf(text, sizeof(text), "step %" PRIu64 " of process %" PRIu32 " began %s %s", steps->first, steps->tgid, part,
		 missing ? "before this recording, which keeps no more" : "after this recording");
	m.n_text = 1;
	m.text = texts;
	put_message(w, PROFBPF__PACKET__KIND__NOTES, &m.base);
}

/* Begins the output with the kept data from the requested step on, and a little before it. Counts are up to date. */
static void open_output(struct writer *w, uint64_t ts_ns)
{
	struct flight_cut cut = cut_at(w, ts_ns);
	const struct flight_window_facts *facts;
	struct flight_window *window;
	struct step_gate_facts steps;
	int err;

	step_gate_facts(w->gate, &steps);
	flight_end(w->flight, &cut);
	window = flight_take(w->flight, steps.from_ns, NULL, 0);
	w->flight = NULL;
	w->output.written = 0;
	if (!window) {
		fail(w, -ENOMEM);
		return;
	}
	facts = flight_window_facts(window);
	w->opened = *w->segment;
	w->opened.session_start_ns = facts->from_ns;
	w->opened.session_start_realtime_ns = facts->from_realtime_ns;
	w->segment = &w->opened;
	w->before = facts->before;
	w->before.bytes = 0; /* these were in memory */
	w->segment_index = (uint32_t)flight_window_segments(window);
	__atomic_store_n(&w->opened_ns, facts->from_ns, __ATOMIC_RELEASE);
	err = flight_window_begin(window, &w->output, w->segment, &w->bytes);
	if (err)
		fail(w, err);
	flight_window_free(window);
	/* Data from memory do not count for the length of this segment. */
	w->segment_start = w->output.written;
	put_open_note(w, &steps);
}

/* Opens the output if the step has begun in the last second of the session, too late for the reader thread. */
static void open_at_end(struct writer *w)
{
	struct step_gate_facts steps = { .state = STEPS_AWAITED };

	if (w->gate)
		step_gate_facts(w->gate, &steps);
	if (w->flight && steps.state != STEPS_AWAITED)
		open_output(w, 0);
}

static void put_statistics(struct writer *w, const struct statistics_row *row)
{
	struct statistics_message *message;
	struct session_books books;

	memcpy(w->counts, row->sources, sizeof(w->counts));
	w->reader_cpu_ns = row->daemon_cpu_ns;
	update_books(w, row->final);
	if (row->final)
		open_at_end(w);
	/* The statistics of a snapshot are those of its window, written with it. */
	if (w->flight)
		return;
	books = w->books;
	if (w->opened_ns)
		session_books_since(&books, &w->before);
	message = statistics_message_new(row, &books);
	if (message)
		put_message(w, PROFBPF__PACKET__KIND__STATISTICS, statistics_message_base(message));
	else
		fail(w, -ENOMEM);
	statistics_message_free(message);
}

/* ---- Segments of a flight recorder */

/* @ts_ns 0 means now, for cuts that the writer makes itself; the reader's cuts come with figures. */
static void cut_flight(struct writer *w, uint64_t ts_ns)
{
	struct flight_cut cut;
	struct item *clocks = host_stats_clocks();

	update_books(w, false);
	cut = cut_at(w, ts_ns);
	w->no_room = false;
	if (flight_cut(w->flight, &cut))
		fail(w, -ENOMEM);
	begin_segment(w);
	__atomic_store_n(&w->repeated_bytes, w->output.written - w->segment_start, __ATOMIC_RELAXED);
	if (clocks)
		put(w, clocks->body, clocks->data, clocks->size);
	item_free(clocks);
}

static void cut_and_answer(struct writer *w, struct cut_row *row)
{
	struct flight_ask ask = row->ask;

	if (!w->flight)
		return;
	known_tasks_turn(&w->tasks);
	if (row->open) {
		update_books(w, false);
		open_output(w, row->ts_ns);
		begin_segment(w);
		return;
	}
	cut_flight(w, row->ts_ns);
	if (!ask.take)
		return;
	row->ask.take = NULL;
	ask.take(ask.context, flight_take(w->flight, ask.from_ns, row->targets, row->target_count));
}

static void end_flight(struct writer *w)
{
	struct flight_cut cut;

	if (!w->flight)
		return;
	update_books(w, true);
	cut = cut_at(w, 0);
	flight_end(w->flight, &cut);
}

static unsigned int item_source(const struct item *item)
{
	switch (item->kind) {
	case ITEM_TASKS: return SOURCE_TASK;
	case ITEM_DEVICE: return SOURCE_DEVICE;
	default: return item->source;
	}
}

static void handle_rows(struct writer *w, const struct item *item)
{
	unsigned int source = item_source(item);
	uint64_t *count;

	if (item->kind == ITEM_RECORDS && (item->type == REC_IOCTL || item->type == REC_BLOCK))
		note_drivers(w, item);
	if (item->kind == ITEM_TASKS)
		known_tasks_note(&w->tasks, item);
	if (w->flight && item->kind == ITEM_RECORDS && item->type == REC_ACCOUNT)
		known_tasks_alive(&w->tasks, item);
	count = put_item(w, item) || w->no_room ? &w->unwritten[source] : &w->delivered[source];
	__atomic_fetch_add(count, item->count, __ATOMIC_RELAXED);
}

static void update_cpu(struct writer *w)
{
	struct timespec ts;

	if (!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts))
		__atomic_store_n(&w->cpu_ns, ts.tv_sec * 1000000000ull + ts.tv_nsec,
				 __ATOMIC_RELAXED);
}

static bool handle(struct writer *w, struct item *item)
{
	bool more = item->kind != ITEM_END;

	uint64_t one = 1;

	if (w->live)
		live_figures_item(w->live, item, w->texts);
	if (w->gate && step_gate_item(w->gate, item, w->texts) && write(w->wake_fd, &one, sizeof(one)) < 0)
		one = 0; /* the counter is full: the reader is awake anyway */
	if (w->watch)
		trigger_watch_item(w->watch, item);
	switch (item->kind) {
	case ITEM_RECORDS:
	case ITEM_TASKS:
	case ITEM_STACKS:
	case ITEM_DEVICE: handle_rows(w, item); break;
	case ITEM_COVERAGE: put_item(w, item); break;
	case ITEM_ENDS:
		put_item(w, item);
		if (ends_note(w->unseen, item))
			fail(w, -ENOMEM);
		break;
	case ITEM_SHED:
		put_item(w, item);
		if (left_out_note(w->left_out, item))
			fail(w, -ENOMEM);
		break;
	case ITEM_BODY:
		put(w, item->body, item->data, item->size);
		if (item->repeated && repeated_bodies_add(&w->repeated, item))
			fail(w, -ENOMEM);
		break;
	case ITEM_STATISTICS: put_statistics(w, item->data); break;
	case ITEM_CUT: cut_and_answer(w, item->data); break;
	case ITEM_END: end_flight(w); break;
	}
	item_free(item);
	update_cpu(w);
	return more;
}

static void *run(void *context)
{
	struct writer *w = context;

	pthread_setname_np(pthread_self(), "profbpfd/write");
	/* The writer is not urgent: on busy CPUs it must not preempt threads of the job. */
	priority_patient(true);
	if (w->flight)
		cut_flight(w, w->segment->session_start_ns);
	else
		begin_segment(w);
	while (handle(w, item_queue_pop(w->queue))) {
		if (w->flight && (w->no_room || flight_is_full(w->flight)))
			cut_flight(w, 0);
		else if (!w->flight && w->output.written - w->segment_start >= SEGMENT_BYTES)
			begin_segment(w);
	}
	__atomic_store_n(&w->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

bool writer_ended(const struct writer *writer)
{
	return __atomic_load_n(&writer->ended, __ATOMIC_ACQUIRE);
}

struct writer *writer_new(int fd, const struct writer_others *others, const Profbpf__Segment *segment, struct item_queue *queue,
			  struct texts *texts, const struct catalogs *catalogs, int wake_fd,
			  const struct right *right)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	if (others) {
		w->flight = others->flight;
		w->gate = others->gate;
		w->watch = others->watch;
		w->live = others->live;
	}
	if (!w->flight || w->gate)
		output_init(&w->output, fd);
	w->segment = segment;
	w->queue = queue;
	w->texts = texts;
	w->catalogs = catalogs;
	w->wake_fd = wake_fd;
	w->packets = pbt_encoder_new();
	w->encode = encode_new();
	if (w->encode)
		encode_limit(w->encode, right);
	w->strings = string_table_new();
	w->unseen = item_new(ITEM_ENDS, 16 * sizeof(struct ends_row));
	w->left_out = item_new(ITEM_SHED, 4 * sizeof(struct shed_row));
	if ((w->flight && flight_describe(w->flight, segment)) || !w->packets || !w->encode || !w->strings || !w->unseen || !w->left_out ||
	    pthread_create(&w->thread, NULL, run, w)) {
		writer_free(w);
		return NULL;
	}
	return w;
}

int writer_error(const struct writer *writer)
{
	return __atomic_load_n(&writer->error, __ATOMIC_RELAXED);
}

uint64_t writer_bytes(const struct writer *writer)
{
	return __atomic_load_n(&writer->bytes, __ATOMIC_RELAXED);
}

uint64_t writer_repeated(const struct writer *writer)
{
	return __atomic_load_n(&writer->repeated_bytes, __ATOMIC_RELAXED);
}

uint64_t writer_opened_ns(const struct writer *writer)
{
	return __atomic_load_n(&writer->opened_ns, __ATOMIC_ACQUIRE);
}

const struct session_books *writer_before(const struct writer *writer)
{
	return &writer->before;
}

uint64_t writer_delivered(const struct writer *writer, unsigned int source)
{
	return __atomic_load_n(&writer->delivered[source], __ATOMIC_RELAXED);
}

uint64_t writer_unwritten(const struct writer *writer, unsigned int source)
{
	return __atomic_load_n(&writer->unwritten[source], __ATOMIC_RELAXED);
}

uint64_t writer_cpu_ns(const struct writer *writer)
{
	return __atomic_load_n(&writer->cpu_ns, __ATOMIC_RELAXED);
}

void writer_give_up(struct writer *writer)
{
	output_give_up(&writer->output);
}

void writer_finish(struct writer *writer)
{
	pthread_join(writer->thread, NULL);
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	known_tasks_free(&writer->tasks);
	repeated_bodies_free(&writer->repeated);
	item_free(writer->unseen);
	item_free(writer->left_out);
	string_table_free(writer->strings);
	message_buffer_free(&writer->small);
	encode_free(writer->encode);
	pbt_encoder_free(writer->packets);
	pbt_buffer_free(&writer->buffer);
	free(writer);
}
