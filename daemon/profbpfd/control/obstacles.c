/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/obstacles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "daemon/common/privilege.h"

#define TEXT_MAX 1024
#define SECCOMP_FILTER 2 /* in /proc/PID/status */
#define EVERYBODY 4294967295u /* number of users in the initial user namespace */

#define CONTAINER_REMEDY "run the container with --privileged"

static void read_seccomp(struct obstacle_facts *facts)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	int mode;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			facts->seccomp = mode == SECCOMP_FILTER;
	}
	if (f)
		fclose(f);
}

/* The initial user namespace maps all users to themselves. */
static bool in_user_namespace(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned int inside = 0, outside = 0, count = EVERYBODY;
	int n = f ? fscanf(f, "%u %u %u", &inside, &outside, &count) : 3;

	if (f)
		fclose(f);
	return n == 3 && (inside || outside || count != EVERYBODY);
}

static bool locked_down(void)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[256] = "";
	bool confidential = f && fgets(line, sizeof(line), f) && strstr(line, "[confidentiality]");

	if (f)
		fclose(f);
	return confidential;
}

static int read_paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int value;

	if (!f || fscanf(f, "%d", &value) != 1)
		value = INT_MIN;
	if (f)
		fclose(f);
	return value;
}

static int try_bpf(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "profbpf_try", 4, 4, 1, NULL);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Opens the same kind of event as map_events.c: for all processes on one CPU. */
int obstacles_perf_error(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.disabled = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ENODEV || errno == EINVAL ? 0 : errno; /* CPU 0 is absent: not a refusal */
	close(fd);
	return 0;
}

void obstacles_look(struct obstacle_facts *facts, const struct features *features)
{
	struct statfs fs;

	memset(facts, 0, sizeof(*facts));
	facts->features = *features;
	read_seccomp(facts);
	facts->capabilities = privilege_effective();
	facts->user_namespace = in_user_namespace();
	facts->confidential = locked_down();
	facts->perf_paranoid = read_paranoid();
	facts->bpf_error = try_bpf();
	facts->perf_error = obstacles_perf_error();
	facts->sysfs = !statfs("/sys/kernel", &fs) && fs.f_type == SYSFS_MAGIC;
	facts->btf_hidden = !statfs("/sys/kernel/btf", &fs) && fs.f_type != SYSFS_MAGIC;
}

static bool has(const struct obstacle_facts *facts, unsigned int capability)
{
	return facts->capabilities >> capability & 1;
}

static bool may_trace(const struct obstacle_facts *facts)
{
	char missing[64];

	privilege_missing(facts->capabilities, missing, sizeof(missing));
	return !missing[0] && !facts->user_namespace;
}

static int judge_kernel(const struct obstacle_facts *facts, struct words *obstacles)
{
	const struct features *f = &facts->features;

	if (!f->btf && f->btf_given)
		return words_add(obstacles, f->error);
	if (!f->btf && !facts->sysfs)
		return words_add(
			obstacles,
			"/sys is not a sysfs, but the BPF programs need /sys/kernel/btf/vmlinux: "
			"mount sysfs (mount -t sysfs sysfs /sys); in a container, " CONTAINER_REMEDY
			" or with -v /sys:/sys:ro");
	if (!f->btf && facts->btf_hidden)
		return words_add(obstacles, "a mount hides /sys/kernel/btf, the kernel's type "
					    "information, which the BPF programs need: unmount it; "
					    "in a container, mount the host's (-v "
					    "/sys/kernel/btf:/sys/kernel/btf:ro), or give profbpfd "
					    "a copy (--btf FILE)");
	return f->error[0] ? words_add(obstacles, f->error) : 0;
}

static int judge_privilege(const struct obstacle_facts *facts, struct words *obstacles,
			   struct words *limits)
{
	char missing[64];
	int err = 0;

	privilege_missing(facts->capabilities, missing, sizeof(missing));
	if (missing[0])
		err = words_addf(obstacles,
				 "tracing needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; "
				 "profbpfd lacks "
				 "%s: run it as root; in a container, add them (--cap-add) "
				 "or " CONTAINER_REMEDY
				 "; in a service, see CapabilityBoundingSet=",
				 missing);
	else if (facts->user_namespace)
		err = words_add(obstacles,
				"profbpfd runs in a user namespace, as in a rootless container: "
				"its capabilities are not valid for the host; run it as root of "
				"the host");
	else if (!has(facts, CAP_SYS_PTRACE))
		err = words_add(
			limits,
			"without CAP_SYS_PTRACE the libraries of processes of other users cannot "
			"be read, so their API calls are not traced; give profbpfd this "
			"capability, too");
	return err;
}

