/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_id.h - the container, and the pod, that a control group's path names.
 *
 * Runtimes name a container's group after its id of 64 hexadecimal digits, alone (cgroupfs) or as
 * PREFIX-ID.scope (systemd: docker, libpod, cri-containerd, crio); Kubernetes a pod's
 * podUID or kubepods-QOS-podUID.slice, with '_' for '-'. If kubelet was set up for systemd and the runtime was not, both
 * are in one name: kubepods-QOS-podUID.slice:cri-containerd:ID. A group PREFIX-conmon-ID.scope holds the runtime's monitor
 * of a container and is not a container.
 */
#ifndef PROFBPF_LIB_BASE_CONTAINER_ID_H
#define PROFBPF_LIB_BASE_CONTAINER_ID_H

#include <stdbool.h>

#define CONTAINER_ID_DIGITS 64
#define CONTAINER_ID_SHOWN 12 /* digits that runtimes show, which are enough to name a container */
#define POD_UID_MAX 36

struct container_id {
	char container[CONTAINER_ID_DIGITS + 1]; /* "" = none */
	char pod[POD_UID_MAX + 1]; /* the pod's UID; "" = none */
};

/*
 * container_id_parse - the container and the pod in @path; of nested containers the innermost
 *
 * Returns false if the path names neither.
 */
bool container_id_parse(const char *path, struct container_id *id);

#endif /* PROFBPF_LIB_BASE_CONTAINER_ID_H */
