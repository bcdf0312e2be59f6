/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/import/readers/utf16_text.h"
#include "analyzer/import/readers/zstd_stream.h"

#define PART (256u << 10)
#define PART_LEAST 4096u
#define UTF16_PART (32u << 10) /* bytes that are converted at a time */

/* A text in UTF-16. */
struct input_text {
	struct utf16_text utf16;
	unsigned char from[UTF16_PART];
	char to[UTF16_TEXT_ROOM(UTF16_PART)];
	size_t at, used; /* converted bytes that have not been handed over yet */
};

static int failed(int err, char *error, size_t error_size)
{
	snprintf(error, error_size, "%s", strerror(-err));
	return err;
}

/* For a pipe, which cannot be read twice, zlib detects compression itself. */
static bool is_packed(int fd)
{
	unsigned char magic[2];
	ssize_t length = pread(fd, magic, sizeof(magic), 0);

	return length < 0 || (length == 2 && magic[0] == 0x1f && magic[1] == 0x8b);
}

static bool is_zstd(int fd)
{
	unsigned char magic[ZSTD_STREAM_MAGIC];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && zstd_stream_is(magic);
}

static int open_packed(struct input_file *file, char *error, size_t error_size)
{
	file->packed = gzdopen(file->fd, "r");
	if (file->packed) {
		gzbuffer(file->packed, PART);
		return 0;
	}
	input_file_close(file);
	return failed(-ENOMEM, error, error_size);
}

int input_file_open(struct input_file *file, const char *path, char *error, size_t error_size)
{
	struct stat status;

	*file = (struct input_file){ .part = PART };
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (file->fd < 0 || fstat(file->fd, &status) != 0) {
		int err = failed(-errno, error, error_size);

		if (file->fd >= 0)
			close(file->fd);
		return err;
	}
	file->open = true;
	if (is_packed(file->fd))
		return open_packed(file, error, error_size);
	if (is_zstd(file->fd)) {
		file->zstd = zstd_stream_open(file->fd);
		if (!file->zstd) {
			input_file_close(file);
			return failed(-ENOMEM, error, error_size);
		}
	} else if (S_ISREG(status.st_mode) && status.st_size < (off_t)PART) {
		file->part = (size_t)status.st_size < PART_LEAST ? PART_LEAST
								 : (size_t)status.st_size + 1;
	}
	return 0;
}

size_t input_file_part(const struct input_file *file)
{
	return file->part;
}

/* Real profiles do not decompress to that much; a file made to do so is refused. */
static int check_unpacked(const struct input_file *file, char *error, size_t error_size)
{
	off_t packed = file->zstd ? lseek(file->fd, 0, SEEK_CUR) : gzoffset(file->packed);
	uint64_t most = packed < 0 ? INPUT_UNPACKED_PIPE : input_unpacked_max((uint64_t)packed);

	if (file->unpacked <= most || (file->packed && gzdirect(file->packed)))
		return 0;
	if (packed < 0)
		snprintf(error, error_size,
			 "a pipe that unpacks to more than %llu GiB; if it is right, unpack it "
			 "before",
			 INPUT_UNPACKED_PIPE >> 30);
	else
		snprintf(error, error_size,
			 "unpacks to more than %d times its size; if it is right, unpack it "
			 "(%s) and "
			 "give that file",
			 INPUT_UNPACKED_RATIO, file->zstd ? "unzstd" : "gunzip");
	return -EBADMSG;
}

static int count_unpacked(struct input_file *file, int length, char *error, size_t error_size)
{
	int err;

	file->unpacked += (uint64_t)length;
	err = check_unpacked(file, error, error_size);
	return err ? err : length;
}

static int read_packed(struct input_file *file, void *bytes, size_t size, char *error,
		       size_t error_size)
{
	int length, code, err;
	const char *words;

	errno = 0;
	length = gzread(file->packed, bytes, (unsigned int)size);
	if (length >= 0)
		return count_unpacked(file, length, error, error_size);
	err = errno ? -errno : -EIO;
	words = gzerror(file->packed, &code);
	if (code == Z_ERRNO || code == Z_MEM_ERROR)
		return failed(code == Z_ERRNO ? err : -ENOMEM, error, error_size);
	snprintf(error, error_size, "cannot be decompressed: %s", words);
	return -EBADMSG;
}

