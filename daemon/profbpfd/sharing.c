/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/sharing.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/process_maps.h"

static size_t mark(struct shared_file *files, size_t count, pid_t pid)
{
	struct process_maps maps;
	size_t marked = 0;

	if (process_maps_read(pid, &maps))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!files[i].shared && process_maps_find(&maps, files[i].dev, files[i].inode)) {
			files[i].shared = true;
			marked++;
		}
	}
	process_maps_free(&maps);
	return marked;
}

int sharing_find(struct shared_file *files, size_t count, bool (*ours)(void *context, pid_t pid),
		 void *context)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t open = count;

	if (!proc)
		return -errno;
	while (open && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) || pid == getpid() ||
		    ours(context, pid))
			continue;
		open -= mark(files, count, pid);
	}
	closedir(proc);
	return 0;
}
