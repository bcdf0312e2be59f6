/* SPDX-License-Identifier: Apache-2.0 */
/* When the daemon finds device streams that a process opens after the first check. */
#include "tests/unit/stream_helpers.h"

#include <dirent.h>
#include <pthread.h>

#include "daemon/profbpfd/device/device_feed.h"
#include "daemon/profbpfd/device/device_find.h"

#define S 1000000000ull

struct fixture {
	unsigned int gave_up; /* warnings about layers that did not answer */
	struct item_queue *queue;
	struct device_feed *feed;
	struct stream_writer *writer;
};

static void no_other_warning(void *context, const char *text)
{
	struct fixture *f = context;

	if (!strstr(text, "did not deliver the tasks"))
		fail_msg("%s", text);
	f->gave_up++;
}

/* The process was checked once, before it had a stream. */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->queue = item_queue_new(1 << 20);
	f->feed = device_feed_new(f->queue, no_other_warning, f);
	assert_non_null(f->feed);
	device_feed_watch(f->feed, getpid());
	device_feed_poll(f->feed, 100 * S, false);
	assert_false(device_feed_is_open(f->feed));
	f->writer = stream_writer_create("test", SLOTS);
	assert_non_null(f->writer);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	device_feed_free(f->feed);
	item_queue_free(f->queue);
	stream_writer_destroy(f->writer);
	free(f);
	return 0;
}

static bool is_open_at(struct fixture *f, uint64_t now_ns)
{
	device_feed_poll(f->feed, now_ns, false);
	return device_feed_is_open(f->feed);
}

static void by_its_descriptor(void **state)
{
	assert_false(is_open_at(*state, 100 * S + S / 2));
	assert_true(is_open_at(*state, 101 * S));
}

/* Closes the stream, as programs do that close all descriptors except their own. */
static void close_stream(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char target[64];

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (strstr(target, STREAM_MEMFD_NAME))
			close(atoi(entry->d_name));
	}
	closedir(dir);
	assert_int_equal(device_find_files(getpid()), 0);
}

static void by_the_maps(void **state)
{
	close_stream();
	assert_false(is_open_at(*state, 101 * S));
	assert_false(is_open_at(*state, 107 * S));
	assert_true(is_open_at(*state, 108 * S));
}

/* The process has mapped a library. */
static void at_once(void **state)
{
	struct fixture *f = *state;

	close_stream();
	device_feed_watch(f->feed, getpid());
	assert_true(is_open_at(f, 100 * S + 1));
}

/* A name as long as a C++ template's: its last part distinguishes it from others. */
static void a_long_name_stays_whole(void **state)
{
	struct fixture *f = *state;
	struct stream_task task = { .start_ns = 1, .end_ns = 2, .enqueue_ns = 1 };
	const struct device_row *row;
	struct item *item;
	char name[3001];

	memset(name, 'n', sizeof(name) - 2);
	strcpy(name + sizeof(name) - 2, "1");
	assert_true(is_open_at(f, 101 * S));
	assert_int_equal(stream_writer_add_device(f->writer, "device", "gpu"), 0);
	stream_writer_begin(f->writer);
	task.name = stream_writer_name(f->writer, name);
	stream_writer_put(f->writer, &task);
	device_feed_poll(f->feed, 102 * S, true);
	while ((item = item_queue_pop(f->queue)) && item->kind != ITEM_DEVICE)
		item_free(item);
	assert_non_null(item);
	row = (const void *)item->data;
	assert_string_equal(row->name, name);
	item_free(item);
}

static size_t tasks_handed_over(struct fixture *f)
{
	struct item *item = item_new(ITEM_END, 0);
	size_t tasks = 0;

	item_queue_push(f->queue, item);
	while ((item = item_queue_pop(f->queue)) && item->kind != ITEM_END) {
		tasks += item->kind == ITEM_DEVICE ? item->count : 0;
		item_free(item);
	}
	item_free(item);
	return tasks;
}

static void put_task(struct stream_writer *writer)
{
	struct stream_task task = { .start_ns = 1, .end_ns = 2, .enqueue_ns = 1 };

	stream_writer_begin(writer);
	stream_writer_put(writer, &task);
}

/* A layer that hands over a task when it is asked to. */
static void *answer(void *data)
{
	struct fixture *f = data;
	uint64_t asked = 0;

	for (int i = 0; i < 5000 && !asked; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		asked = stream_writer_asked(f->writer);
	}
	put_task(f->writer);
	stream_writer_answer(f->writer, asked);
	return NULL;
}

