/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_stream.c - libFuzzer target for device streams: memory that the target writes while it is read.
 *
 * The memory begins as a valid stream of a few slots. An input is a list of steps, each a byte with its
 * arguments: bytes to write somewhere in the memory, before and after it is opened, and calls of the
 * reader. The file belongs to this program (device_find.c, which looks for it in /proc, is replaced).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/profbpfd/device/device_find.h"
#include "daemon/profbpfd/device/device_stream.h"
#include "daemon/profbpfd/device/device_tid.h"
#include "tests/fuzz/input.h"

#define SLOTS 8
#define NAMES_SIZE 64
#define NAMES_OFFSET sizeof(struct stream_header)
#define SLOTS_OFFSET ((NAMES_OFFSET + NAMES_SIZE + 63) / 64 * 64)
#define STREAM_SIZE (SLOTS_OFFSET + SLOTS * sizeof(struct stream_task))
#define OWN_PID 7 /* id of the target in its own pid namespace */
#define READ_MAX 16

enum step { WRITE, WRITE_HEADER, PUBLISH, READ, NAME, DEVICE, COUNT, RENEW, FINISH, LATER, STEPS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;
static uint8_t *memory;
static bool foreign;

int device_find(pid_t pid, struct device_candidate out[DEVICE_FIND_MAX])
{
	out[0] = (struct device_candidate){ .id = 1 };
	return 1;
}

int device_find_open(pid_t pid, const struct device_candidate *candidate)
{
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 0);

	check(fd >= 0);
	return fd;
}

int device_find_pid(pid_t pid, int *is_foreign)
{
	*is_foreign = foreign;
	return OWN_PID;
}

struct device_tids *device_tids_new(pid_t pid)
{
	return (struct device_tids *)&foreign;
}

void device_tids_free(struct device_tids *tids)
{
	check(!tids || tids == (struct device_tids *)&foreign);
}

uint32_t device_tids_find(struct device_tids *tids, uint32_t inner, uint64_t now_ns)
{
	return inner + 1;
}

static void make_stream(void)
{
	struct stream_header *header;

	if (file < 0) {
		file = memfd_create("fuzz_stream", MFD_CLOEXEC);
		check(file >= 0 && !ftruncate(file, STREAM_SIZE));
		memory = mmap(NULL, STREAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		check(memory != MAP_FAILED);
	}
	memset(memory, 0, STREAM_SIZE);
	header = (struct stream_header *)memory;
	*header = (struct stream_header){
		.magic = STREAM_MAGIC,
		.version = STREAM_VERSION,
		.header_size = sizeof(*header),
		.total_size = STREAM_SIZE,
		.names_offset = NAMES_OFFSET,
		.names_size = NAMES_SIZE,
		.slots_offset = SLOTS_OFFSET,
		.slot_count = SLOTS,
		.slot_size = sizeof(struct stream_task),
		.pid = OWN_PID,
		.source = "fuzz",
	};
}

static void write_at(size_t from, size_t size, struct input *in)
{
	size_t at = from + input_number(in, 2) % size;
	struct input bytes = input_take(in, input_byte(in) & 15);

	if (bytes.size > from + size - at)
		bytes.size = from + size - at;
	memcpy(memory + at, bytes.data, bytes.size);
}

/* Publishes like a layer, except for the slot's number, which the input can change. */
static void publish(struct input *in)
{
	struct stream_header *header = (struct stream_header *)memory;
	struct stream_task *slots = (struct stream_task *)(memory + SLOTS_OFFSET);
	uint64_t number = header->head++;
	struct stream_task *task = &slots[number % SLOTS];

	task->kind = input_byte(in);
	task->tid = input_byte(in);
	task->name = input_byte(in);
	task->sequence = number + 1 + (int8_t)input_byte(in);
}

static void read_tasks(struct device_stream *stream, uint64_t now_ns, size_t max)
{
	struct stream_task tasks[READ_MAX];
	ssize_t n = device_stream_read(stream, now_ns, tasks, max);

	check(n <= (ssize_t)max && (n >= 0 || n == -EBADMSG));
	for (ssize_t i = 0; i < n; i++)
		check(tasks[i].kind <= STREAM_COMMUNICATION);
}

static void read_name(const struct device_stream *stream, struct input *in)
{
	uint32_t offset = (uint32_t)input_number(in, 4);
	char text[32];
	size_t size = input_byte(in) % (sizeof(text) + 1);
	ssize_t n = device_stream_name(stream, offset, text, size);

	if (n >= 0)
		check((size_t)n < size && strlen(text) == (size_t)n);
}

static void check_counts(const struct device_stream *stream)
{
	struct device_stream_counts counts;

	device_stream_count(stream, &counts);
	check(counts.produced == counts.delivered + counts.lost + counts.pending);
}

static void look_at_device(const struct device_stream *stream, uint32_t index)
{
	struct stream_device device;

	check(device_stream_devices(stream) <= STREAM_DEVICES);
	if (device_stream_device(stream, index, &device))
		return;
	check(index < STREAM_DEVICES && device.clock <= STREAM_CLOCK_REALTIME);
	check(strnlen(device.kind, sizeof(device.kind)) < sizeof(device.kind) &&
	      strnlen(device.name, sizeof(device.name)) < sizeof(device.name));
}

static void take_steps(struct device_stream *stream, struct input *in)
{
	uint64_t now_ns = DEVICE_STREAM_STUCK_NS;

	while (in->size) {
		switch ((enum step)(input_byte(in) % STEPS)) {
		case WRITE: write_at(0, STREAM_SIZE, in); break;
		case WRITE_HEADER: write_at(0, 176, in); break;
		case PUBLISH: publish(in); break;
		case READ: read_tasks(stream, now_ns, input_byte(in) % READ_MAX + 1); break;
		case NAME: read_name(stream, in); break;
		case DEVICE: look_at_device(stream, input_byte(in)); break;
		case COUNT: check_counts(stream); break;
		case RENEW: device_stream_renew(stream, now_ns); break;
		case FINISH: device_stream_finish(stream); break;
		case LATER: now_ns += input_number(in, 4); break;
		case STEPS: break;
		}
	}
	check_counts(stream);
	check(strlen(device_stream_source(stream)) <= sizeof(((struct stream_header *)0)->source));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t flags = input_byte(&in);
	struct device_stream *stream = NULL;
	char error[256];
	int err;

	make_stream();
	foreign = flags & 1;
	for (unsigned int i = flags >> 1 & 3; i > 0; i--)
		write_at(0, flags & 8 ? STREAM_SIZE : 176, &in);
	err = device_stream_open(OWN_PID, NULL, 0, &stream, error, sizeof(error));
	check(!err == !!stream);
	if (err) {
		check(err == -ENOENT || error[0]);
		return 0;
	}
	take_steps(stream, &in);
	device_stream_close(stream);
	return 0;
}
