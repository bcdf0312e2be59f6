/* SPDX-License-Identifier: Apache-2.0 */
/* Names of threads and processes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/export/perfetto/perfetto_fields.h"
#include "analyzer/export/perfetto/perfetto_trace.h"

#define KTHREADD_PID 2
#define ENTRIES_MAX 256 /* entries per packet */

struct tree {
	struct perfetto_trace *trace;
	bool *wanted; /* by thread */
	bool *told; /* by process */
	size_t packet;
	size_t body;
	uint32_t entries;
};

static void open_tree(struct tree *tree, uint64_t ns)
{
	struct perfetto_writer *writer = &tree->trace->writer;

	tree->packet = perfetto_packet(writer);
	perfetto_uint(writer, PACKET_TIMESTAMP, boot_clock_at(&tree->trace->clock, ns));
	tree->body = perfetto_open(writer, PACKET_PROCESS_TREE);
	tree->entries = 0;
}

static void close_tree(struct tree *tree)
{
	perfetto_close(&tree->trace->writer, tree->body);
	perfetto_packet_end(&tree->trace->writer, tree->packet);
}

static void put_thread(struct perfetto_writer *writer, uint32_t tid, uint32_t pid, const char *name)
{
	size_t entry = perfetto_open(writer, TREE_THREADS);

	perfetto_uint(writer, TREE_THREAD_TID, tid);
	perfetto_text(writer, TREE_THREAD_NAME, name);
	perfetto_uint(writer, TREE_THREAD_TGID, pid);
	perfetto_close(writer, entry);
}

/* Writes the command line: the first argument is the process' name, the others follow as one text. */
static void put_cmdline(struct perfetto_writer *writer, const char *cmdline)
{
	char first[EXPORT_NAME_SIZE];
	size_t length = strcspn(cmdline, " ");

	if (length >= sizeof(first) || cmdline[length] == '\0') {
		perfetto_text(writer, TREE_PROCESS_CMDLINE, cmdline);
		return;
	}
	memcpy(first, cmdline, length);
	first[length] = '\0';
	perfetto_text(writer, TREE_PROCESS_CMDLINE, first);
	perfetto_text(writer, TREE_PROCESS_CMDLINE, cmdline + length + 1);
}

static void put_process(struct tree *tree, uint32_t index)
{
	const struct model *model = tree->trace->model;
	const struct process *process = &model->processes.row[index];
	struct perfetto_writer *writer = &tree->trace->writer;
	char name[EXPORT_NAME_SIZE];
	size_t entry;

	tree->told[index] = true;
	entry = perfetto_open(writer, TREE_PROCESSES);
	perfetto_uint(writer, TREE_PROCESS_PID, process->pid);
	if (process->kernel && process->pid != KTHREADD_PID)
		perfetto_uint(writer, TREE_PROCESS_PPID, KTHREADD_PID);
	else if (process->parent_pid)
		perfetto_uint(writer, TREE_PROCESS_PPID, process->parent_pid);
	if (process->cmdline) {
		put_cmdline(writer, model_text(model, process->cmdline));
	} else {
		perfetto_text(writer, TREE_PROCESS_CMDLINE,
			      export_process_name(model, index, name, sizeof(name)));
		perfetto_uint(writer, TREE_PROCESS_CMDLINE_IS_COMM, 1);
	}
	if (process->kernel)
		perfetto_uint(writer, TREE_PROCESS_IS_KTHREAD, 1);
	perfetto_close(writer, entry);
	tree->entries++;
}

static void tell(struct tree *tree, uint32_t index)
{
	const struct model *model = tree->trace->model;
	const struct thread *thread = &model->threads.row[index];
	char name[EXPORT_NAME_SIZE];
	uint32_t pid = thread->tid;

	if (thread->process < model->processes.count) {
		pid = model->processes.row[thread->process].pid;
		if (!tree->told[thread->process])
			put_process(tree, thread->process);
	}
	put_thread(&tree->trace->writer, thread->tid, pid,
		   export_thread_name(model, index, thread->tid, name, sizeof(name)));
	tree->entries++;
}

