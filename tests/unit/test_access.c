/* SPDX-License-Identifier: Apache-2.0 */
/* Who may trace which process, checked on real processes; and which processes cannot be traced at all. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/control/access.h"

#define SOMEBODY 65534
#define ANOTHER 65533

struct identity {
	uid_t real, effective, saved;
	gid_t group, saved_group;
	bool dumpable;
	bool capable; /* it keeps a capability */
	bool namespace; /* it makes a user namespace, in which it has all capabilities */
};

static int keep_capability(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { .permitted = 1u << CAP_NET_ADMIN } };

	return (int)syscall(SYS_capset, &header, data);
}

static int become(const struct identity *who)
{
	if (setresgid(who->group, who->group, who->saved_group) ||
	    (who->capable && prctl(PR_SET_KEEPCAPS, 1)) ||
	    setresuid(who->real, who->effective, who->saved) ||
	    (who->capable && keep_capability()) || (who->namespace && unshare(CLONE_NEWUSER)))
		return -1;
	/* A process that changed its ids is not dumpable until it sets the flag itself. */
	return prctl(PR_SET_DUMPABLE, who->dumpable);
}

/* Starts a child with this identity, which waits until it is killed. */
static pid_t start_child(const struct identity *who)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (become(who) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Returns the result of access_process() for an ordinary user and such a child. */
static int judge_one(const struct peer *peer, const struct identity *who, char *error)
{
	pid_t pid = start_child(who);
	struct process_facts facts;
	char number[16];
	int err;

	error[0] = '\0';
	assert_int_equal(process_facts_read(pid, &facts), 0);
	assert_int_equal(process_check(pid, 0, &facts, error, 256), 0);
	err = access_process(peer, &facts, error, 256);
	snprintf(number, sizeof(number), "process %d", (int)pid);
	if (err)
		assert_non_null(strstr(error, number));
	end_child(pid);
	return err;
}

static int judge(const struct peer *peer, uid_t real, uid_t effective, uid_t saved, bool dumpable,
		 char *error)
{
	const struct identity who = { .real = real,
				      .effective = effective,
				      .saved = saved,
				      .group = SOMEBODY,
				      .saved_group = SOMEBODY,
				      .dumpable = dumpable };

	return judge_one(peer, &who, error);
}

/* A user without privileges may trace a process that has no privileges, or has only those that the user gave it. */
static void test_privileged_processes(void **state)
{
	const struct peer user = { .uid = SOMEBODY, .gid = SOMEBODY };
	const struct identity plain = { .real = SOMEBODY,
					.effective = SOMEBODY,
					.saved = SOMEBODY,
					.group = SOMEBODY,
					.saved_group = SOMEBODY,
					.dumpable = true };
	struct identity who = plain;
	char error[256];

	if (geteuid())
		skip();
	assert_int_equal(judge_one(&user, &plain, error), 0);
	who.group = who.saved_group = ANOTHER;
	assert_int_equal(judge_one(&user, &who, error), -EPERM);
	assert_non_null(strstr(error, "runs as group 65533, you as group 65534"));
	who = plain;
	who.saved_group = ANOTHER;
	assert_int_equal(judge_one(&user, &who, error), -EPERM);
	who = plain;
	who.capable = true;
	assert_int_equal(judge_one(&user, &who, error), -EPERM);
	assert_non_null(strstr(error, "is protected"));
	who = plain;
	who.namespace = true;
	assert_int_equal(judge_one(&user, &who, error), 0);
}

static void test_processes(void **state)
{
	const struct peer user = { .uid = SOMEBODY, .gid = SOMEBODY };
	const struct peer trusted = { .uid = ANOTHER, .trusted = true };
	char error[256];

	if (geteuid())
		skip();
	assert_int_equal(judge(&user, SOMEBODY, SOMEBODY, SOMEBODY, true, error), 0);
	assert_int_equal(judge(&user, ANOTHER, ANOTHER, ANOTHER, true, error), -EPERM);
	assert_non_null(strstr(error, "belongs to user 65533, you are user 65534"));
	assert_int_equal(judge(&user, 0, 0, 0, true, error), -EPERM);
	/* One foreign id of the three is enough to refuse: the process could take it on again, or gave it up late. */
	assert_int_equal(judge(&user, ANOTHER, SOMEBODY, SOMEBODY, true, error), -EPERM);
	assert_int_equal(judge(&user, SOMEBODY, ANOTHER, SOMEBODY, true, error), -EPERM);
	assert_int_equal(judge(&user, SOMEBODY, SOMEBODY, 0, true, error), -EPERM);
	assert_int_equal(judge(&user, SOMEBODY, SOMEBODY, SOMEBODY, false, error), -EPERM);
	assert_non_null(strstr(error, "is protected"));
	assert_int_equal(judge(&trusted, 0, 0, 0, true, error), 0);
	assert_int_equal(judge(&trusted, SOMEBODY, 0, SOMEBODY, false, error), 0);
}

static void test_system(void **state)
{
	const struct peer user = { .uid = SOMEBODY },
			  trusted = { .uid = SOMEBODY, .trusted = true };
	char error[256] = "";

	assert_int_equal(access_system(&user, error, sizeof(error)), -EPERM);
	assert_non_null(strstr(error, "group profbpf"));
	assert_int_equal(access_system(&trusted, error, sizeof(error)), 0);
}

static void test_sessions(void **state)
{
	const struct peer user = { .uid = SOMEBODY },
			  trusted = { .uid = SOMEBODY, .trusted = true };

	assert_true(access_session(&user, SOMEBODY));
	assert_false(access_session(&user, ANOTHER));
	assert_false(access_session(&user, 0));
	assert_true(access_session(&trusted, 0));
}

/* Reads the identity of a peer with these ids from the other end of a socket pair. */
static int identify(uid_t uid, gid_t gid, const gid_t *groups, size_t group_count,
		    const gid_t *trusted, struct peer *peer)
{
	int shared[2], report, status;
	struct peer seen = { 0 };
	int pipe_ends[2];
	pid_t pid;

	assert_int_equal(pipe(pipe_ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* The daemon's own user is trusted: the reading process must have another user than the peer. */
		if (setgroups(group_count, groups) || setresgid(gid, gid, gid) ||
		    setresuid(uid, uid, 0) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, shared) ||
		    setresuid(0, 0, 0))
			_exit(1);
		report = access_identify(shared[0], trusted, &seen);
		if (write(pipe_ends[1], &seen, sizeof(seen)) != sizeof(seen))
			_exit(1);
		_exit(report ? 2 : 0);
	}
	close(pipe_ends[1]);
	assert_int_equal(read(pipe_ends[0], peer, sizeof(*peer)), sizeof(*peer));
	close(pipe_ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_identity(void **state)
{
	gid_t many[100], trusted = 4321;
	struct peer peer;

	if (geteuid())
		skip();
	for (size_t i = 0; i < 100; i++)
		many[i] = (gid_t)(1000 + i);
	assert_int_equal(identify(SOMEBODY, SOMEBODY, NULL, 0, &trusted, &peer), 0);
	assert_int_equal(peer.uid, SOMEBODY);
	assert_int_equal(peer.gid, SOMEBODY);
	assert_false(peer.trusted);
	assert_int_equal(identify(SOMEBODY, trusted, NULL, 0, &trusted, &peer), 0);
	assert_true(peer.trusted);
	/* More groups than the first request has room for. */
	assert_int_equal(identify(SOMEBODY, SOMEBODY, many, 100, &trusted, &peer), 0);
	assert_false(peer.trusted);
	many[99] = trusted;
	assert_int_equal(identify(SOMEBODY, SOMEBODY, many, 100, &trusted, &peer), 0);
	assert_true(peer.trusted);
	/* The machine has no such group: then no user is in it, not even one with group 0. */
	assert_int_equal(identify(SOMEBODY, 0, many, 100, NULL, &peer), 0);
	assert_false(peer.trusted);
	assert_int_equal(identify(0, 0, NULL, 0, NULL, &peer), 0);
	assert_true(peer.trusted);
}

static void test_no_socket(void **state)
{
	struct peer peer;

	assert_int_equal(access_identify(STDIN_FILENO, NULL, &peer), -ENOTSOCK);
	assert_int_equal(access_identify(-1, NULL, &peer), -EBADF);
}

/* ---- Processes that cannot be traced */

static int check(pid_t pid, char *error, size_t size)
{
	struct process_facts facts;

	return process_check(pid, process_facts_read(pid, &facts), &facts, error, size);
}

static void test_self(void **state)
{
	struct process_facts facts;
	char error[256];

	assert_int_equal(check(getpid(), error, sizeof(error)), 0);
	prctl(PR_SET_NAME, "a) R 1\n(b");
	assert_int_equal(process_facts_read(getpid(), &facts), 0);
	/* A name cannot imitate the fields after it, and its control characters do not reach the terminal. */
	assert_string_equal(facts.name, "a) R 1?(b");
	assert_int_equal(facts.parent, getppid());
	assert_int_equal(facts.tgid, getpid());
	assert_int_equal(facts.real, getuid());
	assert_false(facts.narrow);
	assert_false(facts.kernel_thread);
}

static void test_absent(void **state)
{
	const struct identity own = { .real = getuid(),
				      .effective = geteuid(),
				      .saved = geteuid(),
				      .group = getgid(),
				      .saved_group = getgid(),
				      .dumpable = true };
	pid_t pid = start_child(&own);
	char error[256], expected[64];

	end_child(pid);
	assert_int_equal(check(pid, error, sizeof(error)), -ESRCH);
	snprintf(expected, sizeof(expected), "no process %d", (int)pid);
	assert_string_equal(error, expected);
	assert_int_equal(check(0, error, sizeof(error)), -ESRCH);
	assert_int_equal(check(-1, error, sizeof(error)), -ESRCH);
}

static void test_zombie(void **state)
{
	char error[256], expected[128];
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(check(pid, error, sizeof(error)), -ESRCH);
	snprintf(expected, sizeof(expected),
		 "is a zombie: it has exited and waits for its parent %d", (int)getpid());
	assert_non_null(strstr(error, expected));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_kernel_thread(void **state)
{
	struct process_facts facts;
	char error[256];

	/* A container has no kthreadd. */
	if (process_facts_read(2, &facts) || strcmp(facts.name, "kthreadd"))
		skip();
	assert_int_equal(check(2, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "2 (kthreadd) is a kernel thread"));
}

static void *report_tid(void *argument)
{
	int *ends = argument;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char byte;

	if (write(ends[1], &tid, sizeof(tid)) != sizeof(tid) || read(ends[2], &byte, 1) != 1)
		return NULL;
	return argument;
}

static void test_thread(void **state)
{
	int ends[4];
	char error[256], expected[128];
	pthread_t thread;
	void *result;
	pid_t tid;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(ends + 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, report_tid, ends), 0);
	assert_int_equal(read(ends[0], &tid, sizeof(tid)), sizeof(tid));
	assert_int_equal(check(tid, error, sizeof(error)), -EINVAL);
	snprintf(expected, sizeof(expected), "is a thread of process %d; give --pid %d",
		 (int)getpid(), (int)getpid());
	assert_non_null(strstr(error, expected));
	assert_int_equal(write(ends[3], "x", 1), 1);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, ends);
	for (int i = 0; i < 4; i++)
		close(ends[i]);
}

/* A held process that has exited is reported as gone, before and after its id is free again. */
static void test_hold(void **state)
{
	struct process_facts facts;
	pid_t child = fork();
	int held;

	if (!child) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	held = process_hold(child);
	assert_true(held >= 0);
	assert_false(process_gone(held));
	assert_int_equal(process_facts_read(child, &facts), 0);
	assert_true(facts.started > 0);
	assert_true(process_runs(child, facts.started));
	assert_false(process_runs(child, facts.started - 1));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, child, NULL, WEXITED | WNOWAIT), 0);
	assert_true(process_gone(held));
	assert_false(process_runs(child, facts.started));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(process_gone(held));
	assert_int_equal(process_hold(child), -ESRCH);
	assert_false(process_runs(child, facts.started));
	assert_false(process_gone(-1));
	close(held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_privileged_processes),
		cmocka_unit_test(test_system),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_no_socket),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test(test_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
