/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART (256u << 10)
#define PART_LEAST 4096u

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
	if (is_packed(file->fd)) {
		file->packed = gzdopen(file->fd, "r");
		if (!file->packed) {
			input_file_close(file);
			return failed(-ENOMEM, error, error_size);
		}
		gzbuffer(file->packed, PART);
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
	z_off_t packed = gzoffset(file->packed);
	uint64_t most = packed < 0 ? INPUT_UNPACKED_PIPE : input_unpacked_max((uint64_t)packed);

	if (file->unpacked <= most || gzdirect(file->packed))
		return 0;
	if (packed < 0)
		snprintf(error, error_size,
			 "a pipe that unpacks to more than %llu GiB; if it is right, unpack it "
			 "before",
			 INPUT_UNPACKED_PIPE >> 30);
	else
		snprintf(error, error_size,
			 "unpacks to more than %d times its size; if it is right, unpack it "
			 "(gunzip) and "
			 "give that file",
			 INPUT_UNPACKED_RATIO);
	return -EBADMSG;
}

static int read_packed(struct input_file *file, void *bytes, size_t size, char *error,
		       size_t error_size)
{
	int length, code, err;
	const char *words;

	errno = 0;
	length = gzread(file->packed, bytes, (unsigned int)size);
	if (length >= 0) {
		file->unpacked += (uint64_t)length;
		err = check_unpacked(file, error, error_size);
		return err ? err : length;
	}
	err = errno ? -errno : -EIO;
	words = gzerror(file->packed, &code);
	if (code == Z_ERRNO || code == Z_MEM_ERROR)
		return failed(code == Z_ERRNO ? err : -ENOMEM, error, error_size);
	snprintf(error, error_size, "cannot be decompressed: %s", words);
	return -EBADMSG;
}

int input_file_read(struct input_file *file, void *bytes, size_t size, char *error,
		    size_t error_size)
{
	size_t used = 0;

	if (file->packed)
		return read_packed(file, bytes, size, error, error_size);
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

void input_file_close(struct input_file *file)
{
	if (file->packed)
		gzclose(file->packed);
	else if (file->open)
		close(file->fd);
	*file = (struct input_file){ 0 };
}
