/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/metrics/endpoint.h"

#include <stdio.h>

#ifndef HAVE_MICROHTTPD

struct metrics *metrics_open(const char *const *addresses, size_t count, const struct services *services,
			     const gid_t *group, char *error, size_t error_size)
{
	(void)addresses;
	(void)count;
	(void)services;
	(void)group;
	snprintf(error, error_size, "this profbpfd was built without libmicrohttpd and cannot serve metrics");
	return NULL;
}

void metrics_close(struct metrics *metrics)
{
	(void)metrics;
}

int metrics_fd(const struct metrics *metrics)
{
	(void)metrics;
	return -1;
}

void metrics_serve(struct metrics *metrics)
{
	(void)metrics;
}

#else

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/profbpfd/metrics/exposition.h"
#include "daemon/profbpfd/metrics/listen.h"

#define CONNECTIONS_MAX 32 /* per address */
#define IDLE_S 10u /* an idle connection is closed after this time */
#define ROUNDS_MAX 64 /* limit per call, because the control loop has other work */
#define MEMORY 16384 /* for a connection's request */

#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TYPE_PROMETHEUS "text/plain; version=0.0.4; charset=utf-8"

struct place {
	struct metrics *metrics;
	struct MHD_Daemon *http;
	const char *path; /* path of the socket; NULL: TCP */
};

struct metrics {
	const struct services *services;
	const gid_t *group;
	int epoll_fd;
	struct place places[METRICS_ADDRESSES_MAX];
	size_t count;
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status, const char *type, char *text,
			      size_t size, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(size, text, mode);
	enum MHD_Result result;

	if (!response) {
		if (mode == MHD_RESPMEM_MUST_FREE)
			free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status, const char *why)
{
	return answer(connection, status, "text/plain; charset=utf-8", (char *)why, strlen(why), MHD_RESPMEM_PERSISTENT);
}

/* Every client of a TCP address may see everything: the administrator has configured it for that. */
static int identify(const struct place *place, struct MHD_Connection *connection, struct peer *peer)
{
	const union MHD_ConnectionInfo *info;

	*peer = (struct peer){ .uid = (uid_t)-1, .trusted = true };
	if (!place->path)
		return 0;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	return info ? access_identify(info->connect_fd, place->metrics->group, peer) : -1;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
			      const char *version, const char *data, size_t *data_size, void **request)
{
	const struct place *place = context;
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	bool openmetrics = accept && strstr(accept, "application/openmetrics-text");
	struct peer peer;
	size_t size;
	char *text;

	(void)version;
	(void)data;
	(void)request;
	if (*data_size || (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)))
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is supported\n");
	if (strcmp(url, "/metrics"))
		return refuse(connection, MHD_HTTP_NOT_FOUND, "metrics are at /metrics\n");
	if (identify(place, connection, &peer))
		return refuse(connection, MHD_HTTP_FORBIDDEN, "your user id cannot be determined\n");
	text = exposition_write(&place->metrics->services->roster, &peer, openmetrics, &size);
	if (!text)
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
	return answer(connection, MHD_HTTP_OK, openmetrics ? TYPE_OPENMETRICS : TYPE_PROMETHEUS, text, size,
		      MHD_RESPMEM_MUST_FREE);
}

static int open_place(struct metrics *metrics, const char *address, char *error, size_t error_size)
{
	struct place *place = &metrics->places[metrics->count];
	int fd = listen_at(address, error, error_size);
	struct epoll_event event = { .events = EPOLLIN };
	const union MHD_DaemonInfo *info;

	if (fd < 0)
		return -1;
	place->metrics = metrics;
	place->path = listen_is_path(address) ? address : NULL;
	place->http = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, place, MHD_OPTION_LISTEN_SOCKET, fd,
				       MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
				       IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_END);
	if (!place->http)
		close(fd);
	else
		metrics->count++;
	info = place->http ? MHD_get_daemon_info(place->http, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (info && !epoll_ctl(metrics->epoll_fd, EPOLL_CTL_ADD, info->epoll_fd, &event))
		return 0;
	snprintf(error, error_size, "cannot serve metrics on %s", address);
	return -1;
}

struct metrics *metrics_open(const char *const *addresses, size_t count, const struct services *services,
			     const gid_t *group, char *error, size_t error_size)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));

	if (metrics) {
		metrics->services = services;
		metrics->group = group;
		metrics->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	}
	if (!metrics || metrics->epoll_fd < 0) {
		snprintf(error, error_size, "cannot serve metrics: out of memory or descriptors");
		free(metrics);
		return NULL;
	}
	for (size_t i = 0; i < count && i < METRICS_ADDRESSES_MAX; i++) {
		if (!open_place(metrics, addresses[i], error, error_size))
			continue;
		metrics_close(metrics);
		return NULL;
	}
	return metrics;
}

void metrics_close(struct metrics *metrics)
{
	if (!metrics)
		return;
	for (size_t i = 0; i < metrics->count; i++) {
		MHD_stop_daemon(metrics->places[i].http);
		if (metrics->places[i].path)
			unlink(metrics->places[i].path);
	}
	close(metrics->epoll_fd);
	free(metrics);
}

int metrics_fd(const struct metrics *metrics)
{
	return metrics->epoll_fd;
}

/* Events are edge-triggered: runs the library until it has nothing to do immediately. */
void metrics_serve(struct metrics *metrics)
{
	for (size_t i = 0; i < metrics->count; i++) {
		MHD_UNSIGNED_LONG_LONG wait_ms = 0;
		int rounds = 0;

		do
			MHD_run(metrics->places[i].http);
		while (++rounds < ROUNDS_MAX && MHD_get_timeout(metrics->places[i].http, &wait_ms) == MHD_YES &&
		       !wait_ms);
	}
}

#endif
