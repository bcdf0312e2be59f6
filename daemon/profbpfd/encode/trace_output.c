/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/trace_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_MS 200

void output_init(struct output *output, int fd)
{
	struct stat st;

	memset(output, 0, sizeof(*output));
	output->fd = fd;
	output->regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	output->start = output->regular ? lseek(fd, 0, SEEK_CUR) : 0;
}

void output_give_up(struct output *output)
{
	__atomic_store_n(&output->give_up, true, __ATOMIC_RELAXED);
}

static int wait_writable(struct output *output)
{
	struct pollfd p = { .fd = output->fd, .events = POLLOUT };
	unsigned int waited_ms = 0;

	for (;;) {
		int n = poll(&p, 1, POLL_MS);

		if (n > 0)
			return p.revents & (POLLERR | POLLHUP | POLLNVAL) ? -EPIPE : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		waited_ms += POLL_MS;
		if (__atomic_load_n(&output->give_up, __ATOMIC_RELAXED) ||
		    (output->patience_ms && waited_ms >= output->patience_ms))
			return -ETIMEDOUT;
	}
}

static void cut_torn_packet(struct output *output)
{
	int64_t end = output->start + (int64_t)output->written;

	if (output->regular && !ftruncate(output->fd, end))
		lseek(output->fd, end, SEEK_SET);
}

void output_cut(struct output *output, uint64_t written)
{
	if (!output->regular || written > output->written)
		return;
	output->written = written;
	cut_torn_packet(output);
}

int output_write(struct output *output, const void *data, size_t size)
{
	const char *p = data;
	size_t left = size;

	while (left) {
		/* A pipe that polls writable accepts PIPE_BUF bytes without blocking; more may block. */
		size_t chunk = output->regular || left < PIPE_BUF ? left : PIPE_BUF;
		int err = output->regular ? 0 : wait_writable(output);
		ssize_t n = err ? -1 : write(output->fd, p, chunk);

		if (n < 0 && !err && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0) {
			err = err ? err : -errno;
			cut_torn_packet(output);
			return err;
		}
		p += n;
		left -= n;
	}
	output->written += size;
	return 0;
}
