/* SPDX-License-Identifier: Apache-2.0 */
/* The page fault and the block request that caused a sleep: on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/join/thread/sleep_causes.h"
#include "proto/trace.pb-c.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define FROM (10 * MS) /* the thread sleeps */
#define UNTIL (20 * MS)

struct fixture {
	struct model *model;
	uint32_t before, thread, after;
	uint32_t sleep; /* the sleep's span */
};

/* The second of three threads sleeps once, and so does the third. */
static void begin(struct fixture *f, enum thread_state state, uint8_t flags)
{
	uint32_t process;
	struct span *span;

	f->model = small_model(0, 100 * MS);
	process = small_process(f->model, 10, "job", true);
	f->before = small_thread(f->model, process, 10, "before");
	f->thread = small_thread(f->model, process, 11, "thread");
	f->after = small_thread(f->model, process, 12, "after");
	small_span(f->model, f->before, 0, 50 * MS, STATE_RUNNING);
	small_span(f->model, f->thread, 0, FROM, STATE_RUNNING);
	span = small_span(f->model, f->thread, FROM, UNTIL, state);
	span->flags = flags;
	span->object = INDEX_NONE;
	f->sleep = f->model->spans.count - 1;
	small_span(f->model, f->thread, UNTIL, 50 * MS, STATE_RUNNING);
	/* The third thread sleeps at the same time. */
	span = small_span(f->model, f->after, FROM, UNTIL, STATE_DISK);
	span->flags = SPAN_FAULT | SPAN_IOWAIT;
	span->object = INDEX_NONE;
}

static void fault(struct fixture *f, uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint32_t file)
{
	struct major_fault row = { .end_ns = end_ns, .dur_ns = end_ns - start_ns, .thread = thread, .file = file };

	assert_true(MODEL_PUSH(&f->model->faults, row));
}

static void request(struct fixture *f, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	struct block_request row = { .end_ns = end_ns, .dur_ns = end_ns - start_ns, .thread = thread };

	assert_true(MODEL_PUSH(&f->model->block_requests, row));
}

static const struct span *find(struct fixture *f)
{
	small_index(f->model);
	assert_int_equal(sleep_causes_find(f->model), 0);
	return &f->model->spans.row[f->sleep];
}

