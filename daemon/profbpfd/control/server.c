/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/capture/gate.h"
#include "daemon/profbpfd/probe/map_events.h"
#include "daemon/profbpfd/control/metric_triggers.h"
#include "daemon/profbpfd/control/priority.h"
#include "daemon/profbpfd/control/recorder_services.h"
#include "daemon/profbpfd/control/reload.h"
#include "daemon/profbpfd/control/requests.h"
#include "daemon/profbpfd/control/snapshots.h"
#include "daemon/profbpfd/control/trigger_files.h"
#include "daemon/profbpfd/metrics/endpoint.h"
#include "daemon/profbpfd/stacks/kernel_names.h"
#include "daemon/profbpfd/stacks/unwinder.h"

#define RECORDER_ERROR_MAX 4096 /* room for obstacles_text() */
#define EVENTS 64

struct server {
	const struct server_options *options; /* from the daemon's start */
	struct settings_in_force settings;
	struct services services;
	struct client *clients;
	size_t client_count;
	gid_t group;
	bool has_group;
	bool given_up; /* stop waiting for sessions */
	int epoll_fd;
	int listen_fd;
	int lock_fd;
	int spare_fd; /* closed for a moment to refuse a client when no descriptors are left */
	int signal_fd;
	int watchdog_fd;
};

static int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message. Always returns -1, for the caller to return. */
static int complain(const char *format, ...)
{
	va_list arguments;

	fputs("profbpfd: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return -1;
}

/* Adds a descriptor to the loop, which identifies it by @tag. */
static int watch(struct server *server, int fd, void *tag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = tag };

	if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return complain("cannot watch a descriptor: %s", strerror(errno));
	return 0;
}

/* ---- Clients */

static struct client *add_client(struct server *server, int socket, const struct peer *peer)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client || watch(server, socket, client)) {
		free(client);
		close(socket);
		return NULL;
	}
	control_tune(socket);
	client->socket = socket;
	client->peer = *peer;
	client->next = server->clients;
	server->clients = client;
	server->client_count++;
	return client;
}

static size_t clients_of(const struct server *server, uid_t uid)
{
	size_t count = 0;

	for (const struct client *c = server->clients; c; c = c->next)
		count += c->peer.uid == uid;
	return count;
}

/* Limits connections so that an ordinary user cannot lock out other users or root. */
static bool is_crowded(const struct server *server, const struct peer *peer)
{
	if (peer->trusted)
		return server->client_count >= SERVER_CLIENTS_MAX;
	return server->client_count >= SERVER_CLIENTS_MAX - SERVER_CLIENTS_RESERVED ||
	       clients_of(server, peer->uid) >= SERVER_CLIENTS_PER_USER;
}

/* Without a free descriptor a client would wait in the queue for ever: accepts and closes it by the spare one. */
static void refuse_for_lack_of_descriptors(struct server *server)
{
	int fd;

	close(server->spare_fd);
	fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	complain("out of file descriptors: a client was refused");
}

static void accept_client(struct server *server)
{
	int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client refused = { .socket = fd };
	struct peer peer;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			refuse_for_lack_of_descriptors(server);
		return;
	}
	if (access_identify(fd, server->has_group ? &server->group : NULL, &peer)) {
		client_refuse(&refused, 0, "profbpfd cannot determine your user id");
		close(fd);
		return;
	}
	refused.peer = peer;
	if (is_crowded(server, &peer)) {
		client_refuse(&refused, 0, "profbpfd has too many clients; try again later");
		close(fd);
		return;
	}
	add_client(server, fd, &peer);
}

/* While a request of a client is being handled, its next requests are not read. */
static void listen_to(struct server *server, struct client *client)
{
	struct epoll_event event = { .events = client->job ? 0 : EPOLLIN, .data.ptr = client };

	if (epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, client->socket, &event))
		client->gone = true;
}

static void receive(struct server *server, struct client *client)
{
	Profbpf__Control__Request *request;
	ProtobufCMessage *message;
	struct control_fds fds;
	int err = control_receive(client->socket, &profbpf__control__request__descriptor, &message,
				  &fds);

	if (!err) {
		request = (Profbpf__Control__Request *)message;
		request_handle(&server->services, client, &request, &fds);
		profbpf__control__request__free_unpacked(request, NULL);
		if (client->job)
			listen_to(server, client);
	} else if (err != -EAGAIN) {
		if (err == -EMSGSIZE || err == -EPROTO)
			client_refuse(client, 0,
				      "profbpfd does not understand this request; use the profctl "
				      "of the same version (" PROFBPF_VERSION ")");
		client->gone = true;
	}
	descriptors_drop(&fds, &client->peer);
}

