/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/accelerator_users.h"

#include <dirent.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/host/open_devices.h"
#include "lib/elf/process_maps.h"

#define ROUND_NS 250000000ull
#define LOOK_FIRST_NS 500000000ull /* pause after the first check; doubles each time */
#define LOOK_LAST_NS 30000000000ull
#define DIRTY_MAX 4096 /* processes that have mapped code since the last round; if there are more, all are checked */

/* Device nodes of accelerators. */
static const char *const devices[] = {
	"/dev/nvidia[0-9]*", "/dev/nvidia-uvm", "/dev/davinci[0-9]*", "/dev/davinci_manager", "/dev/devmm_svm",
	"/dev/hisi_hdc", "/dev/kfd", "/dev/dri/renderD*", "/dev/accel/accel*", "/dev/mthreads*", "/dev/mxcd", "/dev/cambricon*",
};

struct known {
	pid_t pid;
	uint64_t started; /* 0: not checked yet */
	uint64_t next_ns, wait_ns;
	bool found;
	bool seen; /* in this round */
};

struct accelerator_users {
	const struct user_rules *rules; /* used only by the thread */
	const char **libraries; /* globs from the catalogs */
	size_t library_count;
	struct map_events *maps;
	pthread_t thread;
	int event_fd;

	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t wake;
	bool ending;
	const struct user_rules *new_rules; /* rules from the next round on; NULL: no change */
	uint64_t again_ns; /* time to report all processes again; 0 = never */
	struct found_process *found;
	size_t found_count;

	/* Used only by the thread. */
	struct known *known; /* sorted by pid */
	size_t known_count;
	pid_t dirty[DIRTY_MAX];
	size_t dirty_count;
	bool all_dirty;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- Recognition */

static bool has_launches(const struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->function_count; i++)
		if (catalog->functions[i].kind == PROFBPF__FUNCTION__KIND__LAUNCH)
			return true;
	return false;
}

static int collect_libraries(struct accelerator_users *users, const struct catalogs *catalogs)
{
	size_t room = 1;

	for (size_t i = 0; i < catalogs_count(catalogs); i++)
		room += catalogs_get(catalogs, i)->library_count;
	users->libraries = calloc(room, sizeof(*users->libraries));
	for (size_t i = 0; users->libraries && i < catalogs_count(catalogs); i++) {
		const struct catalog *catalog = catalogs_get(catalogs, i);

		for (size_t k = 0; k < catalog->library_count && has_launches(catalog); k++)
			users->libraries[users->library_count++] = catalog->libraries[k];
	}
	return users->libraries ? 0 : -1;
}

static bool maps_runtime(const struct accelerator_users *users, pid_t pid)
{
	struct process_maps maps;
	bool found = false;

	if (process_maps_read(pid, &maps))
		return false;
	for (size_t i = 0; i < maps.count && !found; i++) {
		const char *slash = strrchr(maps.map[i].path, '/');
		const char *name = slash ? slash + 1 : maps.map[i].path;

		for (size_t k = 0; k < users->library_count && !found; k++)
			found = !fnmatch(users->libraries[k], name, 0);
	}
	process_maps_free(&maps);
	return found;
}

static bool is_accelerator(const char *name)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (!fnmatch(devices[i], name, FNM_PATHNAME))
			return true;
	return false;
}

static bool opened_device(pid_t pid)
{
	char name[OPEN_DEVICE_NAME_MAX];

	return open_devices_find(pid, is_accelerator, name);
}

