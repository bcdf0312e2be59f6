/* SPDX-License-Identifier: Apache-2.0 */
/* Passes facts about the probed functions to the programs, in maps that grow with their number. */
#include "daemon/profbpfd/capture/capture_private.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static int make_chunk(struct capture *capture, uint32_t number)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "probe_chunk", sizeof(uint32_t), sizeof(struct probe_conf),
				PROBES_IN_CHUNK, NULL);
	int err;

	if (fd < 0)
		return fd;
	err = bpf_map_update_elem(bpf_map__fd(capture->skeleton->maps.probes), &number, &fd, BPF_ANY);
	if (err) {
		close(fd);
		return err;
	}
	capture->probe_chunks[number] = fd;
	return 0;
}

int capture_set_probe(struct capture *capture, uint32_t probe, const struct probe_conf *conf)
{
	uint32_t number = probe / PROBES_IN_CHUNK, place = probe % PROBES_IN_CHUNK;
	int err = 0;

	if (probe >= CAPTURE_PROBES_MAX)
		return -E2BIG;
	if (!capture->probe_chunks[number])
		err = make_chunk(capture, number);
	return err ? err : bpf_map_update_elem(capture->probe_chunks[number], &place, conf, BPF_ANY);
}

void capture_forget_probes(struct capture *capture)
{
	for (size_t i = 0; i < CAPTURE_PROBES_MAX / PROBES_IN_CHUNK; i++)
		if (capture->probe_chunks[i])
			close(capture->probe_chunks[i]);
}

void capture_set_hot(struct capture *capture, uint32_t probe, bool hot)
{
	int fd = capture->probe_chunks[probe / PROBES_IN_CHUNK];
	uint32_t place = probe % PROBES_IN_CHUNK;
	struct probe_conf conf;

	if (!fd || bpf_map_lookup_elem(fd, &place, &conf))
		return;
	if (hot)
		capture->skeleton->bss->hot_functions[probe] = true;
	conf.entry_only = hot;
	bpf_map_update_elem(fd, &place, &conf, BPF_ANY);
	if (!hot)
		capture->skeleton->bss->hot_functions[probe] = false;
}

uint32_t capture_hot_hits(const struct capture *capture, uint32_t probe)
{
	return capture->skeleton->bss->hot_hits[probe];
}
