/* SPDX-License-Identifier: Apache-2.0 */
/* What a listener reads by itself does not wake it once more; what others find does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/perf_event.h>

#include "daemon/profbpfd/probe/buffer_losses.h"
#include "daemon/profbpfd/probe/map_events.h"

#define PID 7

/* ---- The kernel's buffers: read by the test only, not by the watch's thread, whose times would be chance. */

static perf_buffer_event_fn on_event_of_watch;
static void *context_of_watch;
static pthread_t test_thread;
static unsigned int ready; /* mappings in the buffers */
static bool lost;

int bpf_map_create(enum bpf_map_type type, const char *name, uint32_t key_size, uint32_t value_size,
		   uint32_t entries, const struct bpf_map_create_opts *options)
{
	return dup(0);
}

int perf_buffer__epoll_fd(const struct perf_buffer *buffer)
{
	static int fd = -1;

	return fd < 0 ? fd = epoll_create1(EPOLL_CLOEXEC) : fd;
}

int buffer_losses_open(struct buffer_losses *losses, int map, size_t pages, struct perf_event_attr *attr,
		       perf_buffer_event_fn on_event, void *context)
{
	on_event_of_watch = on_event;
	context_of_watch = context;
	return 0;
}

bool buffer_losses_read(struct buffer_losses *losses)
{
	struct {
		struct perf_event_header header;
		uint32_t pid;
		char rest[100];
	} record = { .header = { .type = PERF_RECORD_MMAP2, .size = sizeof(record) }, .pid = PID };
	bool was_lost = lost;

	if (!pthread_equal(pthread_self(), test_thread))
		return false;
	for (; ready; ready--)
		on_event_of_watch(context_of_watch, 0, &record.header);
	lost = false;
	return was_lost;
}

void buffer_losses_close(struct buffer_losses *losses)
{
}

/* ---- Tests */

struct told {
	unsigned int mapped, missed;
};

static bool wanted(void *context, pid_t pid)
{
	return pid == PID;
}

static void mapped(void *context, pid_t pid, uint64_t ts_ns, bool of_file)
{
	((struct told *)context)->mapped++;
}

static void missed(void *context)
{
	((struct told *)context)->missed++;
}

static struct map_events *listen_for(struct map_watch *watch, struct told *told)
{
	struct map_events_handler handler = { wanted, mapped, missed, told };
	struct map_events *events = map_events_new(watch, &handler);

	assert_non_null(events);
	return events;
}

static bool is_signalled(const struct map_events *events)
{
	struct pollfd fd = { .fd = map_events_fd(events), .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static void what_is_read_does_not_wake_again(void **state)
{
	struct map_watch *watch = map_watch_new();
	struct told first = { 0 }, second = { 0 };
	struct map_events *one, *other;

	test_thread = pthread_self();
	one = listen_for(watch, &first);
	other = listen_for(watch, &second);
	ready = 3;
	lost = true;
	map_events_read(one);
	assert_int_equal(first.mapped, 3);
	assert_int_equal(first.missed, 1);
	assert_false(is_signalled(one));
	assert_true(is_signalled(other));
	map_events_read(other);
	assert_int_equal(second.mapped, 3);
	assert_int_equal(second.missed, 1);
	assert_false(is_signalled(other));
	map_events_free(one);
	map_events_free(other);
	map_watch_free(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_does_not_wake_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
