/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - profbpfd: sets up signals and limits, then runs the server. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "daemon/common/control.h"
#include "daemon/common/privilege.h"
#include "daemon/profbpfd/capture/refusal.h"
#include "daemon/profbpfd/control/server.h"
#include "daemon/profbpfd/settings.h"

/* Perf events, links and the descriptors that clients pass add up to many. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/*
 * malloc_trim() returns only the free end of the main heap to the system. Heaps of other threads would
 * keep the memory of a session's start, 10 MB each, as long as the daemon runs.
 *
 * Large tables, which are mostly never written, are kept out of the heap: there calloc() would have to clear
 * them, so that they take memory. By default malloc() puts them into the heap once a block of that size was freed.
 */
static void use_one_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

/* All settings that were read, the newest first: some from the start stay in use. */
struct reading {
	struct reading *before;
	struct settings settings;
	struct server_options server;
};

struct readings {
	struct reading *newest;
	int argc;
	char **argv;
};

static const struct server_options *read_again(void *context, char *error, size_t error_size);

static void fill_options(struct reading *reading, struct readings *readings)
{
	const struct settings *settings = &reading->settings;

	reading->server = (struct server_options){
		.read_again = settings->private_fd < 0 ? read_again : NULL,
		.context = readings,
		.socket = control_socket_path(settings->socket),
		.private_fd = settings->private_fd,
		.catalog_directories = (const char *const *)settings->catalogs.word,
		.catalog_directory_count = settings->catalogs.count,
		.metrics = (const char *const *)settings->metrics.word,
		.metrics_count = settings->metrics.count,
		.btf = settings->btf,
		.recorded = (const char *const *)settings->recorded.word,
		.recorded_count = settings->recorded.count,
		.quotas = settings->quotas,
		.recorder = settings->recorder,
	};
}

static const struct server_options *read_again(void *context, char *error, size_t error_size)
{
	struct readings *readings = context;
	struct reading *reading = calloc(1, sizeof(*reading));

	if (!reading) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	if (settings_read_again(&reading->settings, readings->argc, readings->argv, error, error_size)) {
		free(reading);
		return NULL;
	}
	fill_options(reading, readings);
	reading->before = readings->newest;
	readings->newest = reading;
	return &reading->server;
}

static void free_readings(struct reading *newest, const struct reading *first)
{
	while (newest) {
		struct reading *before = newest->before;

		settings_free(&newest->settings);
		if (newest != first)
			free(newest);
		newest = before;
	}
}

int main(int argc, char **argv)
{
	struct reading first = { 0 };
	struct readings readings = { &first, argc, argv };
	char missing[64];
	int status;

	use_one_heap();
	/* The daemon's messages are enough for users; libbpf's own messages are for debugging. */
	refusal_listen(getenv("PROFBPF_DEBUG"));
	/* Messages begin with the program's name, not its path. */
	argv[0] = (char *)"profbpfd";
	settings_read(&first.settings, argc, argv);
	privilege_missing(privilege_effective(), missing, sizeof(missing));
	if (first.settings.private_fd < 0 && missing[0]) {
		fprintf(stderr,
			"profbpfd: needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE (missing "
			"here: "
			"%s); run it with sudo or as a service (systemctl start profbpfd)\n",
			missing);
		settings_free(&first.settings);
		return 1;
	}
	block_signals();
	raise_descriptor_limit();
	fill_options(&first, &readings);
	status = server_run(&first.server);
	free_readings(readings.newest, &first);
	return status;
}
