/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: messages and descriptors arrive whole, hostile packets are refused, nothing leaks. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/common/control.h"
#include "proto/control.pb-c.h"

#define REQUEST (&profbpf__control__request__descriptor)
#define RAW_FDS_MAX 253

struct fixture {
	int ends[2];
	size_t open_before;
};

static size_t count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->open_before = count_open();
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, f->ends), 0);
	control_tune(f->ends[0]);
	control_tune(f->ends[1]);
	*state = f;
	return 0;
}

/* Every test closes the descriptors it received; any other open descriptor has leaked. */
static int tear_down(void **state)
{
	struct fixture *f = *state;

	close(f->ends[0]);
	close(f->ends[1]);
	assert_int_equal(count_open(), f->open_before);
	free(f);
	return 0;
}

/* Sends a hand-made packet that no regular client would send. */
static void send_raw(int socket, const void *data, size_t size, const int *fds, size_t fd_count)
{
	char *control = calloc(1, CMSG_SPACE(sizeof(int) * RAW_FDS_MAX));
	struct iovec iov = { (void *)data, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	assert_non_null(control);
	if (fd_count) {
		struct cmsghdr *cmsg;

		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * fd_count);
	}
	assert_int_equal(sendmsg(socket, &msg, MSG_NOSIGNAL), (ssize_t)size);
	free(control);
}

static void expect_refused(int socket, int err, size_t fd_count)
{
	ProtobufCMessage *message = (ProtobufCMessage *)&message;
	struct control_fds fds;

	assert_int_equal(control_receive(socket, REQUEST, &message, &fds), err);
	assert_null(message);
	assert_int_equal(fds.count, fd_count);
	control_fds_close(&fds);
	assert_int_equal(fds.count, 0);
}

static size_t pack_start(uint8_t *data, size_t room)
{
	Profbpf__Control__StartSession start = PROFBPF__CONTROL__START_SESSION__INIT;
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__CatalogText catalog = PROFBPF__CONTROL__CATALOG_TEXT__INIT;
	Profbpf__Control__CatalogText *catalogs[] = { &catalog };
	char *topics[] = { (char *)"api", (char *)"sched" };
	uint32_t pids[] = { 4242, 4711 };

	catalog.name = (char *)"my.catalog";
	catalog.text = (char *)"runtime my\nmy_launch launch 1\n";
	start.n_pids = 2;
	start.pids = pids;
	start.n_topics = 2;
	start.topics = topics;
	start.duration_ns = 10000000000;
	start.n_catalogs = 1;
	start.catalogs = catalogs;
	request.id = 7;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_START;
	request.start = &start;
	assert_true(protobuf_c_message_get_packed_size(&request.base) <= room);
	return protobuf_c_message_pack(&request.base, data);
}

static void test_round_trip(void **state)
{
	struct fixture *f = *state;
	Profbpf__Control__Request *request, *received;
	ProtobufCMessage *message;
	struct control_fds fds;
	uint8_t data[512];
	int pipe_ends[2];
	char byte = 0;

	request = profbpf__control__request__unpack(NULL, pack_start(data, sizeof(data)), data);
	assert_non_null(request);
	assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
	assert_int_equal(control_send(f->ends[0], &request->base, &pipe_ends[1], 1), 0);
	profbpf__control__request__free_unpacked(request, NULL);
	close(pipe_ends[1]);
	assert_int_equal(control_receive(f->ends[1], REQUEST, &message, &fds), 0);
	received = (Profbpf__Control__Request *)message;
	assert_int_equal(received->id, 7);
	assert_int_equal(received->what_case, PROFBPF__CONTROL__REQUEST__WHAT_START);
	assert_int_equal(received->start->n_pids, 2);
	assert_int_equal(received->start->pids[1], 4711);
	assert_string_equal(received->start->topics[1], "sched");
	assert_true(received->start->duration_ns == 10000000000);
	assert_string_equal(received->start->catalogs[0]->text, "runtime my\nmy_launch launch 1\n");
	protobuf_c_message_free_unpacked(message, NULL);
	/* The descriptor is the pipe's end and is not inherited by programs that the daemon starts. */
	assert_int_equal(fds.count, 1);
	assert_int_equal(fcntl(fds.fd[0], F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fds.fd[0], "x", 1), 1);
	assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	control_fds_close(&fds);
	close(pipe_ends[0]);
}

