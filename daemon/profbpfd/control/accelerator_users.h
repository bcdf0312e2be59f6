/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accelerator_users.h - the thread that finds the processes for the flight recorder.
 *
 * By default these are the users of accelerators: processes that have an accelerator's device node open, or map a library
 * of a runtime that launches work (the `library` lines of catalogs with functions of kind launch). Else the
 * processes that the configuration names: by id, by user, by cgroup.
 *
 * A process is checked when it is new, when it has mapped code, and at intervals that grow with its age, because a
 * process can open a device without mapping anything.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_ACCELERATOR_USERS_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_ACCELERATOR_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/catalog/catalog.h"
#include "daemon/profbpfd/probe/map_events.h"

struct accelerator_users;

/* A rule for the processes to find. */
struct user_rule {
	enum { USER_OF_ACCELERATOR, USER_PID, USER_UID, USER_CGROUP, USER_UNIT, USER_POD } kind;
	pid_t pid;
	uid_t uid;
	char *group; /* USER_CGROUP: its path below the hierarchies' roots; USER_UNIT: with its suffix; USER_POD: its UID */
};

struct user_rules {
	struct user_rule *rule;
	size_t count; /* 0: find users of accelerators */
};

/*
 * user_rules_add - "accelerators", "pid=N", "user=NAME" (or a number), "cgroup=PATH", "unit=NAME" (of systemd, without a
 * suffix a service) or "pod=UID" (of Kubernetes)
 *
 * Returns 0, -EINVAL or -ENOMEM with a message that quotes @text in @error. user_rules_free() empties the list.
 */
int user_rules_add(struct user_rules *rules, const char *text, char *error, size_t size);
void user_rules_free(struct user_rules *rules);

/*
 * user_rule_wants_group - does a rule by cgroups include the cgroup at @path, relative to its hierarchy's root?
 *
 * A cgroup's processes also belong to the cgroups around it.
 */
bool user_rule_wants_group(const struct user_rule *rule, const char *path);

struct found_process {
	pid_t pid;
	uint64_t started; /* process_facts.started */
	uid_t owner; /* the ordinary user who may look into it; (uid_t)-1: only users who may do everything */
	gid_t group; /* the owner's primary group */
};

/*
 * accelerator_users_new - starts the search
 *
 * @rules, @catalogs and @watch (NULL: none) must outlive it. Returns NULL without memory, threads or descriptors.
 */
struct accelerator_users *accelerator_users_new(const struct user_rules *rules, const struct catalogs *catalogs,
						struct map_watch *watch);

/* accelerator_users_fd - readable when accelerator_users_next() has processes */
int accelerator_users_fd(const struct accelerator_users *users);

/* accelerator_users_next - the next found process, each once; false if there is none (and resets the descriptor) */
bool accelerator_users_next(struct accelerator_users *users, struct found_process *process);

/* accelerator_users_again - reports all of them again, @after_ns from now */
void accelerator_users_again(struct accelerator_users *users, uint64_t after_ns);

/* accelerator_users_follow - changes the rules, which outlive it; processes found before are not reported again */
void accelerator_users_follow(struct accelerator_users *users, const struct user_rules *rules);

/* accelerator_users_free - accepts NULL */
void accelerator_users_free(struct accelerator_users *users);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_ACCELERATOR_USERS_H */
