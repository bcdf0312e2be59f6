/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/device/device_stream.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/profbpfd/device/device_find.h"
#include "daemon/profbpfd/device/device_tid.h"

#define WORDS (sizeof(struct stream_task) / sizeof(uint64_t))
#define JUMP_MAX (1ull << 40) /* more tasks between two reads are impossible */

struct device_stream {
	pid_t pid;
	uint64_t id;
	char source[sizeof(((struct stream_header *)0)->source) + 1];
	struct device_tids *tids; /* NULL: same pid namespace */

	/* The mapping, with sizes that were checked when it was made. */
	struct stream_header *header;
	size_t size;
	const char *names;
	uint32_t names_size;
	_Atomic uint64_t *slots;
	uint32_t slot_count;

	bool broken;
	uint64_t base; /* head when opened */
	uint64_t head; /* at the last read */
	uint64_t position; /* next number to read */
	uint64_t delivered, lost;
	uint64_t untimed_base;
	uint64_t asked_ns; /* 0 = not yet */

	/* Tasks with numbers below mark_head had been started by the writer at mark_ns. */
	uint64_t mark_head, mark_ns;
};

enum slot_state { SLOT_READ, SLOT_OVERWRITTEN, SLOT_NOT_READY };

static uint64_t load64(const uint64_t *field)
{
	return atomic_load_explicit((const _Atomic uint64_t *)field, memory_order_acquire);
}

static uint32_t load32(const uint32_t *field)
{
	return atomic_load_explicit((const _Atomic uint32_t *)field, memory_order_acquire);
}

/* Replaces control characters of a NUL-terminated text. */
static void clean(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

/* Describes the error in a header, whose numbers must fit the size of the file; NULL if it is valid. */
static const char *header_fault(const struct stream_header *header, uint64_t size)
{
	uint64_t names_end = (uint64_t)header->names_offset + header->names_size;
	uint64_t slots_size = (uint64_t)header->slot_count * sizeof(struct stream_task);

	if (header->magic != STREAM_MAGIC)
		return "its beginning is not that of a device stream";
	if (header->version != STREAM_VERSION)
		return "it has another version";
	if (header->header_size != sizeof(*header) ||
	    header->slot_size != sizeof(struct stream_task))
		return "its header or its slots have another size";
	if (header->total_size != size)
		return "its size does not match its header";
	if (header->names_offset < sizeof(*header) || header->names_size == 0 ||
	    names_end > header->slots_offset)
		return "its names are outside of the file";
	if (header->slots_offset % 64 || header->slot_count == 0 ||
	    (header->slot_count & (header->slot_count - 1)) ||
	    header->slots_offset + slots_size > size)
		return "its slots are outside of the file";
	return NULL;
}

static int map_file(struct device_stream *stream, int fd, struct stream_header *header)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < (off_t)sizeof(*header) || st.st_size > (off_t)STREAM_MAX_SIZE)
		return -EBADMSG;
	stream->size = (size_t)st.st_size;
	map = mmap(NULL, stream->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	stream->header = map;
	memcpy(header, map, sizeof(*header));
	return 0;
}

static void start(struct device_stream *stream, const struct stream_header *header)
{
	char *map = (char *)stream->header;

	memcpy(stream->source, header->source, sizeof(header->source));
	clean(stream->source);
	stream->names = map + header->names_offset;
	stream->names_size = header->names_size;
	stream->slots = (_Atomic uint64_t *)(map + header->slots_offset);
	stream->slot_count = header->slot_count;
	stream->untimed_base = load64(&stream->header->untimed);
	stream->base = stream->head = stream->position = load64(&stream->header->head);
}

