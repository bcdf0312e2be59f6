/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/duration.h"
#include "lib/base/size.h"
#include "daemon/common/topics.h"
#include "daemon/catalog/catalog_set.h"
#include "daemon/profbpfd/control/answer.h"
#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/control/obstacles.h"
#include "daemon/profbpfd/control/requests.h"

#define ERROR_MAX 4096
#define ERROR_TEXT_MAX (64u << 10) /* limit of a catalog's errors in a message */
#define OUTPUT_NAME_MAX 4096
#define TOPICS_MAX 32
#define NO_MEMORY "profbpfd is out of memory"

static int check_figures(const Profbpf__Control__StartSession *start, char *error)
{
	if (start->system_wide ? start->n_pids > 0 : !start->n_pids) {
		snprintf(error, ERROR_MAX,
			 start->system_wide ? "the request names processes and the whole machine; "
					      "only one of them is possible"
					    : "the request names no process");
		return -EINVAL;
	}
	if (start->n_pids > REQUEST_PIDS_MAX) {
		snprintf(error, ERROR_MAX, "the request names more than %d processes", REQUEST_PIDS_MAX);
		return -E2BIG;
	}
	if (start->n_catalogs > REQUEST_CATALOGS_MAX) {
		snprintf(error, ERROR_MAX, "the request has more than %d catalogs", REQUEST_CATALOGS_MAX);
		return -E2BIG;
	}
	if (start->duration_ns > DURATION_MAX_NS || start->min_duration_ns > DURATION_MAX_NS ||
	    start->buffer_bytes > SIZE_MAX_BYTES || start->stack_block_ns > DURATION_MAX_NS ||
	    start->stack_rate > STACK_RATE_MAX || start->budget_permille > 10 * BUDGET_MAX) {
		snprintf(error, ERROR_MAX, "duration, rate, budget or buffer size out of range");
		return -ERANGE;
	}
	if (start->interval_ns &&
	    (start->interval_ns < INTERVAL_MIN_NS || start->interval_ns > INTERVAL_MAX_NS)) {
		snprintf(error, ERROR_MAX, "the interval is not between 10 ms and 1 h");
		return -ERANGE;
	}
	return 0;
}

/* Steps need recorded calls. */
static int check_steps(const Profbpf__Control__StartSession *start, unsigned int topics, char *error)
{
	const char *why = NULL;

	if (!start->steps)
		return 0;
	if (!(topics & TOPIC_API))
		why = "steps need topic api: they are counted by calls";
	else if (start->min_duration_ns)
		why = "steps cannot have a minimal duration: it leaves out calls by which they are counted";
	else if (strlen(start->step_call) >= STEP_CALL_MAX)
		why = "the name of the function that begins a step is too long";
	else if (start->first_step + start->steps < start->steps)
		why = "the number of steps is out of range";
	if (why)
		snprintf(error, ERROR_MAX, "%s", why);
	return why ? -EINVAL : 0;
}

static int read_topics(const Profbpf__Control__StartSession *start, unsigned int *topics,
		       char *error)
{
	*topics = start->n_topics ? 0 : TOPICS_DEFAULT;
	if (start->n_topics > TOPICS_MAX) {
		snprintf(error, ERROR_MAX, "the request has more than %d topics", TOPICS_MAX);
		return -E2BIG;
	}
	for (size_t i = 0; i < start->n_topics; i++) {
		unsigned int some;
		int err = topics_parse(start->topics[i], &some, error, ERROR_MAX);

		if (err)
			return err;
		*topics |= some;
	}
	return 0;
}

/* Reads facts about a process and holds it in *@held, so that they refer to that process even if its id is reused. */
static int look_at_process(pid_t pid, bool descriptor, struct held *held,
			   struct process_facts *facts, char *error)
{
	int fd = descriptor ? process_hold(pid) : -1, err = process_facts_read(pid, facts);

