/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt_read.c - stream packets out of a .pbt trace that may be damaged.
 *
 * The stream is looked at through one growing window. Its memory follows the
 * bytes that have really arrived, not what a packet says of its size, and each
 * byte is moved a bounded number of times.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/elf/file_magic.h"
#include "lib/trace/pbt.h"
#include "lib/trace/pbt_header.h"

#define WINDOW_SIZE (256u << 10) /* bytes, to begin with */

/*
 * A stream made to waste time can hold a valid sync mark every few bytes, each
 * with a huge packet that fails its checksum, or tiny packets that decompress
 * to the maximum. Work is therefore bounded by the length of the stream, here and by PBT_UNPACKED_RATIO.
 */
#define RECHECK_FREE (256ull << 20) /* bytes checksummed in vain before it counts */
#define RECHECK_FACTOR 8 /* and then per byte of the stream */

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#define RECORD_HINT "record one with: profctl attach --pid PID -o run.pbt"
#define PACKED_HINT "if it holds a trace, unpack it first; else " RECORD_HINT

struct pbt_reader {
	int fd;
	bool eof;
	uint8_t *window;
	size_t capacity, start, end; /* window[start..end) is what has been read and not used */
	uint64_t offset; /* of window[start] in the stream */
	size_t held; /* length of the packet handed out last */
	uint64_t rechecked; /* bytes checksummed without getting further */
	uint64_t inflated; /* bytes decompressed */
	uint8_t *body;
	size_t body_capacity;
	ZSTD_DCtx *zstd;
	struct pbt_damage damage;
};

static const uint8_t *at(const struct pbt_reader *r)
{
	return r->window + r->start;
}

