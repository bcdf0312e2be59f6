/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_import.c - libFuzzer target for the importers of device files, and for all readers of
 * the models that they make.
 *
 * The first byte of an input selects the use of the rest (bits 0 and 1, so that the seeds begin
 * with "d", "e", "f" and "g"): a file, the same through gzip, rows of a database, files of a
 * directory. With bit 2 the model is also analysed and the reports are written. The content
 * selects the importer, as for users. tests/unit/test_fuzz_import.c runs the seeds and
 * modified seeds without libFuzzer.
 */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/import/importer.h"
#include "analyzer/cli/analysis.h"
#include "analyzer/view/report.h"
#include "tests/fuzz/input.h"

#define INPUT_KIND 0x03
#define INPUT_ANALYSE 0x04
#define FILES_MAX 8 /* files of a directory */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[128];

static int remove_one(const char *name, const struct stat *status, int type, struct FTW *where)
{
	return remove(name);
}

static void remove_folder(void)
{
	check(!nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS));
}

static void make_folder(void)
{
	bool shared = !access("/dev/shm", W_OK);

	if (folder[0])
		return;
	snprintf(folder, sizeof(folder), "%s/profbpf-fuzz.XXXXXX", shared ? "/dev/shm" : "/tmp");
	check(mkdtemp(folder) != NULL);
	atexit(remove_folder);
}

/* Each file: its place, its length (2 bytes), its bytes. */
static void write_directory(struct input *in)
{
	static const char *const PLACES[] = {
		"rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
		"rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
		"rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db",
		"PROF_1/mindstudio_profiler_output/msprof_1.json",
		"PROF_1/mindstudio_profiler_output/op_summary_1.csv",
		"PROF_1/mindstudio_profiler_output/task_time_1.csv",
		"PROF_1/device_0/data",
		"PROF_1/msprof_2.db",
	};
	char name[256], *end;

	for (int i = 0; i < FILES_MAX && in->size; i++) {
		const char *place = PLACES[input_byte(in) % (sizeof(PLACES) / sizeof(PLACES[0]))];
		struct input bytes = input_take(in, input_number(in, 2));

		snprintf(name, sizeof(name), "%s/%s", path, place);
		for (end = name + strlen(path); (end = strchr(end + 1, '/'));) {
			*end = '\0';
			mkdir(name, 0700);
			*end = '/';
		}
		if (strstr(place, ".db"))
			input_write_database(name, &bytes);
		else
			input_write_file(name, bytes, false);
	}
}

static void analyse(struct analysis *analysis)
{
	const struct report_options options = { .sections = SECTION_ALL };
	const struct analysis_options wanted = { .top = 100 };
	FILE *out = fopen("/dev/null", "w");
	char error[512];

	check(out && !analysis_compute(analysis, &wanted, error, sizeof(error)));
	check(!report_json(out, analysis->model, &analysis->results, &options));
	check(!report_text(out, analysis->model, &analysis->results, &options));
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct analysis analysis = { .model = model_new() };
	uint8_t how = input_byte(&in);
	char error[1024] = "";
	int err;

	make_folder();
	check(analysis.model != NULL);
	snprintf(path, sizeof(path), "%s/input", folder);
	switch (how & INPUT_KIND) {
	case 0: input_write_file(path, in, false); break;
	case 1: input_write_file(path, in, true); break;
	case 2: input_write_database(path, &in); break;
	default:
		check(!mkdir(path, 0700));
		write_directory(&in);
		break;
	}
	err = import_device_file(analysis.model, path, true, error, sizeof(error));
	check(!err == !error[0] && err != -ENOMEM);
	check(!import_finish(analysis.model, true));
	check_model(analysis.model);
	if (how & INPUT_ANALYSE)
		analyse(&analysis);
	analysis_free(&analysis);
	check(!nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS));
	return 0;
}
