/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accelerator_users.h - the thread that finds the processes which the flight recorder is to record.
 *
 * By default these are the users of accelerators: who has a device node of one open, or maps a library of a runtime that
 * launches work, by the `library` lines of those catalogs that have functions of kind launch. Else who was
 * asked for: a process, a user's, a cgroup's.
 *
 * A process is looked at when it is new, when it has mapped code, and at intervals that grow with its age, for who
 * opens a device need not map anything.
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

/* Whom to find. */
struct user_rule {
	enum { USER_OF_ACCELERATOR, USER_PID, USER_UID, USER_CGROUP, USER_UNIT, USER_POD } kind;
	pid_t pid;
	uid_t uid;
	char *group; /* USER_CGROUP: its path below the hierarchies' roots; USER_UNIT: with its suffix; USER_POD: its UID */
};

struct user_rules {
	struct user_rule *rule;
	size_t count; /* 0: users of accelerators */
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
 * user_rule_wants_group - does a rule by groups mean what is in the group at @path, below its hierarchy's root?
 *
 * What is in a group is in those around it, too.
 */
bool user_rule_wants_group(const struct user_rule *rule, const char *path);

struct found_process {
	pid_t pid;
	uint64_t started; /* process_facts.started */
	uid_t owner; /* the ordinary user who may look into it; (uid_t)-1: root, and who else may do everything */
	gid_t group; /* that user's */
};

/*
 * accelerator_users_new - begin to look
 *
 * @rules, @catalogs and @watch (NULL: none) must outlive it. NULL without memory, threads or descriptors.
 */
struct accelerator_users *accelerator_users_new(const struct user_rules *rules, const struct catalogs *catalogs,
						struct map_watch *watch);

/* accelerator_users_fd - readable when there is something for accelerator_users_next() */
int accelerator_users_fd(const struct accelerator_users *users);

/* accelerator_users_next - a process that was found, each once; false if there is none (the descriptor is not readable then) */
bool accelerator_users_next(struct accelerator_users *users, struct found_process *process);

/* accelerator_users_again - @after_ns from now tell of all of them once more */
void accelerator_users_again(struct accelerator_users *users, uint64_t after_ns);

/* accelerator_users_follow - look for these from now on, which outlive it; what was found is not told of again */
void accelerator_users_follow(struct accelerator_users *users, const struct user_rules *rules);

/* accelerator_users_free - NULL is fine */
void accelerator_users_free(struct accelerator_users *users);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_ACCELERATOR_USERS_H */
