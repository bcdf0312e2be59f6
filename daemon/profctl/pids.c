/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/pids.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct pids *pids, uint32_t pid)
{
	for (size_t i = 0; i < pids->count; i++)
		if (pids->pid[i] == pid)
			return true;
	return false;
}

static int append(struct pids *pids, uint32_t pid)
{
	uint32_t *larger = reallocarray(pids->pid, pids->count + 1, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	pids->pid = larger;
	pids->pid[pids->count++] = pid;
	return 0;
}

int pids_add(struct pids *pids, const char *text, char *error, size_t error_size)
{
	for (const char *p = text;; p++) {
		size_t length = strcspn(p, ",");
		char *end;
		long pid;

		errno = 0;
		pid = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : 0;
		if (pid <= 0 || errno || pid > INT_MAX || end != p + length) {
			snprintf(error, error_size, "'%.*s' is no process id",
				 (int)(length < 40 ? length : 40), p);
			return -EINVAL;
		}
		if (!has(pids, (uint32_t)pid) && append(pids, (uint32_t)pid)) {
			snprintf(error, error_size, "out of memory");
			return -ENOMEM;
		}
		p += length;
		if (!*p)
			return 0;
	}
}

void pids_free(struct pids *pids)
{
	free(pids->pid);
	memset(pids, 0, sizeof(*pids));
}