static void finish_jobs(struct server *server)
{
	struct client *client;
	struct job *job;

	while ((job = job_queue_done(server->services.jobs))) {
		client = request_finish(job);
		if (client)
			listen_to(server, client);
	}
}

/* Clients are freed between rounds, so that nothing in a round points at a freed one. */
static void sweep_clients(struct server *server)
{
	struct client **link = &server->clients;

	while (*link) {
		struct client *client = *link;

		if (!client->gone) {
			link = &client->next;
			continue;
		}
		*link = client->next;
		server->client_count--;
		if (client->job)
			client->job->client = NULL;
		roster_forget(&server->services.roster, client);
		snapshots_forget(server->services.snapshots, client);
		close(client->socket);
		free(client);
	}
}

/* ---- The flight recorder */

/* Like recorder_services_open(); also watches the descriptors. On failure closes all, which also ends watching. */
static int open_recorder(struct server *server, const struct flight_recorder_options *options, char *error,
			 size_t error_size)
{
	struct services *services = &server->services;
	int err = recorder_services_open(services, options, error, error_size);

	if (err || !services->recorder)
		return err;
	if (!watch(server, triggers_fd(services->triggers), &services->triggers) &&
	    !watch(server, metric_triggers_fd(services->metric_triggers), &services->metric_triggers) &&
	    !watch(server, flight_recorder_fd(services->recorder), &services->recorder))
		return 0;
	recorder_services_close(services);
	snprintf(error, error_size, "%s", RECORDER_NO_ROOM);
	return -ENOMEM;
}

/* If nothing can be recorded, prints that and returns 0: the daemon runs, so that clients get this message, too. */
static int begin_recorder(struct server *server, const struct flight_recorder_options *options)
{
	char error[RECORDER_ERROR_MAX];
	int err = open_recorder(server, options, error, sizeof(error));

	if (err)
		complain("no flight recorder: %s", error);
	return err == -ENOTSUP ? 0 : err;
}

/* ---- Reload of settings */

static int take_settings(struct server *server, struct reload_report *report, char *error, size_t error_size)
{
	const struct server_options *fresh = server->options->read_again(server->options->context, error, error_size);

	if (!fresh)
		return -EINVAL;
	if (!server->services.recorder && fresh->recorder.window_ns) {
		char why[RECORDER_ERROR_MAX];
		int err = open_recorder(server, &fresh->recorder, why, sizeof(why));

		/* If the recorder was already impossible at the start, that does not prevent other changes. */
		if (err && (err != -ENOTSUP || !server->settings.recorder->recorder.window_ns)) {
			snprintf(error, error_size, "no flight recorder: %s; no setting was changed", why);
			return err;
		}
	}
	if (reload_apply(&server->services, &server->settings, fresh, report)) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	return 0;
}

static int reload(void *context, struct reload_report *report, char *error, size_t error_size)
{
	struct server *server = context;
	struct timespec now;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000);
	err = take_settings(server, report, error, error_size);
	sd_notify(0, "READY=1");
	if (err) {
		complain("the settings were not changed: %s", error);
		return err;
	}
	reload_report_print(report);
	return 0;
}

static void hang_up(struct server *server)
{
	struct reload_report report = { 0 };
	char error[1024];

	if (!server->services.stopping)
		reload(server, &report, error, sizeof(error));
	reload_report_free(&report);
}

/* ---- Shutdown */

static void stop_serving(struct server *server, const char *reason)
{
	server->services.stopping = true;
	sd_notify(0, "STOPPING=1");
	if (server->listen_fd >= 0) {
		unlink(server->options->socket);
		close(server->listen_fd);
		server->listen_fd = -1;
	}
	roster_stop_all(&server->services.roster, NULL, reason);
}

static void receive_signal(struct server *server)
{
	struct signalfd_siginfo signal;

	if (read(server->signal_fd, &signal, sizeof(signal)) != sizeof(signal))
		return;
	if (signal.ssi_signo == SIGHUP && server->services.reload)
		hang_up(server);
	else if (server->services.stopping)
		server->given_up = true;
	else
		stop_serving(server, "the daemon was stopped");
}

