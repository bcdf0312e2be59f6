/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/host/container_names.h"
#include "lib/base/container_id.h"
#include "lib/trace/column.h"

#define ROOT_MAX 512
#define FILE_MAX 2048 /* larger than any file that is read */
#define NO_SLOT UINT32_MAX
#define DEPTH_MAX 16 /* levels of nested groups */

struct cgroup {
	uint64_t id;
	char *path; /* "" = unknown */
	bool watched;
};

struct cgroups {
	char root[ROOT_MAX]; /* mount point of the hierarchy; "" = none */
	bool version1;
	struct cgroup *row;
	uint32_t count;
	uint32_t watched;
	uint32_t told; /* rows before this one have been queued */
	int names_fd; /* the root below which runtimes keep their state; -1: containers are not named */
};

struct figures {
	uint32_t flags;
	uint64_t quota_ns, period_ns;
	uint64_t periods, throttled_periods, throttled_ns;
	uint64_t usage_ns, user_ns, system_ns;
};

/* Is @word in @list, whose elements are separated by commas? */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *p = list; *p; p += strcspn(p, ",\n"), p += *p != '\0')
		if (!strncmp(p, word, length) && strchr(",\n", p[length]))
			return true;
	return false;
}

/*
 * proc(5): ID PARENT DEVICE ROOT MOUNT-POINT OPTIONS [FIELD...] - TYPE SOURCE SUPER-OPTIONS
 * Mount points with blanks contain escapes, which are not decoded: no distribution needs that here.
 */
static void find_root(struct cgroups *cgroups)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, type[32], options[512], root[ROOT_MAX];
	size_t capacity = 0;

	if (!f)
		return;
	while (getline(&line, &capacity, f) > 0 && !cgroups->version1) {
		const char *rest = strstr(line, " - ");

		if (!rest || sscanf(line, "%*s %*s %*s %*s %511s", root) != 1 ||
		    sscanf(rest, " - %31s %*s %511s", type, options) != 2)
			continue;
		cgroups->version1 = !strcmp(type, "cgroup") && listed(options, "cpu");
		if (cgroups->version1 || (!strcmp(type, "cgroup2") && !cgroups->root[0]))
			memcpy(cgroups->root, root, sizeof(cgroups->root));
	}
	free(line);
	fclose(f);
}

struct cgroups *cgroups_new_at(const char *root, bool version1)
{
	struct cgroups *cgroups = strlen(root) < ROOT_MAX ? calloc(1, sizeof(*cgroups)) : NULL;

	if (!cgroups)
		return NULL;
	cgroups->row = calloc(CGROUPS_MAX, sizeof(*cgroups->row));
	if (!cgroups->row) {
		free(cgroups);
		return NULL;
	}
	strcpy(cgroups->root, root);
	cgroups->version1 = version1;
	cgroups->names_fd = -1;
	return cgroups;
}

struct cgroups *cgroups_new(void)
{
	struct cgroups *cgroups = cgroups_new_at("", false);

	if (cgroups)
		find_root(cgroups);
	return cgroups;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	for (uint32_t i = 0; i < cgroups->count; i++)
		free(cgroups->row[i].path);
	free(cgroups->row);
	if (cgroups->names_fd >= 0)
		close(cgroups->names_fd);
	free(cgroups);
}

void cgroups_name_containers(struct cgroups *cgroups, int root_fd)
{
	cgroups->names_fd = root_fd;
}

bool cgroups_version1(const struct cgroups *cgroups)
{
	return cgroups->version1;
}

static uint32_t find(const struct cgroups *cgroups, uint64_t id)
{
	for (uint32_t i = cgroups->count; i > 0; i--)
		if (cgroups->row[i - 1].id == id)
			return i - 1;
	return NO_SLOT;
}

static uint64_t inode_of(const struct cgroups *cgroups, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	if (snprintf(full, sizeof(full), "%s%s", cgroups->root, path) >= (int)sizeof(full) ||
	    stat(full, &st) || !S_ISDIR(st.st_mode))
		return 0;
	return st.st_ino;
}

