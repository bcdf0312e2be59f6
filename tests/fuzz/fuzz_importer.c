/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_importer.c - libFuzzer target for one importer at a time: PROFBPF_FUZZ=NAME says which.
 *
 * Made to try many inputs a second: no more than the importer and what it calls is run, and where a
 * file is alone it never leaves the memory (input_file.h is implemented here).
 *
 * An input is a byte that does not count, since the seeds of fuzz_import.c are used, and the file. With
 * a record separator (0x1e) in it there are several files: the byte after each separator chooses from
 * the importer's places where those behind it go. Inputs for databases are rows (input.h). One that
 * ends with a group separator (0x1d) is taken in as if a trace had been given.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "analyzer/import/importer.h"
#include "analyzer/import/input_file.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/sqlite_memory.h"

#define NEXT_FILE 0x1e
#define WITH_TRACE 0x1d
#define PLACES_MAX 8
#define FILES_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct target {
	const char *name;
	const struct importer *importer;
	/* Where its files go; the first is the one that is taken in. One ending in / is a directory. */
	const char *places[PLACES_MAX];
};

#define RESULT "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/"
#define OUTPUT "PROF_1/mindstudio_profiler_output/"

static const struct target TARGETS[] = {
	{ "pytorch", &import_pytorch, { "trace.json" } },
	{ "nsys", &import_nsys, { "report.db" } },
	{ "rocpd", &import_rocpd, { "results.db" } },
	{ "rocprof_json", &import_rocprof_json, { "results.json" } },
	{ "rocprof_csv",
	  &import_rocprof_csv,
	  { "7_kernel_trace.csv", "7_agent_info.csv", "7_memory_copy_trace.csv",
	    "7_hip_api_trace.csv" } },
	{ "ascend_db", &import_ascend_db, { "msprof_1.db" } },
	{ "ascend_csv",
	  &import_ascend_csv,
	  { OUTPUT "op_summary_1.csv", "PROF_1/device_0/start_info.0" } },
	{ "step_trace", &import_step_trace, { "step_trace_raw_0_detail_time.csv" } },
	{ "ascend_json",
	  &import_ascend_json,
	  { "PROF_1/msprof_1.json", "PROF_1/host/start_info" } },
	{ "ascend_directory",
	  &import_ascend_directory,
	  { "profile/", RESULT "trace_view.json", RESULT "kernel_details.csv",
	    RESULT "communication.json", OUTPUT "op_summary_1.csv", OUTPUT "msprof_1.json",
	    OUTPUT "api_statistic_1.csv", "PROF_1/device_0/data" } },
	{ "ascend_complete",
	  &import_ascend_directory,
	  { "profile/", RESULT "trace_view.json", RESULT "kernel_details.csv",
	    RESULT "l2_cache_1.csv", "rank0_ascend_pt/profiler_info_0.json" } },
	{ "ascend_l2", &import_ascend_l2, { "l2_cache_1.csv" } },
	{ "ascend_communication", &import_ascend_communication, { "communication.json" } },
	{ "ascend_memory", &import_ascend_memory, { "memory_record.csv" } },
	{ "ascend_api", &import_ascend_api, { "api_statistic.csv" } },
	{ "xplane", &import_xplane, { "host.xplane.pb" } },
	{ "mindspore_timeline",
	  &import_mindspore_timeline,
	  { "output_timeline_data_0.txt", "framework_raw_0.csv", "aicpu_intermediate_0.csv",
	    "flops_0.txt" } },
	{ "mindspore_display", &import_mindspore_display, { "ascend_timeline_display_0.json" } },
	{ "hccl_raw", &import_hccl_raw, { "hccl_raw_0.csv" } },
	{ "hwts",
	  &import_hwts,
	  { "hwts.log.data.45.dev.1.slice_0", "Framework.host.vm.task_desc_info.1.slice_0" } },
	{ "training_trace", &import_training_trace, { "training_trace.46.dev.1.slice_0" } },
	{ "megengine", &import_megengine, { "1.chrome_timeline.json" } },
	{ "megengine_graph", &import_megengine_graph, { "profiling.json" } },
	{ "perfetto", &import_perfetto, { "trace.pftrace" } },
	{ "chrome", &import_chrome, { "trace.json" } },
	{ "directory",
	  &import_directory,
	  { "folder/", "a.json", "b.json.gz", "c.xplane.pb", "d/e.csv" } },
	{ "minddata",
	  &import_minddata,
	  { "folder/", "pipeline_profiling_0.json", "minddata_cpu_utilization_0.json",
	    "dataset_iterator_profiling_0.txt", "device_queue_profiling_1.txt",
	    "pipeline_profiling_1.json" } },
};

static const struct target *target;
static char folder[64], path[192];
static struct input alone_in_memory; /* data NULL: the files are in the folder */

/* Instead of analyzer/import/input_file.c, whose own work is zlib's: fuzz_import.c has that. */
int input_file_open(struct input_file *file, const char *name, char *error, size_t error_size)
{
	*file = (struct input_file){ .part = 4096, .fd = -1 };
	file->open = alone_in_memory.data && strcmp(name, path) == 0;
	if (file->open) {
		file->fd = 0; /* how much was read */
		return 0;
	}
	file->packed = gzopen(name, "re");
	if (file->packed)
		return 0;
	snprintf(error, error_size, "%s", strerror(errno));
	return errno ? -errno : -ENOMEM;
}

