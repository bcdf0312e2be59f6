/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/statistics_message.h"

#include <stdlib.h>
#include <string.h>

struct statistics_message {
	Profbpf__Statistics m;
	Profbpf__SourceStatistics source[TRACE_SOURCES], *sources[TRACE_SOURCES];
	Profbpf__Lost lost[TRACE_SOURCES][LOST_REASONS + 2], *losts[TRACE_SOURCES][LOST_REASONS + 2];
	Profbpf__Lost drop[TRACE_SOURCES][2], *drops[TRACE_SOURCES][2];
	Profbpf__ShortCalls *calls, **call_pointers;
};

const char *trace_source_name(unsigned int source)
{
	static const char *const names[TRACE_SOURCES] = {
		[SOURCE_API] = "api",	[SOURCE_IOCTL] = "ioctl",   [SOURCE_SCHED] = "sched",
		[SOURCE_TASK] = "task", [SOURCE_STACK] = "stack",   [SOURCE_FAULT] = "fault",
		[SOURCE_BLOCK] = "io",	[SOURCE_DEVICE] = "device",
	};

	return source < TRACE_SOURCES && names[source] ? names[source] : "?";
}

void source_books_lose(struct source_books *books, const char *reason, uint64_t count)
{
	if (!count || books->lost_count == sizeof(books->lost) / sizeof(books->lost[0]))
		return;
	books->lost[books->lost_count++] = (struct lost_count){ reason, count };
}

uint64_t source_books_lost(const struct source_books *books)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < books->lost_count; i++)
		lost += books->lost[i].count;
	return lost;
}

static uint64_t lost_for(const struct source_books *books, const char *reason)
{
	for (uint32_t i = 0; i < books->lost_count; i++)
		if (!strcmp(books->lost[i].reason, reason))
			return books->lost[i].count;
	return 0;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void source_books_close(struct source_books *books, const struct source_count *count, uint64_t delivered,
			uint64_t unwritten, bool final)
{
	uint64_t known;

	*books = (struct source_books){ .produced = count->produced, .delivered = delivered + count->used };
	for (uint32_t i = 0; i < count->lost_count && i < LOST_REASONS; i++)
		source_books_lose(books, count->lost[i].reason, count->lost[i].count);
	source_books_lose(books, "not written", unwritten);
	known = books->delivered + source_books_lost(books);
	/* While threads run, the last few records of each are not in the count of produced ones yet. */
	if (!final && books->produced < known)
		books->produced = known;
	/* The counts must balance; if not, the difference is reported. */
	if (final && books->produced > known)
		source_books_lose(books, "unaccounted", books->produced - known);
}

void session_books_since(struct session_books *books, const struct session_books *before)
{
	for (unsigned int i = 0; i < TRACE_SOURCES; i++) {
		struct source_books *of = &books->source[i], since = { 0 };

		since.delivered = grown(of->delivered, before->source[i].delivered);
		for (uint32_t k = 0; k < of->lost_count; k++)
			source_books_lose(&since, of->lost[k].reason,
					  grown(of->lost[k].count,
						lost_for(&before->source[i], of->lost[k].reason)));
		since.produced = since.delivered + source_books_lost(&since);
		*of = since;
	}
	books->daemon_cpu_ns = grown(books->daemon_cpu_ns, before->daemon_cpu_ns);
	books->bytes = grown(books->bytes, before->bytes);
}

static void add_dropped(struct statistics_message *s, unsigned int source, const char *reason, uint64_t count)
{
	Profbpf__SourceStatistics *m = &s->source[source];
	Profbpf__Lost *dropped = &s->drop[source][m->n_dropped];

	if (!count)
		return;
	profbpf__lost__init(dropped);
	dropped->reason = (char *)reason;
	dropped->count = count;
	m->dropped = s->drops[source];
	m->dropped[m->n_dropped++] = dropped;
}

static void fill_source(struct statistics_message *s, unsigned int source, const struct source_books *books)
{
	Profbpf__SourceStatistics *m = &s->source[source];

	profbpf__source_statistics__init(m);
	m->name = (char *)trace_source_name(source);
	m->produced = books->produced;
	m->delivered = books->delivered;
	m->lost = s->losts[source];
	for (uint32_t i = 0; i < books->lost_count; i++) {
		Profbpf__Lost *lost = &s->lost[source][m->n_lost];

		if (!books->lost[i].count)
			continue;
		profbpf__lost__init(lost);
		lost->reason = (char *)books->lost[i].reason;
		lost->count = books->lost[i].count;
		m->lost[m->n_lost++] = lost;
	}
	add_dropped(s, source, "too old", books->dropped_old);
	add_dropped(s, source, "no room", books->dropped_room);
}

static void fill_short_calls(struct statistics_message *s, const struct statistics_row *row)
{
	for (uint32_t i = 0; i < row->short_count; i++) {
		profbpf__short_calls__init(&s->calls[i]);
		s->calls[i].function = row->short_calls[i].probe;
		s->calls[i].tgid = row->short_calls[i].tgid;
		s->calls[i].count = row->short_calls[i].count;
		s->calls[i].total_ns = row->short_calls[i].total_ns;
		s->calls[i].unended = row->short_calls[i].unended;
		s->call_pointers[i] = &s->calls[i];
	}
	s->m.n_short_calls = row->short_count;
	s->m.short_calls = s->call_pointers;
}

struct statistics_message *statistics_message_new(const struct statistics_row *row, const struct session_books *books)
{
	/* In the order of lists in files. */
	static const unsigned int order[] = { SOURCE_API,   SOURCE_IOCTL, SOURCE_SCHED,
					      SOURCE_TASK,  SOURCE_STACK, SOURCE_FAULT,
					      SOURCE_BLOCK, SOURCE_DEVICE };
	struct statistics_message *s = calloc(1, sizeof(*s));

	_Static_assert(sizeof(order) / sizeof(order[0]) == TRACE_SOURCES, "each source has its place");
	if (!s)
		return NULL;
	s->calls = calloc(row->short_count + 1, sizeof(*s->calls));
	s->call_pointers = calloc(row->short_count + 1, sizeof(*s->call_pointers));
	if (!s->calls || !s->call_pointers) {
		statistics_message_free(s);
		return NULL;
	}
	profbpf__statistics__init(&s->m);
	for (unsigned int i = 0; i < TRACE_SOURCES; i++) {
		fill_source(s, order[i], &books->source[order[i]]);
		s->sources[i] = &s->source[order[i]];
	}
	fill_short_calls(s, row);
	s->m.ts_ns = row->ts_ns;
	s->m.final = row->final;
	s->m.end_reason = (char *)row->end_reason;
	s->m.n_source = TRACE_SOURCES;
	s->m.source = s->sources;
	s->m.daemon_cpu_ns = books->daemon_cpu_ns;
	s->m.bytes_written = books->bytes;
	return s;
}

const ProtobufCMessage *statistics_message_base(const struct statistics_message *message)
{
	return &message->m.base;
}

void statistics_message_free(struct statistics_message *message)
{
	if (!message)
		return;
	free(message->calls);
	free(message->call_pointers);
	free(message);
}