/* cgroups(7): lines are HIERARCHY:CONTROLLERS:PATH; version 2 is "0::PATH". */
static char *path_of_process(const struct cgroups *cgroups, pid_t pid)
{
	char file[64], *line = NULL, *path = NULL;
	size_t capacity = 0;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	f = fopen(file, "re");
	while (f && !path && getline(&line, &capacity, f) > 0) {
		char *controllers = strchr(line, ':');
		char *name = controllers ? strchr(++controllers, ':') : NULL;

		if (!name)
			continue;
		*name++ = '\0';
		name[strcspn(name, "\n")] = '\0';
		if (cgroups->version1 ? listed(controllers, "cpu") : !*controllers)
			path = strdup(name);
	}
	free(line);
	if (f)
		fclose(f);
	return path;
}

/*
 * Finds the group with inode @id below @path, which has @length bytes and room for
 * PATH_MAX. Visits only directories: each group has dozens of files.
 */
static bool search(char *path, size_t length, uint64_t id, unsigned int depth)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	bool found = false;

	while (directory && !found && (entry = readdir(directory))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    length + strlen(entry->d_name) + 2 > PATH_MAX)
			continue;
		sprintf(path + length, "/%s", entry->d_name);
		found = entry->d_ino == id || (depth && search(path, strlen(path), id, depth - 1));
	}
	if (directory)
		closedir(directory);
	return found;
}

/* Searches all groups; for a group whose process is already gone. */
static char *path_of_inode(const struct cgroups *cgroups, uint64_t id)
{
	char path[PATH_MAX];
	size_t length = strlen(cgroups->root);

	if (inode_of(cgroups, "/") == id)
		return strdup("/");
	memcpy(path, cgroups->root, length + 1);
	return search(path, length, id, DEPTH_MAX) ? strdup(path + length) : NULL;
}

static char *look_up(const struct cgroups *cgroups, uint64_t id, pid_t pid)
{
	char *path;

	if (!cgroups->root[0])
		return NULL;
	path = path_of_process(cgroups, pid);
	/* The process may have moved, or the path may belong to another cgroup namespace. */
	if (path && inode_of(cgroups, path) == id)
		return path;
	free(path);
	return path_of_inode(cgroups, id);
}

/* Takes ownership of @path. */
static uint32_t add(struct cgroups *cgroups, uint64_t id, char *path)
{
	struct cgroup *row;

	if (cgroups->count == CGROUPS_MAX || !path) {
		free(path);
		return NO_SLOT;
	}
	row = &cgroups->row[cgroups->count];
	*row = (struct cgroup){ .id = id, .path = path };
	return cgroups->count++;
}

/* Returns the parent of a group, which it adds if necessary; NO_SLOT for the root, whose quota is the machine. */
static uint32_t around(struct cgroups *cgroups, uint32_t slot)
{
	char *path = strdup(cgroups->row[slot].path), *end = path ? strrchr(path, '/') : NULL;
	uint64_t id;
	uint32_t found;

	if (!end || end == path) {
		free(path);
		return NO_SLOT;
	}
	*end = '\0';
	id = inode_of(cgroups, path);
	found = id ? find(cgroups, id) : NO_SLOT;
	if (!id || found != NO_SLOT) {
		free(path);
		return found;
	}
	return add(cgroups, id, path);
}

static void watch(struct cgroups *cgroups, uint32_t slot)
{
	while (slot != NO_SLOT && !cgroups->row[slot].watched &&
	       cgroups->watched < CGROUPS_WATCHED_MAX) {
		const char *path = cgroups->row[slot].path;

		if (!*path || !strcmp(path, "/"))
			break;
		cgroups->row[slot].watched = true;
		cgroups->watched++;
		slot = around(cgroups, slot);
	}
}

static struct item *pack(Profbpf__Packet__Kind kind, const ProtobufCMessage *message, bool repeated)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	struct item *item = item_new(ITEM_BODY, size ? size : 1);

	if (!item)
		return NULL;
	item->body = kind;
	item->repeated = repeated;
	item->size = protobuf_c_message_pack(message, item->data);
	return item;
}

static void set_names(const struct cgroups *cgroups, const char *path, struct container_names *names,
		      Profbpf__Cgroup *row)
{
	struct container_id id;

	if (cgroups->names_fd < 0 || !container_id_parse(path, &id) || !id.container[0] ||
	    !container_names_read(cgroups->names_fd, id.container, names))
		return;
	row->container_name = names->container;
	row->image = names->image;
	row->pod_name = names->pod;
	row->pod_namespace = names->pod_namespace;
}

