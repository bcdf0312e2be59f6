/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/vdso_copy.h"

#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define VDSO_BYTES_MAX (64u << 10)

int vdso_copy(void)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	int fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	/* Page by page, because its size is unknown; the write fails behind the last page. */
	for (size_t at = 0; fd >= 0 && at < VDSO_BYTES_MAX; at += page)
		if (write(fd, image + at, page) != (ssize_t)page)
			break;
	return fd;
}