	*held = (struct held){ .fd = fd < 0 ? -1 : fd, .started = facts->started };
	err = process_check(pid, err, facts, error, ERROR_MAX);
	if (!err && descriptor && fd < 0) {
		snprintf(error, ERROR_MAX, "cannot open process %d: %s", (int)pid,
			 strerror(-fd));
		err = fd;
	} else if (!err && held_gone(held, pid)) {
		snprintf(error, ERROR_MAX, "process %d has just exited", (int)pid);
		err = -ESRCH;
	}
	return err;
}

/* Checks whether @peer may trace @pid, and adds a warning if necessary. */
static int check_process(const struct peer *peer, struct roster_entry *entry, pid_t pid,
			 unsigned int topics, char *error)
{
	struct process_facts facts;
	int err = look_at_process(pid, entry->pid_count < HELD_BY_DESCRIPTOR_MAX,
				  &entry->held[entry->pid_count], &facts, error);

	if (!err)
		err = access_process(peer, &facts, error, ERROR_MAX);
	if (err || !facts.narrow || !(topics & TOPIC_API))
		return err;
	if (topics == TOPIC_API) {
		snprintf(error, ERROR_MAX,
			 "process %d (%s) is a 32-bit program, whose API calls cannot be traced; "
			 "use --topics sched,ioctl",
			 (int)pid, facts.name);
		return -ENOEXEC;
	}
	return words_addf(&entry->warnings,
			  "process %d (%s) is a 32-bit program: its API calls are not traced",
			  (int)pid, facts.name);
}

