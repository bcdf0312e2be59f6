/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_peers.h - who is at the other end of a target's internet socket.
 *
 * Asks /proc/TID/net, in the target's network namespace, for TCP and connected UDP. On this host the other end is
 * a row of the same tables, and its process one that has that socket open: looked for among those of the target's
 * user, of all if the target is root's. What was found is kept, by the socket's inode. Looking takes at most
 * PEERS_AT_ONCE_NS of CPU time and a hundredth of the time that has passed: then the peer is not known.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_SOCKET_PEERS_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_SOCKET_PEERS_H

#include <stdint.h>

#define PEERS_AT_ONCE_NS 50000000ull

struct socket_peer {
	uint64_t inode; /* of the target's socket */
	char address[64]; /* "10.0.0.7:443", "[fe80::1]:443"; "" = not connected, or not known */
	uint64_t other; /* the inode of the socket there, if that is on this host; 0 = not known */
	uint32_t tgid; /* of a process on this host; 0 = not known */
};

struct socket_peers;

/* socket_peers_new - NULL without memory; socket_peers_free() accepts NULL */
struct socket_peers *socket_peers_new(void);
void socket_peers_free(struct socket_peers *peers);

/* socket_peers_find - of socket @inode, which thread @tid has open; valid until the next call */
const struct socket_peer *socket_peers_find(struct socket_peers *peers, uint32_t tid,
					    uint64_t inode);

/*
 * socket_peers_other - the inode of the socket at the other end of @inode, which thread @tid has open
 *
 * 0 if that is not one of the process of thread @peer_tid, or not known.
 */
uint64_t socket_peers_other(struct socket_peers *peers, uint32_t tid, uint64_t inode,
			    uint32_t peer_tid);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_SOCKET_PEERS_H */
