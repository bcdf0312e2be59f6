/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.c - attaches empty BPF programs until it reads a line.
 *
 *	floor calls PID FILE OFFSET...	to functions: entry and return
 *	floor switches			to context switches and wake-ups
 *
 * Prints "attached METHOD NS", waits for a line, detaches, prints "detached NS".
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/floor.skel.h"
#include "daemon/profbpfd/probe/uprobe_multi.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(err));
	exit(1);
}

static struct floor *load(bool session, bool multi, bool sched)
{
	struct floor *s = floor__open();
	int err;

	if (!s)
		die("opening the programs", errno);
	bpf_program__set_autoload(s->progs.empty_session, session);
	bpf_program__set_autoload(s->progs.empty_enter, multi);
	bpf_program__set_autoload(s->progs.empty_leave, multi);
	bpf_program__set_autoload(s->progs.empty_switch, sched);
	bpf_program__set_autoload(s->progs.empty_waking, sched);
	bpf_program__set_expected_attach_type(s->progs.empty_session, ATTACH_UPROBE_SESSION);
	err = floor__load(s);
	if (err) {
		floor__destroy(s);
		errno = -err;
		return NULL;
	}
	return s;
}

static int multi_link(struct bpf_program *program, uint32_t type, uint32_t flags,
		      const struct uprobe_multi_attr *where)
{
	struct uprobe_multi_attr attr = *where;

	attr.prog_fd = bpf_program__fd(program);
	attr.attach_type = type;
	attr.multi_flags = flags;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, UPROBE_MULTI_ATTR_SIZE);
}

static void wait_line(void)
{
	int c;

	fflush(stdout);
	while ((c = getchar()) != EOF && c != '\n')
		;
}

/* A kernel without uprobe sessions rejects the link, an older kernel the program. */
static int floor_calls(const struct uprobe_multi_attr *where)
{
	struct floor *s = load(true, false, false);
	uint64_t start = now_ns();
	int fds[2] = { -1, -1 };
	const char *method = "session";

	if (s)
		fds[0] = multi_link(s->progs.empty_session, ATTACH_UPROBE_SESSION, 0, where);
	if (fds[0] < 0) {
		floor__destroy(s);
		method = "multi";
		s = load(false, true, false);
		start = now_ns();
		if (!s)
			die("loading the programs", errno);
		fds[0] = multi_link(s->progs.empty_enter, ATTACH_UPROBE_MULTI, 0, where);
		fds[1] = multi_link(s->progs.empty_leave, ATTACH_UPROBE_MULTI, UPROBE_MULTI_RETURN,
				    where);
		if (fds[0] < 0 || fds[1] < 0)
			die("attaching", errno);
	}
	printf("attached %s %llu\n", method, (unsigned long long)(now_ns() - start));
	wait_line();
	start = now_ns();
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	printf("detached %llu\n", (unsigned long long)(now_ns() - start));
	floor__destroy(s);
	return 0;
}

static int floor_switches(void)
{
	struct floor *s = load(false, false, true);
	uint64_t start = now_ns();
	int err;

	if (!s)
		die("loading the programs", errno);
	s->links.empty_switch = bpf_program__attach(s->progs.empty_switch);
	s->links.empty_waking = bpf_program__attach(s->progs.empty_waking);
	if (!s->links.empty_switch || !s->links.empty_waking) {
		err = errno;
		floor__destroy(s);
		die("attaching", err);
	}
	printf("attached tp_btf %llu\n", (unsigned long long)(now_ns() - start));
	wait_line();
	start = now_ns();
	floor__detach(s);
	printf("detached %llu\n", (unsigned long long)(now_ns() - start));
	floor__destroy(s);
	return 0;
}

int main(int argc, char **argv)
{
	struct uprobe_multi_attr where = { 0 };
	uint64_t *offsets;

	if (argc == 2 && !strcmp(argv[1], "switches"))
		return floor_switches();
	if (argc < 5 || strcmp(argv[1], "calls")) {
		fprintf(stderr, "usage: floor calls PID FILE OFFSET... | floor switches\n");
		return 2;
	}
	offsets = calloc(argc, sizeof(*offsets));
	if (!offsets)
		die("offsets", ENOMEM);
	for (int i = 4; i < argc; i++)
		offsets[i - 4] = strtoull(argv[i], NULL, 0);
	where.pid = strtoul(argv[2], NULL, 10);
	where.path = (uintptr_t)argv[3];
	where.offsets = (uintptr_t)offsets;
	where.count = argc - 4;
	return floor_calls(&where);
}
