/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quotas.h - limits on an ordinary user's sessions.
 *
 * They do not apply to root and others who may do everything. Each limit has an option of profbpfd, by
 * which the administrator changes it; messages name that option.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_QUOTAS_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_QUOTAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct quotas {
	uint64_t sessions; /* simultaneous sessions of a user */
	uint64_t
		memory_bytes; /* all sessions of a user: rings, data waiting to be written, data kept before a step */
	uint64_t processes; /* targets of a session, including processes that its targets start */
	uint64_t functions; /* probed functions of a session */
	uint64_t catalog_bytes; /* size of a user's own catalogs in a request */
};

#define QUOTAS_DEFAULT                                \
	((struct quotas){ .sessions = 4,              \
			  .memory_bytes = 1ull << 30, \
			  .processes = 256,           \
			  .functions = 16384,         \
			  .catalog_bytes = 512u << 10 })

/* The resources that a user has already. */
struct quota_use {
	uint64_t sessions;
	uint64_t memory_bytes;
};

struct quota_wish {
	uint64_t memory_bytes;
	uint64_t processes; /* processes requested by id */
	uint64_t catalog_bytes;
};

/*
 * quotas_set - changes the limit of an option
 *
 * @option is its name without dashes ("user-sessions"). Returns 0; -ENOENT if there is no such
 * option; -EINVAL with a message that quotes @value in @error.
 */
int quotas_set(struct quotas *quotas, const char *option, const char *value, char *error,
	       size_t error_size);

/*
 * quotas_check - may a user who has @use have a session that wants @wish?
 *
 * Returns 0, or -EDQUOT and a message for the user: the limit, its value, the remedy.
 */
int quotas_check(const struct quotas *quotas, const struct quota_use *use,
		 const struct quota_wish *wish, char *error, size_t error_size);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_QUOTAS_H */
