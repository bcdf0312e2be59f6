/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_why.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/common/words.h"

#define TEXT_SIZE 4096 /* a longer verdict is cut */

struct top_why {
	const struct pids *pids;
	const struct trace_options *options;
	bool on;
	pid_t child; /* 0 = none */
	int out; /* its standard output; -1 = none */
	int errors; /* memory that is its standard error; -1 = none */
	size_t length;
	char coming[TEXT_SIZE]; /* the child's output so far */
	char text[TEXT_SIZE]; /* the text that is shown */
};

struct top_why *top_why_new(const struct pids *pids, const struct trace_options *options)
{
	struct top_why *why = calloc(1, sizeof(*why));

	if (!why)
		return NULL;
	why->pids = pids;
	why->options = options;
	why->out = why->errors = -1;
	return why;
}

static int add_arguments(const struct top_why *why, struct words *words)
{
	int err = words_add(words, "profctl") || words_add(words, "why") ||
		  words_addf(words, "--duration=%ds", TOP_WHY_SECONDS);

	if (why->options->socket)
		err = err || words_addf(words, "--socket=%s", why->options->socket);
	if (why->options->standalone)
		err = err || words_add(words, "--standalone");
	for (size_t i = 0; i < why->options->catalogs.count; i++)
		err = err || words_addf(words, "--catalog=%s", why->options->catalogs.word[i]);
	for (size_t i = 0; i < why->pids->count; i++)
		err = err || words_addf(words, "%u", why->pids->pid[i]);
	return err;
}

static _Noreturn void run_child(int out, int errors, const struct words *words)
{
	char **argv = calloc(words->count + 1, sizeof(*argv));
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	if (!argv)
		_exit(127);
	memcpy(argv, words->word, words->count * sizeof(*argv));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	execv("/proc/self/exe", argv);
	_exit(127);
}

static void look(struct top_why *why)
{
	struct words words = { 0 };
	int ends[2] = { -1, -1 };

	why->length = 0;
	why->errors = memfd_create("profctl why", MFD_CLOEXEC);
	if (why->errors >= 0 && !add_arguments(why, &words) &&
	    !pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		why->child = fork();
		if (!why->child) {
			fcntl(ends[1], F_SETFL, 0);
			run_child(ends[1], why->errors, &words);
		}
		close(ends[1]);
		why->out = ends[0];
	}
	words_free(&words);
	if (why->child > 0)
		return;
	snprintf(why->text, sizeof(why->text), "root     cannot start profctl why: %s", strerror(errno));
	if (why->out >= 0)
		close(why->out);
	if (why->errors >= 0)
		close(why->errors);
	why->child = 0;
	why->out = why->errors = -1;
}

void top_why_set(struct top_why *why, bool on)
{
	bool begins = on && !why->on;

	why->on = on;
	if (!begins)
		return;
	if (!why->pids->count) {
		snprintf(why->text, sizeof(why->text),
			 "root     no job is given: start profctl top with --pid PID");
		return;
	}
	snprintf(why->text, sizeof(why->text), "root     recording for %d seconds ...",
		 TOP_WHY_SECONDS);
	if (!why->child)
		look(why);
}

int top_why_fd(const struct top_why *why)
{
	return why->out;
}

/* Takes the last line of the child's error output. */
static void take_error(struct top_why *why)
{
	char text[TEXT_SIZE];
	ssize_t size = pread(why->errors, text, sizeof(text) - 1, 0);
	char *last;

	text[size > 0 ? size : 0] = '\0';
	while (size > 0 && text[size - 1] == '\n')
		text[--size] = '\0';
	last = strrchr(text, '\n');
	last = last ? last + 1 : text;
	if (strncmp(last, "profctl: ", strlen("profctl: ")) == 0)
		last += strlen("profctl: ");
	snprintf(why->text, sizeof(why->text), "root     unknown: %.*s", TEXT_SIZE - 32, last);
}

/* The child's output is complete: it becomes the text that is shown, and the next session begins. */
static void end(struct top_why *why)
{
	int status = 0;

	while (waitpid(why->child, &status, 0) < 0 && errno == EINTR)
		;
	why->coming[why->length] = '\0';
	if (why->length)
		memcpy(why->text, why->coming, why->length + 1);
	else
		take_error(why);
	close(why->out);
	close(why->errors);
	why->child = 0;
	why->out = why->errors = -1;
	/* After an error a new try would fail again. */
	if (why->on && WIFEXITED(status) && !WEXITSTATUS(status))
		look(why);
}

bool top_why_take(struct top_why *why)
{
	char rest[256];

	while (why->out >= 0) {
		bool full = why->length == sizeof(why->coming) - 1;
		ssize_t got = full ? read(why->out, rest, sizeof(rest))
				   : read(why->out, why->coming + why->length,
					  sizeof(why->coming) - 1 - why->length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return false;
		if (got <= 0) {
			end(why);
			return true;
		}
		if (!full)
			why->length += (size_t)got;
	}
	return false;
}

const char *top_why_text(const struct top_why *why)
{
	return why->on ? why->text : NULL;
}

void top_why_free(struct top_why *why)
{
	if (!why)
		return;
	/* The child cleans up by itself, which may take a second; there is no need to wait for it. */
	if (why->child)
		kill(why->child, SIGINT);
	if (why->out >= 0)
		close(why->out);
	if (why->errors >= 0)
		close(why->errors);
	free(why);
}
