/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/live/live_marks.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/live/live_loaders.h"

#define FUNCTIONS_MAX 64
#define THREADS_MAX 1024
#define MARKS_MAX (1u << 20) /* per frame */

#define ENDS "_ZN5torch8autograd8profilerL24record_function_exit_newE"

enum mark_kind { MARK_FETCH, MARK_OTHER, MARK_END };

struct known_function {
	uint32_t id;
	bool ends;
};

struct mark {
	uint64_t start_ns, end_ns;
	uint32_t pid, tid;
	enum mark_kind kind;
};

/* A thread that marks. */
struct thread {
	uint32_t pid, tid;
	uint32_t depth; /* marks that go on inside the fetch, and the fetch; 0 = no fetch */
	uint64_t since_ns; /* of the fetch, or of the frame */
	uint64_t wait_ns; /* of this frame */
	bool fetches; /* a fetch was seen to begin */
	bool unsure; /* its first event, in this frame, was an end, perhaps that of a fetch */
	bool shown; /* the wait in the last frame is known: */
	uint64_t shown_ns;
};

struct live_marks {
	struct known_function functions[FUNCTIONS_MAX];
	struct thread threads[THREADS_MAX];
	struct mark *marks;
	size_t function_count, thread_count, mark_count, mark_room;
	uint64_t left_out; /* events without room */
	bool ends_seen; /* a function that ends marks is probed */
};

struct live_marks *live_marks_new(void)
{
	return calloc(1, sizeof(struct live_marks));
}

void live_marks_free(struct live_marks *m)
{
	if (m)
		free(m->marks);
	free(m);
}

uint64_t live_marks_left_out(const struct live_marks *m)
{
	return m->left_out;
}

static bool begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

static const struct known_function *function_of(const struct live_marks *m, uint32_t id)
{
	for (size_t i = 0; i < m->function_count; i++)
		if (m->functions[i].id == id)
			return &m->functions[i];
	return NULL;
}

bool live_marks_function(struct live_marks *m, const Profbpf__Function *function)
{
	bool ends = begins(function->name, ENDS);

	if (function_of(m, function->id))
		return true;
	if (!ends && !begins(function->name, LIVE_MARK_BEGINS))
		return false;
	if (m->function_count == FUNCTIONS_MAX) {
		m->left_out++;
		return false;
	}
	m->functions[m->function_count++] = (struct known_function){ function->id, ends };
	m->ends_seen |= ends;
	return true;
}

static struct mark *add_mark(struct live_marks *m)
{
	if (m->mark_count == m->mark_room) {
		size_t room = m->mark_room ? 2 * m->mark_room : 1024;
		struct mark *grown = room <= MARKS_MAX ?
					     reallocarray(m->marks, room, sizeof(*grown)) :
					     NULL;

		if (!grown) {
			m->left_out++;
			return NULL;
		}
		m->marks = grown;
		m->mark_room = room;
	}
	return &m->marks[m->mark_count++];
}

/* Calls come by CPU: they are put in order when the frame ends. */
void live_marks_call(struct live_marks *m, const struct live_called *call, const char *name)
{
	const struct known_function *function = function_of(m, call->function);
	struct mark *mark = function ? add_mark(m) : NULL;

	if (mark)
		*mark = (struct mark){ .start_ns = call->end_ns - call->dur_ns,
				       .end_ns = call->end_ns,
				       .pid = call->pid,
				       .tid = call->tid,
				       .kind = function->ends	     ? MARK_END
					       : begins(name, LIVE_MARK_LOADER) ? MARK_FETCH
								      : MARK_OTHER };
}

static struct thread *thread_of(struct live_marks *m, const struct mark *mark)
{
	for (size_t i = 0; i < m->thread_count; i++)
		if (m->threads[i].tid == mark->tid && m->threads[i].pid == mark->pid)
			return &m->threads[i];
	if (m->thread_count == THREADS_MAX) {
		m->left_out++;
		return NULL;
	}
	m->threads[m->thread_count] = (struct thread){ .pid = mark->pid,
						       .tid = mark->tid,
						       .unsure = mark->kind == MARK_END };
	return &m->threads[m->thread_count++];
}

/* Applies a mark. If a fetch begins inside a fetch, the end of the previous one was not recorded: its length is unknown. */
static void apply(struct live_marks *m, const struct mark *mark)
{
	struct thread *t = thread_of(m, mark);

	if (!t)
		return;
	if (mark->kind == MARK_FETCH) {
		t->depth = 1;
		t->fetches = true;
		t->since_ns = mark->start_ns;
	} else if (mark->kind == MARK_OTHER) {
		t->depth += t->depth != 0;
	} else if (t->depth && --t->depth == 0 && mark->end_ns > t->since_ns) {
		t->wait_ns += mark->end_ns - t->since_ns;
	}
}

static int by_end(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

void live_marks_gone(struct live_marks *m, uint32_t pid)
{
	for (size_t i = 0; i < m->thread_count; i++)
		if (m->threads[i].pid == pid)
			m->threads[i--] = m->threads[--m->thread_count];
}

size_t live_marks_threads(const struct live_marks *m)
{
	return m->thread_count;
}

bool live_marks_wait(const struct live_marks *m, size_t thread, uint32_t *pid, uint64_t *ns)
{
	*pid = m->threads[thread].pid;
	*ns = m->threads[thread].shown_ns;
	return m->threads[thread].shown;
}

static void show(struct thread *t, uint64_t to_ns, struct live_operator *rows, size_t count)
{
	if (t->depth && to_ns > t->since_ns) {
		t->wait_ns += to_ns - t->since_ns;
		t->since_ns = to_ns;
	}
	for (size_t i = 0; i < count && t->fetches && !t->unsure; i++) {
		if (rows[i].pid != t->pid || strcmp(rows[i].name, LIVE_TORCH) != 0)
			continue;
		rows[i].has_pop_wait = rows[i].to_trainer = true;
		rows[i].pop_wait_ns += t->wait_ns;
	}
	t->shown = t->fetches && !t->unsure;
	t->shown_ns = t->wait_ns;
	t->wait_ns = 0;
	t->unsure = false;
}

void live_marks_frame(struct live_marks *m, uint64_t from_ns, uint64_t to_ns,
		     struct live_operator *rows, size_t count)
{
	size_t done = 0;

	if (m->mark_count)
		qsort(m->marks, m->mark_count, sizeof(*m->marks), by_end);
	for (; done < m->mark_count && m->marks[done].end_ns <= to_ns; done++)
		apply(m, &m->marks[done]);
	m->mark_count -= done;
	if (done)
		memmove(m->marks, m->marks + done, m->mark_count * sizeof(*m->marks));
	for (size_t i = 0; i < m->thread_count && m->ends_seen; i++) {
		if (m->threads[i].depth && m->threads[i].since_ns < from_ns)
			m->threads[i].since_ns = from_ns;
		show(&m->threads[i], to_ns, rows, count);
	}
}
