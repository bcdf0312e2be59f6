/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which tracks of slices belong to devices, by the names of the tracks and their processes. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/generic/slices.h"
#include "analyzer/import/tensorflow/xplane.h"

/*
 * Is the word followed by a number ("gpu0", "GPU:1", "Stream #13(", "QUEUE [1]") or, if @ends, the end of the name
 * ("(GPU)")?
 */
static bool numbered(const char *at, bool ends)
{
	if (ends && (*at == '\0' || *at == ')'))
		return true;
	at += strspn(at, " :#/_-[(");
	return isdigit((unsigned char)*at);
}

/* Does a name contain this whole word with a number after it? "CrGpuMain" and "gpu watchdog" do not. */
static bool has_word(const char *name, const char *word, bool ends)
{
	for (const char *at = strcasestr(name, word); at; at = strcasestr(at + 1, word)) {
		if ((at == name || !isalnum((unsigned char)at[-1])) &&
		    numbered(at + strlen(word), ends))
			return true;
	}
	return false;
}

/* Is it "/device:GPU:0"? In TensorFlow the host is such a device, too. */
static bool is_device_name(const char *name)
{
	return strncmp(name, "/device:", 8) == 0 && strncasecmp(name + 8, "CPU", 3) != 0;
}

static bool names_device(const char *name)
{
	static const char *const NUMBERED[] = { "gpu", "npu", "tpu", "xpu", "cuda" };
	static const char *const PARTS[] = { "CUDA functions", "CUDA HW (", "Ascend Hardware",
					     "AI Core",	       "AI Vector", "COMPUTE AGENT [",
					     "COPY to AGENT [", "DEVICE<", "neuron_hw" };

	for (size_t i = 0; i < sizeof(NUMBERED) / sizeof(NUMBERED[0]); i++) {
		if (has_word(name, NUMBERED[i], strcmp(NUMBERED[i], "cuda") != 0))
			return true;
	}
	for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
		if (strcasestr(name, PARTS[i]))
			return true;
	}
	return has_word(name, "stream", false);
}

/* Is the process the host's by its name, whatever the names of its threads? */
static bool names_host(const char *name)
{
	return strncmp(name, "/host:", 6) == 0 || strstr(name, "HOST<") || strncmp(name, "/device:CPU", 11) == 0 ||
	       strstr(name, "/device:CPU:") || strcmp(name, "CPU functions") == 0 ||
	       strstr(name, "CPU HIP API") || strstr(name, "CPU HSA API");
}

static const char *text(const struct slices *slices, uint32_t string)
{
	return model_text(slices->import->model, string);
}

/*
 * Tracks that profbpf's timelines show for a device besides its tasks (export/timeline/device_tracks.h,
 * perfetto_idle.c).
 */
static bool is_own_sum(const char *process, const char *name)
{
	static const char *const NAMES[] = {
		"Steps", "Computing", "Communication", "Communication(Not Overlapped)",
		"Free",	 "Overlap",   "Idle, and why"
	};
	const char *part = strrchr(process, ':');

	if (part && strcmp(part, ": Overlap") == 0)
		return true;
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		if (strcmp(name, NAMES[i]) == 0)
			return true;
	}
	return strncmp(name, "Scope ", 6) == 0 && isdigit((unsigned char)name[6]);
}

/* Kinds of lines of a process; other lines are sums of them. */
enum { HAS_STREAMS = 1, HAS_OPERATIONS = 2 };

struct contents {
	struct map lines; /* number of a device -> HAS_* */
	bool devices; /* some process is a device */
	bool all_streams; /* TensorFlow 1 has each kernel in "stream:all" and in its stream */
};

static void look(const struct slices *slices, struct contents *contents)
{
	for (uint32_t i = 0; i < slices->tracks.count; i++) {
		const struct slice_track *track = &slices->tracks.row[i];
		const char *process = text(slices, track->process);
		const char *name = text(slices, track->name);
		uint32_t had = map_get(&contents->lines, track->device);
		uint32_t has = (strncmp(name, "Stream #", 8) == 0 ? HAS_STREAMS : 0) |
			       (strcmp(name, "XLA Ops") == 0 ? HAS_OPERATIONS : 0);

		contents->devices |= is_device_name(process);
		contents->all_streams |= strstr(process, "/stream:all") != NULL;
		if (has)
			map_put(&contents->lines, track->device, had == MAP_NONE ? has : has | had);
	}
}

