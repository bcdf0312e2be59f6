/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - profctl status: what this kernel and daemon can do; sources, costs, losses. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/duration.h"
#include "daemon/common/privilege.h"
#include "lib/base/size.h"
#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/command_options.h"
#include "daemon/profctl/sessions.h"
#include "daemon/profctl/summary.h"

static void print_features(const Profbpf__Control__DaemonStatus *s)
{
	int width = 0;

	for (size_t i = 0; i < s->n_features; i++)
		if ((int)strlen(s->features[i]->name) > width)
			width = (int)strlen(s->features[i]->name);
	puts("\nkernel features");
	for (size_t i = 0; i < s->n_features; i++)
		printf("  %-3s  %-*s  %s\n", s->features[i]->available ? "yes" : "no", width,
		       s->features[i]->name, s->features[i]->detail);
}

static void print_lines(const char *title, char *const *lines, size_t count)
{
	char safe[1024];

	if (!count)
		return;
	printf("\n%s\n", title);
	for (size_t i = 0; i < count; i++)
		printf("  %s\n", printable(lines[i], safe, sizeof(safe)));
}

static void print_daemon(const Profbpf__Control__DaemonStatus *s)
{
	char cpu[32], age[32], memory[32];

	if (s->private_daemon)
		printf("profbpfd    %s; not running: these are the answers of a private daemon\n",
		       s->version);
	else
		printf("profbpfd    %s, process %u, started %s ago\n", s->version, s->pid,
		       duration_format(s->age_ns, age, sizeof(age)));
	printf("kernel      %s\n", s->kernel);
	printf("tracing     %s\n", !s->n_obstacles ? "possible" : "not possible");
	for (size_t i = 0; i < s->n_obstacles; i++)
		printf("  because   %s\n", s->obstacles[i]);
	for (size_t i = 0; i < s->n_limits; i++)
		printf("  but       %s\n", s->limits[i]);
	printf("probes      %s", s->probe_method);
	if (s->probe_cost_ns)
		printf("; recording makes a call seem %u ns longer", s->probe_cost_ns);
	putchar('\n');
	if (!s->private_daemon)
		printf("cost so far %s of CPU time; memory %s\n",
		       duration_format(s->cpu_ns, cpu, sizeof(cpu)),
		       size_format(s->rss_bytes, memory, sizeof(memory)));
}

static int print_text(const Profbpf__Control__DaemonStatus *s)
{
	print_daemon(s);
	print_features(s);
	if (s->n_catalogs)
		print_lines("catalogs", s->catalogs, s->n_catalogs);
	else
		puts("\ncatalogs\n  none: no runtime API calls can be traced");
	print_lines("errors in catalogs", s->catalog_errors, s->n_catalog_errors);
	if (s->private_daemon)
		return 0;
	printf("\nsessions: %u\n", s->sessions);
	if (s->n_session && sessions_print(stdout, s->session, s->n_session))
		return 1;
	for (size_t i = 0; i < s->n_session; i++) {
		if (!s->session[i]->n_sources)
			continue;
		printf("session %u\n", s->session[i]->session);
		summary_print_sources(stdout, s->session[i]->sources, s->session[i]->n_sources);
		sessions_print_cost(stdout, s->session[i]);
	}
	if (s->sessions > s->n_session)
		printf("%u of other users, visible to root and the group profbpf only\n",
		       s->sessions - (uint32_t)s->n_session);
	return 0;
}

static void daemon_json(struct json *json, const Profbpf__Control__DaemonStatus *s)
{
	json_object(json, "daemon");
	json_text(json, "version", s->version);
	json_bool(json, "running", !s->private_daemon);
	if (!s->private_daemon) {
		json_number(json, "pid", s->pid);
		json_number(json, "uid", s->uid);
		json_number(json, "age_ns", s->age_ns);
		json_number(json, "cpu_ns", s->cpu_ns);
		json_number(json, "rss_bytes", s->rss_bytes);
		json_number(json, "sessions", s->sessions);
	}
	json_close_object(json);
}

static int print_json(const Profbpf__Control__DaemonStatus *s)
{
	struct json json;

	if (json_begin(&json))
		return 1;
	json_object(&json, NULL);
	json_text(&json, "schema", "profbpf.status/1");
	daemon_json(&json, s);
	json_text(&json, "kernel", s->kernel);
	json_object(&json, "tracing");
	json_bool(&json, "possible", !*s->obstacle);
	if (*s->obstacle)
		json_text(&json, "obstacle", s->obstacle);
	json_texts(&json, "obstacles", s->obstacles, s->n_obstacles);
	json_texts(&json, "limits", s->limits, s->n_limits);
	json_text(&json, "method", s->probe_method);
	if (s->probe_cost_ns)
		json_number(&json, "probe_cost_ns", s->probe_cost_ns);
	json_close_object(&json);
	json_array(&json, "features");
	for (size_t i = 0; i < s->n_features; i++) {
		json_object(&json, NULL);
		json_text(&json, "name", s->features[i]->name);
		json_bool(&json, "available", s->features[i]->available);
		json_text(&json, "detail", s->features[i]->detail);
		json_close_object(&json);
	}
	json_close_array(&json);
	json_texts(&json, "catalogs", s->catalogs, s->n_catalogs);
	json_texts(&json, "catalog_errors", s->catalog_errors, s->n_catalog_errors);
	sessions_json(&json, s->session, s->n_session);
	json_close_object(&json);
	return json_end(&json) ? 1 : 0;
}

/* The kernel's features can be determined without privilege, so ordinary users get an answer, too. */
static int open_any(struct client *client, const char *socket)
{
	int err = client_connect(client, socket);

	if (!err)
		return 0;
	client_explain(socket, err);
	if (err != -ENOENT && err != -ECONNREFUSED)
		return err;
	if (!privilege_to_trace())
		message("testing this kernel without privileges; only a running daemon can list "
			"sessions, costs and losses");
	return client_spawn(client);
}

int command_status(int argc, char **argv)
{
	static const struct argp argp = {
		query_options, query_parse, NULL,
		"Show the capabilities of this kernel and daemon, and the running sessions with "
		"their costs and losses."
	};
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__Status what = PROFBPF__CONTROL__STATUS__INIT;
	Profbpf__Control__Response *response;
	struct query_arguments arguments = { 0 };
	struct client client;
	int status = 1;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (open_any(&client, arguments.socket))
		return 1;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_STATUS;
	request.status = &what;
	response = client_ask(&client, &request, PROFBPF__CONTROL__RESPONSE__WHAT_STATUS);
	if (response)
		status = arguments.json ? print_json(response->status)
					: print_text(response->status);
	profbpf__control__response__free_unpacked(response, NULL);
	client_close(&client);
	return status;
}