/* A fault that began before the sleep, and ended no earlier; a fault with unknown times does not count. */
static void faults(void **state)
{
	static const struct {
		int thread; /* -1: the thread before, 1: the thread after */
		uint64_t start_ns, end_ns;
		bool no_fault, running;
		bool major;
	} CASES[] = {
		{ 0, FROM - 5, UNTIL + 5, false, false, true },	   { 0, FROM, UNTIL, false, false, true },
		{ 0, FROM + 1, UNTIL + 5, false, false, false },   { 0, FROM, UNTIL - 1, false, false, false },
		{ 0, UNTIL + 5, UNTIL + 5, false, false, false },  { -1, FROM - 5, UNTIL + 5, false, false, false },
		{ 1, FROM - 5, UNTIL + 5, false, false, false },   { 0, FROM - 5, UNTIL + 5, true, false, false },
		{ 0, FROM - 5, UNTIL + 5, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;

		begin(&f, CASES[i].running ? STATE_RUNNING : i % 2 ? STATE_SLEEP : STATE_DISK, CASES[i].no_fault ? 0 : SPAN_FAULT);
		fault(&f, f.thread, 1, 2, 0); /* long before the sleep */
		fault(&f, f.thread + (uint32_t)CASES[i].thread, CASES[i].start_ns, CASES[i].end_ns, 0);
		if (CASES[i].start_ns == CASES[i].end_ns)
			f.model->faults.row[1].dur_ns = 0;
		fault(&f, f.thread, 1, 2, 0); /* outside of the array's count */
		fault(&f, f.thread, FROM - 5, UNTIL + 5, 0);
		f.model->faults.count -= 2;
		if ((find(&f)->flags & SPAN_MAJOR_FAULT) != (CASES[i].major ? SPAN_MAJOR_FAULT : 0))
			fail_msg("case %zu", i);
		assert_int_equal((f.model->spans.row[f.sleep + 2].flags & SPAN_MAJOR_FAULT) != 0, CASES[i].thread == 1);
		model_free(f.model);
	}
}

/* The file of a fault becomes the sleep's object, one object per file; a known object stays. */
static void files(void **state)
{
	enum { NEW, NO_FILE, THERE, OTHER_KIND, OTHER_NAME, KNOWN };

	(void)state;
	for (int what = NEW; what <= KNOWN; what++) {
		struct sleep_object object = { .kind = what == OTHER_KIND ? PROFBPF__SLEEP_OBJECTS__KIND__PIPE
									 : PROFBPF__SLEEP_OBJECTS__KIND__FILE };
		struct fixture f;
		const struct span *span;
		uint32_t file;

		begin(&f, STATE_DISK, SPAN_FAULT);
		file = model_string(f.model, "/data");
		object.name = what == OTHER_NAME ? model_string(f.model, "/other") : file;
		if (what >= THERE)
			assert_true(MODEL_PUSH(&f.model->sleep_objects, object));
		if (what == KNOWN) {
			assert_true(MODEL_PUSH(&f.model->sleep_objects, ((struct sleep_object){ .object = 5 })));
			f.model->spans.row[f.sleep].object = 1;
		}
		fault(&f, f.thread, FROM, UNTIL, what == NO_FILE ? 0 : file);
		/* The next thread sleeps in a fault of the same file, and in one of another file. */
		f.model->spans.count--;
		f.model->timelines.row[f.after].count = 0;
		for (uint64_t k = 0; k < 2; k++) {
			struct span *next = small_span(f.model, f.after, FROM + k * 10 * MS, UNTIL + k * 10 * MS, STATE_DISK);

			next->flags = SPAN_FAULT;
			next->object = INDEX_NONE;
			fault(&f, f.after, FROM + k * 10 * MS, UNTIL + k * 10 * MS, k ? model_string(f.model, "/third") : file);
		}
		span = find(&f);
		if (what == NO_FILE)
			assert_int_equal(span->object, INDEX_NONE);
		else
			assert_int_equal(span->object, what == OTHER_KIND || what == OTHER_NAME || what == KNOWN);
		assert_int_equal(span[2].object, what == OTHER_KIND || what == OTHER_NAME);
		assert_int_equal(f.model->sleep_objects.row[span[2].object].name, file);
		assert_string_equal(model_text(f.model, f.model->sleep_objects.row[span[3].object].name), "/third");
		model_free(f.model);
	}
}

/* The last request that ended in the sleep, if it ended just before the sleep's end. */
static void requests(void **state)
{
	enum { DISK, WAITS, MAJOR, ASLEEP, RUNS };
	static const struct {
		int how, thread;
		uint64_t end_ns;
		bool found;
	} CASES[] = {
		{ DISK, 0, UNTIL, true },	  { DISK, 0, UNTIL + 1, false },
		{ DISK, 0, UNTIL - WAKE_LATE_NS, true }, { DISK, 0, UNTIL - WAKE_LATE_NS - 1, false },
		{ DISK, -1, UNTIL, false },	  { DISK, 1, UNTIL, false },
		{ WAITS, 0, UNTIL, true },	  { MAJOR, 0, UNTIL, true },
		{ ASLEEP, 0, UNTIL, false },	  { RUNS, 0, UNTIL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		int how = CASES[i].how;
		const struct block_request *row;
		const struct span *span;
		struct fixture f;

		begin(&f, how == DISK ? STATE_DISK : how == RUNS ? STATE_RUNNING : STATE_SLEEP,
		      how == WAITS || how == RUNS ? SPAN_IOWAIT : how == MAJOR ? SPAN_FAULT : 0);
		if (how == MAJOR)
			fault(&f, f.thread, FROM, UNTIL, 0);
		request(&f, f.thread, 1, FROM - 1);
		request(&f, f.thread + (uint32_t)CASES[i].thread, FROM - 1, CASES[i].end_ns);
		span = find(&f);
		row = sleep_request(f.model, span);
		if ((row != NULL) != CASES[i].found)
			fail_msg("case %zu", i);
		if (row)
			assert_int_equal(row->end_ns, CASES[i].end_ns);
		assert_int_equal(f.model->io_waits.count, CASES[i].found || CASES[i].thread == 1);
		/* Other spans, and spans outside of the model, have no request. */
		assert_null(sleep_request(f.model, span - 1));
		assert_null(sleep_request(f.model, span + 1));
		assert_null(sleep_request(f.model, f.model->spans.row - 1));
		assert_null(sleep_request(f.model, f.model->spans.row + f.model->spans.count));
		model_free(f.model);
	}
}

/* A short sleep as the request ends; a request that ended before the sleep began does not count. */
static void first_instant(void **state)
{
	(void)state;
	for (uint64_t before = 0; before < 2; before++) {
		struct fixture f;

		begin(&f, STATE_DISK, 0);
		f.model->spans.row[f.sleep].end_ns = FROM + 5;
		request(&f, f.thread, 1, FROM - before);
		assert_int_equal(sleep_request(f.model, find(&f)) != NULL, !before);
		model_free(f.model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults),
		cmocka_unit_test(files),
		cmocka_unit_test(requests),
		cmocka_unit_test(first_instant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