static void test_take(void **state)
{
	struct control_fds fds = { .count = 2 };
	int taken;

	fds.fd[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fds.fd[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	taken = control_fds_take(&fds, 1);
	assert_true(taken >= 0);
	assert_int_equal(control_fds_take(&fds, 1), -1);
	assert_int_equal(control_fds_take(&fds, 2), -1);
	control_fds_close(&fds);
	/* The taken descriptor is still open and belongs to the test. */
	assert_true(fcntl(taken, F_GETFD) >= 0);
	close(taken);
}

static void test_most_descriptors(void **state)
{
	struct fixture *f = *state;
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__List list = PROFBPF__CONTROL__LIST__INIT;
	int fd[CONTROL_FDS_MAX + 1];
	ProtobufCMessage *message;
	struct control_fds fds;

	for (size_t i = 0; i <= CONTROL_FDS_MAX; i++)
		fd[i] = f->ends[0];
	request.id = 1;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_LIST;
	request.list = &list;
	assert_int_equal(control_send(f->ends[0], &request.base, fd, CONTROL_FDS_MAX + 1),
			 -EMSGSIZE);
	assert_int_equal(control_send(f->ends[0], &request.base, fd, CONTROL_FDS_MAX), 0);
	assert_int_equal(control_receive(f->ends[1], REQUEST, &message, &fds), 0);
	assert_int_equal(fds.count, CONTROL_FDS_MAX);
	control_fds_close(&fds);
	protobuf_c_message_free_unpacked(message, NULL);
}

static void test_too_many_descriptors(void **state)
{
	struct fixture *f = *state;
	int fd[RAW_FDS_MAX];
	uint8_t data[512];
	size_t size = pack_start(data, sizeof(data));

	for (size_t i = 0; i < RAW_FDS_MAX; i++)
		fd[i] = f->ends[0];
	send_raw(f->ends[0], data, size, fd, RAW_FDS_MAX);
	expect_refused(f->ends[1], -EPROTO, RAW_FDS_MAX);
	send_raw(f->ends[0], data, size, fd, CONTROL_FDS_MAX + 1);
	expect_refused(f->ends[1], -EPROTO, CONTROL_FDS_MAX + 1);
}

/* Sends a message of exactly @size bytes; most of it is a catalog's text. */
static int send_sized(int socket, size_t size)
{
	Profbpf__Control__StartSession start = PROFBPF__CONTROL__START_SESSION__INIT;
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	char *text = malloc(size + 1);
	size_t packed;
	int err;

	assert_non_null(text);
	memset(text, 'a', size);
	text[size] = '\0';
	start.output_name = text;
	request.id = 1;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_START;
	request.start = &start;
	packed = protobuf_c_message_get_packed_size(&request.base);
	text[size - (packed - size)] = '\0';
	assert_int_equal(protobuf_c_message_get_packed_size(&request.base), size);
	err = control_send(socket, &request.base, NULL, 0);
	free(text);
	return err;
}

static void test_largest_message(void **state)
{
	struct fixture *f = *state;
	ProtobufCMessage *message;
	struct control_fds fds;
	socklen_t length = sizeof(int);
	int room = 0;

	assert_int_equal(send_sized(f->ends[0], CONTROL_MESSAGE_MAX + 1), -EMSGSIZE);
	assert_int_equal(getsockopt(f->ends[0], SOL_SOCKET, SO_SNDBUF, &room, &length), 0);
	if (room < (int)(CONTROL_MESSAGE_MAX + 4096)) {
		/* An ordinary user's socket buffer takes less than the limit: the message is refused, not truncated. */
		assert_int_equal(send_sized(f->ends[0], CONTROL_MESSAGE_MAX), -EMSGSIZE);
		return;
	}
	assert_int_equal(send_sized(f->ends[0], CONTROL_MESSAGE_MAX), 0);
	assert_int_equal(control_receive(f->ends[1], REQUEST, &message, &fds), 0);
	assert_int_equal(protobuf_c_message_get_packed_size(message), CONTROL_MESSAGE_MAX);
	protobuf_c_message_free_unpacked(message, NULL);
	control_fds_close(&fds);
}

static void test_oversized_packet(void **state)
{
	struct fixture *f = *state;
	size_t size = CONTROL_MESSAGE_MAX + 1;
	uint8_t *data = calloc(1, size);
	socklen_t length = sizeof(int);
	int room = 0;

	assert_non_null(data);
	assert_int_equal(getsockopt(f->ends[0], SOL_SOCKET, SO_SNDBUF, &room, &length), 0);
	if ((size_t)room < size + 4096) {
		free(data);
		skip();
	}
	send_raw(f->ends[0], data, size, f->ends, 2);
	expect_refused(f->ends[1], -EMSGSIZE, 2);
	free(data);
}

static void test_garbage(void **state)
{
	struct fixture *f = *state;

	/* Field 1 with wire type 7, which does not exist. */
	send_raw(f->ends[0], "\x0f\xff\xff", 3, f->ends, 2);
	expect_refused(f->ends[1], -EPROTO, 2);
	/* A length beyond the end of the packet. */
	send_raw(f->ends[0], "\x12\xff\xff\xff\x7f", 5, f->ends, 1);
	expect_refused(f->ends[1], -EPROTO, 1);
	send_raw(f->ends[0], "", 0, NULL, 0);
	expect_refused(f->ends[1], -EPIPE, 0);
}

static void receive_anything(int socket)
{
	ProtobufCMessage *message;
	struct control_fds fds;
	int err = control_receive(socket, REQUEST, &message, &fds);

	if (!err)
		protobuf_c_message_free_unpacked(message, NULL);
	else
		assert_int_equal(err, -EPROTO);
	assert_true(!err == (message != NULL));
	control_fds_close(&fds);
}

/* Truncated anywhere, with any bit flipped: a message or an error, and the descriptors arrive. */
static void test_damaged(void **state)
{
	struct fixture *f = *state;
	uint8_t data[512];
	size_t size = pack_start(data, sizeof(data));

	for (size_t cut = 1; cut < size; cut++) {
		send_raw(f->ends[0], data, cut, f->ends, 1);
		receive_anything(f->ends[1]);
	}
	for (size_t bit = 0; bit < 8 * size; bit++) {
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		send_raw(f->ends[0], data, size, f->ends, 1);
		receive_anything(f->ends[1]);
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void test_gone_and_busy(void **state)
{
	struct fixture *f = *state;
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	int err;

	fcntl(f->ends[0], F_SETFL, O_NONBLOCK);
	fcntl(f->ends[1], F_SETFL, O_NONBLOCK);
	expect_refused(f->ends[1], -EAGAIN, 0);
	/* An empty message could not be distinguished from the end. */
	assert_int_equal(control_send(f->ends[0], &request.base, NULL, 0), -EINVAL);
	request.id = 1;
	do {
		err = control_send(f->ends[0], &request.base, NULL, 0);
	} while (!err);
	assert_int_equal(err, -EAGAIN);
	close(f->ends[0]);
	f->ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* Messages sent before the end still arrive. */
	receive_anything(f->ends[1]);
	err = control_send(f->ends[1], &request.base, NULL, 0);
	assert_true(err == -EPIPE || err == -ECONNRESET);
}

/* ---- The listening socket */

static void make_path(char *path, size_t size, const char *name)
{
	char directory[] = "/tmp/profbpf-control-XXXXXX";

	assert_non_null(mkdtemp(directory));
	snprintf(path, size, "%s/%s", directory, name);
}

static void remove_path(const char *path)
{
	char other[160], *slash;

	unlink(path);
	snprintf(other, sizeof(other), "%s.lock", path);
	unlink(other);
	snprintf(other, sizeof(other), "%s", path);
	while ((slash = strrchr(other, '/')) && slash != other) {
		*slash = '\0';
		if (!strcmp(other, "/tmp"))
			break;
		rmdir(other);
	}
}

static void test_listen(void **state)
{
	char path[96], error[256] = "";
	int lock, lock_again, listener, connected;
	struct stat st;

	make_path(path, sizeof(path), "made/socket");
	assert_int_equal(control_connect(path), -ENOENT);
	listener = control_listen(path, &lock, error, sizeof(error));
	assert_true(listener >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0666);
	connected = control_connect(path);
	assert_true(connected >= 0);
	close(connected);
	assert_int_equal(control_listen(path, &lock_again, error, sizeof(error)), -EADDRINUSE);
	assert_int_equal(lock_again, -1);
	assert_non_null(strstr(error, "another profbpfd is listening"));
	assert_non_null(strstr(error, path));
	close(listener);
	close(lock);
	/* As after kill -9: the socket file exists without a listener, and the next daemon takes over. */
	assert_int_equal(control_connect(path), -ECONNREFUSED);
	listener = control_listen(path, &lock, error, sizeof(error));
	assert_true(listener >= 0);
	close(listener);
	close(lock);
	remove_path(path);
}

static void test_listen_refused(void **state)
{
	char path[96], longest[200], error[256] = "";
	int lock, fd;

	make_path(path, sizeof(path), "file");
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	/* An existing file of another kind is not replaced. */
	assert_int_equal(control_listen(path, &lock, error, sizeof(error)), -EEXIST);
	assert_int_equal(access(path, F_OK), 0);
	remove_path(path);
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(control_listen(longest, &lock, error, sizeof(error)), -ENAMETOOLONG);
	assert_int_equal(control_connect(longest), -ENAMETOOLONG);
	assert_int_equal(control_connect(""), -ENOENT);
}

static void test_socket_path(void **state)
{
	unsetenv(CONTROL_SOCKET_ENV);
	assert_string_equal(control_socket_path(NULL), CONTROL_SOCKET_DEFAULT);
	setenv(CONTROL_SOCKET_ENV, "", 1);
	assert_string_equal(control_socket_path(NULL), CONTROL_SOCKET_DEFAULT);
	setenv(CONTROL_SOCKET_ENV, "/a/b", 1);
	assert_string_equal(control_socket_path(NULL), "/a/b");
	assert_string_equal(control_socket_path("/c"), "/c");
	unsetenv(CONTROL_SOCKET_ENV);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_round_trip),	  T(test_take),
		T(test_most_descriptors), T(test_too_many_descriptors),
		T(test_largest_message),  T(test_oversized_packet),
		T(test_garbage),	  T(test_damaged),
		T(test_gone_and_busy),	  T(test_listen),
		T(test_listen_refused),	  T(test_socket_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
