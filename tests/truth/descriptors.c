/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors.c - ioctls on one device file, with descriptors from every possible source.
 *
 *     descriptors PATH GOOD BAD            GOOD, BAD: numbers of ioctls; BAD must fail
 *     descriptors PATH GOOD BAD stranger   a fixed number of GOOD, in a process that is not traced
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

enum {
	OPENED_BEFORE = 30, /* by a descriptor that was open before attach */
	OPENED_AFTER = 20,
	FAILING = 10,
	INHERITED_BEFORE = 7, /* by a child from before attach */
	RECEIVED = 5, /* by a child that got the descriptor through a socket */
	INHERITED_AFTER = 4,
	EXECUTED = 3, /* by another program, with the number in its arguments */
	STRANGER = 11,
	NO_DEVICE = 9,
};

struct device {
	const char *path;
	unsigned long good;
	unsigned long bad;
};

static int wrong;

static void repeat(int fd, unsigned long command, int times, bool fails)
{
	long buffer[64];

	for (int i = 0; i < times; i++)
		wrong += (ioctl(fd, command, buffer) < 0) != fails;
}

static int open_device(const struct device *device)
{
	int fd = open(device->path, O_RDWR | O_NOCTTY);

	if (fd < 0)
		fd = open(device->path, O_RDONLY | O_NOCTTY);
	if (fd < 0) {
		perror(device->path);
		exit(1);
	}
	return fd;
}

static void send_descriptor(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = { 0 }, byte = 1;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	wrong += sendmsg(socket, &m, 0) != 1;
}

static int receive_descriptor(int socket)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(socket, &m, 0) == 1 && (c = CMSG_FIRSTHDR(&m)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Starts a child before attach, which waits for a message on @socket. */
static pid_t start_inheritor(const struct device *device, int fd, int socket)
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	if (read(socket, &byte, 1) == 1)
		repeat(fd, device->good, INHERITED_BEFORE, false);
	_exit(wrong);
}

static pid_t start_receiver(const struct device *device, int socket)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	repeat(receive_descriptor(socket), device->good, RECEIVED, false);
	_exit(wrong);
}

static void end(pid_t pid)
{
	int status;

	wrong += waitpid(pid, &status, 0) != pid || status != 0;
}

static pid_t start_late(char **argv, const struct device *device, int fd)
{
	pid_t pid = fork();
	char number[16];

	if (pid)
		return pid;
	repeat(fd, device->good, INHERITED_AFTER, false);
	if (wrong)
		_exit(1);
	snprintf(number, sizeof(number), "%d", fd);
	execl("/proc/self/exe", argv[0], argv[1], argv[2], argv[3], "executed", number, NULL);
	_exit(127);
}

static void no_device(void)
{
	int pipes[2], available;

	if (pipe(pipes))
		exit(1);
	for (int i = 0; i < NO_DEVICE; i++)
		ioctl(pipes[0], FIONREAD, &available);
	ioctl(-1, FIONREAD, &available);
}

static void run(char **argv, const struct device *device)
{
	int before = open_device(device), after, inheritor[2], receiver[2];
	pid_t early, received, late;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, inheritor) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, receiver))
		exit(1);
	early = start_inheritor(device, before, inheritor[1]);
	received = start_receiver(device, receiver[1]);
	truth_ready();
	repeat(before, device->good, OPENED_BEFORE, false);
	after = open_device(device);
	repeat(after, device->good, OPENED_AFTER, false);
	repeat(after, device->bad, FAILING, true);
	wrong += write(inheritor[0], "x", 1) != 1;
	end(early);
	send_descriptor(receiver[0], after);
	end(received);
	late = start_late(argv, device, after);
	end(late);
	no_device();
	printf("own=%d\nfailing=%d\nearly.pid=%d\nearly=%d\nreceived.pid=%d\nreceived=%d\n",
	       OPENED_BEFORE + OPENED_AFTER, FAILING, early, INHERITED_BEFORE, received, RECEIVED);
	printf("late.pid=%d\nlate=%d\nwrong=%d\n", late, INHERITED_AFTER + EXECUTED, wrong);
	truth_done();
}

int main(int argc, char **argv)
{
	struct device device;

	if (argc < 4)
		return 2;
	device = (struct device){ argv[1], strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0) };
	if (argc == 6)
		repeat(atoi(argv[5]), device.good, EXECUTED, false);
	else if (argc == 5)
		repeat(open_device(&device), device.good, STRANGER, false);
	else
		run(argv, &device);
	return wrong != 0;
}