size_t input_file_part(const struct input_file *file)
{
	return file->part;
}

int input_file_read(struct input_file *file, void *bytes, size_t size, char *error,
		    size_t error_size)
{
	size_t left;
	int length;

	if (file->packed) {
		length = gzread(file->packed, bytes, (unsigned int)size);
		snprintf(error, error_size, "cannot be unpacked");
		return length < 0 ? -EBADMSG : length;
	}
	left = alone_in_memory.size - (size_t)file->fd;
	if (size > left)
		size = left;
	memcpy(bytes, alone_in_memory.data + file->fd, size);
	file->fd += (int)size;
	return (int)size;
}

void input_file_close(struct input_file *file)
{
	if (file->packed)
		gzclose(file->packed);
	*file = (struct input_file){ 0 };
}

static int remove_one(const char *name, const struct stat *status, int type, struct FTW *where)
{
	return remove(name);
}

static void remove_folder(void)
{
	check(!nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS));
}

static bool is_folder(const char *place)
{
	return place[strlen(place) - 1] == '/';
}

/* Where one of the target's files goes. */
static void place_path(unsigned int place, char *name, size_t size)
{
	const char *inside = place && is_folder(target->places[0]) ? target->places[0] : "";

	check(snprintf(name, size, "%s/%s%s", folder, inside, target->places[place]) < (int)size);
}

static void make_folders(void)
{
	for (unsigned int i = 0; i < PLACES_MAX && target->places[i]; i++) {
		char name[192];

		place_path(i, name, sizeof(name));
		for (char *end = name + strlen(folder); (end = strchr(end + 1, '/'));) {
			*end = '\0';
			check(!mkdir(name, 0700) || errno == EEXIST);
			*end = '/';
		}
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("PROFBPF_FUZZ");
	bool shared = !access("/dev/shm", W_OK);

	for (size_t i = 0; name && i < sizeof(TARGETS) / sizeof(TARGETS[0]); i++) {
		if (strcmp(TARGETS[i].name, name) == 0)
			target = &TARGETS[i];
	}
	if (!target) {
		fprintf(stderr, "PROFBPF_FUZZ must be one of these importers:\n");
		for (size_t i = 0; i < sizeof(TARGETS) / sizeof(TARGETS[0]); i++)
			printf("%s\n", TARGETS[i].name);
		exit(2);
	}
	sqlite_memory_use();
	snprintf(folder, sizeof(folder), "%s/profbpf-fuzz.XXXXXX", shared ? "/dev/shm" : "/tmp");
	check(mkdtemp(folder) != NULL);
	atexit(remove_folder);
	make_folders();
	place_path(0, path, sizeof(path));
	return 0;
}

static void write_place(unsigned int place, struct input bytes)
{
	char name[192];
	int fd;

	place_path(place, name, sizeof(name));
	if (strstr(name, ".db")) {
		input_write_database(name, &bytes);
		return;
	}
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd >= 0 && write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size && !close(fd));
}

static unsigned int place_count(void)
{
	unsigned int count = 0;

	while (count < PLACES_MAX && target->places[count])
		count++;
	return count;
}

/* Returns which places have a file now, as bits. */
static unsigned int write_files(struct input in)
{
	unsigned int count = place_count(), place = 0, made = 0,
		     first = is_folder(target->places[0]);

	for (int i = 0; i < FILES_MAX; i++) {
		const uint8_t *end = count > 1 && in.size ? memchr(in.data, NEXT_FILE, in.size)
							  : NULL;
		size_t size = end ? (size_t)(end - in.data) : in.size;

		if (place || !first) {
			write_place(place, (struct input){ in.data, size });
			made |= 1u << place;
		}
		if (!end)
			break;
		in.data += size + 1;
		in.size -= size + 1;
		place = first + input_byte(&in) % (count - first);
	}
	return made;
}

static void remove_files(unsigned int made)
{
	char name[192];

	for (unsigned int place = 0; made; place++, made >>= 1) {
		place_path(place, name, sizeof(name));
		if (made & 1)
			check(!unlink(name));
	}
}

/* As importers.c asks, but for files of which another importer is surer. */
static void detect(struct input in)
{
	static char text[IMPORT_SAMPLE + 1];
	size_t size = in.size < IMPORT_SAMPLE ? in.size : IMPORT_SAMPLE;
	struct import_sample sample = { .path = path,
					.directory = is_folder(target->places[0]),
					.text = text,
					.size = size,
					.whole = size == in.size };

	if (strstr(path, ".db"))
		memcpy(text, "SQLite format 3", size = sample.size = 16);
	else
		memcpy(text, in.data, size);
	text[size] = '\0';
	target->importer->detect(&sample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data + !!size, size - !!size };
	struct model *model = model_new();
	bool alone = !size || data[size - 1] != WITH_TRACE;
	char error[1024] = "";
	unsigned int made = 0;
	int err;

	check(model != NULL);
	alone_in_memory = (struct input){ 0 };
	if (in.size && !strstr(path, ".db") && !is_folder(target->places[0]) &&
	    (!target->places[1] || !memchr(in.data, NEXT_FILE, in.size)))
		alone_in_memory = in;
	else
		made = write_files(in);
	detect(in);
	err = import_as(target->importer, model, path, alone, error, sizeof(error));
	check(!err == !error[0] && err != -ENOMEM);
	check(!import_finish(model, alone));
	check_model(model);
	model_free(model);
	remove_files(made);
	return 0;
}
