/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/probe_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "daemon/profbpfd/probe/probed_place.h"
#include "daemon/profbpfd/probe/uprobe_multi.h"

/* The objects that keep probes attached. */
struct holders {
	int *fds; /* multi and session links */
	size_t fd_count;
	struct bpf_link **links; /* perf-event links */
	uint64_t *offsets; /* the place of each of @links */
	size_t link_count;
};

struct probe_link {
	struct holders exits, others;
};

struct attach {
	struct capture *capture;
	struct holders *holders;
	char path[32];
	pid_t pid;
	struct probed_place place; /* identifies the file, on kernels without cookies */
	enum point_kind kind;
	probe_refused *refused; /* NULL: the caller needs only last_error */
	void *context;
	int last_error;
};

static int multi_link(const struct attach *a, const struct probe_points *p, size_t first,
		      size_t count)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = a->kind == POINT_RETURN ? capture_return_program(a->capture)
						   : capture_place_program(a->capture),
		.attach_type = a->kind == POINT_RETURN ? ATTACH_UPROBE_SESSION
						       : ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)a->path,
		.offsets = (uintptr_t)(p->offsets + first),
		.cookies = (uintptr_t)(p->cookies + first),
		.count = count,
		.pid = a->pid,
	};
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, UPROBE_MULTI_ATTR_SIZE);

	return fd < 0 ? -errno : fd;
}

static int keep_fd(struct holders *holders, int fd)
{
	int *fds = realloc(holders->fds, (holders->fd_count + 1) * sizeof(*fds));

	if (!fds) {
		close(fd);
		return -ENOMEM;
	}
	holders->fds = fds;
	fds[holders->fd_count++] = fd;
	return 0;
}

static void refuse(struct attach *a, size_t index, int err)
{
	a->last_error = err;
	if (a->refused)
		a->refused(a->context, a->kind, index, err);
}

static int attach_range(struct attach *a, const struct probe_points *p, size_t first, size_t count)
{
	int fd = multi_link(a, p, first, count);

	return fd < 0 ? fd : keep_fd(a->holders, fd);
}

/* If the kernel refuses one point, the whole link fails: halves the range until the refused point is alone. */
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
		refuse(a, first, err);
		return;
	}
	attach_multi(a, p, first, count / 2);
	if (a->last_error != -ESRCH)
		attach_multi(a, p, first + count / 2, count - count / 2);
}

static int keep_place(struct attach *a, const struct probe_points *p, size_t index)
{
	int err;

	a->place.at = PROBED_ENTRY;
	a->place.offset = p->offsets[index];
	err = capture_set_place(a->capture, &a->place, p->cookies[index]);
	if (err)
		refuse(a, index, err);
	return err;
}

static bool is_held(const struct holders *holders, uint64_t offset)
{
	for (size_t i = 0; i < holders->link_count; i++)
		if (holders->offsets[i] == offset)
			return true;
	return false;
}

static int room_for_links(struct holders *holders, size_t count)
{
	size_t room = holders->link_count + count + 1;
	struct bpf_link **links = reallocarray(holders->links, room, sizeof(struct bpf_link *));
	uint64_t *offsets;

	if (!links)
		return -ENOMEM;
	holders->links = links;
	offsets = reallocarray(holders->offsets, room, sizeof(*offsets));
	if (!offsets)
		return -ENOMEM;
	holders->offsets = offsets;
	return 0;
}

static void attach_perf_point(struct attach *a, const struct probe_points *p, size_t index)
{
	struct holders *h = a->holders;
	struct bpf_link *link;

	if (capture_keeps_places(a->capture) && keep_place(a, p, index))
		return;
	link = capture_attach_perf(a->capture, a->pid, a->path, p->offsets[index],
				   p->cookies[index]);
	if (!link) {
		refuse(a, index, -errno);
		return;
	}
	h->offsets[h->link_count] = p->offsets[index];
	h->links[h->link_count++] = link;
}

/* @held: skips points that are already attached. */
static void attach_perf(struct attach *a, const struct probe_points *p, bool held)
{
	a->last_error = room_for_links(a->holders, p->count);
	if (!a->last_error && capture_keeps_places(a->capture))
		a->last_error = probed_place_of(a->path, &a->place);
	for (size_t i = 0; i < p->count && !a->last_error; i++)
		if (!held || !is_held(a->holders, p->offsets[i]))
			attach_perf_point(a, p, i);
}

static bool uses_perf(const struct attach *a)
{
	return capture_method(a->capture) == PROBE_METHOD_PERF;
}

