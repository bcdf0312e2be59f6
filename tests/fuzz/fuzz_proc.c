/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_proc.c - libFuzzer target for other files of targets: files in /proc with content that targets choose
 * (names, arguments, environments, paths of cgroups), the loader's configuration in their root, and the state of container
 * runtimes, in which labels are as users chose them.
 *
 * The first byte of an input selects the kind of file; the rest is the file, or two files separated by a
 * record separator (0x1e).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/host/cgroups.h"
#include "daemon/profbpfd/host/container_names.h"
#include "daemon/profbpfd/device/device_tid.h"
#include "daemon/profbpfd/probe/hinted_libraries.h"
#include "daemon/profbpfd/host/process_info.h"
#include "lib/elf/process_maps.h"
#include "tests/fuzz/virtual_process.h"

#define NEXT_FILE 0x1e

enum what { FACTS, THREAD, ARGUMENTS, GROUP, GROUP_VERSION1, LOADER, MAPS, NAMES, WHATS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_facts(struct input first, struct input second)
{
	struct process_facts facts;

	virtual_process_put("stat", first);
	virtual_process_put("status", second);
	virtual_process_put("auxv", second);
	if (!process_facts_read(VIRTUAL_PID, &facts))
		check(strnlen(facts.name, sizeof(facts.name)) < sizeof(facts.name));
}

static void read_thread(struct input first, struct input second)
{
	struct device_tid tid;
	struct device_tids *tids;

	virtual_process_put("task/4711/status", first);
	virtual_process_put("task/4712/status", second);
	device_tid_read(VIRTUAL_PID, VIRTUAL_PID, &tid);
	tids = device_tids_new(VIRTUAL_PID);
	check(tids != NULL);
	device_tids_find(tids, 1, 0);
	device_tids_free(tids);
}

static void read_arguments(struct input first)
{
	char *text;

	virtual_process_put("cmdline", first);
	text = process_cmdline(VIRTUAL_PID);
	check(!text || (text[0] && strlen(text) < PROCESS_CMDLINE_MAX));
	free(text);
}

/* The cgroup's own files are in a folder named "group". */
static void read_group(bool version1, struct input first, struct input second)
{
	struct cgroups *groups;
	char root[96];

	virtual_process_put("cgroup", first);
	virtual_process_put(version1 ? "groups/group/cpu.cfs_quota_us" : "groups/group/cpu.max",
			    second);
	virtual_process_put("groups/group/cpu.stat", second);
	snprintf(root, sizeof(root), "%s/groups", virtual_process_folder());
	groups = cgroups_new_at(root, version1);
	check(groups != NULL);
	item_free(cgroups_watch(groups, VIRTUAL_PID));
	item_free(cgroups_read(groups));
	cgroups_free(groups);
}

static void count(void *context, int fd)
{
	check(fd >= 0);
	++*(unsigned int *)context;
}

static void find_libraries(struct input first, struct input second)
{
	static const char CATALOG[] = "runtime a\nlibrary libx*.so /opt/*/liby.so\nf other 1\n";
	static struct catalogs *catalogs;
	unsigned int found = 0;
	char *error = NULL;

	if (!catalogs) {
		catalogs = catalogs_new();
		check(catalogs &&
		      !catalogs_add_text(catalogs, "fuzz", CATALOG, strlen(CATALOG), &error));
		virtual_process_text("root/etc/ld.so.conf.d/a.conf", "/opt/a\ninclude b.conf\n");
		virtual_process_text("root/opt/a/libx1.so", "x");
		virtual_process_text("root/opt/a/liby.so", "y");
	}
	virtual_process_put("root/etc/ld.so.conf", first);
	virtual_process_put("environ", second);
	hinted_libraries_each(catalogs, VIRTUAL_PID, count, &found);
	check(found >= 1 && found <= 2);
}

static void read_maps(struct input first)
{
	struct process_maps maps;

	virtual_process_put("maps", first);
	virtual_process_text("stat", "4711 (python) S 1 1 1 0 -1 4194304 0 0 0\n");
	if (process_maps_read(VIRTUAL_PID, &maps))
		return;
	for (size_t i = 0; i < maps.count; i++) {
		int fd = process_map_open(VIRTUAL_PID, &maps.map[i]);

		if (fd >= 0)
			close(fd);
	}
	process_maps_free(&maps);
}

/* Files of containerd, and of Docker or Podman, which are read if the former name nothing. */
static void read_names(struct input first, struct input second)
{
	struct container_names names;
	char root[96];
	bool known;
	int fd;

	virtual_process_put("root/run/containerd/io.containerd.runtime.v2.task/k8s.io/c/config.json", first);
	virtual_process_put("root/var/lib/docker/containers/c/config.v2.json", second);
	virtual_process_put("root/var/lib/containers/storage/overlay-containers/containers.json", second);
	snprintf(root, sizeof(root), "%s/root", virtual_process_folder());
	fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	check(fd >= 0);
	known = container_names_read(fd, "c", &names);
	check(known == (names.container[0] || names.image[0] || names.pod[0]));
	check(strnlen(names.container, sizeof(names.container)) < sizeof(names.container));
	check(strnlen(names.image, sizeof(names.image)) < sizeof(names.image));
	check(strnlen(names.pod, sizeof(names.pod)) < sizeof(names.pod));
	check(strnlen(names.pod_namespace, sizeof(names.pod_namespace)) < sizeof(names.pod_namespace));
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size }, first;
	uint8_t what = input_byte(&in);
	const uint8_t *end = in.size ? memchr(in.data, NEXT_FILE, in.size) : NULL;

	virtual_process_clear();
	first = input_take(&in, end ? (size_t)(end - in.data) : in.size);
	input_byte(&in);
	switch ((enum what)(what % WHATS)) {
	case FACTS: read_facts(first, in); break;
	case THREAD: read_thread(first, in); break;
	case ARGUMENTS: read_arguments(first); break;
	case GROUP: read_group(false, first, in); break;
	case GROUP_VERSION1: read_group(true, first, in); break;
	case LOADER: find_libraries(first, in); break;
	case MAPS: read_maps(first); break;
	case NAMES: read_names(first, in); break;
	case WHATS: break;
	}
	return 0;
}
