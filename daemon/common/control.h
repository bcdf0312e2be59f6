/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the control socket between profctl and profbpfd: protobuf messages
 * of proto/control.proto, one per SOCK_SEQPACKET packet, with descriptors.
 *
 * The peer is hostile: packets that are too large, cut off or no protobuf are
 * refused, and no descriptor that came with them is lost sight of.
 */
#ifndef PROFBPF_DAEMON_COMMON_CONTROL_H
#define PROFBPF_DAEMON_COMMON_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#define CONTROL_MESSAGE_MAX (1u << 20) /* bytes of a packet */
#define CONTROL_FDS_MAX 200 /* descriptors of a packet */
#define CONTROL_FDS_ROOM 253 /* most that the kernel passes at once (SCM_MAX_FD) */
#define CONTROL_SOCKET_DEFAULT "/run/profbpf/profbpfd.sock"
#define CONTROL_SOCKET_ENV "PROFBPF_SOCKET"

/* Descriptors that came with a packet; owned by whoever holds the structure. */
struct control_fds {
	int fd[CONTROL_FDS_ROOM];
	size_t count;
};

/* control_fds_close - close those that are left and forget them */
void control_fds_close(struct control_fds *fds);

/* control_fds_take - take descriptor @index over; -1 if there is none or it was taken */
int control_fds_take(struct control_fds *fds, size_t index);

/*
 * control_socket_path - where the daemon listens
 *
 * @option is what the user gave, NULL for nothing; then the environment
 * (PROFBPF_SOCKET) decides, then CONTROL_SOCKET_DEFAULT. Returns one of them.
 */
const char *control_socket_path(const char *option);

/*
 * control_listen - create the daemon's listening socket
 *
 * Creates the last directory of @path (mode 0755) if it is missing. A lock file
 * beside it, @path.lock, keeps a second daemon out and tells a socket that was
 * left behind from one in use. The socket gets mode 0666: who may do what is
 * decided by the peer's credentials, which ordinary users need for their own
 * processes. Returns the non-blocking socket, with the descriptor of the lock to
 * keep open in @lock_fd, or a negative errno with a message in @error.
 */
int control_listen(const char *path, int *lock_fd, char *error, size_t error_size);

/*
 * control_connect - connect to a daemon
 *
 * Returns a blocking socket or a negative errno: -ENOENT and -ECONNREFUSED mean
 * that none is running.
 */
int control_connect(const char *path);

/* control_tune - let a connected socket carry messages of full size; never fails */
void control_tune(int socket);

/*
 * control_send - send one message
 *
 * The descriptors stay the caller's. Returns 0 or a negative errno: -EMSGSIZE if
 * the message is larger than CONTROL_MESSAGE_MAX or than the system lets a
 * socket send (net.core.wmem_max), -EINVAL if it is empty, -EPIPE or -ECONNRESET if the peer is gone,
 * -EAGAIN if the socket does not block and the peer does not read.
 */
int control_send(int socket, const ProtobufCMessage *message, const int *fds, size_t fd_count);

/*
 * control_receive - receive one message
 *
 * @type is the descriptor of the expected message. On success *@message is the
 * unpacked message, to be freed with protobuf_c_message_free_unpacked(). Returns
 * 0 or a negative errno: -EAGAIN (the socket does not block and nothing is
 * there), -EPIPE (the peer has closed), -EMSGSIZE (too large), -EPROTO (too many
 * descriptors, or no message of this type), -ENOMEM; *@message is NULL then.
 *
 * Either way @fds holds the descriptors that came, close-on-exec, and the caller
 * closes them: closing a file can wait for whoever serves its file system, so
 * where that must not happen is for the caller to decide.
 */
int control_receive(int socket, const ProtobufCMessageDescriptor *type, ProtobufCMessage **message,
		    struct control_fds *fds);

#endif /* PROFBPF_DAEMON_COMMON_CONTROL_H */
