/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/metrics/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16
#define KIND (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

bool listen_is_path(const char *address)
{
	return *address == '/';
}

static int fail(int fd, const char *address, const char *why, char *error, size_t error_size)
{
	snprintf(error, error_size, "cannot listen for metrics on %s: %s", address, why);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int fill_path(const char *path, struct sockaddr_un *address, char *error, size_t error_size)
{
	if (strlen(path) >= sizeof(address->sun_path))
		return fail(-1, path, "the path is too long", error, error_size);
	strcpy(address->sun_path, path);
	return 0;
}

static int listen_at_path(const char *path, char *error, size_t error_size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int fd;

	if (fill_path(path, &address, error, error_size))
		return -1;
	if (!lstat(path, &st) && !S_ISSOCK(st.st_mode))
		return fail(-1, path, "it exists and is not a socket", error, error_size);
	unlink(path);
	fd = socket(AF_UNIX, KIND, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) || chmod(path, 0666) ||
	    listen(fd, BACKLOG))
		return fail(fd, path, strerror(errno), error, error_size);
	return fd;
}

/* Returns false unless @address has a host and a port. @host gets no brackets of IPv6. */
static bool split(const char *address, char *host, size_t room, const char **port)
{
	const char *colon = strrchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;

	if (length > 2 && *address == '[' && colon[-1] == ']') {
		address++;
		length -= 2;
	}
	if (!length || length >= room || !colon[1])
		return false;
	memcpy(host, address, length);
	host[length] = '\0';
	*port = colon + 1;
	return true;
}

/* Returns the address and port as numbers, to be freed with freeaddrinfo(); NULL with a message in @error. */
static struct addrinfo *numbers_of(const char *address, char *error, size_t error_size)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	const char *port;
	char host[64];

	if (!split(address, host, sizeof(host), &port) || getaddrinfo(host, port, &hints, &found)) {
		fail(-1, address, "it is neither a path that begins with / nor ADDRESS:PORT in numbers", error,
		     error_size);
		return NULL;
	}
	return found;
}

static int listen_at_port(const char *address, char *error, size_t error_size)
{
	struct addrinfo *found = numbers_of(address, error, error_size);
	int fd, err, one = 1;

	if (!found)
		return -1;
	fd = socket(found->ai_family, KIND, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	err = fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, BACKLOG) ? errno : 0;
	freeaddrinfo(found);
	return err ? fail(fd, address, strerror(err), error, error_size) : fd;
}

int listen_at(const char *address, char *error, size_t error_size)
{
	return listen_is_path(address) ? listen_at_path(address, error, error_size)
				       : listen_at_port(address, error, error_size);
}

int listen_check(const char *address, char *error, size_t error_size)
{
	struct sockaddr_un path;
	struct addrinfo *found;

	if (listen_is_path(address))
		return fill_path(address, &path, error, error_size) ? -EINVAL : 0;
	found = numbers_of(address, error, error_size);
	if (!found)
		return -EINVAL;
	freeaddrinfo(found);
	return 0;
}
