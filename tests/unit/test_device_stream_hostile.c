/* SPDX-License-Identifier: Apache-2.0 */
/* device_stream: contents that a malicious process can put into its stream. */
#include "tests/unit/stream_helpers.h"

/* ---- A malicious process */

/* A stream built by hand. */
struct forged {
	int fd;
	struct stream_header *header;
	size_t size;
};

static const size_t forged_size = 256 * 1024;

static struct forged forge(size_t size, int seals)
{
	struct forged forged = { .size = size };

	forged.fd =
		(int)syscall(SYS_memfd_create, STREAM_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(forged.fd >= 0);
	assert_int_equal(ftruncate(forged.fd, (off_t)size), 0);
	assert_int_equal(fcntl(forged.fd, F_ADD_SEALS, seals), 0);
	forged.header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, forged.fd, 0);
	assert_ptr_not_equal(forged.header, MAP_FAILED);
	return forged;
}

static struct forged forge_valid(void)
{
	struct forged forged = forge(forged_size, F_SEAL_SHRINK);

	*forged.header = (struct stream_header){
		.magic = STREAM_MAGIC,
		.version = STREAM_VERSION,
		.header_size = sizeof(struct stream_header),
		.total_size = forged_size,
		.names_offset = 8192,
		.names_size = 4096,
		.slots_offset = 16384,
		.slot_count = 1024,
		.slot_size = sizeof(struct stream_task),
		.pid = (uint32_t)getpid(),
		.names_used = 1,
	};
	return forged;
}

static void unforge(struct forged *forged)
{
	munmap(forged->header, forged->size);
	close(forged->fd);
}

static int try_open(struct device_stream **stream)
{
	*stream = NULL;
	return device_stream_open(getpid(), NULL, 0, stream, error, sizeof(error));
}

static void unsealed_is_refused(void **state)
{
	struct forged forged = forge(forged_size, F_SEAL_GROW);
	struct device_stream *stream;

	assert_int_equal(try_open(&stream), -EPERM);
	assert_non_null(strstr(error, "sealed"));
	unforge(&forged);
}