static int judge_bpf(const struct obstacle_facts *facts, struct words *obstacles)
{
	if (facts->confidential)
		return words_add(obstacles, "the kernel is locked down for confidentiality, so BPF "
					    "programs may not read its memory: boot with "
					    "lockdown=integrity or without lockdown "
					    "(/sys/kernel/security/lockdown; Secure Boot may have "
					    "turned it on)");
	/* Missing capabilities are the cause, and already reported. */
	if (!facts->bpf_error || !may_trace(facts))
		return 0;
	if (facts->bpf_error == EMFILE || facts->bpf_error == ENFILE)
		return words_addf(obstacles,
				  "%s has no file descriptors left (%s): raise %s, or end sessions "
				  "(profctl list, profctl stop)",
				  facts->bpf_error == EMFILE ? "profbpfd" : "this machine", strerror(facts->bpf_error),
				  facts->bpf_error == EMFILE ? "its limit (LimitNOFILE= in the service, ulimit -n elsewhere)" :
							       "fs.file-max (sysctl)");
	if (facts->seccomp)
		return words_addf(obstacles,
				  "a seccomp filter refuses the system call bpf (%s), as "
				  "containers' usual one does: "
				  "run the container with --security-opt seccomp=unconfined, or "
				  "profbpfd outside; in "
				  "a service, see SystemCallFilter=",
				  strerror(facts->bpf_error));
	if (facts->bpf_error == ENOSYS)
		return words_add(obstacles, "this kernel is built without the system call bpf "
					    "(CONFIG_BPF_SYSCALL): run another kernel");
	return words_addf(
		obstacles,
		"the system call bpf fails: %s; a security module may forbid it (see the kernel's "
		"log: dmesg)",
		strerror(facts->bpf_error));
}

static void explain_perf(const struct obstacle_facts *facts, int err, char *text, size_t size)
{
	if (facts->seccomp && may_trace(facts))
		snprintf(text, size,
			 "a seccomp filter refuses perf_event_open (%s): run the container with "
			 "--security-opt seccomp=unconfined",
			 strerror(err));
	else if ((err == EPERM || err == EACCES) && facts->confidential)
		snprintf(text, size, "the kernel is locked down for confidentiality");
	else if ((err == EPERM || err == EACCES) && facts->perf_paranoid != INT_MIN)
		snprintf(text, size,
			 "perf_event_open is refused (%s) with kernel.perf_event_paranoid at %d: "
			 "give "
			 "profbpfd CAP_PERFMON (before Linux 5.8, and with some distributions' "
			 "kernels, "
			 "CAP_SYS_ADMIN), or lower it (sysctl kernel.perf_event_paranoid=-1)",
			 strerror(err), facts->perf_paranoid);
	else
		snprintf(text, size, "perf_event_open fails: %s", strerror(err));
}

static int judge_perf(const struct obstacle_facts *facts, struct words *limits)
{
	/* The other ways to see ioctls use perf events, too. */
	bool ioctls = features_see_ioctls(&facts->features) &&
		      !facts->features.ioctls[IOCTL_METHOD_FUNCTION];
	char text[TEXT_MAX];

	if (!facts->perf_error)
		return 0;
	explain_perf(facts, facts->perf_error, text, sizeof(text));
	return words_addf(limits, "%s%s: %s",
			  facts->features.method == PROBE_METHOD_PERF
				  ? "API calls are not traced"
				  : "libraries loaded later are not traced",
			  ioctls ? ", nor are ioctls" : "", text);
}

static int judge_limits(const struct obstacle_facts *facts, struct words *limits)
{
	int err = judge_perf(facts, limits);

	if (!err && facts->features.btf && facts->features.method == PROBE_METHOD_NONE)
		err = words_add(limits,
				!facts->features.cookies && facts->features.uprobes
					? "API calls are not traced: on this kernel a BPF program "
					  "cannot identify the probe that it runs for; Linux 5.15 "
					  "or later is needed"
					: "API calls are not traced: this kernel has no uprobes "
					  "(CONFIG_UPROBE_EVENTS); run another kernel");
	if (!err && !features_see_ioctls(&facts->features))
		err = words_add(
			limits,
			"ioctls are not recorded: no tracefs with system call tracepoints is "
			"mounted on /sys/kernel/tracing (mount -t tracefs tracefs "
			"/sys/kernel/tracing; in a container, -v "
			"/sys/kernel/tracing:/sys/kernel/tracing)");
	return err;
}

int obstacles_judge(const struct obstacle_facts *facts, struct words *obstacles,
		    struct words *limits)
{
	int err = judge_kernel(facts, obstacles);

	if (!err)
		err = judge_privilege(facts, obstacles, limits);
	if (!err)
		err = judge_bpf(facts, obstacles);
	/* If nothing can be traced, further limits are irrelevant, and mostly follow from that. */
	return err || obstacles->count ? err : judge_limits(facts, limits);
}

void obstacles_text(const struct features *features, char *text, size_t size)
{
	struct words obstacles = { 0 }, limits = { 0 };
	struct obstacle_facts facts;
	size_t used = 0;

	text[0] = '\0';
	obstacles_look(&facts, features);
	if (obstacles_judge(&facts, &obstacles, &limits) && !obstacles.count)
		snprintf(text, size, "profbpfd is out of memory");
	for (size_t i = 0; i < obstacles.count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "\n" : "",
					 obstacles.word[i]);
	words_free(&obstacles);
	words_free(&limits);
}

void obstacles_perf_text(int err, char *text, size_t size)
{
	const struct features none = { 0 };
	struct obstacle_facts facts;

	obstacles_look(&facts, &none);
	explain_perf(&facts, err, text, size);
}
