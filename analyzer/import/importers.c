/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/import/importer.h"
#include "analyzer/import/pipe_copy.h"
#include "analyzer/import/readers/input_file.h"
#include "analyzer/import/readers/sqlite_file.h"
#include "analyzer/import/unknown_file.h"

static const struct importer *const IMPORTERS[] = {
	&import_pytorch,
	&import_nsys,
	&import_nvprof,
	&import_nvprof_csv,
	&import_rocpd,
	&import_rocprof_json,
	&import_rocprof_v1,
	&import_rocprof_csv,
	&import_rocprof_stats,
	&import_nsys_stats,
	&import_ascend_db,
	&import_ascend_csv,
	&import_step_trace,
	&import_ascend_json,
	&import_ascend_directory,
	&import_ascend_communication,
	&import_ascend_memory,
	&import_ascend_api,
	&import_ascend_l2,
	&import_ascend_figures,
	&import_ascend_fusion,
	&import_static_memory,
	&import_ascend_rules,
	&import_operator_sums,
	&import_operator_details,
	&import_mindspore_cluster,
	&import_mindspore_facts,
	&import_mindspore_memory,
	&import_mindspore_graphs,
	&import_mindspore_shapes,
	&import_xplane,
	&import_mindspore_timeline,
	&import_mindspore_display,
	&import_hccl_raw,
	&import_hwts,
	&import_training_trace,
	&import_aicpu_raw,
	&import_megengine,
	&import_megengine_graph,
	&import_onnxruntime,
	&import_tensorrt,
	&import_proton,
	&import_proton_trace,
	&import_perfetto,
	&import_chrome,
	&import_directory,
	&import_minddata,
};

#define SURE 30 /* enough to stop reading the file; "any Chrome trace" is less */
#define IMPORTER_COUNT (sizeof(IMPORTERS) / sizeof(IMPORTERS[0]))

static int read_sample(const char *path, struct import_sample *sample, char *text, size_t room,
		       char *error, size_t error_size)
{
	struct input_file file;
	size_t used = 0;
	char words[256];
	int length;

	length = input_file_open(&file, path, words, sizeof(words));
	if (length < 0) {
		snprintf(error, error_size, "%s: %s", path, words);
		return length;
	}
	do {
		length = input_file_read(&file, text + used, room - used, words, sizeof(words));
		used += length > 0 ? (size_t)length : 0;
	} while (length > 0 && used < room);
	if (length < 0 && !used) {
		snprintf(error, error_size, "%s: %s", path, words);
		input_file_close(&file);
		return length;
	}
	text[used] = '\0';
	*sample = (struct import_sample){
		.path = path, .text = text, .size = used, .whole = length >= 0 && used < room
	};
	input_file_close(&file);
	return 0;
}

static const struct importer *choose(const struct import_sample *sample, int *sure)
{
	const struct importer *best = NULL;

	*sure = 0;
	for (size_t i = 0; i < IMPORTER_COUNT; i++) {
		int answer = IMPORTERS[i]->detect(sample);

		if (answer > *sure) {
			*sure = answer;
			best = IMPORTERS[i];
		}
	}
	return best;
}

/* Is it JSON? All other formats can be recognised by their beginning. */
static bool may_show_late(const struct import_sample *sample)
{
	const char *text = sample->text + strspn(sample->text, " \t\r\n");

	return *text == '{' || *text == '[';
}

int import_find(const char *path, const struct importer **chosen, char *error, size_t error_size)
{
	struct import_sample sample = { .path = path, .text = "", .directory = true };
	struct stat status;
	int err = 0, sure;
	bool late;

	if (stat(path, &status) != 0) {
		snprintf(error, error_size, "%s: %s", path, strerror(errno));
		return -errno;
	}
	if (S_ISDIR(status.st_mode)) {
		*chosen = choose(&sample, &sure);
		return 0;
	}
	for (size_t room = IMPORT_SAMPLE;; room *= 16) {
		char *text = malloc(room + 1);

		if (!text) {
			snprintf(error, error_size, "out of memory");
			return -ENOMEM;
		}
		err = read_sample(path, &sample, text, room, error, error_size);
		*chosen = err ? NULL : choose(&sample, &sure);
		late = !err && may_show_late(&sample);
		free(text);
		/* Devices, such as terminals, can be read only once. */
		if (err || sure >= SURE || sample.whole || !late || room >= IMPORT_SAMPLE_MAX ||
		    !S_ISREG(status.st_mode))
			return err;
	}
}

/* Adds the row of the imported file; its results are set when the importer is done. */
static int add_file(struct import *import, const struct importer *importer)
{
	struct imported_file file = { .path = model_string(import->model, import->path),
				      .format = model_string(import->model, importer->what) };
	struct stat status;

	if (stat(import->path, &status) == 0) {
		file.disk = status.st_dev;
		file.number = status.st_ino;
	}
	import->file = import->model->imports.count;
	if (file.path == INDEX_NONE || file.format == INDEX_NONE ||
	    !MODEL_PUSH(&import->model->imports, file))
		return -ENOMEM;
	return 0;
}

