/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.c - processes of an ordinary user that gain other privileges while a session attaches to them.
 *
 * privileges crowd FOLDER COUNT SPAN_MS: run as an ordinary user. Starts COUNT children, each with its way to other
 * privileges (the table below). A child calls truth_arguments("mine-CHILD") at intervals. Even children
 * take their way within SPAN_MS after the first line of standard input, odd children after the second
 * line and after exactly LATE_CALLS more calls, named "late-CHILD". From then on all call with the text
 * "secret-WAY", and truth_make(), which is called nowhere else; or, if the process remains the user's own,
 * with "allowed-WAY". All exit when FOLDER/end exists.
 *
 * privileges call FOLDER TEXT [uid]: executed by the children. With "uid" it first gives up its gained user id.
 *
 * privileges mapper FOLDER USER OTHER: run as root. Gives each process whose id it reads from the pipe FOLDER/map a
 * uid_map of the ids 0 (USER) and 1 (OTHER).
 *
 * privileges bystander FOLDER: counts changes of its own code until FOLDER/end exists.
 *
 * In FOLDER: libtruth.so by the name of libprivileges.so, and copies of this program: plain, setuid, setgid,
 * capable, hidden (which the user may not read), script (run by "setuid"), and map, a pipe.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LATE_CALLS 20
#define CALL_EVERY_US 4000
#define LONGEST_S 60

typedef int (*arguments_function)(const char *, uint64_t, void *, int, int, int, uint64_t,
				  uint64_t *);
typedef void *(*make_function)(int);

static arguments_function arguments;
static make_function make;
static const char *folder;

static void die(const char *what)
{
	fprintf(stderr, "privileges: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void load(void)
{
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s/libprivileges.so", folder);
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "privileges: %s\n", dlerror());
		exit(2);
	}
	arguments = (arguments_function)dlsym(library, "truth_arguments");
	make = (make_function)dlsym(library, "truth_make");
	if (!arguments || !make)
		die("libprivileges.so");
}

static void call(const char *text)
{
	uint64_t out;

	arguments(text, 1, (void *)1, 1, 1, 1, 1, &out);
}

static void pause_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

static bool is_there(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

static void call_on(const char *text)
{
	time_t until = time(NULL) + LONGEST_S;

	while (!is_there("end") && time(NULL) < until) {
		call(text);
		if (!strncmp(text, "secret", 6))
			make(1);
		pause_us(CALL_EVERY_US);
	}
	_exit(0);
}

static void execute(const char *program, const char *text, const char *more)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, program);
	execl(path, path, "call", folder, text, more, NULL);
	die(path);
}

static void by_setuid(const char *text)
{
	execute("setuid", text, NULL);
}
static void by_setgid(const char *text)
{
	execute("setgid", text, NULL);
}
static void by_capabilities(const char *text)
{
	execute("capable", text, NULL);
}
static void by_hidden(const char *text)
{
	execute("hidden", text, NULL);
}
static void by_plain(const char *text)
{
	execute("plain", text, NULL);
}

/* Like su, which finally runs a program of its caller; but this program has secrets until it executes that program. */
static void by_giving_up(const char *text)
{
	execute("setuid", text, "uid");
}

/* The first line of the script names the set-user-id program, with the argument "call-script"; its path follows. */
static void by_script(const char *text)
{
	char path[4096];

	(void)text; /* is in the script */
	snprintf(path, sizeof(path), "%s/script", folder);
	execl(path, path, NULL);
	die(path);
}

static void by_child(const char *text)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child)
		execute("setuid", text, NULL);
	waitpid(child, NULL, 0);
	_exit(0);
}