/* The next @size bytes of the file, decompressed. */
static int read_bytes(struct input_file *file, void *bytes, size_t size, char *error, size_t error_size)
{
	size_t used = 0;

	if (file->packed)
		return read_packed(file, bytes, size, error, error_size);
	if (file->zstd) {
		int length = zstd_stream_read(file->zstd, bytes, size, error, error_size);

		return length < 0 ? length : count_unpacked(file, length, error, error_size);
	}
	while (used < size) {
		ssize_t length = read(file->fd, (char *)bytes + used, size - used);

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return failed(-errno, error, error_size);
		if (length == 0)
			break;
		used += (size_t)length;
	}
	return (int)used;
}

/* Is it a character with which a table or JSON begins? No binary file has one between a mark and a zero. */
static bool begins_text(unsigned char c)
{
	return c >= '\t' && c < 0x7f;
}

/* Looks for a byte order mark in the first bytes, which are kept without it. */
static int begin(struct input_file *file, char *error, size_t error_size)
{
	unsigned char *first = file->first;
	int length = read_bytes(file, first, sizeof(file->first), error, error_size);
	unsigned int mark = 0;
	bool big = length == 4 && memcmp(first, "\xfe\xff", 3) == 0 && begins_text(first[3]);

	if (length < 0)
		return length;
	file->begun = true;
	if (length >= 3 && memcmp(first, "\xef\xbb\xbf", 3) == 0)
		mark = 3;
	else if (big || (length == 4 && memcmp(first, "\xff\xfe", 2) == 0 && begins_text(first[2]) &&
			 first[3] == 0))
		mark = 2;
	file->first_count = (unsigned int)length - mark;
	memmove(first, first + mark, file->first_count);
	if (mark != 2)
		return 0;
	file->text = calloc(1, sizeof(*file->text));
	if (!file->text)
		return failed(-ENOMEM, error, error_size);
	file->text->utf16.big_endian = big;
	return 0;
}

/* The first bytes again, and what follows them. */
static int read_begun(struct input_file *file, void *bytes, size_t size, char *error, size_t error_size)
{
	size_t kept = file->first_count < size ? file->first_count : size;
	int length;

	memcpy(bytes, file->first, kept);
	file->first_count -= (unsigned int)kept;
	memmove(file->first, file->first + kept, file->first_count);
	if (kept == size)
		return (int)kept;
	length = read_bytes(file, (char *)bytes + kept, size - kept, error, error_size);
	/* Damage that follows is found again by the next call. */
	return length < 0 && kept ? (int)kept : length < 0 ? length : (int)kept + length;
}

static int read_text(struct input_file *file, char *bytes, size_t size, char *error, size_t error_size)
{
	struct input_text *text = file->text;
	size_t used = 0;

	while (used < size) {
		size_t there = text->used - text->at, part = there < size - used ? there : size - used;
		int length;

		memcpy(bytes + used, text->to + text->at, part);
		text->at += part;
		used += part;
		if (used == size)
			break;
		length = read_begun(file, text->from, sizeof(text->from), error, error_size);
		if (length < 0)
			return used ? (int)used : length;
		if (length == 0)
			break;
		text->at = 0;
		text->used = utf16_text_convert(&text->utf16, text->from, (size_t)length, text->to);
	}
	return (int)used;
}

int input_file_read(struct input_file *file, void *bytes, size_t size, char *error,
		    size_t error_size)
{
	int err = file->begun ? 0 : begin(file, error, error_size);

	if (err)
		return err;
	if (file->text)
		return read_text(file, bytes, size, error, error_size);
	return read_begun(file, bytes, size, error, error_size);
}

void input_file_close(struct input_file *file)
{
	free(file->text);
	if (file->zstd)
		zstd_stream_close(file->zstd);
	if (file->packed)
		gzclose(file->packed);
	else if (file->open)
		close(file->fd);
	*file = (struct input_file){ 0 };
}