static bool is_done(const struct server *server)
{
	return server->services.stopping &&
	       (server->given_up || !roster_count(&server->services.roster));
}

/* ---- Set-up */

static int open_signals(struct server *server)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	server->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (server->signal_fd < 0)
		return complain("cannot receive signals: %s", strerror(errno));
	return watch(server, server->signal_fd, &server->signal_fd);
}

static int open_watchdog(struct server *server)
{
	struct itimerspec timer = { 0 };
	uint64_t period_us = 0;

	if (sd_watchdog_enabled(0, &period_us) <= 0 || !period_us)
		return 0;
	/* Twice as often as required, as systemd recommends. */
	timer.it_interval.tv_sec = (time_t)(period_us / 2 / 1000000);
	timer.it_interval.tv_nsec = (long)(period_us / 2 % 1000000 * 1000);
	timer.it_value = timer.it_interval;
	server->watchdog_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (server->watchdog_fd < 0 || timerfd_settime(server->watchdog_fd, 0, &timer, NULL))
		return complain("cannot set the watchdog's timer: %s", strerror(errno));
	return watch(server, server->watchdog_fd, &server->watchdog_fd);
}

static int open_socket(struct server *server)
{
	char error[512];

	server->listen_fd =
		control_listen(server->options->socket, &server->lock_fd, error, sizeof(error));
	if (server->listen_fd < 0)
		return complain("%s", error);
	fprintf(stderr, "profbpfd: version " PROFBPF_VERSION ", listening on %s\n",
		server->options->socket);
	return watch(server, server->listen_fd, &server->listen_fd);
}

static int adopt_private_client(struct server *server)
{
	int type = 0, fd = server->options->private_fd, flags = fcntl(fd, F_GETFL);
	socklen_t size = sizeof(type);
	struct peer peer;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET ||
	    access_identify(fd, NULL, &peer))
		return complain("--private is for use by profctl only: descriptor %d is not its socket", fd);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return complain("cannot use the socket from profctl: %s", strerror(errno));
	return add_client(server, fd, &peer) ? 0 : -1;
}

static int open_metrics(struct server *server)
{
	const struct server_options *options = server->options;
	char error[512];

	if (!options->metrics_count)
		return 0;
	server->services.metrics = metrics_open(options->metrics, options->metrics_count, &server->services,
						server->has_group ? &server->group : NULL, error, sizeof(error));
	if (!server->services.metrics)
		return complain("%s", error);
	return watch(server, metrics_fd(server->services.metrics), &server->services.metrics);
}