static int take(struct import *import, const struct importer *importer)
{
	struct model *model = import->model;
	uint32_t tasks = model->tasks.count, calls = model->calls.count;
	uint32_t devices = model->devices.count;
	struct imported_file *file;
	int err = add_file(import, importer);

	if (err)
		return err;
	err = importer->import(import);
	file = &model->imports.row[import->file];
	file->tasks = model->tasks.count - tasks;
	file->calls = model->calls.count - calls;
	file->devices = model->devices.count - devices;
	return err;
}

static int take_as(struct import *import, const struct importer *importer, char *error,
		   size_t error_size)
{
	int err = take(import, importer);

	if (err)
		snprintf(error, error_size, "%s: %s", import->path,
			 import->error[0] ? import->error : strerror(-err));
	return err;
}

static int take_path(struct import *import, char *error, size_t error_size)
{
	const struct importer *importer;
	char words[320];
	int err = import_find(import->path, &importer, error, error_size);

	if (err)
		return err;
	if (!importer && unknown_file_why(import->path, words, sizeof(words))) {
		snprintf(error, error_size, "%s: %s", import->path, words);
		return -ENOMSG;
	}
	if (!importer) {
		snprintf(error, error_size,
			 "%s: no device file of a format known here; `analyzer info --help` lists "
			 "them",
			 import->path);
		return -ENOMSG;
	}
	return take_as(import, importer, error, error_size);
}

unsigned int import_preference(const struct importer *importer)
{
	unsigned int at = 0;

	while (at < IMPORTER_COUNT && IMPORTERS[at] != importer)
		at++;
	return at;
}

const struct importer *import_of_format(const struct model *model, uint32_t row)
{
	const char *format = model_text(model, model->imports.row[row].format);

	for (size_t i = 0; i < IMPORTER_COUNT; i++) {
		if (strcmp(IMPORTERS[i]->what, format) == 0)
			return IMPORTERS[i];
	}
	return NULL;
}

/* import_device_file() of a pipe's copy; what is told of it names the pipe. */
static int take_copy(struct model *model, const char *path, const struct pipe_copy *copy, bool alone,
		     char *error, size_t error_size)
{
	struct import import = { .model = model, .path = copy->path, .alone = alone };
	uint32_t row = model->imports.count, name = model_string(model, path);
	size_t length = strlen(copy->path);
	char words[512];
	int err;

	/* SQLite opens a file by its own name only, and the copy has none. */
	if (sqlite_file_is(copy->path)) {
		snprintf(error, error_size,
			 "%s: an SQLite database, which cannot be read through a pipe: save it as a "
			 "file, and give that",
			 path);
		return -EBADMSG;
	}
	err = take_path(&import, words, sizeof(words));
	if (row < model->imports.count && name != INDEX_NONE)
		model->imports.row[row].path = name;
	if (err)
		snprintf(error, error_size, "%s%s", path,
			 strncmp(words, copy->path, length) == 0 ? words + length : words);
	return err;
}

uint32_t import_before(const struct model *model, const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || !status.st_ino)
		return INDEX_NONE;
	for (uint32_t i = 0; i < model->imports.count; i++) {
		const struct imported_file *file = &model->imports.row[i];

		if (file->number == status.st_ino && file->disk == status.st_dev &&
		    (file->devices || file->tasks || file->calls))
			return i;
	}
	return INDEX_NONE;
}

int import_device_file(struct model *model, const char *path, bool alone, char *error,
		       size_t error_size)
{
	struct import import = { .model = model, .path = path, .alone = alone };
	struct pipe_copy copy;
	int err;

	if (strcmp(path, "-") == 0)
		import.path = path = "/dev/stdin";
	err = pipe_copy_make(&copy, path, error, error_size);
	if (err)
		return err;
	import.file = copy.fd < 0 ? import_before(model, path) : INDEX_NONE;
	if (import.file != INDEX_NONE)
		return import_finding(&import, "given more than once: counted once", path);
	err = copy.fd < 0 ? take_path(&import, error, error_size)
			  : take_copy(model, path, &copy, alone, error, error_size);
	if (copy.fd >= 0)
		pipe_copy_free(&copy);
	return err == -ENOMSG ? -EBADMSG : err;
}

int import_as(const struct importer *importer, struct model *model, const char *path, bool alone,
	      char *error, size_t error_size)
{
	struct import import = { .model = model, .path = path, .alone = alone };

	return take_as(&import, importer, error, error_size);
}

int import_part(const struct import *whole, const char *path, const struct import_result *result,
		bool complete, char *error, size_t error_size)
{
	struct import import = { .model = whole->model,
				 .path = path,
				 .alone = whole->alone,
				 .shared = result->shared,
				 .first_device = result->first_device,
				 .first_task = result->first_task,
				 .complete = complete };

	return take_path(&import, error, error_size);
}

int import_folder_part(const struct import *whole, const char *path,
		       const struct importer *importer, char *error, size_t error_size)
{
	const struct import_sample sample = { .path = path, .directory = true, .text = "" };
	struct import import = { .model = whole->model, .path = path, .alone = whole->alone };

	if (!importer->detect(&sample))
		return -ENOENT;
	return take_as(&import, importer, error, error_size);
}