/* Writes a thread whose id belonged to an earlier thread; that one is ended first. */
static void tell_again(struct tree *tree, uint32_t index)
{
	struct perfetto_trace *trace = tree->trace;
	const struct thread *thread = &trace->model->threads.row[index];
	struct perfetto_writer *writer = &trace->writer;
	uint64_t ns = thread->first_ns;
	size_t packet, bundle, event, body;

	if (ns <= trace->window.start_ns)
		ns = trace->window.start_ns + 1;
	if (ns > trace->window.end_ns)
		return;
	packet = perfetto_packet(writer);
	bundle = perfetto_open(writer, PACKET_FTRACE_EVENTS);
	perfetto_uint(writer, BUNDLE_CPU, 0);
	event = perfetto_open(writer, BUNDLE_EVENT);
	perfetto_uint(writer, FTRACE_TIMESTAMP, boot_clock_at(&trace->clock, ns - 1));
	perfetto_uint(writer, FTRACE_PID, thread->tid);
	body = perfetto_open(writer, FTRACE_SCHED_PROCESS_FREE);
	perfetto_uint(writer, FREE_FIELD_PID, thread->tid);
	perfetto_close(writer, body);
	perfetto_close(writer, event);
	perfetto_close(writer, bundle);
	perfetto_packet_end(writer, packet);
	open_tree(tree, ns);
	if (thread->process < trace->model->processes.count)
		tree->told[thread->process] = false;
	tell(tree, index);
	close_tree(tree);
}

static void want(struct tree *tree, uint32_t thread)
{
	if (thread < tree->trace->model->threads.count)
		tree->wanted[thread] = true;
}

/* Chooses the threads to show: those of the requested processes, and others that ran beside them or woke them. */
static void choose(struct tree *tree)
{
	const struct perfetto_trace *trace = tree->trace;
	const struct model *model = trace->model;

	for (uint32_t i = 0; i < model->threads.count; i++)
		tree->wanted[i] = trace->chosen[i] &&
				  (model->threads.row[i].target || trace->options->pid_count);
	for (uint32_t i = 0; i < trace->cpus.count; i++)
		want(tree, trace->cpus.slices[i].thread);
	for (uint32_t i = 0; i < model->wakes.count; i++) {
		const struct wake *wake = &model->wakes.row[i];

		if (wake->ts_ns >= trace->window.start_ns && wake->ts_ns < trace->window.end_ns &&
		    wake->thread < model->threads.count && trace->chosen[wake->thread])
			want(tree, wake->waker_thread);
	}
}

static void tell_unrecorded(struct tree *tree)
{
	struct perfetto_writer *writer = &tree->trace->writer;
	size_t entry;

	if (tree->trace->cpus.cpu_count == 0)
		return;
	open_tree(tree, tree->trace->window.start_ns);
	entry = perfetto_open(writer, TREE_PROCESSES);
	perfetto_uint(writer, TREE_PROCESS_PID, PERFETTO_UNRECORDED_PID);
	perfetto_text(writer, TREE_PROCESS_CMDLINE, PERFETTO_UNRECORDED_NAME);
	perfetto_uint(writer, TREE_PROCESS_CMDLINE_IS_COMM, 1);
	perfetto_close(writer, entry);
	for (uint32_t i = 0; i < tree->trace->cpus.cpu_count; i++)
		put_thread(writer, PERFETTO_UNRECORDED_PID + 1 + tree->trace->cpus.cpus[i].cpu,
			   PERFETTO_UNRECORDED_PID, PERFETTO_UNRECORDED_NAME);
	close_tree(tree);
}

static bool is_first_of_its_tid(const struct model *model, uint32_t thread)
{
	return model_thread_at(model, model->threads.row[thread].tid, 0) == thread;
}

int perfetto_write_processes(struct perfetto_trace *trace)
{
	const struct model *model = trace->model;
	struct tree tree = {
		.trace = trace,
		.wanted = calloc((size_t)model->threads.count + 1, sizeof(bool)),
		.told = calloc((size_t)model->processes.count + 1, sizeof(bool)),
	};
	int error = tree.wanted && tree.told ? 0 : -ENOMEM;

	if (error)
		goto cleanup;
	choose(&tree);
	open_tree(&tree, trace->window.start_ns);
	for (uint32_t i = 0; i < model->threads.count; i++) {
		if (!tree.wanted[i] || !is_first_of_its_tid(model, i))
			continue;
		tell(&tree, i);
		if (tree.entries >= ENTRIES_MAX) {
			close_tree(&tree);
			open_tree(&tree, trace->window.start_ns);
		}
	}
	close_tree(&tree);
	for (uint32_t i = 0; i < model->threads.count; i++) {
		if (tree.wanted[i] && !is_first_of_its_tid(model, i))
			tell_again(&tree, i);
	}
	tell_unrecorded(&tree);
cleanup:
	free(tree.wanted);
	free(tree.told);
	return error;
}