static size_t available(const struct pbt_reader *r)
{
	return r->end - r->start;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void advance(struct pbt_reader *r, size_t n)
{
	r->start += n;
	r->offset += n;
}

static void skip(struct pbt_reader *r, size_t n)
{
	advance(r, n);
	r->damage.bytes_skipped += n;
}

static void note(struct pbt_reader *r, const char *reason)
{
	if (r->damage.first_reason[0])
		return;
	r->damage.first_offset = r->offset;
	snprintf(r->damage.first_reason, sizeof(r->damage.first_reason), "%s", reason);
}

/* Moving only when half of the window is used up keeps the cost per byte constant. */
static int make_room(struct pbt_reader *r)
{
	uint8_t *window;
	size_t capacity;

	if (r->start == r->end)
		r->start = r->end = 0;
	if (r->end < r->capacity)
		return 0;
	if (r->capacity && r->start >= r->capacity / 2) {
		memmove(r->window, at(r), available(r));
		r->end -= r->start;
		r->start = 0;
		return 0;
	}
	capacity = r->capacity ? r->capacity * 2 : WINDOW_SIZE;
	window = realloc(r->window, capacity);
	if (!window)
		return -ENOMEM;
	r->window = window;
	r->capacity = capacity;
	return 0;
}

/* Reads until @need bytes are there or the stream ends. */
static int fill(struct pbt_reader *r, size_t need)
{
	while (available(r) < need && !r->eof) {
		ssize_t n;
		int err = make_room(r);

		if (err)
			return err;
		n = read(r->fd, r->window + r->end, r->capacity - r->end);
		if (n > 0) {
			r->end += (size_t)n;
		} else if (n == 0) {
			r->eof = true;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = r->fd, .events = POLLIN }, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static bool next_mark(const struct pbt_reader *r, size_t from, size_t *position)
{
	size_t found;

	if (!pbt_find_mark(at(r) + from, available(r) - from, &found))
		return false;
	*position = from + found;
	return true;
}

/* Goes on at the next sync mark behind the first byte. */
static int resync(struct pbt_reader *r, const char *reason)
{
	note(r, reason);
	skip(r, 1);
	for (;;) {
		size_t position;
		int err;

		if (next_mark(r, 0, &position)) {
			skip(r, position);
			return 0;
		}
		if (available(r) >= PBT_MARK_SIZE)
			skip(r, available(r) - (PBT_MARK_SIZE - 1));
		if (r->eof)
			break;
		err = fill(r, PBT_MARK_SIZE);
		if (err)
			return err;
	}
	/* What is left may be the beginning of a mark that the end cut off. */
	while (available(r) && !pbt_mark_matches(at(r), available(r)))
		skip(r, 1);
	return 0;
}

/* The stream ends before the packet does: is that the end, or is its length wrong? */
static int cut_off(struct pbt_reader *r)
{
	size_t position;

	if (available(r) > 1 && next_mark(r, 1, &position)) {
		r->damage.packets_skipped++;
		return resync(r, "a packet is longer than the rest of the stream");
	}
	r->damage.torn_tail = true;
	note(r, "the stream ends inside a packet");
	skip(r, available(r));
	return 0;
}

/*
 * The packet at the window's start is complete but its checksum is wrong. If
 * another packet follows it directly its length is right: skip it as a whole,
 * lest something inside it be taken for a packet. Else look inside.
 */
static int wrong_checksum(struct pbt_reader *r, size_t total)
{
	size_t rest;
	int err = fill(r, total + PBT_MARK_SIZE);

	if (err)
		return err;
	r->damage.packets_skipped++;
	rest = min_size(available(r) - total, PBT_MARK_SIZE);
	r->rechecked += total;
	if (pbt_mark_matches(at(r) + total, rest) ||
	    r->rechecked > RECHECK_FREE + r->offset * RECHECK_FACTOR) {
		note(r, "checksum mismatch");
		skip(r, total);
		return 0;
	}
	return resync(r, "checksum mismatch");
}

static int reserve_body(struct pbt_reader *r, size_t size)
{
	uint8_t *body;

	if (size <= r->body_capacity)
		return 0;
	body = malloc(size);
	if (!body)
		return -ENOMEM;
	free(r->body);
	r->body = body;
	r->body_capacity = size;
	return 0;
}

/* Decompresses into r->body. Returns 0, -ENOMEM, or 1 and *@reason. */
static int inflate_body(struct pbt_reader *r, const struct pbt_header *header,
			const uint8_t *stored, const char **reason)
{
	size_t result;

	/* Frames without a size are not what we write, and frames that lie are refused. */
	if (ZSTD_getFrameContentSize(stored, header->stored_size) != header->body_size) {
		*reason = "the decompressed size is not what the packet says";
		return 1;
	}
	if (r->inflated > PBT_UNPACKED_FREE + r->offset * PBT_UNPACKED_RATIO) {
		*reason = "the packets decompress to more than " TEXT(PBT_UNPACKED_RATIO) " times their size";
		return 1;
	}
	/* One byte more, so that an empty body has an address too. */
	if (reserve_body(r, (size_t)header->body_size + 1))
		return -ENOMEM;
	r->inflated += header->body_size;
	result = ZSTD_decompressDCtx(r->zstd, r->body, header->body_size, stored,
				     header->stored_size);
	if (ZSTD_isError(result) || result != header->body_size) {
		*reason = "decompression failed";
		return 1;
	}
	return 0;
}

/* The checksum is right. Returns 1 and fills @packet, 0 if it is skipped, -ENOMEM. */
static int take_packet(struct pbt_reader *r, const struct pbt_header *header,
		       struct pbt_packet *packet)
{
	const uint8_t *stored = at(r) + header->body_offset;
	const char *reason = NULL;
	int err = 0;

	packet->body = stored;
	switch (header->codec) {
	case PROFBPF__PACKET__CODEC__NONE:
		if (header->stored_size != header->body_size)
			reason = "the body's size is not what the packet says";
		break;
	case PROFBPF__PACKET__CODEC__ZSTD:
		err = inflate_body(r, header, stored, &reason);
		packet->body = r->body;
		break;
	default: reason = "unknown compression; a newer profbpf may know it"; break;
	}
	if (err < 0)
		return err;
	if (reason) {
		r->damage.packets_skipped++;
		note(r, reason);
		skip(r, header->total);
		return 0;
	}
	packet->kind = (Profbpf__Packet__Kind)header->kind;
	packet->offset = r->offset;
	packet->size = header->body_size;
	r->held = header->total;
	r->damage.packets_read++;
	return 1;
}

/* Returns 1 and a packet, 0 if the window moved on over damage, or a negative errno. */
static int try_packet(struct pbt_reader *r, struct pbt_packet *packet)
{
	struct pbt_header header;
	const char *reason;
	size_t want;
	int err;

	if (!pbt_mark_matches(at(r), min_size(available(r), PBT_MARK_SIZE)))
		return resync(r, "bytes that are no packet");
	if (available(r) < PBT_MARK_SIZE)
		return cut_off(r);

	reason = pbt_header_length(at(r), &header.total);
	if (!reason) {
		want = min_size(header.total, PBT_FRAME_SIZE + PBT_HEADER_MAX);
		err = fill(r, want);
		if (err)
			return err;
		if (available(r) < want)
			return cut_off(r);
		reason = pbt_header_parse(at(r), want, &header);
	}
	if (reason) {
		r->damage.packets_skipped++;
		return resync(r, reason);
	}

	err = fill(r, header.total);
	if (err)
		return err;
	if (available(r) < header.total)
		return cut_off(r);
	if (pbt_checksum(header.kind, header.codec, header.body_size, at(r) + header.body_offset,
			 header.stored_size) != header.crc32)
		return wrong_checksum(r, header.total);
	return take_packet(r, &header, packet);
}

int pbt_next(struct pbt_reader *r, struct pbt_packet *packet)
{
	int result = 0;

	advance(r, r->held);
	r->held = 0;
	while (!result) {
		result = fill(r, PBT_MARK_SIZE);
		if (result)
			break;
		if (!available(r))
			return 0;
		result = try_packet(r, packet);
	}
	return result;
}

const struct pbt_damage *pbt_damage(const struct pbt_reader *r)
{
	return &r->damage;
}

void pbt_close(struct pbt_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	free(r->window);
	free(r->body);
	free(r);
}

/* Is there a mark within the first PBT_SEARCH_MAX bytes? 1, 0 or a negative errno. */
static int search_mark(struct pbt_reader *r)
{
	size_t searched = 0, position;

	for (;;) {
		if (next_mark(r, searched, &position))
			return 1;
		if (r->eof || available(r) >= PBT_SEARCH_MAX)
			return 0;
		searched = available(r) - min_size(available(r), PBT_MARK_SIZE - 1);
		int err = fill(r, available(r) + 1);
		if (err)
			return err;
	}
}

static void explain_foreign(const struct pbt_reader *r, const char *name, char *error,
			    size_t error_size)
{
	static const char *const remedies[] = {
		[FILE_MAGIC_OTHER] = RECORD_HINT,
		[FILE_MAGIC_PACKED] = PACKED_HINT,
		[FILE_MAGIC_DEVICE] = RECORD_HINT,
	};
	const struct file_magic *magic = file_magic_of(at(r), available(r));

	if (magic)
		snprintf(error, error_size, "%s: not a profbpf trace (it looks like %s); %s", name,
			 magic->what, remedies[magic->class]);
	else
		snprintf(error, error_size,
			 "%s: not a profbpf trace (no packet mark in its first %zu bytes); %s",
			 name, available(r), RECORD_HINT);
}

/* Decides whether this is a trace at all. Returns 0, or -1 and @error. */
static int check_beginning(struct pbt_reader *r, const char *name, char *error, size_t error_size)
{
	int err = fill(r, PBT_MARK_SIZE);

	if (!err && !available(r)) {
		snprintf(error, error_size, "%s: the file is empty, no trace was written to it; %s",
			 name, RECORD_HINT);
		return -1;
	}
	/* A lone newline is no trace, however well it agrees with a mark. */
	if (!err && available(r) > 1 &&
	    pbt_mark_matches(at(r), min_size(available(r), PBT_MARK_SIZE)))
		return 0;
	if (!err)
		err = fill(r, FILE_MAGIC_BYTES);
	if (!err && !file_magic_of(at(r), available(r)))
		err = search_mark(r);
	if (err > 0)
		return 0;
	if (err < 0)
		snprintf(error, error_size, "%s: cannot read: %s", name, strerror(-err));
	else
		explain_foreign(r, name, error, error_size);
	return -1;
}

/* Owns @fd from the start. */
static struct pbt_reader *reader_new(int fd, const char *name, char *error, size_t error_size)
{
	struct pbt_reader *r = calloc(1, sizeof(*r));
	struct stat st;

	if (!r) {
		close(fd);
		snprintf(error, error_size, "%s: out of memory", name);
		return NULL;
	}
	r->fd = fd;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		snprintf(error, error_size,
			 "%s: is a directory; name a trace file in it, or " RECORD_HINT,
			 name);
		goto fail;
	}
	r->zstd = ZSTD_createDCtx();
	if (!r->zstd) {
		snprintf(error, error_size, "%s: out of memory", name);
		goto fail;
	}
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	if (!check_beginning(r, name, error, error_size))
		return r;
fail:
	pbt_close(r);
	return NULL;
}

struct pbt_reader *pbt_open_fd(int fd, const char *name, char *error, size_t error_size)
{
	int own;

	if (isatty(fd)) {
		snprintf(error, error_size,
			 "%s: is a terminal; name a trace file or pipe one in, for example: "
			 "profctl attach --pid PID -o - | analyzer report -",
			 name);
		return NULL;
	}
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0) {
		snprintf(error, error_size, "%s: cannot use descriptor %d: %s", name, fd,
			 strerror(errno));
		return NULL;
	}
	return reader_new(own, name, error, error_size);
}

struct pbt_reader *pbt_open(const char *path, char *error, size_t error_size)
{
	const char *remedy = "";
	int fd;

	if (!strcmp(path, "-"))
		return pbt_open_fd(STDIN_FILENO, "standard input", error, error_size);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0)
		return reader_new(fd, path, error, error_size);
	if (errno == ENOENT)
		remedy = "; check the name, or " RECORD_HINT;
	else if (errno == EACCES)
		remedy = "; read it as the user who recorded it, or as root";
	snprintf(error, error_size, "%s: cannot open: %s%s", path, strerror(errno), remedy);
	return NULL;
}
