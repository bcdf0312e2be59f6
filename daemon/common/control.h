/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the control socket between profctl and profbpfd: protobuf messages
 * of proto/control.proto, one per SOCK_SEQPACKET packet, with descriptors.
 *
 * The peer may be hostile: packets that are too large, cut off or no protobuf are
 * refused, and the descriptors that came with them are not leaked.
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

/* Descriptors that came with a packet; the holder of the structure owns them. */
struct control_fds {
	int fd[CONTROL_FDS_ROOM];
	size_t count;
};

/* control_fds_close - closes the remaining descriptors and empties the structure */
void control_fds_close(struct control_fds *fds);

/* control_fds_take - moves descriptor @index to the caller; -1 if there is none or it was taken */
int control_fds_take(struct control_fds *fds, size_t index);

/*
 * control_socket_path - the path of the daemon's socket
 *
 * @option is the user's option or NULL; the environment variable PROFBPF_SOCKET is next, then
 * CONTROL_SOCKET_DEFAULT. Returns one of them.
 */
const char *control_socket_path(const char *option);

/*
 * control_listen - create the daemon's listening socket
 *
 * Creates the last directory of @path (mode 0755) if it is missing. A lock file
 * beside it, @path.lock, keeps a second daemon out and distinguishes a stale socket
 * from one in use. The socket gets mode 0666, because ordinary users may trace their
 * own processes: the peer's credentials decide about each request. Returns the
 * non-blocking socket, with the descriptor of the lock to keep open in @lock_fd, or a
 * negative errno with a message in @error.
 */
int control_listen(const char *path, int *lock_fd, char *error, size_t error_size);

/*
 * control_connect - connect to a daemon
 *
 * Returns a blocking socket or a negative errno: -ENOENT and -ECONNREFUSED mean
 * that none is running.
 */
int control_connect(const char *path);

/* control_tune - enlarges a connected socket's buffers for messages of full size; never fails */
void control_tune(int socket);

/*
 * control_send - send one message
 *
 * The caller keeps the descriptors. Returns 0 or a negative errno: -EMSGSIZE if
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
 * 0 or a negative errno: -EAGAIN (the socket does not block and no message has
 * arrived), -EPIPE (the peer has closed), -EMSGSIZE (too large), -EPROTO (too many
 * descriptors, or no message of this type), -ENOMEM; *@message is NULL then.
 *
 * In either case @fds holds the received descriptors, close-on-exec, and the caller
 * closes them: closing a file can block on the server of its file system, so the
 * caller decides on which thread that may happen.
 */
int control_receive(int socket, const ProtobufCMessageDescriptor *type, ProtobufCMessage **message,
		    struct control_fds *fds);

#endif /* PROFBPF_DAEMON_COMMON_CONTROL_H */
