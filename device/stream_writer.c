/* SPDX-License-Identifier: Apache-2.0 */
#include "device/stream_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* Programs expect open() to return the lowest free number, so the memfd gets a high one. */
#define STREAM_FD_MIN 200
#define STREAM_WORDS (sizeof(struct stream_task) / sizeof(uint64_t))

/* The content of the guard page; the kernel resets it to GUARD_FORKED in a child. */
enum guard {
	GUARD_FORKED = 0,
	GUARD_LIVE = 1,
	GUARD_BROKEN = 2, /* the child's own stream could not be made */
};

/* One mapped stream. */
struct region {
	struct stream_header *header;
	char *names;
	_Atomic uint64_t *slots;
	size_t size;
	int fd;
	dev_t dev; /* of fd, to see whether the program closed and reused the number */
	ino_t ino;
};

/* An interned name, node of the tree. */
struct name {
	uint32_t offset;
	char text[];
};

struct stream_writer {
	struct region region;
	_Atomic uint32_t *guard; /* in a page of its own, MADV_WIPEONFORK */
	_Atomic uint32_t epoch; /* different for each stream, because fork changes thread ids */
	uint32_t slot_count;
	char source[32];
	pthread_mutex_t lock; /* protects names, devices and the creation of a child's stream */
	void *names; /* tsearch tree of struct name */
};

static _Atomic uint32_t epochs;

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* The header is in shared memory that other processes read and write. */
static _Atomic uint64_t *shared64(uint64_t *field)
{
	return (_Atomic uint64_t *)field;
}

static _Atomic uint32_t *shared32(uint32_t *field)
{
	return (_Atomic uint32_t *)field;
}

