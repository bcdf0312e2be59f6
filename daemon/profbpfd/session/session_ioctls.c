/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_ioctls.c - decides when a session hooks ioctls that were not requested by name.
 *
 * On some kernels ioctls can only be seen by the system call's tracepoints, and then every system call of the machine
 * takes the kernel's slow path: 65 ns more for each, as measured on one machine. Most jobs without an accelerator make
 * no ioctl on a driver at all. So nothing is hooked before a target has a driver's device open.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "daemon/profbpfd/host/open_devices.h"
#include "daemon/profbpfd/session/session_private.h"

#define LOOK_NS 1000000ull /* approximate limit of one check's duration */
#define LOOK_FIRST_NS 20000000ull

/* Devices that any process may have open. All others count as drivers' devices. */
static const char *const common[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/console", "/dev/kmsg", "/dev/ptmx",
	"/dev/pts/*", "/dev/tty", "/dev/tty[0-9]*", "/dev/ttyS[0-9]*", "/dev/shm/*", "/dev/mqueue/*", "/dev/hugepages*",
};

struct device_look {
	const struct right *right;
	uint64_t until_ns;
	size_t from, at; /* positions in the table of targets */
	bool over;
	pid_t found;
	char name[OPEN_DEVICE_NAME_MAX];
};

static bool is_driver(const char *name)
{
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (!fnmatch(common[i], name, 0))
			return false;
	return true;
}

static void look_at(void *context, pid_t pid)
{
	struct device_look *look = context;

	if (look->over || look->at++ < look->from)
		return;
	if (open_devices_find(pid, is_driver, look->name) && right_holds(look->right, pid))
		look->found = pid;
	look->over = look->found || session_now_ns() >= look->until_ns;
}

static void find_under_way(struct session *s)
{
	if (capture_ioctls_before(s->capture))
		session_warn(s, "ioctls that began before the hooks were placed could not be read");
}

static void hook(struct session *s, const struct device_look *look)
{
	char text[256];
	int err = capture_hook_ioctls(s->capture);

	if (err) {
		snprintf(text, sizeof(text), "ioctls are not recorded: placing the hooks failed: %s", strerror(-err));
		session_warn(s, text);
		return;
	}
	find_under_way(s);
	snprintf(text, sizeof(text), "ioctls are recorded from %.1f s on: process %d had %s open",
		 (double)(session_now_ns() - s->start_ns) / 1e9, (int)look->found, look->name);
	session_note(s, text);
}

static void look(struct session *s, uint64_t most_ns)
{
	struct device_look look = { .right = &s->right,
				    .until_ns = session_now_ns() + most_ns,
				    .from = s->next_device_look };

	capture_each_target(s->capture, look_at, &look);
	s->next_device_look = look.over ? look.at : 0;
	if (look.found)
		hook(s, &look);
}

void session_ioctls_start(struct session *s)
{
	if (!capture_ioctls_wait(s->capture)) {
		find_under_way(s);
		return;
	}
	look(s, LOOK_FIRST_NS);
	if (capture_ioctls_wait(s->capture))
		session_note(s, "ioctls are recorded only when a target has opened a driver's "
				"device (checked each second): this kernel reports them only by "
				"system call tracepoints, which slow down every system call of the "
				"machine; --topics +ioctl records them from the start");
}

void session_ioctls_look(struct session *s)
{
	if (capture_ioctls_wait(s->capture))
		look(s, LOOK_NS);
}
