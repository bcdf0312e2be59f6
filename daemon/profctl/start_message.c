/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/start_message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/common/duration.h"
#include "daemon/common/process_check.h"
#include "daemon/common/topics.h"
#include "daemon/profctl/catalog_texts.h"
#include "daemon/profctl/message.h"

#define TOPICS_MAX 32
#define NAMED_MAX 4 /* processes named in the line */

int start_check(const struct live_request *request)
{
	struct catalog_texts texts;
	int err = 0;

	for (size_t i = 0; i < request->pid_count && !err; i++) {
		pid_t pid = (pid_t)request->pids[i];
		struct process_facts facts;
		char error[512];

		err = process_check(pid, process_facts_read(pid, &facts), &facts, error,
				    sizeof(error));
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

static int send(const Profbpf__Control__StartSession *start, const struct live_request *request,
		struct client *client, const struct output *output, uint32_t *id)
{
	Profbpf__Control__Request message = PROFBPF__CONTROL__REQUEST__INIT;
	int fds[CONTROL_FDS_MAX], err;
	size_t count = 0;

	fds[count++] = output->fd;
	for (size_t i = 0; request->files && i < request->files->count; i++)
		if (count < CONTROL_FDS_MAX)
			fds[count++] = request->files->fd[i];
	message.what_case = PROFBPF__CONTROL__REQUEST__WHAT_START;
	message.start = (Profbpf__Control__StartSession *)start;
	err = client_request(client, &message, fds, count);
	*id = message.id;
	return err;
}

int start_send(const struct live_request *request, struct client *client,
	       const struct output *output, uint32_t *id)
{
	Profbpf__Control__StartSession start = PROFBPF__CONTROL__START_SESSION__INIT;
	const struct trace_options *o = request->options;
	struct catalog_texts texts;
	char *topics[TOPICS_MAX], *path = NULL;
	int err = catalog_texts_read(&o->catalogs, &texts);

	if (err)
		goto cleanup;
	/* Lists are read elsewhere: a relative name would say little there. */
	if (strcmp(output->name, "-"))
		path = realpath(output->name, NULL);
	start.n_pids = request->pid_count;
	start.pids = request->pids;
	start.system_wide = request->system_wide;
	start.no_follow = o->no_follow;
	start.duration_ns = o->duration_ns;
	start.min_duration_ns = o->min_duration_ns;
	start.buffer_bytes = o->buffer_bytes;
	start.n_topics = list_topics(o->topics, topics);
	start.topics = topics;
	start.n_catalogs = texts.count;
	start.catalogs = texts.text;
	start.started_here = request->child != NULL;
	start.output_name = path ? path : output->name;
	err = send(&start, request, client, output, id);
cleanup:
	free(path);
	catalog_texts_free(&texts);
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
		snprintf(what, sizeof(what), "%u functions in %u %s", started->functions,
			 started->files, started->files == 1 ? "file" : "files");
	else
		snprintf(what, sizeof(what), "%s",
			 o->topics & TOPIC_API ? "no known runtime functions yet"
					       : "no functions wanted");
	if (o->duration_ns)
		snprintf(end, sizeof(end), "ends after %s",
			 duration_format(o->duration_ns, duration, sizeof(duration)));
	else
		snprintf(end, sizeof(end), "%s",
			 request->child ? "ends with the command" : "Ctrl-C ends it");
	fprintf(stderr, "tracing %s: %s; %s\n", printable(targets, safe, sizeof(safe)), what, end);
}