/* Lines have the form "ID:CONTROLLERS:PATH". */
static bool is_in_group(pid_t pid, const struct user_rule *rule)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f && !found && getline(&line, &capacity, f) > 0) {
		const char *colon = strchr(line, ':');
		const char *at = colon ? strchr(colon + 1, ':') : NULL;

		line[strcspn(line, "\n")] = '\0';
		found = at && user_rule_wants_group(rule, at + 1);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

static bool is_wanted(const struct accelerator_users *users, const struct process_facts *facts)
{
	if (!users->rules->count)
		return maps_runtime(users, facts->pid) || opened_device(facts->pid);
	for (size_t i = 0; i < users->rules->count; i++) {
		const struct user_rule *rule = &users->rules->rule[i];

		switch (rule->kind) {
		case USER_OF_ACCELERATOR:
			if (maps_runtime(users, facts->pid) || opened_device(facts->pid))
				return true;
			break;
		case USER_PID:
			if (rule->pid == facts->pid)
				return true;
			break;
		case USER_UID:
			if (rule->uid == facts->real)
				return true;
			break;
		case USER_CGROUP:
		case USER_UNIT:
		case USER_POD:
			if (is_in_group(facts->pid, rule))
				return true;
			break;
		}
	}
	return false;
}

/* ---- Rounds */

static void tell(struct accelerator_users *users, const struct process_facts *facts)
{
	bool ordinary = facts->effective && process_owned_by(facts, facts->effective, facts->effective_group);
	struct found_process *rows;
	uint64_t one = 1;

	pthread_mutex_lock(&users->lock);
	rows = realloc(users->found, (users->found_count + 1) * sizeof(*rows));
	if (rows) {
		rows[users->found_count++] = (struct found_process){ .pid = facts->pid,
								     .started = facts->started,
								     .owner = ordinary ? facts->effective :
											 (uid_t)-1,
								     .group = facts->effective_group };
		users->found = rows;
	}
	pthread_mutex_unlock(&users->lock);
	if (rows && write(users->event_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the control loop is awake */
}

static void look_at(struct accelerator_users *users, struct known *known, uint64_t now)
{
	struct process_facts facts;
	char error[256];

	known->wait_ns = known->wait_ns ? 2 * known->wait_ns : LOOK_FIRST_NS;
	if (known->wait_ns > LOOK_LAST_NS)
		known->wait_ns = LOOK_LAST_NS;
	known->next_ns = now + known->wait_ns;
	if (process_facts_read(known->pid, &facts))
		return;
	if (known->started && known->started != facts.started)
		*known = (struct known){ .pid = known->pid, .seen = true, .next_ns = now + LOOK_FIRST_NS };
	known->started = facts.started;
	if (known->found || process_check(known->pid, 0, &facts, error, sizeof(error)) || !is_wanted(users, &facts))
		return;
	known->found = true;
	tell(users, &facts);
}

static int by_pid(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct known *find(struct accelerator_users *users, size_t count, pid_t pid)
{
	struct known key = { .pid = pid };

	return count ? bsearch(&key, users->known, count, sizeof(key), by_pid) : NULL;
}

/* Updates the list of processes: adds new ones, removes ended ones. */
static void list_processes(struct accelerator_users *users)
{
	size_t before = users->known_count, kept = 0;
	struct dirent *entry;
	DIR *folder = opendir("/proc");

	while (folder && (entry = readdir(folder))) {
		pid_t pid = (pid_t)atoi(entry->d_name);
		struct known *known = pid > 0 ? find(users, before, pid) : NULL, *larger;

		if (known)
			known->seen = true;
		if (known || pid <= 0 || pid == getpid())
			continue;
		larger = realloc(users->known, (users->known_count + 1) * sizeof(*larger));
		if (!larger)
			break;
		users->known = larger;
		users->known[users->known_count++] = (struct known){ .pid = pid, .seen = true };
	}
	if (folder)
		closedir(folder);
	for (size_t i = 0; i < users->known_count; i++) {
		if (!users->known[i].seen)
			continue;
		users->known[kept] = users->known[i];
		users->known[kept++].seen = false;
	}
	users->known_count = kept;
	if (kept)
		qsort(users->known, kept, sizeof(*users->known), by_pid);
}

static bool any_pid(void *context, pid_t pid)
{
	(void)context;
	return pid > 0;
}

static void has_mapped(void *context, pid_t pid, uint64_t ts_ns, bool of_file)
{
	struct accelerator_users *users = context;

	(void)ts_ns;
	if (!of_file || users->all_dirty)
		return;
	for (size_t i = users->dirty_count; i > 0 && i + 16 > users->dirty_count; i--)
		if (users->dirty[i - 1] == pid)
			return;
	if (users->dirty_count == DIRTY_MAX)
		users->all_dirty = true;
	else
		users->dirty[users->dirty_count++] = pid;
}

static void missed_some(void *context)
{
	struct accelerator_users *users = context;

	users->all_dirty = true;
}

static void mark_dirty(struct accelerator_users *users)
{
	if (users->maps)
		map_events_read(users->maps);
	for (size_t i = 0; i < users->known_count && users->all_dirty; i++)
		users->known[i].next_ns = 0;
	for (size_t i = 0; i < users->dirty_count; i++) {
		struct known *known = find(users, users->known_count, users->dirty[i]);

		if (known && !known->found)
			known->next_ns = 0;
	}
	users->dirty_count = 0;
	users->all_dirty = false;
}

/* Takes new rules, if any, and checks all processes again. */
static void take_rules(struct accelerator_users *users)
{
	const struct user_rules *rules;

	pthread_mutex_lock(&users->lock);
	rules = users->new_rules;
	users->new_rules = NULL;
	pthread_mutex_unlock(&users->lock);
	if (!rules)
		return;
	users->rules = rules;
	for (size_t i = 0; i < users->known_count; i++)
		users->known[i].next_ns = 0;
}

/* After the end of a session, its processes are reported again. */
static void forget_found(struct accelerator_users *users, uint64_t now)
{
	bool again;

	pthread_mutex_lock(&users->lock);
	again = users->again_ns && users->again_ns <= now;
	if (again)
		users->again_ns = 0;
	pthread_mutex_unlock(&users->lock);
	for (size_t i = 0; again && i < users->known_count; i++) {
		if (users->known[i].found)
			users->known[i].next_ns = 0;
		users->known[i].found = false;
	}
}

static void look_round(struct accelerator_users *users)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	take_rules(users);
	forget_found(users, now);
	list_processes(users);
	mark_dirty(users);
	for (size_t i = 0; i < users->known_count; i++)
		if (users->known[i].next_ns <= now)
			look_at(users, &users->known[i], now);
}

static bool wait_round(struct accelerator_users *users)
{
	uint64_t until = now_ns(CLOCK_REALTIME) + ROUND_NS;
	struct timespec ts = { .tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000) };
	bool ending;

	pthread_mutex_lock(&users->lock);
	if (!users->ending)
		pthread_cond_timedwait(&users->wake, &users->lock, &ts);
	ending = users->ending;
	pthread_mutex_unlock(&users->lock);
	return !ending;
}

static void *run(void *context)
{
	struct accelerator_users *users = context;

	pthread_setname_np(pthread_self(), "profbpfd/find");
	do
		look_round(users);
	while (wait_round(users));
	return NULL;
}

struct accelerator_users *accelerator_users_new(const struct user_rules *rules, const struct catalogs *catalogs,
						struct map_watch *watch)
{
	struct accelerator_users *users = calloc(1, sizeof(*users));
	struct map_events_handler handler = { any_pid, has_mapped, missed_some, users };

	if (!users)
		return NULL;
	users->rules = rules;
	pthread_mutex_init(&users->lock, NULL);
	pthread_cond_init(&users->wake, NULL);
	users->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* Without map events processes are found a little later. */
	users->maps = watch ? map_events_new(watch, &handler) : NULL;
	if (users->event_fd < 0 || collect_libraries(users, catalogs) ||
	    pthread_create(&users->thread, NULL, run, users)) {
		map_events_free(users->maps);
		if (users->event_fd >= 0)
			close(users->event_fd);
		free(users->libraries);
		free(users);
		return NULL;
	}
	return users;
}

int accelerator_users_fd(const struct accelerator_users *users)
{
	return users->event_fd;
}

bool accelerator_users_next(struct accelerator_users *users, struct found_process *process)
{
	uint64_t value;
	bool any;

	pthread_mutex_lock(&users->lock);
	any = users->found_count > 0;
	if (any) {
		*process = users->found[0];
		memmove(users->found, users->found + 1, --users->found_count * sizeof(*users->found));
	} else if (read(users->event_fd, &value, sizeof(value)) < 0) {
		any = false; /* the descriptor was not readable */
	}
	pthread_mutex_unlock(&users->lock);
	return any;
}

void accelerator_users_again(struct accelerator_users *users, uint64_t after_ns)
{
	pthread_mutex_lock(&users->lock);
	users->again_ns = now_ns(CLOCK_MONOTONIC) + after_ns;
	pthread_mutex_unlock(&users->lock);
}

void accelerator_users_follow(struct accelerator_users *users, const struct user_rules *rules)
{
	pthread_mutex_lock(&users->lock);
	users->new_rules = rules;
	pthread_cond_signal(&users->wake);
	pthread_mutex_unlock(&users->lock);
}

void accelerator_users_free(struct accelerator_users *users)
{
	if (!users)
		return;
	pthread_mutex_lock(&users->lock);
	users->ending = true;
	pthread_cond_signal(&users->wake);
	pthread_mutex_unlock(&users->lock);
	pthread_join(users->thread, NULL);
	map_events_free(users->maps);
	close(users->event_fd);
	pthread_cond_destroy(&users->wake);
	pthread_mutex_destroy(&users->lock);
	free(users->libraries);
	free(users->known);
	free(users->found);
	free(users);
}
