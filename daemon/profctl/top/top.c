/* SPDX-License-Identifier: Apache-2.0 */
/* top.c - profctl top: a session whose stream is shown second by second instead of being stored. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "lib/base/duration.h"
#include "daemon/common/topics.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/live.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/pids.h"
#include "daemon/profctl/start_message.h"
#include "daemon/profctl/top/top_json.h"
#include "daemon/profctl/top/top_screen.h"
#include "daemon/profctl/top/top_why.h"

#define INTERVAL_NS \
	1000000000ull /* the daemon's statistics, which end a frame, come once a second */

struct arguments {
	struct trace_options trace;
	struct pids pids;
	bool once;
	bool json;
};

enum { OPTION_ONCE = 0x400, OPTION_STANDALONE_TOP, OPTION_CATALOG_TOP };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]|@FILE", 0,
	  "Mark these processes and their children and count their runtime calls (repeatable)" },
	{ "once", OPTION_ONCE, NULL, 0, "Print one table after a second, and exit" },
	{ "format", 'f', "FORMAT", 0, "With --once: text (default) or json" },
	{ "catalog", OPTION_CATALOG_TOP, "DIR", 0, "Also read the catalogs in DIR (repeatable)" },
	{ "standalone", OPTION_STANDALONE_TOP, NULL, 0,
	  "Use a private profbpfd even if one is running" },
	SOCKET_OPTION,
	{ 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;
	char error[512];

	switch (key) {
	case 'p':
		if (pids_add(&a->pids, text, error, sizeof(error)))
			argp_error(state, "--pid: %s", error);
		return 0;
	case OPTION_ONCE: a->once = true; return 0;
	case 'f': a->json = parse_format(text, state); return 0;
	case OPTION_CATALOG_TOP:
		if (words_add(&a->trace.catalogs, text))
			argp_failure(state, 1, 0, "out of memory");
		return 0;
	case OPTION_STANDALONE_TOP: a->trace.standalone = true; return 0;
	case OPTION_SOCKET: a->trace.socket = text; return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'; use --pid for processes", text);
		return 0;
	case ARGP_KEY_END:
		if (a->json && !a->once)
			argp_error(state, "--format json needs --once");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Shared between the thread that reads the stream and the one that shows it. */
struct top {
	int stream; /* our end of the pipe */
	int news; /* eventfd: a frame, or the end */
	pthread_mutex_t lock;
	struct top_frame frame; /* the newest; duration 0 = none, or taken */
	bool ended;
	char error[256];
};

static void tell(struct top *top)
{
	uint64_t one = 1;

	if (write(top->news, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

static void new_frame(struct top *top, struct top_state *state)
{
	struct top_frame frame, old;

	if (!top_state_frame(state, &frame))
		return;
	pthread_mutex_lock(&top->lock);
	old = top->frame;
	top->frame = frame;
	pthread_mutex_unlock(&top->lock);
	top_frame_free(&old);
	tell(top);
}

/* Reads until the daemon closes its end; always reads at once, so that the daemon never has to wait. */
static void *read_stream(void *context)
{
	struct top *top = context;
	struct top_state *state = top_state_new();
	struct pbt_reader *reader;
	struct pbt_packet packet;
	char error[256] = "out of memory";

	reader = state ? pbt_open_fd(top->stream, "the stream", error, sizeof(error)) : NULL;
	while (reader && pbt_next(reader, &packet) > 0)
		if (top_state_take(state, &packet))
			new_frame(top, state);
	pthread_mutex_lock(&top->lock);
	top->ended = true;
	if (!reader)
		snprintf(top->error, sizeof(top->error), "%s", error);
	pthread_mutex_unlock(&top->lock);
	tell(top);
	pbt_close(reader);
	top_state_free(state);
	return NULL;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Takes the newest frame over, if there is one; returns false when there will be no more. */
static bool take_frame(struct top *top, struct top_frame *frame)
{
	bool go_on;

	pthread_mutex_lock(&top->lock);
	if (top->frame.duration_ns) {
		top_frame_free(frame);
		*frame = top->frame;
		top->frame = (struct top_frame){ 0 };
	}
	go_on = !top->ended;
	pthread_mutex_unlock(&top->lock);
	return go_on;
}

/* Returns how many bytes of a line fit into the columns: a command line would be broken into many lines. */
static size_t fitting(const char *text, int columns)
{
	size_t bytes = 0;

	while (text[bytes]) {
		wchar_t wide;
		size_t length = mbrtowc(&wide, text + bytes, strlen(text + bytes), &(mbstate_t){ 0 });
		bool valid = length > 0 && length <= MB_LEN_MAX;
		int width = valid ? wcwidth(wide) : 1;

		columns -= width < 0 ? 1 : width;
		if (columns < 0)
			break;
		bytes += valid ? length : 1;
	}
	return bytes;
}

static void print_line(void *context, enum top_style style, const char *text)
{
	const int *width = context;

	printf("%.*s\n", (int)(*width ? fitting(text, *width) : strlen(text)), text);
}

/* Returns the columns of the terminal; 0: of a file or pipe, which lines are written to as they are. */
static int terminal_width(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int print_once(struct top_frame *frame, const struct arguments *a, uint64_t own_ns)
{
	struct top_view view = { .own_cpu_ns = own_ns };
	int terminal = terminal_width(), width = terminal ? terminal : TOP_WIDE;

	if (!frame->duration_ns)
		return 1;
	if (a->json)
		return top_json(frame, &view.choice) ? 1 : 0;
	setlocale(LC_CTYPE, "");
	top_view_summary(frame, &view, width, print_line, &terminal);
	top_view_jobs(frame, print_line, &terminal);
	top_view_devices(frame, print_line, &terminal);
	top_view_operators(frame, width, SIZE_MAX, print_line, &terminal);
	top_view_calls(frame, width, SIZE_MAX, print_line, &terminal);
	top_view_processes(frame, &view, width, 0, SIZE_MAX, print_line, &terminal);
	return fflush(stdout) ? 1 : 0;
}

/* The display and its data. */
struct shown {
	struct top_screen *screen; /* NULL: one table */
	struct top_why *why; /* with a screen */
	struct top_frame frame;
	uint64_t cpu_ns, own_ns; /* ours: until now, in the frame */
	bool hold, redraw;
};

/* Waits until something has happened; false if this is to end. */
static bool turn(struct top *top, struct shown *shown, int signals)
{
	struct pollfd fds[] = { { .fd = top->news, .events = POLLIN },
				{ .fd = signals, .events = POLLIN },
				{ .fd = shown->screen ? STDIN_FILENO : -1, .events = POLLIN },
				{ .fd = shown->why ? top_why_fd(shown->why) : -1, .events = POLLIN } };
	bool go_on = true;
	uint64_t value;

	if (poll(fds, 4, -1) < 0 && errno != EINTR)
		return false;
	if (fds[1].revents || fds[2].revents & (POLLHUP | POLLERR))
		return false;
	if (shown->screen)
		go_on = top_screen_keys(shown->screen, &shown->redraw, &shown->hold);
	if (shown->why) {
		top_why_set(shown->why, top_screen_why(shown->screen));
		shown->redraw |= fds[3].revents && top_why_take(shown->why);
	}
	if (!fds[0].revents || (shown->hold && !top->ended) ||
	    read(top->news, &value, sizeof(value)) < 0)
		return go_on;
	go_on &= take_frame(top, &shown->frame);
	shown->own_ns = own_cpu_ns() - shown->cpu_ns;
	shown->cpu_ns += shown->own_ns;
	shown->redraw = true;
	return go_on && shown->screen;
}

/* Waits for keys, frames and signals; returns the exit status. */
static int show(struct top *top, const struct arguments *a, int signals)
{
	struct shown shown = { .cpu_ns = own_cpu_ns(), .redraw = true };
	int status = 0;

	if (!a->once) {
		shown.screen = top_screen_new();
		if (!shown.screen)
			return 1;
		shown.why = top_why_new(&a->pids, &a->trace);
	}
	do {
		if (shown.screen && shown.redraw)
			top_screen_show(shown.screen, &shown.frame,
					shown.why ? top_why_text(shown.why) : NULL, shown.own_ns);
		shown.redraw = false;
	} while (turn(top, &shown, signals));
	top_why_free(shown.why);
	top_screen_free(shown.screen);
	if (a->once)
		status = print_once(&shown.frame, a, shown.own_ns);
	top_frame_free(&shown.frame);
	return status;
}

static int wait_live(struct client *client)
{
	Profbpf__Control__Response *r = client_receive(client);
	int err = r && r->what_case == PROFBPF__CONTROL__RESPONSE__WHAT_STARTED ? 0 : -EIO;

	client_started(client);
	if (!err)
		for (size_t i = 0; i < r->started->n_warnings; i++)
			message("warning: %s", r->started->warnings[i]);
	else if (r && r->what_case == PROFBPF__CONTROL__RESPONSE__WHAT_ERROR)
		message("%s", r->error->message);
	profbpf__control__response__free_unpacked(r, NULL);
	return err;
}

static void stop(struct client *client)
{
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__StopSession all = PROFBPF__CONTROL__STOP_SESSION__INIT;

	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_STOP;
	request.stop = &all;
	client_request(client, &request, NULL, 0);
}

static int run(struct live_request *request, const struct arguments *a, struct client *client,
	       int signals)
{
	struct output output = { .fd = -1, .name = (char *)"-" };
	struct top top = { .lock = PTHREAD_MUTEX_INITIALIZER };
	int ends[2], status = 1;
	pthread_t reader;
	uint32_t id;

	if (pipe2(ends, O_CLOEXEC)) {
		message("cannot create a pipe: %s", strerror(errno));
		return 1;
	}
	top.stream = ends[0];
	top.news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	output.fd = ends[1];
	if (top.news < 0 || start_send(request, client, &output, &id)) {
		close(ends[1]);
		goto cleanup;
	}
	close(ends[1]);
	if (wait_live(client) || pthread_create(&reader, NULL, read_stream, &top))
		goto cleanup;
	status = show(&top, a, signals);
	stop(client);
	pthread_join(reader, NULL);
	top_frame_free(&top.frame);
	if (top.error[0] && (status = 1))
		message("%s", top.error);
cleanup:
	close(ends[0]);
	if (top.news >= 0)
		close(top.news);
	return status;
}

static int top(struct live_request *request, const struct arguments *a)
{
	struct client client;
	sigset_t set;
	int signals, status = 1;

	if (!a->once && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		message("standard output is not a terminal; profctl top --once prints a table");
		return 1;
	}
	if (start_check(request) || client_open(&client, a->trace.socket, a->trace.standalone))
		return 1;
	/* They are blocked in all threads, because the terminal must be restored first. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals >= 0 && !start_ask(request, &client))
		status = run(request, a, &client, signals);
	if (signals >= 0)
		close(signals);
	client_close(&client);
	return status;
}

int command_top(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, NULL,
		"Live table of processes, runtime calls and devices, refreshed each second."
	};
	struct arguments a = {
		.trace.interval_ns = INTERVAL_NS,
		/* Calls are counted, not recorded. */
		.trace.min_duration_ns = DURATION_MAX_NS,
		.trace.keep_queues = true,
	};
	struct live_request request = { .options = &a.trace };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	a.trace.topics = a.pids.count ? TOPIC_ACCOUNT | TOPIC_API | TOPIC_DEVICE : TOPIC_ACCOUNT;
	request.pids = a.pids.pid;
	request.pid_count = a.pids.count;
	request.system_wide = !a.pids.count;
	status = top(&request, &a);
	pids_free(&a.pids);
	trace_options_free(&a.trace);
	return status;
}