static int open_server(struct server *server)
{
	const struct server_options *options = server->options;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	server->services.start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	server->services.private_daemon = options->private_fd >= 0;
	server->services.catalog_directories = options->catalog_directories;
	server->services.catalog_directory_count = options->catalog_directory_count;
	server->services.quotas = options->quotas;
	features_probe(&server->services.features);
	if (!server->services.features.error[0])
		capture_find_types(&server->services.features.types);
	server->services.file_cache = file_cache_new(FILE_CACHE_BYTES);
	server->services.gate = gate_new();
	server->services.map_watch = map_watch_new();
	server->services.prices = prices_new();
	server->services.kernel_names = kernel_names_new();
	server->services.unwinder = unwinder_new();
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	server->services.jobs = job_queue_new();
	server->services.snapshots = snapshots_new();
	if (server->epoll_fd < 0 || server->spare_fd < 0 || !server->services.jobs || !server->services.gate || !server->services.snapshots ||
	    !server->services.map_watch || !server->services.prices || !server->services.kernel_names ||
	    roster_init(&server->services.roster, server->services.private_daemon))
		return complain("cannot set up the event loop: %s", strerror(errno));
	if (watch(server, server->services.roster.event_fd, &server->services.roster) ||
	    watch(server, job_queue_fd(server->services.jobs), &server->services.jobs) ||
	    watch(server, snapshots_fd(server->services.snapshots), &server->services.snapshots) ||
	    open_signals(server) || open_watchdog(server))
		return -1;
	if (options->private_fd >= 0)
		return adopt_private_client(server);
	server->has_group = access_group(&server->group);
	server->services.reload = options->read_again ? reload : NULL;
	server->services.reload_context = server;
	return open_metrics(server) || begin_recorder(server, &options->recorder) || open_socket(server) ? -1 : 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Not while a snapshot is written: it uses the recorder's memory, and the recorder's thread uses the map watch. */
static void free_services(struct services *services)
{
	recorder_services_close(services);
	file_cache_free(services->file_cache);
	gate_free(services->gate);
	map_watch_free(services->map_watch);
	prices_free(services->prices);
	kernel_names_free(services->kernel_names);
	unwinder_free(services->unwinder);
	mentioned_types_free(&services->features.types);
}

static void close_server(struct server *server)
{
	while (server->clients) {
		server->clients->gone = true;
		sweep_clients(server);
	}
	metrics_close(server->services.metrics);
	/* Sessions are only left after a failure of the loop. */
	roster_stop_all(&server->services.roster, NULL, "the daemon failed");
	if (!server->given_up) {
		job_queue_free(server->services.jobs, request_drop);
		roster_free(&server->services.roster);
		if (snapshots_free(server->services.snapshots))
			free_services(&server->services);
	}
	if (server->listen_fd >= 0)
		unlink(server->options->socket);
	close_fd(&server->listen_fd);
	close_fd(&server->lock_fd);
	close_fd(&server->spare_fd);
	close_fd(&server->signal_fd);
	close_fd(&server->watchdog_fd);
	close_fd(&server->epoll_fd);
}

/* ---- Event loop */

static void write_triggered(struct server *server)
{
	struct trigger_event event;
	struct trigger trigger;

	while (server->services.triggers && triggers_next(server->services.triggers, &event, &trigger))
		if (server->services.recorder && !server->services.stopping)
			trigger_files_write(&server->services, &trigger, &event);
}

static void handle(struct server *server, void *tag)
{
	uint64_t expirations;

	if (tag == &server->services.roster) {
		roster_update(&server->services.roster);
		if (server->services.recorder)
			flight_recorder_check(server->services.recorder);
	} else if (tag == &server->services.recorder) {
		flight_recorder_read(server->services.recorder);
	} else if (tag == &server->services.metrics) {
		metrics_serve(server->services.metrics);
	} else if (tag == &server->services.triggers) {
		write_triggered(server);
	} else if (tag == &server->services.metric_triggers) {
		/* A reload may have closed it earlier in this round. */
		if (server->services.metric_triggers)
			metric_triggers_look(server->services.metric_triggers);
	} else if (tag == &server->services.snapshots) {
		snapshots_finish(server->services.snapshots);
	} else if (tag == &server->services.jobs) {
		finish_jobs(server);
	} else if (tag == &server->signal_fd) {
		receive_signal(server);
	} else if (tag == &server->watchdog_fd) {
		if (read(server->watchdog_fd, &expirations, sizeof(expirations)) > 0)
			sd_notify(0, "WATCHDOG=1");
	} else if (tag == &server->listen_fd) {
		/* It may have been closed earlier in this round. */
		if (server->listen_fd >= 0)
			accept_client(server);
	} else {
		struct client *client = tag;

		/* While its requests are not read, an event can only be the end of the connection. */
		if (client->job)
			client->gone = true;
		else if (!client->gone)
			receive(server, client);
	}
}

static int loop(struct server *server)
{
	while (!is_done(server)) {
		struct epoll_event events[EVENTS];
		int count = epoll_wait(server->epoll_fd, events, EVENTS, -1);

		if (count < 0 && errno != EINTR)
			return complain("cannot wait for events: %s", strerror(errno));
		for (int i = 0; i < count; i++)
			handle(server, events[i].data.ptr);
		sweep_clients(server);
		if (server->services.metric_triggers)
			metric_triggers_follow(server->services.metric_triggers);
		if (server->services.private_daemon && !server->clients &&
		    !server->services.stopping)
			stop_serving(server, "profctl has exited");
	}
	return 0;
}

int server_run(const struct server_options *options)
{
	struct server server = { .options = options,
				 .settings = { options, options, options },
				 .epoll_fd = -1,
				 .listen_fd = -1,
				 .lock_fd = -1,
				 .spare_fd = -1,
				 .signal_fd = -1,
				 .watchdog_fd = -1,
				 .services.roster.event_fd = -1 };
	int err;

	priority_raise();
	err = open_server(&server);
	if (!err) {
		sd_notify(0, "READY=1");
		err = loop(&server);
	}
	if (server.given_up)
		err = complain("stopping without waiting for %zu sessions; their files are incomplete",
			       roster_count(&server.services.roster));
	close_server(&server);
	return err ? 1 : 0;
}
