/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/probed_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/elf/process_maps.h"

static bool parse_line(const char *line, uint64_t at, struct probed_place *place)
{
	unsigned int major, minor;
	uint64_t start, inode;

	if (sscanf(line, "%" SCNx64 "-%*x %*s %*x %x:%x %" SCNu64, &start, &major, &minor,
		   &inode) != 4 ||
	    start != at)
		return false;
	place->device = KERNEL_DEV(major, minor);
	place->inode = inode;
	return true;
}

static int find_mapping(uint64_t at, struct probed_place *place)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int err = -ENOENT;

	if (!maps)
		return -errno;
	/* The rest of a long line does not begin with an address: parse_line() rejects it. */
	while (err && fgets(line, sizeof(line), maps))
		if (parse_line(line, at, place))
			err = 0;
	fclose(maps);
	return err;
}

int probed_place_of(const char *path, struct probed_place *place)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	void *at;

	memset(place, 0, sizeof(*place));
	if (fd < 0)
		return -errno;
	at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	err = at == MAP_FAILED ? -errno : find_mapping((uintptr_t)at, place);
	if (at != MAP_FAILED)
		munmap(at, 1);
	close(fd);
	return err;
}
