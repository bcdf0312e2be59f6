/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/flight_recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/catalog/catalog_set.h"
#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/control/obstacles.h"
#include "daemon/profbpfd/control/services.h"

#define BUDGET 0.01 /* the part of a CPU that recording may cost */
#define INTERVAL_NS 1000000000ull
#define AGAIN_NS 10000000000ull /* pause after a session has failed */
#define DESCRIPTORS_NEEDED 16 /* for the start; a session takes some hundred more */
#define PLACES_PER_USER 2 /* for an ordinary user: each primary group has its own session */

/* The processes of root, or of an ordinary user. */
struct group {
	struct group *next;
	uid_t owner; /* (uid_t)-1: root and all processes that are not an ordinary user's */
	gid_t gid;
	uint32_t session; /* 0 = the session has ended */
	struct flight *flight;
};

struct flight_recorder {
	struct services *services;
	const struct flight_recorder_options *options;
	struct flight_store *store;
	struct catalogs *catalogs;
	struct accelerator_users *users;
	struct group *groups;
	size_t group_count;
	bool crowded; /* the message about too many users was printed */
};

/* Checked first: without descriptors the check for obstacles fails, too, as if the kernel could not trace, for good. */
static bool has_descriptors(void)
{
	int fd[DESCRIPTORS_NEEDED], count = 0;

	while (count < DESCRIPTORS_NEEDED && (fd[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
		count++;
	for (int i = 0; i < count; i++)
		close(fd[i]);
	return count == DESCRIPTORS_NEEDED;
}

int flight_recorder_new(struct services *services, const struct flight_recorder_options *options,
			struct flight_recorder **made, char *error, size_t error_size)
{
	struct flight_recorder *recorder;
	struct words problems = { 0 };

	*made = NULL;
	snprintf(error, error_size, "%s", RECORDER_NO_ROOM);
	if (!has_descriptors())
		return -ENOMEM;
	obstacles_text(&services->features, error, error_size);
	if (*error)
		return -ENOTSUP;
	snprintf(error, error_size, "%s", RECORDER_NO_ROOM);
	recorder = calloc(1, sizeof(*recorder));
	if (!recorder)
		return -ENOMEM;
	recorder->services = services;
	recorder->options = options;
	recorder->store = flight_store_new(options->memory_bytes, options->window_ns);
	recorder->catalogs = catalog_set_load(services->catalog_directories, services->catalog_directory_count, &problems);
	words_free(&problems);
	if (recorder->store && recorder->catalogs)
		recorder->users = accelerator_users_new(&options->rules, recorder->catalogs, services->map_watch);
	if (!recorder->users) {
		flight_recorder_free(recorder);
		return -ENOMEM;
	}
	*made = recorder;
	return 0;
}

int flight_recorder_fd(const struct flight_recorder *recorder)
{
	return accelerator_users_fd(recorder->users);
}

uint64_t flight_recorder_window(const struct flight_recorder *recorder)
{
	return recorder->options->window_ns;
}

uint64_t flight_recorder_memory(const struct flight_recorder *recorder)
{
	return recorder->options->memory_bytes;
}

/* ---- Sessions */

static struct session_request make_request(const struct flight_recorder *recorder, const struct group *group)
{
	struct session_request request = {
		.follow = true,
		.owner = group->owner,
		.owner_group = group->gid,
		.interval_ns = INTERVAL_NS,
		.topics = TOPICS_DEFAULT,
		.ioctls_later = true,
		.buffer_bytes = CAPTURE_BUFFER_FURTHER,
		.stack_block_ns = STACK_BLOCK_DEFAULT_NS,
		.stack_rate = STACK_RATE_DEFAULT,
		.budget = BUDGET,
		.output = -1,
		.flight = group->flight,
		.triggers = recorder->services->triggers,
	};

	if (group->owner != (uid_t)-1) {
		request.processes_max = recorder->services->quotas.processes;
		request.functions_max = recorder->services->quotas.functions;
	}
	services_lend(recorder->services, &request);
	request.keep_figures = true; /* for triggers by metrics, which may be added later */
	return request;
}

static void begin_session(struct flight_recorder *recorder, struct group *group)
{
	struct services *services = recorder->services;
	struct roster_entry *entry = calloc(1, sizeof(*entry));
	struct words problems = { 0 };
	struct session_request request;

	/* A new flight, because the previous session's counts must not be added to this one's. */
	flight_let_go(group->flight);
	group->flight = flight_new(recorder->store);
	if (!entry || !group->flight) {
		free(entry);
		return;
	}
	entry->catalogs = catalog_set_load(services->catalog_directories, services->catalog_directory_count, &problems);
	words_free(&problems);
	entry->id = roster_new_id(&services->roster);
	entry->owner = group->owner == (uid_t)-1 ? 0 : group->owner;
	entry->of_recorder = true;
	entry->output_name = strdup("flight recorder");
	request = make_request(recorder, group);
	entry->memory_bytes = session_memory(request.buffer_bytes, false);
	entry->session = entry->catalogs && entry->output_name ?
				 session_new(entry->id, &request, entry->catalogs, services->roster.event_fd) :
				 NULL;
	if (!entry->session) {
		roster_entry_free(entry);
		return;
	}
	group->session = entry->id;
	roster_add(&services->roster, entry);
}

/* Drops groups without a session, all or @owner's; their data in memory are not available any more. */
static void forget_ended(struct flight_recorder *recorder, bool all, uid_t owner)
{
	struct group **link = &recorder->groups;

	while (*link) {
		struct group *group = *link;

		if (group->session || (!all && group->owner != owner)) {
			link = &group->next;
			continue;
		}
		*link = group->next;
		recorder->group_count--;
		flight_let_go(group->flight);
		free(group);
	}
}

static size_t count_groups(const struct flight_recorder *recorder, uid_t owner)
{
	size_t count = 0;

	for (const struct group *g = recorder->groups; g; g = g->next)
		count += g->owner == owner;
	return count;
}

/* Keeps a place for root's group, and limits each user's places, so that a user cannot take all by changing groups. */
static bool has_place(struct flight_recorder *recorder, uid_t owner)
{
	size_t most = RECORDER_USERS_MAX;

	if (owner != (uid_t)-1 && !count_groups(recorder, (uid_t)-1))
		most--;
	if (count_groups(recorder, owner) >= PLACES_PER_USER)
		forget_ended(recorder, false, owner);
	if (count_groups(recorder, owner) >= PLACES_PER_USER)
		return false;
	if (recorder->group_count >= most)
		forget_ended(recorder, true, owner);
	return recorder->group_count < most;
}

static struct group *find_group(struct flight_recorder *recorder, const struct found_process *process)
{
	gid_t gid = process->owner == (uid_t)-1 ? 0 : process->group;
	struct group *group = recorder->groups;

	while (group && (group->owner != process->owner || group->gid != gid))
		group = group->next;
	if (group)
		return group;
	if (!has_place(recorder, process->owner)) {
		if (!recorder->crowded)
			fprintf(stderr, "profbpfd: flight recorder: the limit of %d users, or of "
					"%d groups of one user, is reached: processes of user %u "
					"with group %u, and of further ones, are not recorded\n",
				RECORDER_USERS_MAX - 1, PLACES_PER_USER, (unsigned int)process->owner, (unsigned int)gid);
		recorder->crowded = true;
		return NULL;
	}
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	group->owner = process->owner;
	group->gid = gid;
	group->next = recorder->groups;
	recorder->groups = group;
	recorder->group_count++;
	return group;
}

static struct roster_entry *session_of(const struct flight_recorder *recorder, const struct group *group)
{
	return group->session ? roster_find(&recorder->services->roster, group->session) : NULL;
}

void flight_recorder_read(struct flight_recorder *recorder)
{
	struct found_process process;

	while (accelerator_users_next(recorder->users, &process)) {
		struct group *group = recorder->services->stopping ? NULL : find_group(recorder, &process);
		struct roster_entry *entry;

		if (!group)
			continue;
		if (!session_of(recorder, group))
			begin_session(recorder, group);
		entry = session_of(recorder, group);
		if (entry)
			session_add_process(entry->session, process.pid, process.started);
	}
}

void flight_recorder_check(struct flight_recorder *recorder)
{
	for (struct group *g = recorder->groups; g; g = g->next) {
		if (!g->session || session_of(recorder, g) || recorder->services->stopping)
			continue;
		g->session = 0;
		accelerator_users_again(recorder->users, AGAIN_NS);
	}
}

void flight_recorder_reload(struct flight_recorder *recorder, const struct flight_recorder_options *options)
{
	recorder->options = options;
	flight_store_limit(recorder->store, options->memory_bytes, options->window_ns);
	accelerator_users_follow(recorder->users, &options->rules);
}

/* ---- Snapshots */

struct flight_choice flight_choice_of(const struct peer *peer)
{
	return (struct flight_choice){ .all = peer->trusted, .owner = peer->uid, .group = peer->gid };
}

bool flight_recorder_session(const struct flight_recorder *recorder, uint32_t session, struct flight_choice *choice)
{
	for (const struct group *g = recorder->groups; g; g = g->next) {
		if (!session || g->session != session)
			continue;
		*choice = (struct flight_choice){ .owner = g->owner, .group = g->gid };
		return true;
	}
	return false;
}

static bool is_chosen(const struct group *group, const struct flight_choice *choice)
{
	return group->flight && (choice->all || (group->owner == choice->owner && group->gid == choice->group));
}

size_t flight_recorder_parts(const struct flight_recorder *recorder, const struct flight_choice *choice)
{
	size_t count = 0;

	for (const struct group *g = recorder->groups; g; g = g->next)
		count += is_chosen(g, choice);
	return count;
}

void flight_recorder_ask(struct flight_recorder *recorder, const struct flight_choice *choice,
			 const struct flight_ask *asks)
{
	for (struct group *g = recorder->groups; g; g = g->next) {
		struct roster_entry *entry;

		if (!is_chosen(g, choice))
			continue;
		entry = session_of(recorder, g);
		if (entry)
			session_ask(entry->session, asks);
		else
			asks->take(asks->context, flight_take(g->flight, asks->from_ns, NULL, 0));
		asks++;
	}
}

void flight_recorder_free(struct flight_recorder *recorder)
{
	if (!recorder)
		return;
	accelerator_users_free(recorder->users);
	while (recorder->groups) {
		struct group *next = recorder->groups->next;

		flight_let_go(recorder->groups->flight);
		free(recorder->groups);
		recorder->groups = next;
	}
	flight_store_free(recorder->store);
	if (recorder->catalogs)
		catalogs_free(recorder->catalogs);
	free(recorder);
}