static int memfd(void)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = (int)syscall(SYS_memfd_create, STREAM_MEMFD_NAME, flags | MFD_NOEXEC_SEAL);
	int high;

	/* Linux before 6.3 does not know the flag; later kernels log a call without it. */
	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_memfd_create, STREAM_MEMFD_NAME, flags);
	if (fd < 0)
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STREAM_FD_MIN);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* Growing a file beyond RLIMIT_FSIZE kills the process instead of failing. */
static bool size_allowed(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static void region_close(struct region *region)
{
	struct stat st;

	if (region->header)
		munmap(region->header, region->size);
	if (region->fd >= 0 && fstat(region->fd, &st) == 0 && st.st_dev == region->dev &&
	    st.st_ino == region->ino)
		close(region->fd);
	region->header = NULL;
	region->fd = -1;
}

static void region_format(struct region *region, const struct stream_writer *writer,
			  size_t names_offset, size_t slots_offset)
{
	struct stream_header *header = region->header;

	header->version = STREAM_VERSION;
	header->header_size = sizeof(*header);
	header->total_size = region->size;
	header->names_offset = (uint32_t)names_offset;
	header->names_size = STREAM_WRITER_NAMES;
	header->slots_offset = (uint32_t)slots_offset;
	header->slot_count = writer->slot_count;
	header->slot_size = sizeof(struct stream_task);
	header->pid = (uint32_t)getpid();
	memcpy(header->source, writer->source, sizeof(header->source));
	header->names_used = 1;
	region->names = (char *)header + names_offset;
	region->slots = (_Atomic uint64_t *)((char *)header + slots_offset);
}

static int region_open(struct region *region, const struct stream_writer *writer)
{
	size_t names_offset = round_up(sizeof(struct stream_header), 64);
	size_t slots_offset = round_up(names_offset + STREAM_WRITER_NAMES, 4096);
	struct stat st;
	void *map;

	*region = (struct region){ .fd = -1 };
	region->size = slots_offset + (size_t)writer->slot_count * sizeof(struct stream_task);
	if (region->size > STREAM_MAX_SIZE || !size_allowed(region->size))
		return -EFBIG;
	region->fd = memfd();
	if (region->fd < 0)
		return -errno;
	if (fstat(region->fd, &st) < 0)
		goto fail;
	region->dev = st.st_dev;
	region->ino = st.st_ino;
	if (ftruncate(region->fd, (off_t)region->size) < 0 ||
	    fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		goto fail;
	map = mmap(NULL, region->size, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);
	if (map == MAP_FAILED)
		goto fail;
	region->header = map;
	madvise(map, region->size, MADV_DONTDUMP);
	region_format(region, writer, names_offset, slots_offset);
	return 0;
fail:
	region_close(region);
	return -EIO;
}

/* Readers do not use the stream before they see the magic. */
static void region_publish(struct region *region)
{
	atomic_store_explicit(shared64(&region->header->magic), STREAM_MAGIC, memory_order_release);
}

static int guard_create(struct stream_writer *writer)
{
	long page = sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (map == MAP_FAILED)
		return -errno;
	if (madvise(map, (size_t)page, MADV_WIPEONFORK) < 0) {
		munmap(map, (size_t)page);
		return -errno;
	}
	writer->guard = map;
	atomic_store(writer->guard, GUARD_LIVE);
	return 0;
}

struct stream_writer *stream_writer_create(const char *source, uint32_t slots)
{
	struct stream_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->region.fd = -1;
	writer->slot_count = slots;
	writer->epoch = atomic_fetch_add(&epochs, 1) + 1;
	strncpy(writer->source, source, sizeof(writer->source) - 1);
	pthread_mutex_init(&writer->lock, NULL);
	if (slots == 0 || (slots & (slots - 1)) || guard_create(writer) < 0 ||
	    region_open(&writer->region, writer) < 0) {
		stream_writer_destroy(writer);
		return NULL;
	}
	region_publish(&writer->region);
	return writer;
}

void stream_writer_destroy(struct stream_writer *writer)
{
	if (!writer)
		return;
	region_close(&writer->region);
	if (writer->guard)
		munmap((void *)writer->guard, (size_t)sysconf(_SC_PAGESIZE));
	tdestroy(writer->names, free);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}

/*
 * Gives a forked child its own stream: with empty task slots, and with the parent's
 * devices and names, since the layer remembers their indexes and offsets.
 */
static void renew_in_child(struct stream_writer *writer)
{
	struct region *old = &writer->region;
	struct region fresh;
	uint32_t used;

	if (region_open(&fresh, writer) < 0) {
		atomic_store(writer->guard, GUARD_BROKEN);
		return;
	}
	used = atomic_load(shared32(&old->header->names_used));
	memcpy(fresh.names, old->names, used);
	memcpy(fresh.header->devices, old->header->devices, sizeof(fresh.header->devices));
	fresh.header->names_used = used;
	fresh.header->device_count = old->header->device_count;
	region_close(old);
	*old = fresh;
	region_publish(old);
	atomic_store(&writer->epoch, atomic_fetch_add(&epochs, 1) + 1);
	atomic_store(writer->guard, GUARD_LIVE);
}

static bool usable(struct stream_writer *writer)
{
	return atomic_load_explicit(writer->guard, memory_order_acquire) == GUARD_LIVE;
}

/* Like usable(), but first makes the child's stream if this is a forked child without one. */
static bool ready(struct stream_writer *writer)
{
	if (usable(writer))
		return true;
	pthread_mutex_lock(&writer->lock);
	if (atomic_load(writer->guard) == GUARD_FORKED)
		renew_in_child(writer);
	pthread_mutex_unlock(&writer->lock);
	return usable(writer);
}

bool stream_writer_live(struct stream_writer *writer, uint64_t *now_ns)
{
	_Atomic uint64_t *lease;
	uint64_t until;

	if (!ready(writer))
		return false;
	lease = shared64(&writer->region.header->lease_until_ns);
	until = atomic_load_explicit(lease, memory_order_relaxed);
	if (until == 0)
		return false;
	*now_ns = monotonic_ns();
	if (*now_ns < until)
		return true;
	atomic_compare_exchange_strong(lease, &until, 0);
	return false;
}

int stream_writer_add_device(struct stream_writer *writer, const char *name, const char *kind)
{
	struct stream_device *device;
	uint32_t index;

	if (!ready(writer))
		return -1;
	pthread_mutex_lock(&writer->lock);
	index = writer->region.header->device_count;
	if (index >= STREAM_DEVICES) {
		pthread_mutex_unlock(&writer->lock);
		return -1;
	}
	device = &writer->region.header->devices[index];
	strncpy(device->name, name, sizeof(device->name) - 1);
	strncpy(device->kind, kind, sizeof(device->kind) - 1);
	device->clock = STREAM_CLOCK_UNDECLARED;
	atomic_store_explicit(shared32(&device->ready), 1, memory_order_release);
	atomic_store_explicit(shared32(&writer->region.header->device_count), index + 1,
			      memory_order_release);
	pthread_mutex_unlock(&writer->lock);
	return (int)index;
}

void stream_writer_declare_clock(struct stream_writer *writer, int device, enum stream_clock clock)
{
	if (!usable(writer) || device < 0 || device >= STREAM_DEVICES)
		return;
	atomic_store_explicit(shared32(&writer->region.header->devices[device].clock), clock,
			      memory_order_release);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* The caller holds the lock; the name is not in the tree. */
static uint32_t add_name(struct stream_writer *writer, struct name *name, size_t len)
{
	struct stream_header *header = writer->region.header;
	uint32_t used = header->names_used;

	if (len + 1 > STREAM_WRITER_NAMES - used)
		return 0;
	name->offset = used;
	if (!tsearch(name, &writer->names, compare_names))
		return 0;
	memcpy(writer->region.names + used, name->text, len + 1);
	atomic_store_explicit(shared32(&header->names_used), used + (uint32_t)len + 1,
			      memory_order_release);
	return used;
}

uint32_t stream_writer_name(struct stream_writer *writer, const char *name)
{
	char buffer[sizeof(struct name) + STREAM_WRITER_NAME_MAX + 1]
		__attribute__((aligned(__alignof__(struct name))));
	struct name *key = (struct name *)buffer;
	size_t len = strnlen(name, STREAM_WRITER_NAME_MAX);
	struct name *const *found;
	struct name *copy;
	uint32_t offset = 0;

	if (len == 0 || !ready(writer))
		return 0;
	memcpy(key->text, name, len);
	key->text[len] = '\0';
	pthread_mutex_lock(&writer->lock);
	found = tfind(key, &writer->names, compare_names);
	if (found) {
		offset = (*found)->offset;
	} else {
		copy = malloc(sizeof(*copy) + len + 1);
		if (copy) {
			memcpy(copy->text, key->text, len + 1);
			offset = add_name(writer, copy, len);
			if (offset == 0)
				free(copy);
		}
	}
	pthread_mutex_unlock(&writer->lock);
	return offset;
}

uint32_t stream_writer_tid(struct stream_writer *writer)
{
	static __thread uint32_t tid, known_epoch;
	uint32_t epoch = atomic_load_explicit(&writer->epoch, memory_order_relaxed);

	if (known_epoch != epoch) {
		tid = (uint32_t)syscall(SYS_gettid);
		known_epoch = epoch;
	}
	return tid;
}

uint64_t stream_writer_begin(struct stream_writer *writer)
{
	return atomic_fetch_add(shared64(&writer->region.header->enqueued), 1) + 1;
}

void stream_writer_put(struct stream_writer *writer, const struct stream_task *task)
{
	uint64_t words[STREAM_WORDS], n, sequence;
	_Atomic uint64_t *slot;
	size_t i;

	/* A task that was begun before the fork ends in the parent only. */
	if (!usable(writer))
		return;
	memcpy(words, task, sizeof(words));
	n = atomic_fetch_add(shared64(&writer->region.header->head), 1);
	slot = writer->region.slots + (n & (writer->slot_count - 1)) * STREAM_WORDS;
	sequence = atomic_load_explicit(&slot[0], memory_order_relaxed);
	do {
		if (sequence > n)
			return;
	} while (!atomic_compare_exchange_weak(&slot[0], &sequence, STREAM_WRITING | (n + 1)));
	/* No word of the task may become visible before the claim of the slot. */
	atomic_thread_fence(memory_order_release);
	for (i = 1; i < STREAM_WORDS; i++)
		atomic_store_explicit(&slot[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&slot[0], n + 1, memory_order_release);
}

void stream_writer_untimed(struct stream_writer *writer)
{
	if (usable(writer))
		atomic_fetch_add(shared64(&writer->region.header->untimed), 1);
}

bool stream_writer_drain(struct stream_writer *writer, uint64_t timeout_ns)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	struct stream_header *header;
	uint64_t now, deadline;

	if (!usable(writer) || !stream_writer_live(writer, &now))
		return true;
	header = writer->region.header;
	for (deadline = now + timeout_ns; now < deadline; now = monotonic_ns()) {
		if (atomic_load(shared64(&header->head)) +
			    atomic_load(shared64(&header->untimed)) >=
		    atomic_load(shared64(&header->enqueued)))
			return true;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return false;
}

uint64_t stream_writer_asked(struct stream_writer *writer)
{
	uint64_t asked;

	if (!usable(writer))
		return 0;
	asked = atomic_load(shared64(&writer->region.header->asked_ns));
	return asked > atomic_load(shared64(&writer->region.header->answered_ns)) ? asked : 0;
}

/* A reader that sees the answer also sees all tasks written before it. */
void stream_writer_answer(struct stream_writer *writer, uint64_t asked)
{
	if (usable(writer))
		atomic_store(shared64(&writer->region.header->answered_ns), asked);
}

void stream_writer_lock(struct stream_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
}

void stream_writer_unlock(struct stream_writer *writer)
{
	pthread_mutex_unlock(&writer->lock);
}
