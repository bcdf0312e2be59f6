/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/metrics/process_labels.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/container_id.h"
#include "lib/base/present_memory.h"

#define ENVIRONMENT_MAX (1u << 17)
#define GROUPS_MAX 16384

static const char *const RANKS[] = { "RANK",	  "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
				     "SLURM_PROCID", "RANK_ID",		  NULL };
static const char *const LOCAL_RANKS[] = { "LOCAL_RANK",    "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
					   "SLURM_LOCALID", "DEVICE_ID",		  NULL };

/* Returns the value of NAME= in the environment; NULL if there is none, or it is cut off. */
static const char *value_of(const char *environment, size_t size, const char *name)
{
	size_t length = strlen(name);

	for (size_t at = 0; at < size;) {
		size_t left = size - at, own = strnlen(environment + at, left);

		if (own == left)
			return NULL;
		if (own > length && environment[at + length] == '=' && !memcmp(environment + at, name, length))
			return environment + at + length + 1;
		at += own + 1;
	}
	return NULL;
}

static void take_number(const char *environment, size_t size, const char *const *names, char *into, size_t room)
{
	for (; *names; names++) {
		const char *value = value_of(environment, size, *names);

		if (!value || !*value || strlen(value) >= room || value[strspn(value, "0123456789")])
			continue;
		strcpy(into, value);
		return;
	}
}

void process_labels_rank(const char *environment, size_t size, struct process_labels *labels)
{
	take_number(environment, size, RANKS, labels->rank, sizeof(labels->rank));
	take_number(environment, size, LOCAL_RANKS, labels->local_rank, sizeof(labels->local_rank));
}

/* Lines are ID:CONTROLLERS:PATH; version 2's begins with "0::". Its path is used unless that is "/". */
void process_labels_group(const char *text, struct process_labels *labels)
{
	struct container_id id;

	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length), *path = line ? strchr(line, ':') : NULL;
		bool unified = line && !strncmp(line, "0::", 3);

		path = path ? strchr(path + 1, ':') : NULL;
		if (path++ && strcmp(path, "/") && strlen(path) < sizeof(labels->cgroup) &&
		    (unified || !labels->cgroup[0])) {
			strcpy(labels->cgroup, path);
			if (container_id_parse(path, &id)) {
				strcpy(labels->container, id.container);
				strcpy(labels->pod, id.pod);
			}
		}
		free(line);
		text += length + (text[length] == '\n');
	}
}

/* Reads as much of a file as fits and exists, adds a NUL, and returns the number of bytes before it. */
static size_t read_file(pid_t pid, const char *name, char *into, size_t room)
{
	char path[64];
	size_t size = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && size < room - 1 && (n = read(fd, into + size, room - 1 - size)) > 0)
		size += (size_t)n;
	if (fd >= 0)
		close(fd);
	into[size] = '\0';
	return size;
}

void process_labels_read(pid_t pid, struct process_labels *labels)
{
	char *text = malloc(ENVIRONMENT_MAX);
	size_t size;

	memset(labels, 0, sizeof(*labels));
	if (!text)
		return;
	read_file(pid, "comm", labels->name, sizeof(labels->name));
	labels->name[strcspn(labels->name, "\n")] = '\0';
	read_file(pid, "cgroup", text, GROUPS_MAX);
	process_labels_group(text, labels);
	size = present_memory_text(pid, "environ", text, ENVIRONMENT_MAX - 1);
	text[size] = '\0';
	process_labels_rank(text, size, labels);
	free(text);
}
