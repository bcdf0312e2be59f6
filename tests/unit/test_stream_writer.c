/* SPDX-License-Identifier: Apache-2.0 */
/* stream_writer: its output, and effects that the traced program must not notice. */
#include "tests/unit/stream_helpers.h"

#include <pthread.h>
#include <sys/resource.h>

#define WRITERS 4

static void *name_many(void *data)
{
	uint32_t *offsets = calloc(500, sizeof(*offsets));
	char name[32];
	int i;

	for (i = 0; offsets && i < 500; i++) {
		snprintf(name, sizeof(name), "kernel_%d", i);
		offsets[i] = stream_writer_name(data, name);
	}
	return offsets;
}

static void names_are_kept_once(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *stream = open_stream(getpid());
	char name[32], text[32], longest[5000];
	uint32_t *offsets[WRITERS];
	pthread_t threads[WRITERS];
	int i, j;

	for (i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, name_many, writer), 0);
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], (void **)&offsets[i]);
	for (j = 0; j < 500; j++) {
		snprintf(name, sizeof(name), "kernel_%d", j);
		assert_true(device_stream_name(stream, offsets[0][j], text, sizeof(text)) > 0);
		assert_string_equal(text, name);
		for (i = 1; i < WRITERS; i++)
			assert_int_equal(offsets[i][j], offsets[0][j]);
	}
	for (i = 0; i < WRITERS; i++)
		free(offsets[i]);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	i = (int)stream_writer_name(writer, longest);
	assert_int_equal(device_stream_name(stream, (uint32_t)i, longest, sizeof(longest)),
			 STREAM_WRITER_NAME_MAX);
	assert_int_equal(device_stream_name(stream, (uint32_t)i, text, sizeof(text)), 31);
	assert_int_equal(stream_writer_name(writer, ""), 0);
	assert_int_equal(device_stream_name(stream, 0, text, sizeof(text)), 0);
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

static void a_full_arena_gives_no_name(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	char name[512];
	uint32_t last = 1;
	int i;

	memset(name, 'n', sizeof(name));
	for (i = 0; last && i < 20000; i++) {
		snprintf(name + 480, sizeof(name) - 480, "%d", i);
		last = stream_writer_name(writer, name);
	}
	assert_int_equal(last, 0);
	assert_true(i > 8000 && i < 9200);
	/* Existing names stay. */
	snprintf(name + 480, sizeof(name) - 480, "%d", 7);
	assert_true(stream_writer_name(writer, name) > 0);
	stream_writer_destroy(writer);
}

static void too_many_devices(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	int i;

	for (i = 0; i < STREAM_DEVICES; i++)
		assert_int_equal(stream_writer_add_device(writer, "d", "cpu"), i);
	assert_int_equal(stream_writer_add_device(writer, "d", "cpu"), -1);
	stream_writer_destroy(writer);
}

/* A writer that was overtaken by a lap does not touch the newer task. */
static void an_overtaken_writer_drops(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *stream = open_stream(getpid());
	struct stream_task tasks[SLOTS];
	struct stream_header *header;
	char path[64], line[512];
	unsigned long start = 0;
	struct stream_task *slots;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", getpid());
	maps = fopen(path, "r");
	while (fgets(line, sizeof(line), maps) && !strstr(line, STREAM_MEMFD_NAME))
		;
	fclose(maps);
	assert_int_equal(sscanf(line, "%lx-", &start), 1);
	header = (struct stream_header *)start;
	slots = (struct stream_task *)(start + header->slots_offset);
	/* Slot 0 was claimed by task 0, whose writer sleeps; slot 1 contains a later lap. */
	slots[0].sequence = STREAM_WRITING | 1;
	slots[1].sequence = 2 * SLOTS + 2;
	slots[1].correlation = 4242;
	header->head = SLOTS;
	put(writer, 0);
	put(writer, 0);
	put(writer, 0);
	assert_int_equal(slots[0].sequence, STREAM_WRITING | 1);
	assert_int_equal(slots[1].sequence, 2 * SLOTS + 2);
	assert_int_equal(slots[1].correlation, 4242);
	assert_int_equal(slots[2].sequence, SLOTS + 3);
	device_stream_read(stream, 1, tasks, SLOTS);
	device_stream_read(stream, 1 + DEVICE_STREAM_STUCK_NS, tasks, SLOTS);
	assert_int_equal(counts_of(stream).produced, SLOTS + 3);
	assert_int_equal(counts_of(stream).delivered, 1);
	assert_int_equal(counts_of(stream).lost, SLOTS + 2);
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

/* ---- Effects that the traced program must not notice */

/* ftruncate beyond the limit would raise SIGXFSZ, which kills. */
static void a_file_size_limit_is_respected(void **state)
{
	struct rlimit old, low;
	struct stream_writer *writer;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low = old;
	low.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	writer = stream_writer_create("test", SLOTS);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_null(writer);
}

static void low_descriptors_stay_free(void **state)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;
	struct stream_writer *writer;

	close(before);
	writer = stream_writer_create("test", SLOTS);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(after);
	assert_int_equal(before, after);
	stream_writer_destroy(writer);
}

/* The program closed the stream's descriptor and got its number for a file of its own. */
static void a_reused_descriptor_is_not_closed(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	char path[64], target[64];
	int fd, mine = -1, null;
	ssize_t length;

	for (fd = 0; fd < 1024 && mine < 0; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		if (strstr(target, STREAM_MEMFD_NAME))
			mine = fd;
	}
	assert_true(mine >= 0);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(dup2(null, mine), mine);
	close(null);
	stream_writer_destroy(writer);
	assert_true(fcntl(mine, F_GETFD) >= 0);
	close(mine);
}

static void drain_waits_but_not_for_ever(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *stream;

	stream_writer_begin(writer);
	assert_true(stream_writer_drain(writer, UINT64_MAX / 4)); /* there is no reader */
	stream = open_stream(getpid());
	assert_false(stream_writer_drain(writer, 1000000));
	stream_writer_untimed(writer);
	assert_true(stream_writer_drain(writer, UINT64_MAX / 4));
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_kept_once),
		cmocka_unit_test(a_full_arena_gives_no_name),
		cmocka_unit_test(too_many_devices),
		cmocka_unit_test(an_overtaken_writer_drops),
		cmocka_unit_test(a_file_size_limit_is_respected),
		cmocka_unit_test(low_descriptors_stay_free),
		cmocka_unit_test(a_reused_descriptor_is_not_closed),
		cmocka_unit_test(drain_waits_but_not_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
