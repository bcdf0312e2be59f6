/* SPDX-License-Identifier: Apache-2.0 */
/* process_labels.h - the labels that identify a process in metrics: name, rank, cgroup, container, pod. */
#ifndef PROFBPF_DAEMON_PROFBPFD_METRICS_PROCESS_LABELS_H
#define PROFBPF_DAEMON_PROFBPFD_METRICS_PROCESS_LABELS_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/container_id.h"

/* Unknown labels are "". */
struct process_labels {
	char name[16];
	char rank[12], local_rank[12]; /* decimal numbers */
	char cgroup[256]; /* path in the hierarchy; a longer path is left out */
	char container[CONTAINER_ID_DIGITS + 1]; /* its id */
	char pod[POD_UID_MAX + 1]; /* Kubernetes' uid of the pod */
};

/* process_labels_read - reads them from /proc/@pid; unreadable ones stay "" */
void process_labels_read(pid_t pid, struct process_labels *labels);

/*
 * process_labels_rank - reads the ranks from an environment, @size bytes of NAME=VALUE, each with its NUL
 *
 * The first variable that exists and is a number counts: RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID,
 * RANK_ID; and LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, SLURM_LOCALID, DEVICE_ID.
 */
void process_labels_rank(const char *environment, size_t size, struct process_labels *labels);

/* process_labels_group - reads group, container and pod from the text of a /proc/PID/cgroup */
void process_labels_group(const char *text, struct process_labels *labels);

#endif /* PROFBPF_DAEMON_PROFBPFD_METRICS_PROCESS_LABELS_H */
