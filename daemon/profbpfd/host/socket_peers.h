/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_peers.h - finds the peer of a target's internet socket.
 *
 * Reads /proc/TID/net, in the target's network namespace, for TCP and connected UDP. A peer on the same host is another
 * row of these tables; its process is one that has that socket open, searched among the processes of the target's
 * user, or among all if the target is root's. Results are cached by the socket's inode. A search takes at most
 * PEERS_AT_ONCE_NS of CPU time, and all searches a hundredth of the elapsed time; beyond that the peer is unknown.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_SOCKET_PEERS_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_SOCKET_PEERS_H

#include <stdint.h>

#define PEERS_AT_ONCE_NS 50000000ull

struct socket_peer {
	uint64_t inode; /* of the target's socket */
	char address[64]; /* "10.0.0.7:443", "[fe80::1]:443"; "" = not connected, or unknown */
	uint64_t other; /* the inode of the peer's socket, if that is on this host; 0 = unknown */
	uint32_t tgid; /* the peer's process, if that is on this host; 0 = unknown */
};

struct socket_peers;

/* socket_peers_new - NULL without memory; socket_peers_free() accepts NULL */
struct socket_peers *socket_peers_new(void);
void socket_peers_free(struct socket_peers *peers);

/* socket_peers_find - the peer of socket @inode, which thread @tid has open; valid until the next call */
const struct socket_peer *socket_peers_find(struct socket_peers *peers, uint32_t tid,
					    uint64_t inode);

/*
 * socket_peers_other - the inode of the peer of socket @inode, which thread @tid has open
 *
 * 0 if the peer does not belong to the process of thread @peer_tid, or is unknown.
 */
uint64_t socket_peers_other(struct socket_peers *peers, uint32_t tid, uint64_t inode,
			    uint32_t peer_tid);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_SOCKET_PEERS_H */
