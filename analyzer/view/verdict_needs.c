/* SPDX-License-Identifier: Apache-2.0 */
/* Which data are needed to know what holds up a job: the remedy of a verdict that is unknown. */
#include "analyzer/model/translate.h"
#include "analyzer/view/append_text.h"
#include "analyzer/view/verdict_words.h"

#define PEERS_MAX 4 /* of untraced processes that are named */

/* Adds the pid of a thread's process to a list, once; 0 = not known. */
static uint32_t add_pid(const struct model *model, uint32_t thread, uint32_t *pids, uint32_t count)
{
	uint32_t process = thread < model->threads.count ? model->threads.row[thread].process : INDEX_NONE;
	uint32_t pid = process < model->processes.count ? model->processes.row[process].pid : 0;

	for (uint32_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return count;
	if (pid)
		pids[count++] = pid;
	return count;
}

/*
 * Writes the processes to record, separated by commas: that of the thread that waits, and those that were not traced
 * and for which it waits. "A,B" if one of the two is not known.
 */
static void list_peers(const struct model *model, const struct verdict *verdict, char *text, size_t size)
{
	const struct idle_roots *roots = verdict->roots;
	const struct idle_root *most = verdict->idle.most;
	uint32_t pids[PEERS_MAX + 1], count = 0;

	*text = '\0';
	if (most && most->hop_count)
		count = add_pid(model, most->hops[0].thread, pids, count);
	for (uint32_t i = 0; count && roots && i < roots->count && count <= PEERS_MAX; i++) {
		const struct root *root = &roots->row[i].root;

		/* The first one is what the verdict is about; who ended a short wait or two has no part in it. */
		if (count > 1 && 100 * (double)roots->row[i].ns < VERDICT_NOISE_PERCENT * (double)verdict->roots_of_ns)
			continue;
		if (root->who_kind == WHO_THREAD &&
		    (root->cause == IDLE_NO_WORK || root->end == ROOT_END_UNTRACED))
			count = add_pid(model, root->who, pids, count);
	}
	for (uint32_t i = 0; count > 1 && i < count; i++)
		append(text, size, "%s%u", i ? "," : "", pids[i]);
	if (count < 2)
		append(text, size, "A,B");
}

static void tell_peers(const struct model *model, const struct verdict *verdict, char *text, size_t size)
{
	char pids[64];

	list_peers(model, verdict, pids, sizeof(pids));
	append(text, size,
	       tr("Record that process, too (--pid %s, or profctl record --system). A server that waits for its "
		  "clients has nothing to do."),
	       pids);
}

static const char *needs(const struct verdict *verdict)
{
	switch (verdict->lack) {
	case VERDICT_LACK_RECORDS:
		return verdict->source == INDEX_NONE ? tr("Read the whole recording, or record again.")
						     : tr("Record again with a larger --buffer, fewer "
						       "--topics, or --min-duration.");
	case VERDICT_LACK_TRACE:
		return tr("Record the job with profctl (topics api and sched) while the device's own "
		       "profiler runs, and give both: analyzer report TRACE --device PATH.");
	case VERDICT_LACK_STREAM:
	case VERDICT_LACK_STEPS:
	case VERDICT_LACK_BUSY:
		return tr("Load the runtime's device layer into the job (libprofbpf-*.so), or give "
			  "the output of the device's own profiler with --device.");
	case VERDICT_LACK_SCHED: return tr("Record with the topic sched.");
	case VERDICT_LACK_LAUNCHES:
		return tr("Record with the topic api, best from the job's start (profctl record); see "
		       "the "
		       "section join.");
	case VERDICT_LACK_EVENTS:
		return tr("If it should have had work, examine the process that should have sent it.");
	case VERDICT_LACK_KERNELS:
		return tr("Give a file that has the kernels, too: of Nsight Systems (nsys profile --trace "
			  "cuda --cuda-graph-trace=node), for instance.");
	case VERDICT_LACK_TASKS:
		return tr("Profile a part of the job in which the device works, not one that only "
			  "captures or compiles.");
	case VERDICT_LACK_THREAD:
		return tr("The section processes lists the threads that were recorded.");
	case VERDICT_LACK_SWITCHES:
		return tr("Record for longer (--duration). If it hangs, /proc/PID/task/*/wchan and "
			  "its stacks (gdb, py-spy) show where.");
	default:
		return tr("The section idle shows where each wait could not be followed; record "
			  "with all topics (--topics all).");
	}
}

void verdict_needs(const struct model *model, const struct verdict *verdict, char *text, size_t size)
{
	if (verdict->lack == VERDICT_LACK_PROCESS)
		tell_peers(model, verdict, text, size);
	else
		append(text, size, "%s", needs(verdict));
}