static void what_the_runtime_holds_comes_at_the_end(void **state)
{
	struct source_count count;
	struct fixture *f = *state;
	pthread_t thread;

	assert_true(is_open_at(f, 101 * S));
	stream_writer_add_device(f->writer, "device", "gpu");
	stream_writer_answer(f->writer, 1);
	put_task(f->writer);
	assert_int_equal(pthread_create(&thread, NULL, answer, f), 0);
	device_feed_finish(f->feed, 102 * S, 102 * S);
	pthread_join(thread, NULL);
	assert_int_equal(tasks_handed_over(f), 2);
	device_feed_count(f->feed, &count);
	assert_int_equal(count.produced, 2);
}

static uint64_t finish_takes(struct fixture *f)
{
	struct timespec before, after;

	assert_true(is_open_at(f, 101 * S));
	clock_gettime(CLOCK_MONOTONIC, &before);
	device_feed_finish(f->feed, 102 * S, 102 * S);
	clock_gettime(CLOCK_MONOTONIC, &after);
	return (uint64_t)(after.tv_sec - before.tv_sec) * S + (uint64_t)after.tv_nsec -
	       (uint64_t)before.tv_nsec;
}

/* A needless wait would consist of sleeps, each at least as long as requested: it would take a second or more. */
static void nobody_waits_without_need(void **state)
{
	struct fixture *f = *state;

	/* The session's end waits neither for a layer that holds nothing back nor for one that has ended. */
	assert_int_equal(stream_writer_asked(f->writer), 0);
	assert_true(finish_takes(f) < S);
	assert_int_equal(stream_writer_asked(f->writer), 102 * S);
	stream_writer_answer(f->writer, UINT64_MAX);
	assert_int_equal(stream_writer_asked(f->writer), 0);
	assert_true(finish_takes(f) < S);
	assert_int_equal(f->gave_up, 0);
}

static void who_never_answers_is_given_up(void **state)
{
	struct fixture *f = *state;

	stream_writer_answer(f->writer, 1);
	assert_true(finish_takes(f) >= S);
	assert_int_equal(f->gave_up, 1);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}

/* The CPU time of two mappings and the end of each of this many processes. */
static uint64_t watching_takes(pid_t processes)
{
	struct item_queue *queue = item_queue_new(1 << 20);
	struct device_feed *feed = device_feed_new(queue, no_other_warning, NULL);
	uint64_t before = cpu_ns(), taken;

	for (pid_t i = 0; i < 2 * processes; i++)
		device_feed_watch(feed, 1 + i % processes);
	for (pid_t i = 0; i < processes; i++)
		device_feed_forget(feed, 1 + i, UINT64_MAX);
	taken = cpu_ns() - before;
	device_feed_free(feed);
	item_queue_free(queue);
	return taken;
}

/* Eight times the processes take some ten times the time; it would be sixty if each were compared with all others. */
static void many_processes_take_little_time(void **state)
{
	uint64_t few = watching_takes(4000), again = watching_takes(4000);

	(void)state;
	assert_true(watching_takes(32000) < 30 * (few < again ? few : again));
}

static void who_is_forgotten_is_not_looked_at(void **state)
{
	struct fixture *f = *state;

	device_feed_watch(f->feed, getppid());
	device_feed_forget(f->feed, getpid(), UINT64_MAX);
	device_feed_forget(f->feed, getpid(), UINT64_MAX);
	assert_false(is_open_at(f, 200 * S));
	device_feed_watch(f->feed, getpid());
	device_feed_forget(f->feed, getppid(), UINT64_MAX);
	assert_true(is_open_at(f, 300 * S));
}

/* The end of an earlier process with its id is told late; by then it was searched in vain. */
static void a_late_end_is_not_that_of_the_next_one(void **state)
{
	struct fixture *f = *state;

	close_stream();
	device_feed_forget(f->feed, getpid(), 0);
	assert_true(is_open_at(f, 100 * S + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_its_descriptor, set_up, tear_down),
		cmocka_unit_test_setup_teardown(by_the_maps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_long_name_stays_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_runtime_holds_comes_at_the_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nobody_waits_without_need, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_never_answers_is_given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_is_forgotten_is_not_looked_at, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_late_end_is_not_that_of_the_next_one, set_up, tear_down),
		cmocka_unit_test(many_processes_take_little_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
