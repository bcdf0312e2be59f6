/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/start_message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/duration.h"
#include "daemon/common/process_check.h"
#include "daemon/common/topics.h"
#include "daemon/profctl/catalog_texts.h"
#include "daemon/profctl/message.h"

#define TOPICS_MAX 32
#define NAMED_MAX 4 /* processes named in the line */
#define CHECKED_MAX \
	64 /* processes looked at here; the daemon, which looks at all, is what takes time to start */

int start_check(const struct live_request *request)
{
	struct catalog_texts texts;
	int err = 0;

	for (size_t i = 0; i < request->pid_count && i < CHECKED_MAX && !err; i++) {
		pid_t pid = (pid_t)request->pids[i];
		struct process_facts facts;
		char error[512];

		err = process_check(pid, process_facts_read(pid, &facts), &facts, error,
				    sizeof(error));
		if (err == -ESRCH && i >= request->pid_count - request->grouped)
			err = 0;
		if (err)
			message("%s", error);
	}
	if (err || !request->options->catalogs.count)
		return err;
	err = catalog_texts_read(&request->options->catalogs, &texts);
	catalog_texts_free(&texts);
	return err;
}

static size_t list_topics(unsigned int topics, char **names)
{
	size_t count = 0;

	for (unsigned int i = 0; topic_name(i) && count < TOPICS_MAX; i++)
		if (topics & 1u << i)
			names[count++] = (char *)topic_name(i);
	return count;
}

/* The message and what it points to. */
struct start {
	Profbpf__Control__Request request;
	Profbpf__Control__StartSession message;
	struct catalog_texts texts;
	char *topics[TOPICS_MAX];
};

static int prepare(struct start *start, const struct live_request *request)
{
	const struct trace_options *o = request->options;
	Profbpf__Control__StartSession *m = &start->message;
	int err = catalog_texts_read(&o->catalogs, &start->texts);

	profbpf__control__start_session__init(m);
	m->n_pids = request->pid_count;
	m->grouped = request->grouped;
	m->pids = request->pids;
	m->system_wide = request->system_wide;
	m->no_follow = o->no_follow;
	m->duration_ns = o->duration_ns;
	m->min_duration_ns = o->min_duration_ns;
	m->interval_ns = o->interval_ns;
	m->buffer_bytes = o->buffer_bytes;
	m->stack_block_ns = o->stack_block_ns;
	m->stack_rate = o->stack_rate;
	m->budget_permille = o->budget_permille;
	m->no_budget = o->no_budget;
	m->keep_queues = o->keep_queues || o->by_steps;
	m->first_step = o->first_step;
	m->steps = o->by_steps && !o->steps ? 1 : o->steps;
	m->step_call = (char *)(o->step_call ? o->step_call : "");
	m->n_topics = o->topics_named || o->topics != TOPICS_DEFAULT ? list_topics(o->topics, start->topics) : 0;
	m->topics = start->topics;
	m->n_catalogs = start->texts.count;
	m->catalogs = start->texts.text;
	m->started_here = request->child != NULL;
	profbpf__control__request__init(&start->request);
	start->request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_START;
	start->request.start = m;
	return err;
}

int start_ask(const struct live_request *request, struct client *client)
{
	Profbpf__Control__Response *response = NULL;
	struct start start;
	int err = prepare(&start, request);

	start.message.check_only = true;
	if (!err) {
		response = client_ask(client, &start.request,
				      PROFBPF__CONTROL__RESPONSE__WHAT_STARTED);
		err = response ? 0 : -EPERM;
	}
	profbpf__control__response__free_unpacked(response, NULL);
	catalog_texts_free(&start.texts);
	return err;
}

int start_send(const struct live_request *request, struct client *client,
	       const struct output *output, uint32_t *id)
{
	int fds[CONTROL_FDS_MAX], err;
	struct start start;
	size_t count = 0;
	char *path = NULL;

	fds[count++] = output->fd;
	for (size_t i = 0; request->files && i < request->files->count; i++)
		if (count < CONTROL_FDS_MAX)
			fds[count++] = request->files->fd[i];
	err = prepare(&start, request);
	/* Lists are read elsewhere: a relative name would say little there. */
	if (strcmp(output->name, "-"))
		path = realpath(output->name, NULL);
	start.message.output_name = path ? path : output->name;
	if (!err)
		err = client_request(client, &start.request, fds, count);
	*id = start.request.id;
	free(path);
	catalog_texts_free(&start.texts);
	return err;
}

/* "4242 (ffmpeg)", "3 processes (4242 ffmpeg, 4243 sh, 4250 python3)", "this machine" */
static void describe_targets(const struct live_request *request, char *text, size_t size)
{
	struct process_facts facts;
	size_t used = 0;

	if (request->system_wide) {
		snprintf(text, size, "this machine");
		return;
	}
	if (request->pid_count > 1)
		used = (size_t)snprintf(text, size, "%zu processes (", request->pid_count);
	for (size_t i = 0; i < request->pid_count && i < NAMED_MAX && used < size; i++) {
		const char *name = request->command;

		if (!name)
			name = process_facts_read((pid_t)request->pids[i], &facts) ? "?"
										   : facts.name;
		used += (size_t)snprintf(text + used, size - used,
					 request->pid_count > 1 ? "%s%u %s" : "%s%u (%s)",
					 i ? ", " : "", request->pids[i], name);
	}
	if (request->pid_count > 1 && used < size)
		snprintf(text + used, size - used, request->pid_count > NAMED_MAX ? ", ...)" : ")");
}

void start_announce(const struct live_request *request, const Profbpf__Control__Started *started)
{
	char targets[512], safe[512], what[128], end[96], duration[32];
	const struct trace_options *o = request->options;

	for (size_t i = 0; i < started->n_warnings; i++)
		message("warning: %s", started->warnings[i]);
	describe_targets(request, targets, sizeof(targets));
	if (started->functions)
		snprintf(what, sizeof(what), "%u function%s in %u %s", started->functions,
			 started->functions == 1 ? "" : "s", started->files, started->files == 1 ? "file" : "files");
	else
		snprintf(what, sizeof(what), "%s",
			 o->topics & TOPIC_API ? "no known runtime functions yet"
					       : "no API calls requested");
	if (o->duration_ns)
		snprintf(end, sizeof(end), "ends after %s",
			 duration_format(o->duration_ns, duration, sizeof(duration)));
	else
		snprintf(end, sizeof(end), "%s",
			 request->child ? "ends with the command" : "Ctrl-C ends it");
	fprintf(stderr, "tracing %s: %s; %s\n", printable(targets, safe, sizeof(safe)), what, end);
	if (o->by_steps)
		message("waiting for step %" PRIu64 ": a step begins with each %s%s; nothing is "
			"recorded before it", o->first_step,
			o->step_call ? "call of " : "fetch of a batch",
			o->step_call ? printable(o->step_call, safe, sizeof(safe)) : "");
}
