/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuse.c - a character device in user space, by the kernel's CUSE protocol (linux/fuse.h):
 *
 *     cuse NAME      /dev/NAME exists until this program is killed
 *
 * Its ioctls: _IO('D', 1) returns 0, _IO('D', 2) 0 after 1 ms, everything else fails with ENOTTY.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "tests/truth/truth.h"

#define COMMAND_NOTHING _IO('D', 1)
#define COMMAND_WAIT _IO('D', 2)
#define BUFFER (FUSE_MIN_READ_BUFFER + 65536)

static int reply(int fd, uint64_t unique, int error, const void *body, size_t size,
		 const char *tail)
{
	size_t tail_size = tail ? strlen(tail) + 1 : 0;
	struct fuse_out_header header = { sizeof(header) + size + tail_size, error, unique };
	struct iovec parts[] = { { &header, sizeof(header) },
				 { (void *)body, size },
				 { (void *)tail, tail_size } };

	return writev(fd, parts, 3) < 0 ? -errno : 0;
}

static int answer_init(int fd, const struct fuse_in_header *in, const char *name)
{
	struct cuse_init_out out = { .major = FUSE_KERNEL_VERSION,
				     .minor = FUSE_KERNEL_MINOR_VERSION,
				     .max_read = 4096,
				     .max_write = 4096 };
	char info[256];

	snprintf(info, sizeof(info), "DEVNAME=%s", name);
	return reply(fd, in->unique, 0, &out, sizeof(out), info);
}

static int answer_ioctl(int fd, const struct fuse_in_header *in,
			const struct fuse_ioctl_in *request)
{
	struct fuse_ioctl_out out = { 0 };

	if (request->cmd != COMMAND_NOTHING && request->cmd != COMMAND_WAIT)
		return reply(fd, in->unique, -ENOTTY, NULL, 0, NULL);
	if (request->cmd == COMMAND_WAIT)
		sleep_ns(1000000);
	return reply(fd, in->unique, 0, &out, sizeof(out), NULL);
}

static int answer(int fd, const struct fuse_in_header *in, const char *name)
{
	struct fuse_open_out opened = { 0 };

	switch (in->opcode) {
	case CUSE_INIT: return answer_init(fd, in, name);
	case FUSE_OPEN: return reply(fd, in->unique, 0, &opened, sizeof(opened), NULL);
	case FUSE_IOCTL: return answer_ioctl(fd, in, (const struct fuse_ioctl_in *)(in + 1));
	case FUSE_FLUSH:
	case FUSE_RELEASE: return reply(fd, in->unique, 0, NULL, 0, NULL);
	case FUSE_INTERRUPT: return 0; /* needs no answer */
	default: return reply(fd, in->unique, -ENOSYS, NULL, 0, NULL);
	}
}

int main(int argc, char **argv)
{
	int fd = open("/dev/cuse", O_RDWR | O_CLOEXEC);
	struct fuse_in_header *in = malloc(BUFFER);

	if (argc != 2 || fd < 0 || !in) {
		perror("cuse");
		return 1;
	}
	for (;;) {
		ssize_t n = read(fd, in, BUFFER);
		int err;

		if (n < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(*in))
			break;
		err = answer(fd, in, argv[1]);
		/* ENOENT: the caller was interrupted. */
		if (err && err != -ENOENT)
			break;
	}
	perror("cuse: /dev/cuse");
	return 1;
}
