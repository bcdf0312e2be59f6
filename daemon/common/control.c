/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

void control_fds_close(struct control_fds *fds)
{
	for (size_t i = 0; i < fds->count; i++)
		if (fds->fd[i] >= 0)
			close(fds->fd[i]);
	fds->count = 0;
}

int control_fds_take(struct control_fds *fds, size_t index)
{
	int fd;

	if (index >= fds->count)
		return -1;
	fd = fds->fd[index];
	fds->fd[index] = -1;
	return fd;
}

const char *control_socket_path(const char *option)
{
	const char *env;

	if (option)
		return option;
	env = getenv(CONTROL_SOCKET_ENV);
	return env && *env ? env : CONTROL_SOCKET_DEFAULT;
}

static int set_address(struct sockaddr_un *address, const char *path)
{
	size_t length = strlen(path);

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (!length)
		return -ENOENT;
	if (length >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	memcpy(address->sun_path, path, length);
	return 0;
}

void control_tune(int socket)
{
	int size = 2 * CONTROL_MESSAGE_MAX;

	/* Only privileged processes can exceed net.core.wmem_max; others get that limit. */
	if (setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

static int make_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char directory[sizeof(((struct sockaddr_un *)0)->sun_path)];

	if (!slash || slash == path)
		return 0;
	snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
	if (mkdir(directory, 0755)) {
		if (errno == EEXIST)
			return 0;
		return -errno;
	}
	/* The umask must not lock ordinary users out of a directory that was made for them. */
	return chmod(directory, 0755) ? -errno : 0;
}

static int take_lock(const char *path, char *error, size_t error_size)
{
	char lock[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
	int fd, err;

	snprintf(lock, sizeof(lock), "%s.lock", path);
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		err = -errno;
		snprintf(error, error_size, "cannot create %s: %s", lock, strerror(-err));
		return err;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		err = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
		snprintf(error, error_size,
			 err == -EADDRINUSE ? "another profbpfd is listening on %s"
					    : "cannot lock %s",
			 path);
		close(fd);
		return err;
	}
	return fd;
}

/* Refuses to replace a file that is no socket; a stale socket was left by a daemon that is gone. */
static int check_place(const char *path, char *error, size_t error_size)
{
	struct stat st;

	if (lstat(path, &st) || S_ISSOCK(st.st_mode))
		return 0;
	snprintf(error, error_size, "%s exists and is not a socket; remove it or use --socket", path);
	return -EEXIST;
}

/* The socket appears under its name only when it can be connected to. */
static int bind_and_listen(const char *path, const struct sockaddr_un *address, char *error,
			   size_t error_size)
{
	int err, fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	unlink(address->sun_path);
	if (fd >= 0 && !bind(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	    !chmod(address->sun_path, 0666) && !listen(fd, BACKLOG) &&
	    !rename(address->sun_path, path))
		return fd;
	err = -errno;
	snprintf(error, error_size, "cannot listen on %s: %s", path, strerror(-err));
	unlink(address->sun_path);
	if (fd >= 0)
		close(fd);
	return err;
}

int control_listen(const char *path, int *lock_fd, char *error, size_t error_size)
{
	char temporary[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
	struct sockaddr_un address;
	int err, fd, lock;

	*lock_fd = -1;
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	err = set_address(&address, temporary);
	if (!err)
		err = make_directory(path);
	if (err) {
		snprintf(error, error_size, "cannot listen on %s: %s", path, strerror(-err));
		return err;
	}
	lock = take_lock(path, error, error_size);
	if (lock < 0)
		return lock;
	fd = check_place(path, error, error_size);
	if (!fd)
		fd = bind_and_listen(path, &address, error, error_size);
	if (fd < 0)
		close(lock);
	else
		*lock_fd = lock;
	return fd;
}

int control_connect(const char *path)
{
	struct sockaddr_un address;
	int fd, err = set_address(&address, path);

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		close(fd);
		return err;
	}
	control_tune(fd);
	return fd;
}

static int send_packet(int socket, void *data, size_t size, const int *fds, size_t fd_count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * CONTROL_FDS_MAX)];
	} control;
	struct iovec iov = { data, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd_count) {
		struct cmsghdr *cmsg;

		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * fd_count);
	}
	while (sendmsg(socket, &msg, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int control_send(int socket, const ProtobufCMessage *message, const int *fds, size_t fd_count)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *data;
	int err;

	if (!size)
		return -EINVAL;
	if (size > CONTROL_MESSAGE_MAX || fd_count > CONTROL_FDS_MAX)
		return -EMSGSIZE;
	data = malloc(size ? size : 1);
	if (!data)
		return -ENOMEM;
	protobuf_c_message_pack(message, data);
	err = send_packet(socket, data, size, fds, fd_count);
	free(data);
	return err;
}

static void collect_fds(struct msghdr *msg, struct control_fds *fds)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (count > CONTROL_FDS_ROOM - fds->count)
			count = CONTROL_FDS_ROOM - fds->count;
		memcpy(fds->fd + fds->count, CMSG_DATA(c), count * sizeof(int));
		fds->count += count;
	}
}

/* Returns the packet's size, 0 at end of file, or a negative errno. */
static ssize_t receive_packet(int socket, uint8_t *data, size_t room, struct control_fds *fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * CONTROL_FDS_ROOM) + 256];
	} control;
	struct iovec iov = { data, room };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t size;

	do {
		size = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	} while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;
	collect_fds(&msg, fds);
	if (msg.msg_flags & MSG_TRUNC)
		return -EMSGSIZE;
	if (fds->count > CONTROL_FDS_MAX || (msg.msg_flags & MSG_CTRUNC))
		return -EPROTO;
	return size;
}

int control_receive(int socket, const ProtobufCMessageDescriptor *type, ProtobufCMessage **message,
		    struct control_fds *fds)
{
	uint8_t *data = malloc(CONTROL_MESSAGE_MAX);
	ssize_t size;
	int err = 0;

	*message = NULL;
	fds->count = 0;
	if (!data)
		return -ENOMEM;
	size = receive_packet(socket, data, CONTROL_MESSAGE_MAX, fds);
	if (size < 0) {
		err = size == -ECONNRESET ? -EPIPE : (int)size;
	} else if (!size) {
		/* Or an empty packet, which looks the same and is no message. */
		err = -EPIPE;
	} else {
		*message = protobuf_c_message_unpack(type, NULL, size, data);
		if (!*message)
			err = -EPROTO;
	}
	free(data);
	return err;
}