static struct item *tell(struct cgroups *cgroups)
{
	Profbpf__Cgroups m = PROFBPF__CGROUPS__INIT;
	uint32_t count = cgroups->count - cgroups->told;
	Profbpf__Cgroup *rows, **pointers;
	struct container_names *names;
	struct item *item = NULL;

	if (!count)
		return NULL;
	rows = calloc(count, sizeof(*rows));
	pointers = calloc(count, sizeof(Profbpf__Cgroup *));
	names = calloc(count, sizeof(*names));
	for (uint32_t i = 0; rows && pointers && names && i < count; i++) {
		const struct cgroup *row = &cgroups->row[cgroups->told + i];

		profbpf__cgroup__init(&rows[i]);
		rows[i].id = row->id;
		rows[i].path = row->path;
		rows[i].version1 = cgroups->version1;
		set_names(cgroups, row->path, &names[i], &rows[i]);
		pointers[i] = &rows[i];
	}
	m.n_cgroup = count;
	m.cgroup = pointers;
	if (rows && pointers && names)
		item = pack(PROFBPF__PACKET__KIND__CGROUPS, &m.base, true);
	if (item)
		cgroups->told = cgroups->count;
	free(rows);
	free(pointers);
	free(names);
	return item;
}

struct item *cgroups_watch(struct cgroups *cgroups, pid_t pid)
{
	char *path = cgroups->root[0] ? path_of_process(cgroups, pid) : NULL;
	uint64_t id = path ? inode_of(cgroups, path) : 0;
	bool more;

	free(path);
	return cgroups_note(cgroups, id, pid, true, &more);
}

struct item *cgroups_note(struct cgroups *cgroups, uint64_t id, pid_t pid, bool target, bool *more)
{
	uint32_t watched = cgroups->watched;
	uint32_t slot = id ? find(cgroups, id) : NO_SLOT;

	*more = false;
	if (!id)
		return NULL;
	if (slot == NO_SLOT) {
		char *path = look_up(cgroups, id, pid);

		slot = add(cgroups, id, path ? path : strdup(""));
	}
	if (target && slot != NO_SLOT)
		watch(cgroups, slot);
	*more = cgroups->watched > watched;
	return tell(cgroups);
}

/* Reads one of a group's files; returns false if that fails. */
static bool read_file(int directory, const char *name, char text[FILE_MAX])
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, FILE_MAX - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool read_number(int directory, const char *name, long long *value)
{
	char text[FILE_MAX];

	return read_file(directory, name, text) && sscanf(text, "%lld", value) == 1;
}

/* Finds the value of @name in lines of NAME VALUE. */
static bool field(const char *text, const char *name, uint64_t *value)
{
	size_t length = strlen(name);

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p != '\0')
		if (!strncmp(p, name, length) && p[length] == ' ')
			return sscanf(p + length, "%lu", value) == 1;
	return false;
}

static void read_version1(int directory, struct figures *f)
{
	long long quota, period, usage, user, system;
	char text[FILE_MAX];

	if (read_number(directory, "cpu.cfs_quota_us", &quota) &&
	    read_number(directory, "cpu.cfs_period_us", &period)) {
		f->flags |= PROFBPF__CGROUP_STATS__FLAG__QUOTA;
		f->quota_ns = quota > 0 ? (uint64_t)quota * 1000 : 0;
		f->period_ns = (uint64_t)period * 1000;
	}
	if (read_file(directory, "cpu.stat", text) && field(text, "nr_periods", &f->periods) &&
	    field(text, "nr_throttled", &f->throttled_periods) &&
	    field(text, "throttled_time", &f->throttled_ns))
		f->flags |= PROFBPF__CGROUP_STATS__FLAG__THROTTLING;
	if (read_number(directory, "cpuacct.usage", &usage)) {
		f->flags |= PROFBPF__CGROUP_STATS__FLAG__USAGE;
		f->usage_ns = (uint64_t)usage;
	}
	if (read_number(directory, "cpuacct.usage_user", &user) &&
	    read_number(directory, "cpuacct.usage_sys", &system)) {
		f->flags |= PROFBPF__CGROUP_STATS__FLAG__SPLIT;
		f->user_ns = (uint64_t)user;
		f->system_ns = (uint64_t)system;
	}
}

