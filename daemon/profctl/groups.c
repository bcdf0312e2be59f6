/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/groups.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/process_check.h"
#include "lib/base/container_id.h"

#define PROCS "cgroup.procs"
#define CONTAINER_DIGITS_MIN 4

struct search {
	struct pids *pids;
	enum group_by by;
	const char *name;
	char unit[NAME_MAX + 1]; /* with its suffix */
	char found[PATH_MAX]; /* a group of that name in the hierarchy at hand; "" = none yet */
	char container[CONTAINER_ID_DIGITS + 1]; /* of the group found */
	bool any; /* in any hierarchy */
	char *error;
	size_t error_size;
};

#define SAY(search, ...) snprintf((search)->error, (search)->error_size, __VA_ARGS__)

static int no_memory(struct search *search)
{
	SAY(search, "out of memory");
	return -ENOMEM;
}

/* A zombie is still in its cgroup, but cannot be traced. */
static bool has_ended(pid_t pid)
{
	struct process_facts facts;

	return !process_facts_read(pid, &facts) && facts.state == 'Z' && facts.threads <= 1;
}

/* Appends the processes of the cgroup at @path itself. */
static int read_procs(struct search *search, const char *path)
{
	char file_name[PATH_MAX];
	unsigned int pid;
	FILE *file;
	int err = 0;

	if (snprintf(file_name, sizeof(file_name), "%s/" PROCS, path) >= (int)sizeof(file_name))
		return 0;
	file = fopen(file_name, "re");
	/* The cgroup may have been removed meanwhile; that of a threaded cgroup (cgroup.type) cannot be read. */
	while (file && !err && fscanf(file, "%u", &pid) == 1)
		if (pid && pid != (unsigned int)getpid() && !has_ended((pid_t)pid) && pids_append(search->pids, pid))
			err = no_memory(search);
	if (file)
		fclose(file);
	return err;
}

/* walk - calls @visit for the cgroup at @path and each one in it; @visit returns 1 to skip a cgroup's children. */
static int walk(struct search *search, const char *path,
		int (*visit)(struct search *search, const char *path, const char *name))
{
	char *paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;
	int err = 0;

	if (!tree)
		return no_memory(search);
	while (err >= 0 && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D)
			continue;
		err = visit(search, entry->fts_path, entry->fts_name);
		if (err == 1)
			fts_set(tree, entry, FTS_SKIP);
	}
	fts_close(tree);
	return err < 0 ? err : 0;
}

static int visit_procs(struct search *search, const char *path, const char *name)
{
	(void)name;
	return read_procs(search, path);
}

/* Does the cgroup's name match the search? Fills @id for a container. */
static bool matches(const struct search *search, const char *name, struct container_id *id)
{
	if (search->by == GROUP_BY_UNIT)
		return !strcmp(name, search->unit);
	container_id_parse(name, id);
	return id->container[0] && !strncmp(id->container, search->name, strlen(search->name));
}

static int visit_name(struct search *search, const char *path, const char *name)
{
	struct container_id id = { 0 };

	if (!matches(search, name, &id))
		return 0;
	if (search->found[0] && (!id.container[0] || strcmp(id.container, search->container))) {
		SAY(search, "'%s' is ambiguous, it matches the groups %s and %s: give a longer "
			    "name, or --cgroup", search->name, search->found, path);
		return -ENOTUNIQ;
	}
	snprintf(search->found, sizeof(search->found), "%s", path);
	strcpy(search->container, id.container);
	return read_procs(search, path) ?: walk(search, path, visit_procs) ?: 1;
}

static int search_path(struct search *search, const char *root)
{
	size_t length = strlen(root);
	const char *rest = search->name;
	char path[PATH_MAX], file[PATH_MAX + sizeof("/" PROCS)];

	if (!strncmp(rest, root, length) && (rest[length] == '/' || !rest[length]))
		rest += length;
	if (snprintf(path, sizeof(path), "%s%s%s", root, *rest && *rest != '/' ? "/" : "", rest) >=
	    (int)sizeof(path))
		return 0;
	snprintf(file, sizeof(file), "%s/" PROCS, path);
	if (access(file, F_OK))
		return 0;
	search->any = true;
	return walk(search, path, visit_procs);
}

static int search_hierarchy(struct search *search, const char *root)
{
	int err;

	if (search->by == GROUP_BY_PATH)
		return search_path(search, root);
	search->found[0] = '\0';
	err = walk(search, root, visit_name);
	search->any |= search->found[0] != '\0';
	return err;
}

/* Searches the hierarchies of @type until one has processes. */
static int search_mounted(struct search *search, const char *type)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	size_t before = search->pids->count;
	struct mntent *mount;
	int err = 0;

	while (mounts && !err && search->pids->count == before && (mount = getmntent(mounts)))
		if (!strcmp(mount->mnt_type, type))
			err = search_hierarchy(search, mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return err;
}

/* Reports an error in the name itself, if there is one. */
static int check_name(struct search *search)
{
	size_t length = strlen(search->name), suffix;

	if (search->by == GROUP_BY_CONTAINER &&
	    (length < CONTAINER_DIGITS_MIN || length > CONTAINER_ID_DIGITS ||
	     strspn(search->name, "0123456789abcdef") != length)) {
		SAY(search, "'%.80s' is not a container id: an id has %d hexadecimal digits, the "
			    "first few suffice; see docker ps, podman ps or crictl ps",
		    search->name, CONTAINER_ID_DIGITS);
		return -EINVAL;
	}
	suffix = search->by == GROUP_BY_UNIT && !strrchr(search->name, '.') ? strlen(".service") : 0;
	if (!length || (search->by == GROUP_BY_UNIT && (length + suffix > NAME_MAX || strchr(search->name, '/')))) {
		SAY(search, "'%.80s' is not a valid name of a unit or group", search->name);
		return -EINVAL;
	}
	if (search->by == GROUP_BY_UNIT)
		snprintf(search->unit, sizeof(search->unit), "%s%s", search->name, suffix ? ".service" : "");
	return 0;
}

int groups_add(struct pids *pids, enum group_by by, const char *name, const char *root, char *error,
	       size_t error_size)
{
	static const char *const what[] = { "group", "unit", "container" };
	struct search search = { .pids = pids, .by = by, .name = name, .error = error,
				 .error_size = error_size };
	size_t before = pids->count;
	int err = check_name(&search);

	if (!err && root)
		err = search_hierarchy(&search, root);
	if (!err && !root)
		err = search_mounted(&search, "cgroup2");
	if (!err && !root && pids->count == before)
		err = search_mounted(&search, "cgroup");
	if (err || pids->count > before)
		return err;
	if (search.any)
		SAY(&search, "%s '%.200s' has no processes", what[by], name);
	else
		SAY(&search, "there is no %s '%.200s' in the control groups of this machine", what[by], name);
	return search.any ? -ESRCH : -ENOENT;
}

int groups_settle(const struct pids *from, bool follow, struct pids *to)
{
	for (size_t i = 0; i < from->count; i++) {
		struct process_facts facts;
		int err = process_facts_read((pid_t)from->pid[i], &facts);

		if (err || facts.state == 'Z' || facts.kernel_thread)
			continue;
		if (follow && map_get(&from->there, (uint64_t)facts.parent) != MAP_NONE)
			continue;
		if (pids_append(to, from->pid[i]))
			return -ENOMEM;
	}
	return 0;
}