static enum track_role role_in_device(const struct slices *slices, const struct slice_track *track,
				      const struct contents *contents)
{
	const char *process = text(slices, track->process), *name = text(slices, track->name);
	uint32_t lines = map_get(&contents->lines, track->device);

	if (contents->all_streams && strstr(process, "/stream:") && !strstr(process, "/stream:all"))
		return TRACK_SUM;
	if (strcmp(name, "Steps") == 0 || strcmp(name, "Step") == 0)
		return TRACK_STEPS;
	if (!*name)
		return TRACK_DEVICE;
	if (lines != MAP_NONE && lines & HAS_STREAMS)
		return strncmp(name, "Stream #", 8) == 0 ? TRACK_DEVICE : TRACK_SUM;
	if (lines != MAP_NONE)
		return strcmp(name, "XLA Ops") == 0 || strcmp(name, "Async XLA Ops") == 0
			       ? TRACK_DEVICE
			       : TRACK_SUM;
	return xplane_line_is_sum(name) ? TRACK_SUM : TRACK_DEVICE;
}

/* Is the name these words and a number, with nothing after it? */
static bool is_numbered(const char *name, const char *words, unsigned int *number)
{
	size_t length = strlen(words);
	int end = 0;

	return strncmp(name, words, length) == 0 && isdigit((unsigned char)name[length]) &&
	       sscanf(name + length, "%9u%n", number, &end) == 1 && !name[length + (size_t)end];
}

/*
 * Scripts that make a Chrome trace of an export of Nsight Systems have a process "Device 0". Its streams are threads
 * "Stream 7" (nsys2json) or "CUDA API 7" (nsightful); "NVTX Kernel Thread 9946" or "NVTX 9946" sum up the streams' work
 * by range. nsys2json has the host's threads in that process, too: "CUDA API Thread 9946", "NVTX Thread 9946". Returns
 * false for other tracks.
 */
static bool choose_nsys(const struct slices *slices, struct slice_track *track)
{
	const char *process = text(slices, track->process);
	const char *thread = text(slices, slices_word_of(track->stream));
	unsigned int device, number;

	if (!is_numbered(process, "Device ", &device))
		return false;
	if (is_numbered(thread, "CUDA API Thread ", &number) || is_numbered(thread, "NVTX Thread ", &number)) {
		track->role = TRACK_HOST;
		return true;
	}
	if (is_numbered(thread, "NVTX ", &number) || is_numbered(thread, "NVTX Kernel Thread ", &number)) {
		track->role = TRACK_SUM;
		return true;
	}
	if (!is_numbered(thread, "Stream ", &number) && !is_numbered(thread, "CUDA API ", &number))
		return false;
	track->role = TRACK_DEVICE;
	track->device = device;
	track->stream = number;
	return true;
}

/*
 * Of Triton's proton only kernels are a device's. It names no device; streams are numbered by their names, if they have
 * any. "Graph: Stream 7" has the scopes of the captured kernels, as long as those took.
 */
static void choose_proton(const struct slices *slices, struct slice_track *track)
{
	const char *name = text(slices, track->name);
	unsigned int number;

	track->role = TRACK_HOST;
	if (is_numbered(name, "Graph: Stream ", &number))
		track->role = TRACK_SUM;
	if (!track->told)
		return;
	track->role = TRACK_DEVICE;
	track->device = 0;
	if (is_numbered(name, "GPU Stream ", &number))
		track->stream = number;
}

void slices_choose(struct slices *slices)
{
	struct contents contents = { 0 };

	look(slices, &contents);
	for (uint32_t i = 0; i < slices->tracks.count; i++) {
		struct slice_track *track = &slices->tracks.row[i];
		const char *process = text(slices, track->process);

		if (slices->proton) {
			choose_proton(slices, track);
			continue;
		}
		if (choose_nsys(slices, track))
			continue;
		if (contents.devices)
			track->role = is_device_name(process)
					      ? role_in_device(slices, track, &contents)
					      : TRACK_HOST;
		else if (slices->own && is_own_sum(process, text(slices, track->name)))
			track->role = TRACK_SUM;
		else
			track->role = !names_host(process) &&
						      (names_device(text(slices, track->name)) ||
						       names_device(process))
					      ? TRACK_DEVICE
					      : TRACK_HOST;
	}
	map_free(&contents.lines);
}
