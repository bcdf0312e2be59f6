/* SPDX-License-Identifier: Apache-2.0 */
/* The process at the other end of a socket, for two sockets of this process. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/host/socket_peers.h"

#define PACKETS 2000

static void connect_both(int fds[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(listener >= 0 && fds[0] >= 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(connect(fds[0], (struct sockaddr *)&at, sizeof(at)), 0);
	fds[1] = accept(listener, NULL, NULL);
	assert_true(fds[1] >= 0);
	close(listener);
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static void the_other_end(void **state)
{
	struct socket_peers *peers = socket_peers_new();
	uint32_t self = (uint32_t)getpid();
	const struct socket_peer *peer;
	int fds[2];

	connect_both(fds);
	peer = socket_peers_find(peers, self, inode_of(fds[0]));
	assert_int_equal(peer->tgid, self);
	assert_int_equal(peer->other, inode_of(fds[1]));
	assert_memory_equal(peer->address, "127.0.0.1:", 10);
	assert_int_equal(socket_peers_other(peers, self, inode_of(fds[1]), self), inode_of(fds[0]));
	assert_int_equal(socket_peers_other(peers, self, inode_of(fds[1]), 1), 0);
	close(fds[0]);
	close(fds[1]);
	socket_peers_free(peers);
}

/* Threads of one process that send each other much: a look-up per packet would use up the available time. */
static void many_packets(void **state)
{
	struct socket_peers *peers = socket_peers_new();
	uint32_t self = (uint32_t)getpid();
	int fds[2];

	connect_both(fds);
	for (int i = 0; i < PACKETS; i++)
		assert_int_equal(socket_peers_other(peers, self, inode_of(fds[0]), self), inode_of(fds[1]));
	close(fds[0]);
	close(fds[1]);
	socket_peers_free(peers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_end),
		cmocka_unit_test(many_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
