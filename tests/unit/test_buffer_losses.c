/* SPDX-License-Identifier: Apache-2.0 */
/* A loss of records is noticed when the buffer was full, not with the CPU's next record, and once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "daemon/profbpfd/probe/buffer_losses.h"

#define CPUS 2
#define SIZE 65536

/* ---- libbpf and the kernel: what the buffers have, and what read() of their events returns */

struct perf_buffer {
	perf_buffer_event_fn on_event;
	void *context;
	struct perf_event_mmap_page page[CPUS];
	bool has_record[CPUS]; /* PERF_RECORD_LOST */
	int event[CPUS][2]; /* a pipe */
};

static struct perf_buffer perf;
static bool old_kernel;
static uint64_t formats[3], opened;

struct perf_buffer *perf_buffer__new_raw(int map, size_t pages, struct perf_event_attr *attr,
					 perf_buffer_event_fn on_event, void *context,
					 const struct perf_buffer_raw_opts *options)
{
	formats[opened++] = attr->read_format;
	if (old_kernel && attr->read_format) {
		errno = EINVAL;
		return NULL;
	}
	perf = (struct perf_buffer){ .on_event = on_event, .context = context };
	for (int i = 0; i < CPUS; i++)
		assert_int_equal(pipe2(perf.event[i], O_NONBLOCK), 0);
	return &perf;
}

void perf_buffer__free(struct perf_buffer *buffer)
{
	for (int i = 0; buffer && i < CPUS; i++) {
		close(buffer->event[i][0]);
		close(buffer->event[i][1]);
	}
}

size_t perf_buffer__buffer_cnt(const struct perf_buffer *buffer)
{
	return CPUS;
}

int perf_buffer__buffer_fd(const struct perf_buffer *buffer, size_t number)
{
	return buffer->event[number][0];
}

int perf_buffer__buffer(struct perf_buffer *buffer, int number, void **memory, size_t *size)
{
	*memory = &buffer->page[number];
	*size = SIZE;
	return 0;
}

int perf_buffer__consume_buffer(struct perf_buffer *buffer, size_t number)
{
	struct perf_event_header record = { .type = PERF_RECORD_LOST, .size = sizeof(record) };

	if (buffer->has_record[number])
		buffer->on_event(buffer->context, (int)number, &record);
	buffer->has_record[number] = false;
	buffer->page[number].data_tail = buffer->page[number].data_head;
	return 0;
}

static enum bpf_perf_event_ret on_event(void *context, int cpu, struct perf_event_header *record)
{
	struct buffer_losses *losses = context;

	losses->told = record->type == PERF_RECORD_LOST;
	return LIBBPF_PERF_EVENT_CONT;
}

/* The kernel filled the buffer but for @room bytes, and its count is asked for then, and at no other time. */
static void fill(int cpu, uint64_t room)
{
	perf.page[cpu].data_head = perf.page[cpu].data_tail + SIZE - room;
}

static void count_is(int cpu, uint64_t lost)
{
	const uint64_t reading[2] = { 0, lost };

	assert_int_equal(write(perf.event[cpu][1], reading, sizeof(reading)), sizeof(reading));
}

static bool was_asked(int cpu)
{
	uint64_t reading[2];

	return read(perf.event[cpu][0], reading, sizeof(reading)) < 0;
}

/* ---- Tests */

static struct buffer_losses losses;

static void open_on(bool old)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };

	opened = 0;
	old_kernel = old;
	assert_int_equal(buffer_losses_open(&losses, 3, 16, &attr, on_event, &losses), 0);
}

static void a_full_buffer_is_asked_at_once(void **state)
{
	open_on(false);
	fill(1, 40);
	count_is(1, 12);
	assert_true(buffer_losses_read(&losses));
	assert_true(was_asked(1));
	assert_false(buffer_losses_read(&losses));
	/* Full again, but all fitted. */
	fill(1, 40);
	count_is(1, 12);
	assert_false(buffer_losses_read(&losses));
	assert_true(was_asked(1));
	buffer_losses_close(&losses);
}

static void one_with_room_is_not_asked(void **state)
{
	open_on(false);
	fill(0, SIZE / 2);
	count_is(0, 12);
	assert_false(buffer_losses_read(&losses));
	assert_false(was_asked(0));
	buffer_losses_close(&losses);
}

static void the_record_tells_of_no_second_loss(void **state)
{
	open_on(false);
	fill(0, 0);
	count_is(0, 12);
	assert_true(buffer_losses_read(&losses));
	perf.has_record[0] = true;
	count_is(0, 12);
	assert_false(buffer_losses_read(&losses));
	assert_true(was_asked(0));
	/* Of one that was not noticed yet it does. */
	perf.has_record[0] = true;
	count_is(0, 13);
	assert_true(buffer_losses_read(&losses));
	buffer_losses_close(&losses);
}

static void without_an_answer_the_record_counts(void **state)
{
	open_on(false);
	perf.has_record[0] = true;
	assert_true(buffer_losses_read(&losses));
	fill(0, 0);
	assert_false(buffer_losses_read(&losses));
	buffer_losses_close(&losses);
}

static void an_old_kernel_has_only_the_record(void **state)
{
	open_on(true);
	assert_int_equal(opened, 2);
	assert_int_not_equal(formats[0], 0);
	assert_int_equal(formats[1], 0);
	fill(0, 0);
	assert_false(buffer_losses_read(&losses));
	perf.has_record[0] = true;
	assert_true(buffer_losses_read(&losses));
	assert_false(buffer_losses_read(&losses));
	buffer_losses_close(&losses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_buffer_is_asked_at_once),
		cmocka_unit_test(one_with_room_is_not_asked),
		cmocka_unit_test(the_record_tells_of_no_second_loss),
		cmocka_unit_test(without_an_answer_the_record_counts),
		cmocka_unit_test(an_old_kernel_has_only_the_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
