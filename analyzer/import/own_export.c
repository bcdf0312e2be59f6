/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/own_export.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HEAD 4096 /* bytes that are read of a timeline */
#define SAID 256 /* the mark is within this number of bytes */
#define PACKET 0x0a /* Trace.packet of Perfetto, length-delimited */

bool own_export_folder(const char *path)
{
	const char *name = strrchr(path, '/');
	char mark[PATH_MAX];

	if (fnmatch("PROF_*_PROFBPF", name ? name + 1 : path, 0) == 0)
		return true;
	return snprintf(mark, sizeof(mark), "%s/%s", path, OWN_EXPORT_MARK) < (int)sizeof(mark) &&
	       access(mark, F_OK) == 0;
}

static bool says(const uint8_t *bytes, size_t size, const char *words)
{
	return memmem(bytes, size < SAID ? size : SAID, words, strlen(words)) != NULL;
}

static const uint8_t *skip_varint(const uint8_t *at, const uint8_t *end)
{
	while (at < end && *at & 0x80)
		at++;
	return at < end ? at + 1 : end;
}

/* Layout: packet, its length, compressed_packets, its length, deflated data. */
static bool packed_says_so(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size, *at = skip_varint(bytes + 1, end);
	uint8_t plain[SAID];
	z_stream stream = { 0 };
	bool said;

	at = skip_varint(skip_varint(at, end), end);
	if (inflateInit(&stream) != Z_OK)
		return false;
	stream.next_in = (uint8_t *)at;
	stream.avail_in = (unsigned int)(end - at);
	stream.next_out = plain;
	stream.avail_out = sizeof(plain);
	inflate(&stream, Z_SYNC_FLUSH);
	said = says(plain, sizeof(plain) - stream.avail_out, "profbpf ");
	inflateEnd(&stream);
	return said;
}

bool own_export_file(const char *path)
{
	/* O_NONBLOCK, and only regular files are read: a pipe would block, and its data could not be read again. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	uint8_t head[HEAD];
	ssize_t size = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		size = read(fd, head, sizeof(head));
	close(fd);
	if (size <= 0)
		return false;
	return head[0] == PACKET ? packed_says_so(head, (size_t)size)
				 : says(head, (size_t)size, "\"exporter\":\"profbpf ");
}

void own_export_leave(struct own_exports *left, const char *path)
{
	if (!left->count++)
		snprintf(left->first, sizeof(left->first), "%s", path);
}

int own_export_tell(const struct own_exports *left, struct import *import)
{
	int err = 0;

	for (unsigned int i = 0; i < left->count && !err; i++)
		err = import_finding(import, "an export of profbpf: not counted", left->first);
	return err;
}
