/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_unpack.c - libFuzzer target for the reader below all importers: gzip, zstd, byte order marks, UTF-16.
 *
 * The first two bytes of an input select the sizes of two readings of the rest, which must give the same bytes, up to
 * the damage if there is any.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/import/readers/input_file.h"
#include "tests/fuzz/input.h"

#define READ_MAX (1u << 20) /* bytes of a file that are compared */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char path[64];
static int fd = -1;
static unsigned char *bytes[2];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fd = memfd_create("input", MFD_CLOEXEC);
	check(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int i = 0; i < 2; i++) {
		bytes[i] = malloc(READ_MAX);
		check(bytes[i]);
	}
	return 0;
}

/* Reads the file @part bytes at a time. Returns the number of bytes; *@end: 0, or the error. */
static size_t read_all(unsigned char *into, size_t part, int *end)
{
	struct input_file file;
	char words[256] = "";
	size_t used = 0;
	int got = 1;

	*end = input_file_open(&file, path, words, sizeof(words));
	if (*end)
		return 0;
	check(input_file_part(&file) > 0);
	while (got > 0 && used < READ_MAX) {
		size_t room = READ_MAX - used < part ? READ_MAX - used : part;

		words[0] = '\0';
		got = input_file_read(&file, into + used, room, words, sizeof(words));
		check(got <= (int)room);
		check(got >= 0 || words[0]);
		used += got > 0 ? (size_t)got : 0;
		/* Fewer bytes than wanted only at the end. */
		if (got > 0 && (size_t)got < room)
			check(input_file_read(&file, into + used, READ_MAX - used, words, sizeof(words)) <= 0);
	}
	*end = got < 0 ? got : 0;
	input_file_close(&file);
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	size_t parts[2], used[2];
	int end[2];

	for (int i = 0; i < 2; i++)
		parts[i] = 1 + (size_t)input_byte(&in) * (i ? 1 : 40);
	check(ftruncate(fd, 0) == 0 && pwrite(fd, in.data, in.size, 0) == (ssize_t)in.size);
	for (int i = 0; i < 2; i++)
		used[i] = read_all(bytes[i], parts[i], &end[i]);
	/*
	 * How much comes before the damage depends on the sizes: zstd checks a frame that fits as a whole. Therefore a
	 * reading that stopped at the limit may have missed the damage that the other one met before it.
	 */
	check((end[0] == 0) == (end[1] == 0) || used[0] == READ_MAX || used[1] == READ_MAX);
	check(used[0] == used[1] || end[0] || end[1]);
	check(memcmp(bytes[0], bytes[1], used[0] < used[1] ? used[0] : used[1]) == 0);
	return 0;
}