/* Opens one candidate; -ENOENT if it is another process' stream. */
static int open_candidate(struct device_stream *stream, const struct device_candidate *candidate,
			  char *error, size_t error_size)
{
	int foreign = 0, fd, result, pid = device_find_pid(stream->pid, &foreign);
	struct stream_header header;
	const char *fault;

	if (pid < 0)
		return pid;
	fd = device_find_open(stream->pid, candidate);
	if (fd < 0) {
		snprintf(error, error_size, "cannot open the device stream of process %d: %s",
			 (int)stream->pid,
			 fd == -EPERM ? "it is not sealed, or not readable" : strerror(-fd));
		return fd;
	}
	result = map_file(stream, fd, &header);
	close(fd);
	if (result < 0) {
		snprintf(error, error_size, "cannot map the device stream of process %d: %s",
			 (int)stream->pid, result == -EBADMSG ? "bad size" : strerror(-result));
		return result;
	}
	if (header.magic == STREAM_MAGIC && header.pid != (uint32_t)pid)
		return -ENOENT;
	fault = header_fault(&header, stream->size);
	if (fault) {
		snprintf(error, error_size, "the device stream of process %d is not usable: %s",
			 (int)stream->pid, fault);
		return -EBADMSG;
	}
	if (foreign && !(stream->tids = device_tids_new(stream->pid))) {
		snprintf(error, error_size, "out of memory for the threads of process %d",
			 (int)stream->pid);
		return -ENOMEM;
	}
	stream->id = candidate->id;
	start(stream, &header);
	return 0;
}

static bool is_known(const uint64_t *known, size_t count, uint64_t id)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (known[i] == id)
			return true;
	return false;
}

int device_stream_open(pid_t pid, const uint64_t *known, size_t known_count,
		       struct device_stream **stream, char *error, size_t error_size)
{
	struct device_candidate candidates[DEVICE_FIND_MAX];
	int count = device_find(pid, candidates);
	struct device_stream *opened;
	int i, one, result = -ENOENT;

	if (error_size)
		error[0] = '\0';
	if (count < 0) {
		snprintf(error, error_size, "cannot read the mappings of process %d: %s", (int)pid,
			 strerror(-count));
		return count;
	}
	for (i = 0; i < count; i++) {
		if (is_known(known, known_count, candidates[i].id))
			continue;
		opened = calloc(1, sizeof(*opened));
		if (!opened)
			return -ENOMEM;
		opened->pid = pid;
		one = open_candidate(opened, &candidates[i], error, error_size);
		if (one == 0) {
			*stream = opened;
			return 0;
		}
		device_stream_close(opened);
		/* An error is more useful to the user than -ENOENT of another process' stream. */
		if (one != -ENOENT)
			result = one;
	}
	return result;
}

void device_stream_close(struct device_stream *stream)
{
	if (!stream)
		return;
	if (stream->header)
		munmap(stream->header, stream->size);
	device_tids_free(stream->tids);
	free(stream);
}

uint64_t device_stream_id(const struct device_stream *stream)
{
	return stream->id;
}

const char *device_stream_source(const struct device_stream *stream)
{
	return stream->source;
}

void device_stream_renew(struct device_stream *stream, uint64_t now_ns)
{
	_Atomic uint64_t *lease = (_Atomic uint64_t *)&stream->header->lease_until_ns;
	uint64_t until = now_ns + STREAM_LEASE_NS, old = atomic_load(lease);
	int tries;

	/* Only increases the lease: another reader may have asked for more. The
	 * loop is bounded, because the program can write here as well. */
	for (tries = 0; tries < 16 && old < until; tries++)
		if (atomic_compare_exchange_weak(lease, &old, until))
			return;
}

void device_stream_ask(struct device_stream *stream, uint64_t now_ns)
{
	_Atomic uint64_t *place = (_Atomic uint64_t *)&stream->header->asked_ns;
	uint64_t old = atomic_load(place);

	/* Only increases, like the lease. */
	for (int tries = 0; tries < 16 && old < now_ns; tries++)
		if (atomic_compare_exchange_weak(place, &old, now_ns))
			break;
	stream->asked_ns = now_ns;
}

bool device_stream_answered(const struct device_stream *stream)
{
	uint64_t answered = load64(&stream->header->answered_ns);

	return answered == 0 || answered >= stream->asked_ns;
}

static enum slot_state copy_slot(const struct device_stream *stream, uint64_t number,
				 struct stream_task *out)
{
	const _Atomic uint64_t *slot = stream->slots + (number & (stream->slot_count - 1)) * WORDS;
	uint64_t words[WORDS], sequence = atomic_load_explicit(&slot[0], memory_order_acquire);
	size_t i;

	if (sequence != number + 1)
		return (sequence & ~STREAM_WRITING) > number + 1 ? SLOT_OVERWRITTEN
								 : SLOT_NOT_READY;
	words[0] = sequence;
	for (i = 1; i < WORDS; i++)
		words[i] = atomic_load_explicit(&slot[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&slot[0], memory_order_relaxed) != sequence)
		return SLOT_OVERWRITTEN;
	memcpy(out, words, sizeof(*out));
	return SLOT_READ;
}

