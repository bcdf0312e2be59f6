/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "daemon/profbpfd/probed_place.h"
#include "daemon/profbpfd/uprobe_multi.h"

struct probe_link {
	int *fds; /* multi and session links */
	size_t fd_count;
	struct bpf_link **links; /* perf-event links */
	size_t link_count;
};

struct attach {
	struct capture *capture;
	struct probe_link *link;
	char path[32];
	pid_t pid;
	struct probed_place place; /* of its probes, on kernels without cookies */
	bool returns; /* with return probes */
	probe_refused *refused;
	void *context;
	int last_error;
};

static int multi_link(const struct attach *a, const struct probe_points *p, size_t first,
		      size_t count)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = a->returns ? capture_return_program(a->capture)
				      : capture_place_program(a->capture),
		.attach_type = a->returns ? ATTACH_UPROBE_SESSION : ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)a->path,
		.offsets = (uintptr_t)(p->offsets + first),
		.cookies = (uintptr_t)(p->cookies + first),
		.count = count,
		.pid = a->pid,
	};
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, UPROBE_MULTI_ATTR_SIZE);

	return fd < 0 ? -errno : fd;
}

static int keep_fd(struct probe_link *link, int fd)
{
	int *fds = realloc(link->fds, (link->fd_count + 1) * sizeof(*fds));

	if (!fds) {
		close(fd);
		return -ENOMEM;
	}
	link->fds = fds;
	fds[link->fd_count++] = fd;
	return 0;
}

static int attach_range(struct attach *a, const struct probe_points *p, size_t first, size_t count)
{
	int fd = multi_link(a, p, first, count);

	return fd < 0 ? fd : keep_fd(a->link, fd);
}

/* One point that the kernel refuses fails the whole link: halve until it stands alone. */
static void attach_multi(struct attach *a, const struct probe_points *p, size_t first, size_t count)
{
	int err;

	if (!count)
		return;
	err = attach_range(a, p, first, count);
	if (!err)
		return;
	a->last_error = err;
	if (err == -ESRCH || err == -ENOMEM)
		return;
	if (count == 1) {
		a->refused(a->context, a->returns, first, err);
		return;
	}
	attach_multi(a, p, first, count / 2);
	if (a->last_error != -ESRCH)
		attach_multi(a, p, first + count / 2, count - count / 2);
}

static int find_file(struct attach *a)
{
	a->last_error = probed_place_of(a->path, &a->place);
	return a->last_error;
}

static int keep_place(struct attach *a, const struct probe_points *p, size_t index)
{
	int err;

	a->place.at = PROBED_ENTRY;
	a->place.offset = p->offsets[index];
	err = capture_set_place(a->capture, &a->place, p->cookies[index]);
	if (err) {
		a->last_error = err;
		a->refused(a->context, false, index, err);
	}
	return err;
}

static void attach_perf(struct attach *a, const struct probe_points *p)
{
	a->link->links = calloc(p->count, sizeof(*a->link->links));
	if (!a->link->links) {
		a->last_error = -ENOMEM;
		return;
	}
	if (capture_keeps_places(a->capture) && find_file(a))
		return;
	for (size_t i = 0; i < p->count; i++) {
		struct bpf_link *link;

		if (capture_keeps_places(a->capture) && keep_place(a, p, i))
			continue;
		link = capture_attach_perf(a->capture, a->pid, a->path, p->offsets[i],
					   p->cookies[i]);
		if (link) {
			a->link->links[a->link->link_count++] = link;
			continue;
		}
		a->last_error = -errno;
		a->refused(a->context, false, i, a->last_error);
	}
}

struct probe_link *probe_link_new(struct capture *capture, int fd, pid_t pid,
				  const struct probe_points *returns,
				  const struct probe_points *others, probe_refused *refused,
				  void *context)
{
	struct attach a = { .capture = capture,
			    .link = calloc(1, sizeof(*a.link)),
			    .pid = pid,
			    .refused = refused,
			    .context = context };

	if (!a.link)
		return NULL;
	snprintf(a.path, sizeof(a.path), "/proc/self/fd/%d", fd);
	if (capture_method(capture) == PROBE_METHOD_PERF) {
		attach_perf(&a, others);
	} else {
		attach_multi(&a, others, 0, others->count);
		a.returns = true;
		if (a.last_error != -ESRCH)
			attach_multi(&a, returns, 0, returns->count);
	}
	if (!a.link->fd_count && !a.link->link_count) {
		probe_link_free(a.link);
		errno = a.last_error ? -a.last_error : EINVAL;
		return NULL;
	}
	return a.link;
}

void probe_link_free(struct probe_link *link)
{
	if (!link)
		return;
	for (size_t i = 0; i < link->fd_count; i++)
		close(link->fds[i]);
	for (size_t i = 0; i < link->link_count; i++)
		bpf_link__destroy(link->links[i]);
	free(link->fds);
	free(link->links);
	free(link);
}
