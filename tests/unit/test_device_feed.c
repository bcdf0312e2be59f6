/* SPDX-License-Identifier: Apache-2.0 */
/* When streams of a process are found that were not there when it was looked at first. */
#include "tests/unit/stream_helpers.h"

#include <dirent.h>

#include "daemon/profbpfd/device_feed.h"
#include "daemon/profbpfd/device_find.h"

#define S 1000000000ull

struct fixture {
	struct item_queue *queue;
	struct device_feed *feed;
	struct stream_writer *writer;
};

static void no_warning(void *context, const char *text)
{
	fail_msg("%s", text);
}

/* Looked at once, when there was nothing. */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->queue = item_queue_new(1 << 20);
	f->feed = device_feed_new(f->queue, no_warning, NULL);
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

/* As programs do that close all they did not open themselves. */
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

/* It has mapped a library. */
static void at_once(void **state)
{
	struct fixture *f = *state;

	close_stream();
	device_feed_watch(f->feed, getpid());
	assert_true(is_open_at(f, 100 * S + 1));
}

/* As of a template: the rest of it tells it from others. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_its_descriptor, set_up, tear_down),
		cmocka_unit_test_setup_teardown(by_the_maps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_long_name_stays_whole, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
