/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/live.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/profctl/live_line.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/start_message.h"
#include "daemon/profctl/summary.h"

struct live {
	const struct live_request *request;
	struct client *client;
	const struct output *output;
	uint32_t start_id;
	int signal_fd;
	bool is_live;
	bool over; /* the session has ended, or the daemon is gone */
	bool stop_sent;
	bool leave;
	int exec_error;
	enum live_result result;
	struct live_line line;
};

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(set, signals[i]);
}

void live_block_signals(sigset_t *before)
{
	sigset_t set;

	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, before);
}

static void stop_session(struct live *live, const char *reason)
{
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__StopSession stop = PROFBPF__CONTROL__STOP_SESSION__INIT;

	if (live->stop_sent || live->over)
		return;
	live->stop_sent = true;
	stop.reason = (char *)reason;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_STOP;
	request.stop = &stop;
	/* If sending fails, the daemon is gone, which the socket reports as well. */
	client_request(live->client, &request, NULL, 0);
}

static void end(struct live *live, enum live_result result)
{
	live->over = true;
	if (live->result != LIVE_NO_EXEC)
		live->result = result;
}

static void session_live(struct live *live, const Profbpf__Control__Started *started)
{
	struct child *child = live->request->child;

	client_started(live->client);
	live->is_live = true;
	live->line.session = started->session;
	/* A command that is gone already ends the session: it was never traced. */
	if (child && child->ended)
		return;
	start_announce(live->request, started);
	if (!child)
		return;
	live->exec_error = child_release(child);
	if (!live->exec_error || live->exec_error == -ECHILD)
		return;
	message("cannot run '%s': %s", live->request->command,
		live->exec_error == -ENOENT ? "the file or the interpreter in its first line does not exist"
					    : strerror(-live->exec_error));
	live->result = LIVE_NO_EXEC;
	stop_session(live, "the command could not be run");
}

/* Tells the user that profctl waits for a command that runs longer than its recording. */
static void tell_if_child_runs(const struct child *child, const char *command)
{
	struct pollfd ended = { .fd = child ? child->pidfd : -1, .events = POLLIN };

	if (child && !child->ended && !poll(&ended, 1, 0))
		message("'%s' is still running, but no longer traced; profctl exits when it does", command);
}

static void session_ended(struct live *live, const Profbpf__Control__Ended *ended)
{
	if (!live->is_live) {
		if (!live->request->child)
			message("the session ended before recording began: %s", ended->reason);
		end(live, LIVE_NOT_STARTED);
		return;
	}
	if (ended->steps && !ended->steps->recording) {
		if (live->result != LIVE_NO_EXEC)
			message("%s; nothing was recorded", ended->reason);
		end(live, LIVE_NOTHING);
		return;
	}
	if (ended->steps && live->request->part)
		*live->request->part = (struct live_part){ ended->steps->from_ns, ended->steps->to_ns };
	if (live->result != LIVE_NO_EXEC)
		summary_print(stderr, ended, live->request->temporary ? "" : live->output->name);
	if (ended->failed)
		message("%s%s", ended->reason,
			ended->bytes ? "; the data written before the error can be read" : "");
	if (live->result != LIVE_NO_EXEC)
		tell_if_child_runs(live->request->child, live->request->command);
	end(live, ended->failed ? LIVE_FAILED : LIVE_DONE);
}

static void daemon_gone(struct live *live)
{
	if (live->is_live)
		message("the recording ended with the daemon; %s is readable up to about its last second",
			strcmp(live->output->name, "-") ? live->output->name : "the output");
	end(live, live->is_live ? LIVE_FAILED : LIVE_NOT_STARTED);
}