static void unwritable_is_refused(void **state)
{
	struct forged forged = forge_valid();
	struct device_stream *stream;

	assert_int_equal(fcntl(forged.fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
	assert_true(try_open(&stream) < 0);
	assert_true(strlen(error) > 0);
	unforge(&forged);
}

static void bad_sizes_are_refused(void **state)
{
	struct forged forged = forge(4096, F_SEAL_SHRINK);
	struct device_stream *stream;

	assert_int_equal(try_open(&stream), -EBADMSG);
	unforge(&forged);
	forged = forge((size_t)STREAM_MAX_SIZE + 4096, F_SEAL_SHRINK);
	assert_int_equal(try_open(&stream), -EBADMSG);
	unforge(&forged);
}

/* A huge page that cannot be allocated would kill the reader with SIGBUS. */
static void huge_pages_are_refused(void **state)
{
	struct device_stream *stream;
	void *map;
	int fd = (int)syscall(SYS_memfd_create, STREAM_MEMFD_NAME,
			      MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (fd < 0) {
		skip(); /* no hugetlbfs in this kernel */
		return;
	}
	assert_int_equal(ftruncate(fd, 2 << 20), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	map = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED) {
		close(fd);
		skip(); /* no huge pages are reserved: the memory cannot even be mapped */
		return;
	}
	assert_int_equal(try_open(&stream), -ENOENT);
	munmap(map, 2 << 20);
	close(fd);
}

#define HOSTILE(field_name, bad)                                        \
	do {                                                            \
		struct forged forged = forge_valid();                   \
		struct device_stream *stream;                           \
                                                                        \
		forged.header->field_name = (bad);                      \
		if (try_open(&stream) != -EBADMSG)                      \
			fail_msg("%s = %llu was believed", #field_name, \
				 (unsigned long long)(bad));            \
		assert_true(strlen(error) > 0);                         \
		unforge(&forged);                                       \
	} while (0)

static void hostile_headers_are_refused(void **state)
{
	HOSTILE(magic, 0);
	HOSTILE(magic, STREAM_MAGIC + 1);
	HOSTILE(version, 0);
	HOSTILE(version, STREAM_VERSION + 1);
	HOSTILE(header_size, 0);
	HOSTILE(header_size, UINT32_MAX);
	HOSTILE(total_size, 0);
	HOSTILE(total_size, forged_size - 1);
	HOSTILE(total_size, forged_size + 4096);
	HOSTILE(total_size, UINT64_MAX);
	HOSTILE(names_offset, 0);
	HOSTILE(names_offset, sizeof(struct stream_header) - 1);
	HOSTILE(names_offset, UINT32_MAX);
	HOSTILE(names_size, 0);
	HOSTILE(names_size, UINT32_MAX);
	HOSTILE(names_size, 8193);
	HOSTILE(slots_offset, 0);
	HOSTILE(slots_offset, 16385);
	HOSTILE(slots_offset, 12288 - 64);
	HOSTILE(slots_offset, UINT32_MAX - 63);
	HOSTILE(slots_offset, forged_size);
	HOSTILE(slot_count, 0);
	HOSTILE(slot_count, 1000);
	HOSTILE(slot_count, 2048);
	HOSTILE(slot_count, UINT32_MAX);
	HOSTILE(slot_count, 1u << 31);
	HOSTILE(slot_size, 0);
	HOSTILE(slot_size, 64);
	HOSTILE(slot_size, UINT32_MAX);
}

static void the_valid_one_is_believed(void **state)
{
	struct forged forged = forge_valid();
	struct device_stream *stream;

	assert_int_equal(try_open(&stream), 0);
	device_stream_close(stream);
	/* Nor is a stream with another process's pid accepted. */
	forged.header->pid++;
	assert_int_equal(try_open(&stream), -ENOENT);
	unforge(&forged);
}

/* A valid stream is found although an invalid one exists beside it. */
static void a_bad_one_does_not_hide_a_good_one(void **state)
{
	struct forged bad = forge(forged_size, F_SEAL_SHRINK), good = forge_valid();
	struct forged worse = forge(forged_size, F_SEAL_GROW);
	struct device_stream *stream;

	assert_int_equal(try_open(&stream), 0);
	device_stream_close(stream);
	unforge(&bad);
	unforge(&good);
	unforge(&worse);
}

static void numbers_changed_later_do_no_harm(void **state)
{
	struct forged forged = forge_valid();
	struct stream_task tasks[64];
	struct stream_device device;
	struct device_stream *stream;
	char name[16];

	assert_int_equal(try_open(&stream), 0);
	memset(forged.header, 0xff, sizeof(*forged.header));
	memset((char *)forged.header + 8192, 'n', 4096);
	assert_int_equal(device_stream_devices(stream), STREAM_DEVICES);
	assert_int_equal(device_stream_device(stream, 5, &device), -ENOENT);
	forged.header->devices[5].ready = 1;
	assert_int_equal(device_stream_device(stream, 5, &device), 0);
	assert_int_equal(device.clock, STREAM_CLOCK_UNDECLARED);
	assert_int_equal(strlen(device.name), STREAM_NAME_LEN - 1);
	assert_int_equal(device_stream_name(stream, 4090, name, sizeof(name)), 6);
	assert_int_equal(device_stream_name(stream, 4096, name, sizeof(name)), -EINVAL);
	assert_string_equal(name, "");
	assert_int_equal(device_stream_name(stream, UINT32_MAX, name, sizeof(name)), -EINVAL);
	device_stream_renew(stream, now_ns());
	assert_int_equal(device_stream_read(stream, now_ns(), tasks, 64), -EBADMSG);
	counts_of(stream);
	device_stream_close(stream);
	unforge(&forged);
}

static void a_head_that_goes_back_ends_it(void **state)
{
	struct forged forged = forge_valid();
	struct stream_task tasks[64];
	struct device_stream *stream;

	forged.header->head = 100;
	assert_int_equal(try_open(&stream), 0);
	forged.header->head = 99;
	assert_int_equal(device_stream_read(stream, now_ns(), tasks, 64), -EBADMSG);
	forged.header->head = 100;
	assert_int_equal(device_stream_read(stream, now_ns(), tasks, 64), -EBADMSG);
	assert_int_equal(counts_of(stream).produced, 0);
	device_stream_close(stream);
	unforge(&forged);
}

static struct stream_task *forged_slot(struct forged *forged, uint64_t number)
{
	return (struct stream_task *)((char *)forged->header + 16384) + (number & 1023);
}

/* A half-written slot delays the slots after it, but not forever. */
static void a_torn_slot_is_waited_for_then_lost(void **state)
{
	struct forged forged = forge_valid();
	struct stream_task tasks[64];
	struct device_stream *stream;
	uint64_t now = 1000000000, n;

	assert_int_equal(try_open(&stream), 0);
	for (n = 0; n < 10; n++)
		*forged_slot(&forged, n) =
			(struct stream_task){ .sequence = n + 1, .correlation = n };
	forged_slot(&forged, 3)->sequence = STREAM_WRITING | 4;
	forged_slot(&forged, 7)->sequence = 0;
	forged.header->head = 10;
	assert_int_equal(device_stream_read(stream, now, tasks, 64), 3);
	assert_int_equal(device_stream_read(stream, now + DEVICE_STREAM_STUCK_NS - 1, tasks, 64),
			 0);
	assert_int_equal(counts_of(stream).lost, 0);
	assert_int_equal(counts_of(stream).pending, 7);
	/* Both slots were allocated before the wait began: one wait is enough. */
	assert_int_equal(device_stream_read(stream, now + DEVICE_STREAM_STUCK_NS, tasks, 64), 5);
	assert_int_equal(tasks[0].correlation, 4);
	assert_int_equal(tasks[4].correlation, 9);
	assert_int_equal(counts_of(stream).lost, 2);
	assert_int_equal(counts_of(stream).delivered, 8);
	device_stream_close(stream);
	unforge(&forged);
}

static void a_late_slot_is_read_when_it_comes(void **state)
{
	struct forged forged = forge_valid();
	struct stream_task tasks[64];
	struct device_stream *stream;

	assert_int_equal(try_open(&stream), 0);
	forged.header->head = 1;
	forged_slot(&forged, 0)->sequence = STREAM_WRITING | 1;
	assert_int_equal(device_stream_read(stream, 1000, tasks, 64), 0);
	forged_slot(&forged, 0)->sequence = 1;
	forged_slot(&forged, 0)->kind = 999;
	assert_int_equal(device_stream_read(stream, 2000, tasks, 64), 1);
	assert_int_equal(tasks[0].kind, STREAM_OTHER);
	device_stream_close(stream);
	unforge(&forged);
}

static void slots_never_written_cannot_stall(void **state)
{
	struct forged forged = forge_valid();
	struct stream_task tasks[64];
	struct device_stream *stream;

	assert_int_equal(try_open(&stream), 0);
	forged.header->head = 1000000;
	assert_int_equal(device_stream_read(stream, 1, tasks, 64), 0);
	assert_int_equal(counts_of(stream).lost, 1000000 - 1024);
	assert_int_equal(device_stream_read(stream, 1 + DEVICE_STREAM_STUCK_NS, tasks, 64), 0);
	assert_int_equal(counts_of(stream).lost, 1000000);
	forged.header->head += 5;
	assert_int_equal(device_stream_read(stream, 2 + DEVICE_STREAM_STUCK_NS, tasks, 64), 0);
	assert_int_equal(counts_of(stream).pending, 5);
	device_stream_finish(stream);
	assert_int_equal(counts_of(stream).pending, 0);
	assert_int_equal(counts_of(stream).lost, 1000005);
	device_stream_close(stream);
	unforge(&forged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsealed_is_refused),
		cmocka_unit_test(unwritable_is_refused),
		cmocka_unit_test(bad_sizes_are_refused),
		cmocka_unit_test(huge_pages_are_refused),
		cmocka_unit_test(hostile_headers_are_refused),
		cmocka_unit_test(the_valid_one_is_believed),
		cmocka_unit_test(a_bad_one_does_not_hide_a_good_one),
		cmocka_unit_test(numbers_changed_later_do_no_harm),
		cmocka_unit_test(a_head_that_goes_back_ends_it),
		cmocka_unit_test(a_torn_slot_is_waited_for_then_lost),
		cmocka_unit_test(a_late_slot_is_read_when_it_comes),
		cmocka_unit_test(slots_never_written_cannot_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
