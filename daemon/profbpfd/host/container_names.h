/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_names.h - the names of a container, its image and its pod, from the state of the container runtime.
 *
 * Files, below the root of the machine's first process, whose symbolic links lead nowhere else:
 *   containerd with Kubernetes (also k3s, RKE2, MicroK8s): the annotations io.kubernetes.cri.* of the OCI configuration,
 *     run/containerd/io.containerd.runtime.v2.task/k8s.io/ID/config.json
 *   CRI-O: the annotations io.kubernetes.* of run/containers/storage/overlay-containers/ID/userdata/config.json
 *   Docker: Name, Config.Image and kubelet's labels in var/lib/docker/containers/ID/config.v2.json
 *   Podman of root: var/lib/containers/storage/overlay-containers/containers.json, or vfs-containers
 * They are readable by root, or with CAP_DAC_READ_SEARCH; the root of the first process also needs CAP_SYS_PTRACE.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_CONTAINER_NAMES_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_CONTAINER_NAMES_H

#include <stdbool.h>

/* "" is unknown. Names that do not fit, which Kubernetes does not allow, are unknown. */
struct container_names {
	char container[256];
	char image[512]; /* as the runtime was asked for it, with its tag or digest */
	char pod[256];
	char pod_namespace[64];
};

/*
 * container_names_root - the root of the machine's first process, or the daemon's own where it may not look at that one
 *
 * Returns a descriptor, or -1.
 */
int container_names_root(void);

/*
 * container_names_read - what the runtime's state below directory @root_fd says of the container with this id
 *
 * Returns whether anything is known.
 */
bool container_names_read(int root_fd, const char *id, struct container_names *names);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_CONTAINER_NAMES_H */