static void receive_response(struct live *live)
{
	Profbpf__Control__Response *response = client_receive(live->client);

	if (!response || response->what_case != PROFBPF__CONTROL__RESPONSE__WHAT_SESSIONS)
		progress_wipe(&live->line.progress);
	if (!response) {
		daemon_gone(live);
		return;
	}
	switch (response->what_case) {
	case PROFBPF__CONTROL__RESPONSE__WHAT_STARTED: session_live(live, response->started); break;
	case PROFBPF__CONTROL__RESPONSE__WHAT_ENDED: session_ended(live, response->ended); break;
	case PROFBPF__CONTROL__RESPONSE__WHAT_SESSIONS:
		live_line_figures(&live->line, response->sessions);
		break;
	case PROFBPF__CONTROL__RESPONSE__WHAT_ERROR:
		/* A stop can cross the end of the session on its way: no reason to complain. */
		if (response->id && response->id != live->start_id)
			break;
		message("%s", response->error->message);
		end(live, live->is_live ? LIVE_FAILED : LIVE_NOT_STARTED);
		break;
	default:
		message("the daemon's answer is not valid: check that profctl and profbpfd have the same version");
		end(live, LIVE_FAILED);
	}
	profbpf__control__response__free_unpacked(response, NULL);
}

/* The user wants the end: of the session first, then of waiting for it. */
static void end_wanted(struct live *live)
{
	progress_wipe(&live->line.progress);
	if (!live->stop_sent) {
		stop_session(live, "stopped by user");
		return;
	}
	message("exiting now; profbpfd is still completing %s",
		strcmp(live->output->name, "-") ? live->output->name : "the output");
	live->leave = true;
}

static void receive_signal(struct live *live)
{
	const struct child *child = live->request->child;
	struct signalfd_siginfo signal;

	if (read(live->signal_fd, &signal, sizeof(signal)) != sizeof(signal))
		return;
	if (!child || child->ended) {
		end_wanted(live);
		return;
	}
	/* The terminal sends its signals to the command as well; a signal to profctl alone is passed on. */
	if (signal.ssi_code != SI_KERNEL)
		kill(child->pid, (int)signal.ssi_signo);
}

static void command_ended(struct live *live)
{
	child_reap(live->request->child);
	stop_session(live, "the command ended");
}

static bool is_finished(const struct live *live)
{
	const struct child *child = live->request->child;

	if (live->leave)
		return true;
	if (!live->over)
		return false;
	/* A command that was never released is ended by the caller. */
	return !child || child->ended || !live->is_live;
}

/* Requests the figures for the line; one request at a time, because the daemon may be slow. */
static void show_line(struct live *live)
{
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__List list = PROFBPF__CONTROL__LIST__INIT;

	if (!live->is_live) {
		live_line_start(&live->line);
		return;
	}
	if (live->line.asked || live->stop_sent || live->over || (live->line.begun_told && !live_line_shows(&live->line)))
		return;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_LIST;
	request.list = &list;
	live->line.asked = !client_request(live->client, &request, NULL, 0);
}

static void loop(struct live *live)
{
	struct child *child = live->request->child;
	bool by_steps = live->request->options->by_steps;
	int wait_ms = live_line_shows(&live->line) || by_steps ? LIVE_LINE_MS : -1;

	while (!is_finished(live)) {
		/* A negative descriptor is passed over. */
		struct pollfd fds[] = {
			{ .fd = live->over ? -1 : live->client->socket, .events = POLLIN },
			{ .fd = live->signal_fd, .events = POLLIN },
			{ .fd = child ? child->pidfd : -1, .events = POLLIN },
		};

		int ready = poll(fds, 3, wait_ms);

		if (ready < 0) {
			if (errno == EINTR)
				continue;
			message("cannot wait for events: %s", strerror(errno));
			end(live, LIVE_FAILED);
			return;
		}
		if (!ready)
			show_line(live);
		if (fds[2].revents)
			command_ended(live);
		if (fds[0].revents)
			receive_response(live);
		if (fds[1].revents)
			receive_signal(live);
	}
}

enum live_result live_run(const struct live_request *request, struct client *client,
			  const struct output *output, int *exec_error)
{
	struct live live = {
		.request = request, .client = client, .output = output, .result = LIVE_NOT_STARTED
	};
	sigset_t set;

	signal_set(&set);
	live.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (live.signal_fd < 0) {
		message("cannot receive signals: %s", strerror(errno));
		return LIVE_NOT_STARTED;
	}
	if (!request->child)
		live_line_begin(&live.line, stderr, request->pid_count);
	if (!start_send(request, client, output, &live.start_id))
		loop(&live);
	progress_wipe(&live.line.progress);
	close(live.signal_fd);
	*exec_error = live.exec_error;
	return live.leave ? LIVE_LEFT : live.result;
}
