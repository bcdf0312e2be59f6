/* SPDX-License-Identifier: Apache-2.0 */
/* user_rules.c - parses the administrator's rules for the processes that the flight recorder records. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profbpfd/control/accelerator_users.h"
#include "lib/base/container_id.h"

/* Parses a decimal number of at most @most, without other characters; 0 or -EINVAL. */
static int read_number(const char *text, unsigned long most, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return *text < '0' || *text > '9' || *end || errno || *number > most ? -EINVAL : 0;
}

static int read_user(const char *name, uid_t *uid)
{
	struct passwd *user = getpwnam(name);
	unsigned long number;

	if (!user && read_number(name, UINT32_MAX - 1, &number))
		return -EINVAL;
	*uid = user ? user->pw_uid : (uid_t)number;
	return 0;
}

/* Has the name the suffix of a unit type with a cgroup? A name may have other dots: "train-2.0" is a service. */
static bool has_suffix(const char *name)
{
	static const char *const SUFFIXES[] = { ".service", ".scope", ".slice", ".socket", ".mount", ".swap" };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(SUFFIXES) / sizeof(*SUFFIXES); i++)
		if (!strcmp(dot, SUFFIXES[i]))
			return true;
	return false;
}

static int read_unit(const char *name, struct user_rule *rule)
{
	if (!*name || strchr(name, '/'))
		return -EINVAL;
	return asprintf(&rule->group, "%s%s", name, has_suffix(name) ? "" : ".service") < 0 ? -ENOMEM : 0;
}

static int read_pod(const char *uid, struct user_rule *rule)
{
	if (strlen(uid) != POD_UID_MAX || strspn(uid, "0123456789abcdef-") != POD_UID_MAX)
		return -EINVAL;
	rule->group = strdup(uid);
	return rule->group ? 0 : -ENOMEM;
}

static int read_rule(const char *text, struct user_rule *rule)
{
	unsigned long number = 0;
	int err = 0;

	if (!strcmp(text, "accelerators")) {
		rule->kind = USER_OF_ACCELERATOR;
	} else if (!strncmp(text, "pid=", 4)) {
		rule->kind = USER_PID;
		err = read_number(text + 4, INT32_MAX, &number);
		rule->pid = (pid_t)number;
	} else if (!strncmp(text, "user=", 5)) {
		rule->kind = USER_UID;
		err = read_user(text + 5, &rule->uid);
	} else if (!strncmp(text, "cgroup=/", 8)) {
		rule->kind = USER_CGROUP;
		rule->group = strdup(text + 7);
		err = rule->group ? 0 : -ENOMEM;
		for (size_t n = err ? 0 : strlen(rule->group); n > 1 && rule->group[n - 1] == '/'; n--)
			rule->group[n - 1] = '\0';
	} else if (!strncmp(text, "unit=", 5)) {
		rule->kind = USER_UNIT;
		err = read_unit(text + 5, rule);
	} else if (!strncmp(text, "pod=", 4)) {
		rule->kind = USER_POD;
		err = read_pod(text + 4, rule);
	} else {
		err = -EINVAL;
	}
	return err;
}

int user_rules_add(struct user_rules *rules, const char *text, char *error, size_t size)
{
	struct user_rule rule = { 0 }, *larger;
	int err = read_rule(text, &rule);

	larger = err ? NULL : realloc(rules->rule, (rules->count + 1) * sizeof(*larger));
	if (!err && !larger)
		err = -ENOMEM;
	if (err) {
		snprintf(error, size,
			 err == -ENOMEM ? "out of memory at '%s'" :
					  "'%s' is not one of accelerators, pid=N, user=NAME, "
					  "cgroup=/PATH, unit=NAME, pod=UID (36 characters), or "
					  "the user does not exist",
			 text);
		free(rule.group);
		return err;
	}
	larger[rules->count++] = rule;
	rules->rule = larger;
	return 0;
}

/* Is @name the name of a group in the path? */
static bool has_part(const char *path, const char *name)
{
	size_t length = strlen(name);

	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == length && !strncmp(path, name, length))
			return true;
		path += part + (path[part] == '/');
	}
	return false;
}

bool user_rule_wants_group(const struct user_rule *rule, const char *path)
{
	size_t length = strlen(rule->group);
	struct container_id id;

	switch (rule->kind) {
	case USER_CGROUP:
		return !strcmp(rule->group, "/") ||
		       (!strncmp(path, rule->group, length) && (path[length] == '/' || !path[length]));
	case USER_UNIT: return has_part(path, rule->group);
	case USER_POD: return container_id_parse(path, &id) && !strcmp(id.pod, rule->group);
	default: return false;
	}
}

void user_rules_free(struct user_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		free(rules->rule[i].group);
	free(rules->rule);
	*rules = (struct user_rules){ 0 };
}