static void attach_points(struct attach *a, struct holders *holders, enum point_kind kind,
			  const struct probe_points *points)
{
	if (a->last_error == -ESRCH || !points->count)
		return;
	a->holders = holders;
	a->kind = kind;
	if (!uses_perf(a))
		attach_multi(a, points, 0, points->count);
	else if (kind != POINT_RETURN)
		attach_perf(a, points, false);
}

static void holders_free(struct holders *holders)
{
	for (size_t i = 0; i < holders->fd_count; i++)
		close(holders->fds[i]);
	for (size_t i = 0; i < holders->link_count; i++)
		bpf_link__destroy(holders->links[i]);
	free(holders->fds);
	free(holders->links);
	free(holders->offsets);
	memset(holders, 0, sizeof(*holders));
}

/* Attaches all points while the target is held. */
static void attach_all(struct attach *a, struct probe_link *link, const struct probe_target *target,
		       const struct link_points *points)
{
	int held;

	a->last_error = probe_target_hold(target, &held);
	if (a->last_error)
		return;
	attach_points(a, &link->exits, POINT_EXIT, &points->exits);
	attach_points(a, &link->others, POINT_ENTRY, &points->entries);
	attach_points(a, &link->others, POINT_RETURN, &points->returns);
	if (probe_target_kept(target, held))
		return;
	holders_free(&link->others);
	holders_free(&link->exits);
	a->last_error = -ESRCH;
}

struct probe_link *probe_link_new(struct capture *capture, int fd, const struct probe_target *target,
				  const struct link_points *points, probe_refused *refused,
				  void *context)
{
	struct attach a = {
		.capture = capture, .pid = target->pid, .refused = refused, .context = context
	};
	struct probe_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	snprintf(a.path, sizeof(a.path), "/proc/self/fd/%d", fd);
	attach_all(&a, link, target, points);
	if (!link->exits.fd_count && !link->exits.link_count && !link->others.fd_count &&
	    !link->others.link_count) {
		probe_link_free(link);
		errno = a.last_error ? -a.last_error : EINVAL;
		return NULL;
	}
	return link;
}

static bool is_among(const struct probe_points *points, uint64_t offset)
{
	for (size_t i = 0; i < points->count; i++)
		if (points->offsets[i] == offset)
			return true;
	return false;
}

static void drop_others(struct holders *holders, const struct probe_points *points)
{
	size_t kept = 0;

	for (size_t i = 0; i < holders->link_count; i++) {
		if (!is_among(points, holders->offsets[i])) {
			bpf_link__destroy(holders->links[i]);
			continue;
		}
		holders->links[kept] = holders->links[i];
		holders->offsets[kept++] = holders->offsets[i];
	}
	holders->link_count = kept;
}

static int replace_exits(struct attach *a, struct probe_link *link, const struct probe_target *target,
			 const struct probe_points *exits)
{
	struct holders now = { 0 };
	int held, err = probe_target_hold(target, &held);

	if (err)
		return err;
	attach_points(a, &now, POINT_EXIT, exits);
	if (!probe_target_kept(target, held))
		a->last_error = -ESRCH;
	if (a->last_error) {
		holders_free(&now);
		return a->last_error;
	}
	holders_free(&link->exits);
	link->exits = now;
	return 0;
}

static int replace_exit_events(struct attach *a, struct probe_link *link, const struct probe_target *target,
			       const struct probe_points *exits)
{
	size_t before = link->exits.link_count;
	int held, err = probe_target_hold(target, &held);

	if (err)
		return err;
	a->holders = &link->exits;
	attach_perf(a, exits, true);
	if (!probe_target_kept(target, held)) {
		while (link->exits.link_count > before)
			bpf_link__destroy(link->exits.links[--link->exits.link_count]);
		return -ESRCH;
	}
	if (!a->last_error)
		drop_others(&link->exits, exits);
	return a->last_error;
}

int probe_link_set_exits(struct probe_link *link, struct capture *capture, int fd, const struct probe_target *target,
			 const struct probe_points *exits)
{
	struct attach a = { .capture = capture, .pid = target->pid, .kind = POINT_EXIT };

	snprintf(a.path, sizeof(a.path), "/proc/self/fd/%d", fd);
	return uses_perf(&a) ? replace_exit_events(&a, link, target, exits) : replace_exits(&a, link, target, exits);
}

size_t probe_link_events(const struct probe_link *link)
{
	return link ? link->exits.link_count + link->others.link_count : 0;
}

void probe_link_free(struct probe_link *link)
{
	if (!link)
		return;
	holders_free(&link->others);
	holders_free(&link->exits);
	free(link);
}