/* Has the slot at the reading position been unpublished for too long? */
static bool stuck(struct device_stream *stream, uint64_t now_ns)
{
	if (stream->position < stream->mark_head)
		return now_ns - stream->mark_ns >= DEVICE_STREAM_STUCK_NS;
	stream->mark_head = stream->head;
	stream->mark_ns = now_ns;
	return false;
}

/* Reads the number of tasks and skips tasks that are certainly overwritten. */
static int advance(struct device_stream *stream)
{
	uint64_t head = load64(&stream->header->head), waiting;

	if (head < stream->head || head - stream->head > JUMP_MAX) {
		stream->broken = true;
		return -EBADMSG;
	}
	stream->head = head;
	waiting = head - stream->position;
	if (waiting > stream->slot_count) {
		stream->lost += waiting - stream->slot_count;
		stream->position = head - stream->slot_count;
	}
	return 0;
}

static void tidy(struct device_stream *stream, struct stream_task *task, uint64_t now_ns)
{
	if (stream->tids)
		task->tid = device_tids_find(stream->tids, task->tid, now_ns);
	if (task->kind > STREAM_COMMUNICATION)
		task->kind = STREAM_OTHER;
}

ssize_t device_stream_read(struct device_stream *stream, uint64_t now_ns, struct stream_task *out,
			   size_t max)
{
	size_t n = 0;

	if (stream->broken || advance(stream) < 0)
		return -EBADMSG;
	while (n < max && stream->position < stream->head) {
		switch (copy_slot(stream, stream->position, &out[n])) {
		case SLOT_READ:
			tidy(stream, &out[n++], now_ns);
			stream->delivered++;
			break;
		case SLOT_OVERWRITTEN: stream->lost++; break;
		case SLOT_NOT_READY:
			if (!stuck(stream, now_ns))
				return (ssize_t)n;
			stream->lost++;
			break;
		}
		stream->position++;
	}
	return (ssize_t)n;
}

void device_stream_finish(struct device_stream *stream)
{
	stream->lost += stream->head - stream->position;
	stream->position = stream->head;
}

ssize_t device_stream_name(const struct device_stream *stream, uint32_t offset, char *buf,
			   size_t size)
{
	size_t room = offset < stream->names_size ? stream->names_size - offset : 0, n = 0;

	if (size == 0)
		return -EINVAL;
	/* Byte by byte: the text may change under a strnlen(). */
	while (n < room && n < size - 1) {
		buf[n] = stream->names[offset + n];
		if (!buf[n])
			break;
		n++;
	}
	buf[n] = '\0';
	clean(buf);
	return room ? (ssize_t)n : -EINVAL;
}

unsigned int device_stream_devices(const struct device_stream *stream)
{
	uint32_t count = load32(&stream->header->device_count);

	return count < STREAM_DEVICES ? count : STREAM_DEVICES;
}

int device_stream_device(const struct device_stream *stream, uint32_t index,
			 struct stream_device *device)
{
	const struct stream_device *shared;

	if (index >= device_stream_devices(stream))
		return -ENOENT;
	shared = &stream->header->devices[index];
	if (load32(&shared->ready) != 1)
		return -ENOENT;
	memcpy(device, shared, sizeof(*device));
	device->ready = 1;
	device->kind[sizeof(device->kind) - 1] = '\0';
	device->name[sizeof(device->name) - 1] = '\0';
	clean(device->kind);
	clean(device->name);
	if (device->clock > STREAM_CLOCK_REALTIME)
		device->clock = STREAM_CLOCK_UNDECLARED;
	return 0;
}

void device_stream_count(const struct device_stream *stream, struct device_stream_counts *counts)
{
	uint64_t untimed = load64(&stream->header->untimed);
	uint64_t enqueued = load64(&stream->header->enqueued);
	uint64_t ended = load64(&stream->header->head) + untimed;

	*counts = (struct device_stream_counts){
		.produced = stream->head - stream->base,
		.delivered = stream->delivered,
		.lost = stream->lost,
		.pending = stream->head - stream->position,
		.untimed = untimed > stream->untimed_base ? untimed - stream->untimed_base : 0,
		.in_flight = enqueued > ended ? enqueued - ended : 0,
	};
}