/* The files have microseconds, @f has nanoseconds. */
static void read_version2(int directory, struct figures *f)
{
	char text[FILE_MAX], quota[32];
	unsigned long period;

	if (read_file(directory, "cpu.max", text) &&
	    sscanf(text, "%31s %lu", quota, &period) == 2 &&
	    (!strcmp(quota, "max") || strspn(quota, "0123456789") == strlen(quota))) {
		f->flags |= PROFBPF__CGROUP_STATS__FLAG__QUOTA;
		f->quota_ns = strtoull(quota, NULL, 10) * 1000; /* "max" = 0 */
		f->period_ns = period * 1000;
	}
	if (!read_file(directory, "cpu.stat", text))
		return;
	if (field(text, "usage_usec", &f->usage_ns))
		f->flags |= PROFBPF__CGROUP_STATS__FLAG__USAGE;
	if (field(text, "user_usec", &f->user_ns) && field(text, "system_usec", &f->system_ns))
		f->flags |= PROFBPF__CGROUP_STATS__FLAG__SPLIT;
	if (field(text, "nr_periods", &f->periods) &&
	    field(text, "nr_throttled", &f->throttled_periods) &&
	    field(text, "throttled_usec", &f->throttled_ns))
		f->flags |= PROFBPF__CGROUP_STATS__FLAG__THROTTLING;
	f->usage_ns *= 1000;
	f->user_ns *= 1000;
	f->system_ns *= 1000;
	f->throttled_ns *= 1000;
}

static bool read_figures(const struct cgroups *cgroups, const struct cgroup *row, struct figures *f)
{
	char full[PATH_MAX];
	int directory;

	*f = (struct figures){ 0 };
	if (snprintf(full, sizeof(full), "%s%s", cgroups->root, row->path) >= (int)sizeof(full))
		return false;
	directory = open(full, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return false;
	if (cgroups->version1)
		read_version1(directory, f);
	else
		read_version2(directory, f);
	close(directory);
	return f->flags != 0;
}

struct columns {
	struct column_s64 ts;
	struct column_u32 flags;
	struct column_u64 u64[9];
};

static void push(struct columns *c, uint64_t ts_ns, uint64_t id, const struct figures *f)
{
	const uint64_t values[] = {
		id,	     f->quota_ns,	   f->period_ns,
		f->periods,  f->throttled_periods, f->throttled_ns,
		f->usage_ns, f->user_ns,	   f->system_ns,
	};

	column_s64_push_delta(&c->ts, (int64_t)ts_ns);
	column_u32_push(&c->flags, f->flags);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		column_u64_push(&c->u64[i], values[i]);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

struct item *cgroups_read(struct cgroups *cgroups)
{
	Profbpf__CgroupStats m = PROFBPF__CGROUP_STATS__INIT;
	struct columns c = { 0 };
	struct item *item = NULL;

	for (uint32_t i = 0; i < cgroups->count && cgroups->watched; i++) {
		struct figures f;

		if (cgroups->row[i].watched && read_figures(cgroups, &cgroups->row[i], &f))
			push(&c, now_ns(), cgroups->row[i].id, &f);
	}
	COLUMN_EXPORT_ALWAYS(&c.ts, &m, ts_ns);
	COLUMN_EXPORT(&c.flags, &m, flags);
	COLUMN_EXPORT(&c.u64[0], &m, cgroup);
	COLUMN_EXPORT(&c.u64[1], &m, quota_ns);
	COLUMN_EXPORT(&c.u64[2], &m, period_ns);
	COLUMN_EXPORT(&c.u64[3], &m, periods);
	COLUMN_EXPORT(&c.u64[4], &m, throttled_periods);
	COLUMN_EXPORT(&c.u64[5], &m, throttled_ns);
	COLUMN_EXPORT(&c.u64[6], &m, usage_ns);
	COLUMN_EXPORT(&c.u64[7], &m, user_ns);
	COLUMN_EXPORT(&c.u64[8], &m, system_ns);
	if (c.ts.count)
		item = pack(PROFBPF__PACKET__KIND__CGROUP_STATS, &m.base, false);
	column_s64_free(&c.ts);
	column_u32_free(&c.flags);
	for (size_t i = 0; i < sizeof(c.u64) / sizeof(c.u64[0]); i++)
		column_u64_free(&c.u64[i]);
	return item;
}
