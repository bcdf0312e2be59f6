/* SPDX-License-Identifier: Apache-2.0 */
/* why.c - profctl why: attach, let the analyzer judge, print its verdict. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/catalog/catalog_directory.h"
#include "daemon/common/topics.h"
#include "daemon/profctl/attach.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/pids.h"

#define DURATION_NS 10000000000ull

#define KEY_THREAD 0x200

struct arguments {
	struct trace_options trace;
	struct pids pids;
	struct pids threads;
	char *thread_text; /* the argument of --thread; NULL = none */
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	char error[512];

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->trace; return 0;
	case ARGP_KEY_ARG:
		if (pids_add(&arguments->pids, text, error, sizeof(error)))
			argp_error(state, "%s", error);
		return 0;
	case KEY_THREAD:
		if (arguments->thread_text)
			argp_error(state, "--thread is given twice; separate thread ids by commas");
		if (*text == '@' || pids_add(&arguments->threads, text, error, sizeof(error)))
			argp_error(state, "--thread: '%s' is not a list of thread ids", text);
		arguments->thread_text = text;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->pids.count)
			argp_error(state, "no process is given: use profctl why PID");
		if (arguments->trace.output && !strcmp(arguments->trace.output, "-"))
			argp_error(state, "-o -: the verdict is written to standard output; give a file");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Beside this program; else PATH decides. */
static void find_analyzer(char *path, size_t size)
{
	char directory[PATH_MAX];

	if (!program_directory(directory, sizeof(directory))) {
		snprintf(path, size, "%s/analyzer", directory);
		if (!access(path, X_OK))
			return;
	}
	snprintf(path, size, "analyzer");
}

/* The first of the threads that is not there; 0 if all are. They may be of children, which are traced, too. */
static uint32_t find_missing(const struct pids *threads)
{
	for (size_t i = 0; i < threads->count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/proc/%u", threads->pid[i]);
		if (access(path, F_OK))
			return threads->pid[i];
	}
	return 0;
}

/* An option with a time, in whole microseconds; returns how many words it has. */
static int add_time(char **argv, const char *option, uint64_t ns, char text[32])
{
	snprintf(text, 32, "%" PRIu64 "us", ns / 1000);
	argv[0] = (char *)option;
	argv[1] = text;
	return 2;
}

static _Noreturn void run_analyzer(char *trace, char *threads, const struct live_part *part)
{
	char path[PATH_MAX + 32], from[32], to[32];
	char *argv[13] = { (char *)"analyzer", (char *)"report", (char *)"--section", (char *)"verdict" };
	sigset_t none;
	int count = 4;

	if (part->from_ns)
		count += add_time(argv + count, "--from", part->from_ns, from);
	if (part->to_ns)
		count += add_time(argv + count, "--to", part->to_ns, to);
	if (threads) {
		argv[count++] = (char *)"--thread";
		argv[count++] = threads;
	}
	argv[count++] = (char *)"--";
	argv[count] = trace;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	find_analyzer(path, sizeof(path));
	execvp(path, argv);
	if (errno == ENOENT)
		message("cannot find analyzer: it is neither in profctl's folder nor in PATH; -o "
			"FILE keeps the recording");
	else
		message("cannot run %s: %s", path, strerror(errno));
	_exit(127);
}

/* Prints the verdict; 0 or 1, and then it has been said why. */
static int judge(char *trace, char *threads, const struct live_part *part)
{
	pid_t child = fork();
	int status;

	if (!child)
		run_analyzer(trace, threads, part);
	if (child < 0) {
		message("cannot start analyzer: %s", strerror(errno));
		return 1;
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (WIFSIGNALED(status))
		message("analyzer was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

/* An empty file for the recording; its name is the caller's to free. NULL after saying why. */
static char *make_temporary(void)
{
	const char *directory = getenv("TMPDIR");
	char *name;
	int fd;

	if (!directory || !*directory)
		directory = "/tmp";
	if (asprintf(&name, "%s/profbpf-why-XXXXXX", directory) < 0) {
		message("out of memory");
		return NULL;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		message("cannot create a temporary file in %s: %s; set TMPDIR, or give -o FILE",
			directory, strerror(errno));
		free(name);
		return NULL;
	}
	close(fd);
	return name;
}

static int why(struct live_request *request, struct trace_options *trace, char *threads)
{
	char *temporary = NULL, *name;
	struct live_part part = { 0 };
	int status;

	request->part = &part;
	if (!trace->output) {
		temporary = make_temporary();
		if (!temporary)
			return 1;
		trace->output = temporary;
		request->temporary = true;
	}
	name = strdup(trace->output);
	status = name ? attach_run(request) : 1;
	if (!status)
		status = judge(name, threads, &part);
	if (temporary)
		unlink(temporary);
	free(temporary);
	free(name);
	return status;
}

int command_why(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "thread", KEY_THREAD, "TID[,TID...]", 0,
		  "Base the verdict on the waits of these threads, not on devices", 0 },
		{ 0 }
	};
	static const struct argp_child children[] = { { &trace_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse_option, "PID[,PID...]",
		"Trace a running job for 10 s (--duration) and print what holds it up: the first "
		"lines of analyzer's report. The recording is kept only with -o.",
		children
	};
	struct arguments arguments = { .trace.topics = TOPICS_DEFAULT };
	struct live_request request = { .options = &arguments.trace };
	uint32_t missing;
	int status = 1;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	/* A recording by steps ends with its steps, whose time is unknown. */
	if (!arguments.trace.duration_ns && !arguments.trace.by_steps)
		arguments.trace.duration_ns = DURATION_NS;
	request.pids = arguments.pids.pid;
	request.pid_count = arguments.pids.count;
	missing = find_missing(&arguments.threads);
	if (missing)
		message("thread %u does not exist; /proc/%u/task lists the threads of process %u",
			missing, arguments.pids.pid[0], arguments.pids.pid[0]);
	else
		status = why(&request, &arguments.trace, arguments.thread_text);
	pids_free(&arguments.pids);
	pids_free(&arguments.threads);
	trace_options_free(&arguments.trace);
	return status;
}
