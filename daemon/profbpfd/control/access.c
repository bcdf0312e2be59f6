/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/access.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define GROUP_TEXT_MAX (1u << 20)

bool access_group(gid_t *gid)
{
	struct group group, *found = NULL;
	size_t size = 1024;
	char *text = NULL;
	int err;

	do {
		char *larger = realloc(text, size);

		if (!larger)
			break;
		text = larger;
		err = getgrnam_r(ACCESS_GROUP, &group, text, size, &found);
		size *= 2;
	} while (err == ERANGE && size <= GROUP_TEXT_MAX);
	if (found)
		*gid = found->gr_gid;
	free(text);
	return found != NULL;
}

/* Checks the peer's supplementary groups; the kernel returns the needed size if the buffer is too small. */
static int is_member(int socket, gid_t group, bool *member)
{
	socklen_t size = 32 * sizeof(gid_t);
	gid_t *groups = malloc(size);

	while (groups && getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size)) {
		gid_t *larger;

		if (errno != ERANGE) {
			free(groups);
			return -errno;
		}
		larger = realloc(groups, size);
		if (!larger)
			free(groups);
		groups = larger;
	}
	if (!groups)
		return -ENOMEM;
	*member = false;
	for (size_t i = 0; i < size / sizeof(gid_t); i++)
		*member |= groups[i] == group;
	free(groups);
	return 0;
}

int access_identify(int socket, const gid_t *group, struct peer *peer)
{
	struct ucred credentials;
	socklen_t size = sizeof(credentials);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size))
		return -errno;
	if (size != sizeof(credentials) || credentials.uid == (uid_t)-1)
		return -ENOTCONN;
	peer->uid = credentials.uid;
	peer->gid = credentials.gid;
	peer->pid = credentials.pid;
	peer->trusted = peer->uid == 0 || peer->uid == geteuid();
	if (peer->trusted || !group)
		return 0;
	if (peer->gid == *group) {
		peer->trusted = true;
		return 0;
	}
	return is_member(socket, *group, &peer->trusted);
}

int access_process(const struct peer *peer, const struct process_facts *facts, char *error,
		   size_t error_size)
{
	if (peer->trusted || process_owned_by(facts, peer->uid, peer->gid))
		return 0;
	if (facts->real != peer->uid || facts->effective != peer->uid || facts->saved != peer->uid)
		snprintf(error, error_size,
			 "process %d (%s) belongs to user %u, you are user %u; only root and "
			 "members of the group " ACCESS_GROUP " may trace processes of other users",
			 (int)facts->pid, facts->name,
			 (unsigned int)(facts->effective != peer->uid ? facts->effective
								      : facts->real),
			 (unsigned int)peer->uid);
	else if (facts->real_group != peer->gid || facts->effective_group != peer->gid ||
		 facts->saved_group != peer->gid)
		snprintf(error, error_size,
			 "process %d (%s) runs as group %u, you as group %u; start profctl as that "
			 "group (sg, newgrp), or ask root or a member of the group " ACCESS_GROUP,
			 (int)facts->pid, facts->name,
			 (unsigned int)(facts->effective_group != peer->gid ? facts->effective_group
									    : facts->real_group),
			 (unsigned int)peer->gid);
	else
		snprintf(error, error_size,
			 "process %d (%s) is protected: the kernel does not let its owner read it; "
			 "only root and members of the group " ACCESS_GROUP " may trace it",
			 (int)facts->pid, facts->name);
	return -EPERM;
}

int access_system(const struct peer *peer, char *error, size_t error_size)
{
	if (peer->trusted)
		return 0;
	snprintf(error, error_size,
		 "only root and members of the group " ACCESS_GROUP
		 " may trace the whole machine; use attach --pid for your own processes");
	return -EPERM;
}

bool access_session(const struct peer *peer, uid_t owner)
{
	return peer->trusted || peer->uid == owner;
}
