/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/container_names.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/profbpfd/host/json_strings.h"
#include "lib/base/container_id.h"

#define FILE_BYTES_MAX (4u << 20)
#define METADATA_MAX 8192

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define PLACE(where, buffer) { .path = (where), .into = (buffer), .size = sizeof(buffer) }

int container_names_root(void)
{
	int fd = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_known(const struct container_names *names)
{
	return names->container[0] || names->image[0] || names->pod[0];
}

/* The whole file, allocated; NULL if there is none, or it is no plain file, or too large. */
static char *read_whole(int root_fd, const char *path, size_t *size)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	char *text = NULL;
	struct stat st;
	ssize_t n = 0;

	*size = 0;
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= FILE_BYTES_MAX)
		text = malloc((size_t)st.st_size);
	while (text && *size < (size_t)st.st_size && (n = read(fd, text + *size, (size_t)st.st_size - *size)) > 0)
		*size += (size_t)n;
	if (fd >= 0)
		close(fd);
	return text;
}

/* Annotations of an OCI configuration, as Kubernetes' runtimes write them. */
static void from_oci(const char *text, size_t size, const char *id, struct container_names *names)
{
	const struct json_place places[] = {
		PLACE("annotations/io.kubernetes.cri.container-name", names->container),
		PLACE("annotations/io.kubernetes.cri.image-name", names->image),
		PLACE("annotations/io.kubernetes.cri.sandbox-name", names->pod),
		PLACE("annotations/io.kubernetes.cri.sandbox-namespace", names->pod_namespace),
		PLACE("annotations/io.kubernetes.container.name", names->container),
		PLACE("annotations/io.kubernetes.cri-o.ImageName", names->image),
		PLACE("annotations/io.kubernetes.pod.name", names->pod),
		PLACE("annotations/io.kubernetes.pod.namespace", names->pod_namespace),
	};

	json_strings_find(&(struct json_strings){ places, COUNT(places) }, text, size);
}

static void from_docker(const char *text, size_t size, const char *id, struct container_names *names)
{
	char name[sizeof(names->container)] = "";
	const struct json_place places[] = {
		PLACE("Name", name),
		PLACE("Config/Image", names->image),
		PLACE("Config/Labels/io.kubernetes.container.name", names->container),
		PLACE("Config/Labels/io.kubernetes.pod.name", names->pod),
		PLACE("Config/Labels/io.kubernetes.pod.namespace", names->pod_namespace),
	};

	json_strings_find(&(struct json_strings){ places, COUNT(places) }, text, size);
	if (!names->container[0])
		strcpy(names->container, name + (name[0] == '/'));
}

/* A row of containers.json; its metadata are again a JSON text. */
struct stored_container {
	const char *wanted;
	struct container_names *names;
	char id[CONTAINER_ID_DIGITS + 1], name[256], metadata[METADATA_MAX];
};

static void end_stored(void *context)
{
	struct stored_container *row = context;
	const struct json_place places[] = { PLACE("image-name", row->names->image) };

	if (!strcmp(row->id, row->wanted)) {
		strcpy(row->names->container, row->name);
		json_strings_find(&(struct json_strings){ places, COUNT(places) }, row->metadata, strlen(row->metadata));
	}
	row->id[0] = row->name[0] = row->metadata[0] = '\0';
}

static void from_storage(const char *text, size_t size, const char *id, struct container_names *names)
{
	struct stored_container row = { .wanted = id, .names = names };
	const struct json_place places[] = {
		PLACE("*/id", row.id),
		PLACE("*/names/*", row.name),
		PLACE("*/metadata", row.metadata),
	};

	/* The list may be long, and it has to be passed through for each container of another runtime. */
	if (!memmem(text, size, id, strlen(id)))
		return;
	json_strings_find(&(struct json_strings){ places, COUNT(places), "*", end_stored, &row }, text, size);
}

static const struct source {
	const char *before, *after; /* the path is BEFORE ID AFTER; without AFTER it is BEFORE */
	void (*parse)(const char *text, size_t size, const char *id, struct container_names *names);
} SOURCES[] = {
	{ "run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json", from_oci },
	{ "run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json", from_oci },
	{ "var/snap/microk8s/common/run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json", from_oci },
	{ "run/containers/storage/overlay-containers/", "/userdata/config.json", from_oci },
	{ "var/lib/docker/containers/", "/config.v2.json", from_docker },
	{ "var/lib/containers/storage/overlay-containers/containers.json", NULL, from_storage },
	{ "var/lib/containers/storage/vfs-containers/containers.json", NULL, from_storage },
};

bool container_names_read(int root_fd, const char *id, struct container_names *names)
{
	memset(names, 0, sizeof(*names));
	for (size_t i = 0; i < COUNT(SOURCES) && !is_known(names); i++) {
		const struct source *source = &SOURCES[i];
		char path[PATH_MAX], *text;
		size_t size;

		snprintf(path, sizeof(path), "%s%s%s", source->before, source->after ? id : "",
			 source->after ? source->after : "");
		text = read_whole(root_fd, path, &size);
		if (text)
			source->parse(text, size, id, names);
		free(text);
	}
	return is_known(names);
}
