/* SPDX-License-Identifier: Apache-2.0 */
/* Passes facts about CPython processes to the programs. If a map is full, the programs see less of these processes. */
#include "daemon/profbpfd/capture/capture_private.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

void capture_python_lock(struct capture *capture, pid_t pid, const struct python_range *range)
{
	int fd = bpf_map__fd(capture->skeleton->maps.python_locks);
	uint32_t key = (uint32_t)pid;

	/* Only stacks of sleeps need it. */
	if (!(capture->topics & TOPIC_STACK))
		return;
	/* If the map is full, waits for the lock are not recognised. */
	if (range)
		capture_put(capture->skeleton->maps.python_locks, &key, range, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &key);
	__atomic_fetch_add(&capture->skeleton->data->python_locks_version, 1, __ATOMIC_RELEASE);
}

/* Only samples walk Python frames, on kernels with bpf_loop(). */
static bool walks_python(const struct capture *capture)
{
	return bpf_program__autoload(capture->skeleton->progs.on_sample);
}

void capture_python_layout(struct capture *capture, pid_t pid, const struct python_layout *layout)
{
	int fd = bpf_map__fd(capture->skeleton->maps.python_layouts);
	uint32_t key = (uint32_t)pid;

	if (!walks_python(capture))
		return;
	if (layout)
		capture_put(capture->skeleton->maps.python_layouts, &key, layout, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &key);
}

void capture_python_state(struct capture *capture, pid_t pid, uint32_t tid, uint64_t state)
{
	int fd = bpf_map__fd(capture->skeleton->maps.python_states);
	struct python_thread_key key = { .tgid = (uint32_t)pid, .tid = tid };

	if (!walks_python(capture))
		return;
	if (state)
		capture_put(capture->skeleton->maps.python_states, &key, &state, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &key);
}