static bool seen_before(const uint32_t *pids, size_t count, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* An exited process is no error if it was only requested as a member of a group. */
static bool ended_in_group(struct roster_entry *entry, const Profbpf__Control__StartSession *start, size_t i, int err)
{
	if (err != -ESRCH || start->n_pids - i > start->grouped)
		return false;
	held_let_go(&entry->held[entry->pid_count]);
	entry->held[entry->pid_count] = HELD_NONE;
	return true;
}

/* Fills the entry's pids, without duplicates. */
static int check_processes(struct roster_entry *entry, const struct peer *peer,
			   const Profbpf__Control__StartSession *start, unsigned int topics,
			   char *error)
{
	int err = 0;

	if (start->system_wide)
		return access_system(peer, error, ERROR_MAX);
	entry->pids = calloc(start->n_pids, sizeof(*entry->pids));
	entry->held = calloc(start->n_pids, sizeof(*entry->held));
	if (!entry->pids || !entry->held) {
		snprintf(error, ERROR_MAX, NO_MEMORY);
		return -ENOMEM;
	}
	for (size_t i = 0; i < start->n_pids && !err; i++) {
		if (seen_before(entry->pids, entry->pid_count, start->pids[i]))
			continue;
		err = check_process(peer, entry, (pid_t)start->pids[i], topics, error);
		if (ended_in_group(entry, start, i, err))
			err = 0;
		else
			entry->pids[entry->pid_count++] = start->pids[i];
	}
	return !err && !entry->pid_count ? -ESRCH : err;
}

/* Returns an error message, which the caller frees, or NULL on success. */
static char *load_catalogs(const struct services *services, struct roster_entry *entry,
			   const Profbpf__Control__StartSession *start)
{
	struct words problems = { 0 };
	char *error = NULL;

	entry->catalogs = catalog_set_load(services->catalog_directories,
					   services->catalog_directory_count, &problems);
	for (size_t i = 0; i < problems.count; i++)
		words_addf(&entry->warnings, "catalog left out: %s", problems.word[i]);
	words_free(&problems);
	for (size_t i = 0; entry->catalogs && i < start->n_catalogs; i++) {
		const Profbpf__Control__CatalogText *text = start->catalogs[i];

		if (!catalogs_add_text(entry->catalogs, text->name, text->text, strlen(text->text),
				       &error))
			continue;
		if (error && strlen(error) > ERROR_TEXT_MAX)
			error[ERROR_TEXT_MAX] = '\0';
		return error ? error : strdup(NO_MEMORY);
	}
	return entry->catalogs ? NULL : strdup(NO_MEMORY);
}

/* Returns the number of threads on the machine; sysinfo() counts only up to 65,535. */
static unsigned long threads_here(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	unsigned long count;

	if (!file || fscanf(file, "%*s %*s %*s %*u/%lu", &count) != 1)
		count = ULONG_MAX;
	if (file)
		fclose(file);
	return count;
}

/* Further sessions get smaller rings, which are read as often, so that many sessions fit into memory. */
static uint64_t buffer_bytes(const struct services *services,
			     const Profbpf__Control__StartSession *start)
{
	if (start->buffer_bytes)
		return start->buffer_bytes;
	if (!roster_count_running(&services->roster))
		return CAPTURE_BUFFER_DEFAULT;
	return threads_here() <= CAPTURE_SMALL_THREADS ? CAPTURE_BUFFER_SMALL : CAPTURE_BUFFER_FURTHER;
}

static int check_quotas(const struct services *services, const struct peer *peer,
			const Profbpf__Control__StartSession *start, char *error)
{
	struct quota_use use = roster_use(&services->roster, peer->uid);
	struct quota_wish wish = { .memory_bytes = session_memory(buffer_bytes(services, start), start->steps),
				   .processes = start->n_pids };

	for (size_t i = 0; i < start->n_catalogs; i++)
		wish.catalog_bytes += strlen(start->catalogs[i]->text);
	return peer->trusted ? 0 : quotas_check(&services->quotas, &use, &wish, error, ERROR_MAX);
}

static int check(struct services *services, const struct peer *peer,
		 const Profbpf__Control__StartSession *start, char *error)
{
	size_t most;
	int err;

	if (services->stopping) {
		snprintf(error, ERROR_MAX, "profbpfd is stopping");
		return -ESHUTDOWN;
	}
	err = check_quotas(services, peer, start, error);
	most = ROSTER_SESSIONS_MAX - (peer->trusted ? 0 : ROSTER_SESSIONS_RESERVED);
	if (!err && roster_count(&services->roster) >= most) {
		snprintf(error, ERROR_MAX, "the maximum of %zu sessions is reached; end one with profctl stop",
			 most);
		err = -EDQUOT;
	}
	return err;
}

char *request_start_check(struct services *services, const struct peer *peer,
			  const Profbpf__Control__StartSession *start)
{
	char error[ERROR_MAX] = NO_MEMORY;

	return check(services, peer, start, error) ? strdup(error) : NULL;
}

void request_start_work(struct request_job *job)
{
	const Profbpf__Control__StartSession *start = job->request->start;
	char error[ERROR_MAX] = NO_MEMORY;
	int err;

	job->entry = calloc(1, sizeof(*job->entry));
	if (!job->entry) {
		job->error = strdup(error);
		return;
	}
	obstacles_text(&job->services->features, error, sizeof(error));
	err = *error ? -ENOTSUP : 0;
	if (!err && !start->check_only)
		err = descriptors_check(&job->fds, error, ERROR_MAX);
	if (!err)
		err = check_figures(start, error);
	if (!err)
		err = read_topics(start, &job->topics, error);
	if (!err)
		err = check_steps(start, job->topics, error);
	if (!err)
		err = check_processes(job->entry, &job->peer, start, job->topics, error);
	job->error = err ? strdup(error) : load_catalogs(job->services, job->entry, start);
	/* Freed here, on the worker's thread, because that takes a while, too. */
	if (!job->error && start->check_only) {
		roster_entry_free(job->entry);
		job->entry = NULL;
	}
}

/* Converts a checked message to a session's request; after -ENOMEM there is nothing to free. */
static int make_request(const struct client *client, struct roster_entry *entry,
			const Profbpf__Control__StartSession *start, unsigned int topics,
			struct control_fds *fds, struct session_request *request)
{
	*request = (struct session_request){
		.pid_count = entry->pid_count,
		.system_wide = start->system_wide,
		.follow = !start->no_follow,
		.owner = client->peer.trusted ? (uid_t)-1 : client->peer.uid,
		.owner_group = client->peer.gid,
		.started_here = start->started_here,
		.duration_ns = start->duration_ns,
		.min_duration_ns = start->min_duration_ns,
		.interval_ns = start->interval_ns ? start->interval_ns : INTERVAL_DEFAULT_NS,
		.topics = topics,
		.ioctls_later = !start->n_topics,
		.stack_block_ns = start->stack_block_ns ? start->stack_block_ns
							: STACK_BLOCK_DEFAULT_NS,
		.budget = start->no_budget	   ? 0
			  : start->budget_permille ? start->budget_permille / 1000.0
						   : BUDGET_DEFAULT,
		.keep_queues = start->keep_queues,
		.stack_rate = start->stack_rate ? start->stack_rate : STACK_RATE_DEFAULT,
		.first_step = start->first_step,
		.steps = start->steps,
		.file_count = fds->count - 1,
	};
	request->pids = calloc(entry->pid_count + 1, sizeof(*request->pids));
	request->held = calloc(entry->pid_count + 1, sizeof(*request->held));
	request->files = calloc(fds->count, sizeof(*request->files));
	request->step_call = start->steps ? strdup(start->step_call) : NULL;
	if (!request->pids || !request->held || !request->files || (start->steps && !request->step_call)) {
		free(request->step_call);
		free(request->pids);
		free(request->held);
		free(request->files);
		return -ENOMEM;
	}
	for (size_t i = 0; i < entry->pid_count; i++)
		request->pids[i] = (pid_t)entry->pids[i];
	for (size_t i = 0; i < entry->pid_count; i++) {
		request->held[i] = entry->held[i];
		entry->held[i] = HELD_NONE;
	}
	request->output = control_fds_take(fds, 0);
	for (size_t i = 1; i < fds->count; i++)
		request->files[i - 1] = control_fds_take(fds, i);
	return 0;
}

static int launch(struct services *services, struct request_job *job)
{
	const Profbpf__Control__StartSession *start = job->request->start;
	struct roster_entry *entry = job->entry;
	struct session_request request;

	entry->id = roster_new_id(&services->roster);
	entry->start_request = job->request->id;
	entry->owner = job->peer.uid;
	entry->system_wide = start->system_wide;
	entry->duration_ns = start->duration_ns;
	entry->starter = job->client;
	entry->output_name = strndup(start->output_name, OUTPUT_NAME_MAX);
	if (!entry->output_name ||
	    make_request(job->client, entry, start, job->topics, &job->fds, &request))
		return -ENOMEM;
	request.buffer_bytes = buffer_bytes(services, start);
	entry->memory_bytes = session_memory(request.buffer_bytes, start->steps);
	if (!job->peer.trusted) {
		request.processes_max = services->quotas.processes;
		request.functions_max = services->quotas.functions;
	}
	services_lend(services, &request);
	entry->session =
		session_new(entry->id, &request, entry->catalogs, services->roster.event_fd);
	return entry->session ? 0 : -ENOMEM;
}

void request_start_finish(struct services *services, struct request_job *job)
{
	char *error;

	if (job->request->start->check_only) {
		answer_checked(job->client, job->request->id);
		return;
	}
	/* Checked again, because other sessions may have started meanwhile. */
	error = request_start_check(services, &job->peer, job->request->start);
	if (error) {
		client_refuse(job->client, job->request->id, error);
		free(error);
		return;
	}
	if (launch(services, job)) {
		client_refuse(job->client, job->request->id,
			      "profbpfd is out of memory or threads");
		return;
	}
	roster_add(&services->roster, job->entry);
	job->entry = NULL;
}