static void by_vfork(const char *text)
{
	char path[4096];
	pid_t child;

	snprintf(path, sizeof(path), "%s/setgid", folder);
	child = vfork();
	if (!child) {
		execl(path, path, "call", folder, text, NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	_exit(0);
}

static void by_asking(const char *text)
{
	if (prctl(PR_SET_DUMPABLE, 0))
		die("prctl");
	call_on(text);
}

/* Enters a user namespace whose uid_map, written by root, has another user's id. */
static void by_setuid_call(const char *text)
{
	char line[32], path[4096], map[8] = "";
	int fd, length;

	if (unshare(CLONE_NEWUSER))
		die("unshare");
	snprintf(path, sizeof(path), "%s/map", folder);
	fd = open(path, O_WRONLY);
	length = snprintf(line, sizeof(line), "%d\n", (int)getpid());
	if (fd < 0 || write(fd, line, length) != length)
		die(path);
	close(fd);
	while (!map[0] && !is_there("end")) {
		fd = open("/proc/self/uid_map", O_RDONLY);
		if (fd < 0 || read(fd, map, sizeof(map) - 1) < 0)
			die("uid_map");
		close(fd);
		pause_us(1000);
	}
	if (!map[0])
		_exit(0);
	if (setresuid(1, 1, 1))
		die("setresuid");
	call_on(text);
}

static void by_namespace(const char *text)
{
	if (unshare(CLONE_NEWUSER))
		die("unshare");
	call_on(text);
}

/* The user namespace has no mapping for root: the set-user-id bit has no effect. */
static void by_setuid_in_namespace(const char *text)
{
	if (unshare(CLONE_NEWUSER))
		die("unshare");
	execute("setuid", text, NULL);
}

static void by_no_new_privileges(const char *text)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("prctl");
	execute("setuid", text, NULL);
}

static const struct {
	const char *name;
	void (*take)(const char *text);
	bool allowed; /* the process remains the user's own */
} ways[] = {
	{ "setuid", by_setuid, false },
	{ "plain", by_plain, true },
	{ "setgid", by_setgid, false },
	{ "capabilities", by_capabilities, false },
	{ "hidden", by_hidden, false },
	{ "script", by_script, false },
	{ "child", by_child, false },
	{ "vfork", by_vfork, false },
	{ "giving_up", by_giving_up, false },
	{ "asking", by_asking, false },
	{ "setuid_call", by_setuid_call, false },
	{ "namespace", by_namespace, true },
	{ "setuid_in_namespace", by_setuid_in_namespace, true },
	{ "no_new_privileges", by_no_new_privileges, true },
};

#define WAYS (int)(sizeof(ways) / sizeof(ways[0]))

/* Calls until the other end of the pipe is closed. */
static void wait_for(int gate, const char *text)
{
	char byte;

	while (read(gate, &byte, 1) < 0) {
		call(text);
		pause_us(CALL_EVERY_US);
	}
}

static void be_child(int number, int gate, long delay_us)
{
	int way = number / 2 % WAYS;
	char text[64];

	snprintf(text, sizeof(text), "mine-%d", number);
	call(text);
	wait_for(gate, text);
	if (number % 2) {
		snprintf(text, sizeof(text), "late-%d", number);
		for (int i = 0; i < LATE_CALLS; i++)
			call(text);
	} else {
		pause_us(delay_us);
	}
	snprintf(text, sizeof(text), "%s-%s", ways[way].allowed ? "allowed" : "secret",
		 ways[way].name);
	ways[way].take(text);
}

/* Returns the delay of an early child: the same way has other delays in another crowd. */
static long delay_of(int number, int early, long span_us)
{
	return span_us * ((number / 2 * 17 + getppid()) % early) / early;
}

static int crowd(int count, long span_us)
{
	int gates[2][2], early = (count + 1) / 2;
	char line[64];

	load();
	for (int i = 0; i < 2; i++)
		if (pipe2(gates[i], O_CLOEXEC | O_NONBLOCK))
			die("pipe");
	for (int i = 0; i < count; i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();

		if (pid < 0)
			die("fork");
		if (pid) {
			printf("%s %d\n", i % 2 ? "late" : "early", (int)pid);
			continue;
		}
		close(gates[0][1]);
		close(gates[1][1]);
		be_child(i, gates[i % 2][0], delay_of(i, early, span_us));
	}
	for (int i = 0; i < WAYS; i++)
		printf("way %s %s\n", ways[i].name, ways[i].allowed ? "allowed" : "secret");
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < 2 && fgets(line, sizeof(line), stdin); i++)
		close(gates[i][1]);
	while (wait(NULL) > 0)
		;
	printf("done\n");
	return 0;
}

static int mapper(int user, int other)
{
	char path[4096], pid[16], map[64];
	int length = snprintf(map, sizeof(map), "0 %d 1\n1 %d 1\n", user, other), fd;
	FILE *pids;

	snprintf(path, sizeof(path), "%s/map", folder);
	pids = fopen(path, "r+");
	while (pids && fgets(pid, sizeof(pid), pids)) {
		snprintf(path, sizeof(path), "/proc/%d/uid_map", atoi(pid));
		fd = open(path, O_WRONLY);
		if (fd < 0 || write(fd, map, length) != length)
			perror(path);
		close(fd);
	}
	return 0;
}

#define CODE_BYTES 64

/* Reads the code from the library's file, where it has the same offset as in memory. */
static void read_code(unsigned char *code)
{
	char path[4096];
	Dl_info info;
	int fd;

	snprintf(path, sizeof(path), "%s/libprivileges.so", folder);
	fd = open(path, O_RDONLY);
	if (!dladdr((const void *)(uintptr_t)arguments, &info) || fd < 0 ||
	    pread(fd, code, CODE_BYTES, (uintptr_t)arguments - (uintptr_t)info.dli_fbase) !=
		    CODE_BYTES)
		die(path);
	close(fd);
}

static int bystander(void)
{
	unsigned char code[CODE_BYTES];
	unsigned long changed = 0;

	load();
	read_code(code);
	printf("ready\n");
	fflush(stdout);
	while (!is_there("end")) {
		call("secret-bystander");
		changed += memcmp(code, (const void *)(uintptr_t)arguments, CODE_BYTES) != 0;
		pause_us(CALL_EVERY_US);
	}
	printf("changed=%lu\ndone\n", changed);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3)
		folder = argv[2];
	if (argc == 5 && !strcmp(argv[1], "crowd"))
		return crowd(atoi(argv[3]), atol(argv[4]) * 1000);
	if (argc == 5 && !strcmp(argv[1], "mapper"))
		return mapper(atoi(argv[3]), atoi(argv[4]));
	if (argc == 3 && !strcmp(argv[1], "bystander"))
		return bystander();
	/* "call-script", the script */
	if (argc == 3 && !strcmp(argv[1], "call-script")) {
		folder = dirname(argv[2]);
		load();
		call_on("secret-script");
	}
	if (argc < 4 || strcmp(argv[1], "call")) {
		fprintf(stderr, "privileges crowd FOLDER COUNT SPAN_MS | call FOLDER TEXT [uid] | "
				"mapper FOLDER USER OTHER | bystander FOLDER\n");
		return 2;
	}
	load();
	if (argc > 4 &&
	    (setresgid(getgid(), getgid(), getgid()) || setresuid(getuid(), getuid(), getuid())))
		die("setresuid");
	call_on(argv[3]);
}
