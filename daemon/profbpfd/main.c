/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - profbpfd: signals, limits; then the server. */
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

/* Perf events, links and the descriptors that clients pass add up. */
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
 * malloc_trim() gives back the free end of the main heap only. Those of other threads would keep
 * what a session took while it was set up, 10 MB each, for as long as the daemon runs.
 *
 * Large tables, of which most is never written, stay out of it: there calloc() has to clear them, so that
 * they take memory. By itself malloc() does not leave them out any more once one as large was freed.
 */
static void use_one_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct server_options server = { 0 };
	char missing[64];
	int status;

	use_one_heap();
	/* Our messages say what users can act on; what libbpf says besides is for finding defects. */
	refusal_listen(getenv("PROFBPF_DEBUG"));
	/* Messages begin with the program's name, not with where it is. */
	argv[0] = (char *)"profbpfd";
	settings_read(&settings, argc, argv);
	privilege_missing(privilege_effective(), missing, sizeof(missing));
	if (settings.private_fd < 0 && missing[0]) {
		fprintf(stderr,
			"profbpfd: needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE (missing "
			"here: "
			"%s); run it with sudo or as a service (systemctl start profbpfd)\n",
			missing);
		settings_free(&settings);
		return 1;
	}
	block_signals();
	raise_descriptor_limit();
	server.socket = control_socket_path(settings.socket);
	server.private_fd = settings.private_fd;
	server.quotas = settings.quotas;
	server.recorder = settings.recorder;
	server.metrics = (const char *const *)settings.metrics.word;
	server.metrics_count = settings.metrics.count;
	server.catalog_directories = (const char *const *)settings.catalogs.word;
	server.catalog_directory_count = settings.catalogs.count;
	status = server_run(&server);
	settings_free(&settings);
	return status;
}
