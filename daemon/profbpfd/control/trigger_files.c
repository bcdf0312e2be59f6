/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/trigger_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/control/snapshots.h"

#define NAME_BEGINS "profbpf-trigger-" /* files with this prefix may be removed */
#define NAME_ENDS ".pbt"
#define NAME_PART ".part" /* suffix of unfinished files */
#define NAME_ROOM 128

struct trigger_files {
	char *directory;
	uint64_t space;
	unsigned int last; /* number of this daemon's last file */
};

/* A file that is being written. */
struct writing {
	struct services *services;
	uint32_t trigger;
	int folder;
	char *directory; /* its directory, because the settings may change meanwhile */
	char name[NAME_ROOM], part[NAME_ROOM + sizeof(NAME_PART)];
};

const char *trigger_files_directory(const struct trigger_files *files)
{
	return files->directory;
}

uint64_t trigger_files_space(const struct trigger_files *files)
{
	return files->space;
}

int trigger_files_reload(struct trigger_files *files, const char *directory, uint64_t space_bytes)
{
	char *copy = strdup(directory);

	if (!copy)
		return -ENOMEM;
	free(files->directory);
	files->directory = copy;
	files->space = space_bytes;
	return 0;
}

void trigger_files_free(struct trigger_files *files)
{
	if (!files)
		return;
	free(files->directory);
	free(files);
}

static void complain(const struct trigger_event *event, const char *what, int err)
{
	fprintf(stderr, "profbpfd: trigger %u: %s; no snapshot: %s%s%s\n", event->trigger, event->text, what,
		err ? ": " : "", err ? strerror(-err) : "");
}

/* ---- The directory */

static bool is_ours(const char *name, const char *ends)
{
	size_t length = strlen(name), end = strlen(ends);

	return length > end && !strncmp(name, NAME_BEGINS, strlen(NAME_BEGINS)) && !strcmp(name + length - end, ends);
}

static DIR *entries_of(int folder)
{
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = again < 0 ? NULL : fdopendir(again);

	if (!entries && again >= 0)
		close(again);
	return entries;
}

/* Removes an unfinished file unless it is locked: its writer holds a lock. */
static void remove_if_left(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(folder, name, 0);
	close(fd);
}

/* Removes files that a killed daemon left unfinished. */
static void remove_parts(int folder)
{
	DIR *entries = entries_of(folder);
	struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (is_ours(entry->d_name, NAME_ENDS NAME_PART))
			remove_if_left(folder, entry->d_name);
	if (entries)
		closedir(entries);
}

/* Returns the sum of all files' sizes, and in @oldest the oldest file. */
static uint64_t look_through(int folder, char *oldest, size_t size)
{
	DIR *entries = entries_of(folder);
	struct timespec first = { 0 };
	struct dirent *entry;
	uint64_t sum = 0;

	*oldest = '\0';
	while (entries && (entry = readdir(entries))) {
		struct stat st;

		if (!is_ours(entry->d_name, NAME_ENDS) || fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		sum += (uint64_t)st.st_size;
		if (*oldest && (st.st_mtim.tv_sec > first.tv_sec ||
				(st.st_mtim.tv_sec == first.tv_sec && st.st_mtim.tv_nsec >= first.tv_nsec)))
			continue;
		first = st.st_mtim;
		snprintf(oldest, size, "%s", entry->d_name);
	}
	if (entries)
		closedir(entries);
	return sum;
}

static void make_room(const struct trigger_files *files, int folder, uint64_t wanted)
{
	char oldest[256];

	while (look_through(folder, oldest, sizeof(oldest)) + wanted > files->space && *oldest)
		if (unlinkat(folder, oldest, 0))
			break;
}

static int open_folder(const struct trigger_files *files)
{
	int folder;

	if (mkdir(files->directory, 0700) && errno != EEXIST)
		return -errno;
	folder = open(files->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? -errno : folder;
}

struct trigger_files *trigger_files_new(const char *directory, uint64_t space_bytes)
{
	struct trigger_files *files = calloc(1, sizeof(*files));
	int folder;

	if (!files)
		return NULL;
	files->directory = strdup(directory);
	files->space = space_bytes;
	if (!files->directory) {
		free(files);
		return NULL;
	}
	folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		remove_parts(folder);
		close(folder);
	}
	return files;
}

/* ---- A file */

static void let_go(struct writing *w)
{
	if (w->folder >= 0)
		close(w->folder);
	free(w->directory);
	free(w);
}

static void done(void *context, int err)
{
	struct writing *w = context;

	if (!err && renameat(w->folder, w->part, w->folder, w->name))
		err = -errno;
	if (err) {
		unlinkat(w->folder, w->part, 0);
		fprintf(stderr, "profbpfd: trigger %u: writing its snapshot failed: %s\n", w->trigger, strerror(-err));
	} else {
		triggers_wrote(w->services->triggers, w->trigger);
		fprintf(stderr, "profbpfd: trigger %u: wrote %s/%s\n", w->trigger, w->directory, w->name);
	}
	let_go(w);
}

static void name_file(struct trigger_files *files, const struct trigger_event *event, struct writing *w)
{
	time_t now = time(NULL);
	char when[32] = "";
	struct tm local;

	if (localtime_r(&now, &local))
		strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &local);
	snprintf(w->name, sizeof(w->name), NAME_BEGINS "%u-%s-%d-%u" NAME_ENDS, event->trigger, when, (int)event->pid,
		 ++files->last);
	snprintf(w->part, sizeof(w->part), "%s" NAME_PART, w->name);
}

/* Returns the duration of the snapshot; 0 = all kept data. */
static uint64_t wanted_ns(const struct trigger *trigger, const struct trigger_event *event)
{
	struct timespec ts;

	if (trigger->last_ns || !event->from_ns)
		return trigger->last_ns;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec - event->from_ns;
}

void trigger_files_write(struct services *services, const struct trigger *trigger, const struct trigger_event *event)
{
	struct flight_choice choice = { .all = event->of_all,
					.owner = event->owner,
					.group = event->owner == (uid_t)-1 ? 0 : event->group };
	struct trigger_files *files = services->trigger_files;
	struct writing *w = calloc(1, sizeof(*w));
	/* Samples show running threads only; a job that hangs has none, so it gets the stacks of sleeping threads. */
	const struct snapshot_wish wish = { wanted_ns(trigger, event),
					    trigger->kind == TRIGGER_NO_LAUNCH || trigger->kind == TRIGGER_SLOW_STEP,
					    event->pid };
	char reason[TRIGGER_TEXT + sizeof(event->text) + 16];
	int fd, err;

	if (w)
		*w = (struct writing){ .services = services,
				       .trigger = trigger->id,
				       .folder = open_folder(files),
				       .directory = strdup(files->directory) };
	if (!w || !w->directory || w->folder < 0) {
		complain(event, w && w->directory ? files->directory : "out of memory", w && w->directory ? w->folder : 0);
		if (w)
			let_go(w);
		return;
	}
	make_room(files, w->folder, flight_recorder_memory(services->recorder));
	name_file(files, event, w);
	fd = openat(w->folder, w->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* The lock keeps other daemons from removing the unfinished file. */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		complain(event, files->directory, -errno);
		let_go(w);
		return;
	}
	snprintf(reason, sizeof(reason), "trigger %s: %s", trigger->what, event->text);
	fprintf(stderr, "profbpfd: trigger %u: %s\n", event->trigger, event->text);
	err = snapshot_write(services, &choice, &wish, fd, reason, done, w);
	if (err)
		done(w, err);
}
