/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - access control: which user may trace what.
 *
 * Root, the user profbpfd runs as and members of the group profbpf may do
 * everything. Others may trace their own processes, and see and stop their own
 * sessions. A process is someone's own if its real, effective and saved user and group
 * ids are theirs and the kernel lets its owner look at it (it is "dumpable", and has
 * capabilities at most in a user namespace of theirs): process_owned_by(). During a session
 * the BPF programs (bpf/owner.bpf.h) and right.h check it again and again.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_ACCESS_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/common/process_check.h"

#define ACCESS_GROUP "profbpf"

/* The user at the other end of a connection. */
struct peer {
	uid_t uid;
	gid_t gid;
	pid_t pid;
	bool trusted; /* may do everything */
};

/*
 * access_group - the group's id
 *
 * Returns false if this machine has no group profbpf.
 */
bool access_group(gid_t *gid);

/*
 * access_identify - identifies the user at the other end of a connected Unix socket
 *
 * By the credentials that the kernel stored when the connection was made. @group is the trusted
 * group, NULL if there is none. Returns 0 or a negative errno.
 */
int access_identify(int socket, const gid_t *group, struct peer *peer);

/*
 * access_process - may this peer trace this process?
 *
 * Answers for processes that can be traced at all (process_check()). Returns 0
 * or -EPERM with a message for the user in @error.
 */
int access_process(const struct peer *peer, const struct process_facts *facts, char *error,
		   size_t error_size);

/* access_system - may the peer trace the whole machine? Results as for access_process(). */
int access_system(const struct peer *peer, char *error, size_t error_size);

/* access_session - may the peer see and stop a session that user @owner started? */
bool access_session(const struct peer *peer, uid_t owner);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_ACCESS_H */
