/* SPDX-License-Identifier: Apache-2.0 */
/*
 * importer.h - imports device files of other profilers into the model.
 *
 * One file per format, each with a struct importer; importers.c has their table and picks one by a file's content.
 * An importer adds devices, tasks and, if the file has a host half and no trace was given, threads, functions and
 * calls. It never trusts a size, a count, an offset or an order; it skips data that it cannot understand and
 * reports it with import_finding().
 *
 * Instants: with a trace the importer declares the file's clock (struct device.clock) and the clock join converts
 * task times; without a trace the file's own clock is the model's and struct device.own_clock is set.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_IMPORTER_H
#define PROFBPF_ANALYZER_IMPORT_IMPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/import/readers/reader_place.h"
#include "analyzer/model/model.h"

#define IMPORT_SAMPLE 65536 /* bytes of a file, decompressed, that detection reads at first */
#define IMPORT_SAMPLE_MAX (16u << 20) /* and at most, as long as no importer is certain */

struct import_identities; /* import_rows.h */

/* The import of one path. */
struct import {
	struct model *model;
	const char *path;
	uint32_t file; /* row of model->imports */
	bool alone; /* no trace was given: the file's host half is the host */
	struct import_identities *shared; /* shared by all files of a result; NULL = a single file */
	uint32_t first_device; /* rows of devices from here on may be devices of the file */
	uint32_t first_task; /* the same for tasks */
	bool complete; /* its tasks are already in the model: the file only adds details */
	bool own; /* of a directory: import only exports of profbpf (own_export.h), after other files yielded nothing */
	struct reader_place place; /* set by readers: findings name it */
	char error[512]; /* the reason of a failure, with a remedy */
};

/* The input of detection. */
struct import_sample {
	const char *path;
	bool directory;
	const char *text; /* the first bytes, decompressed, NUL-terminated; "" for a directory */
	size_t size;
	bool whole; /* text is the complete file */
};

struct importer {
	const char *name; /* "pytorch": device.source in reports */
	const char *what; /* "a PyTorch profiler (Kineto) trace" */
	/*
	 * Returns how certain the importer is that the file has its format; 0 = not its format. The highest value
	 * wins.
	 */
	int (*detect)(const struct import_sample *sample);
	/* Returns 0 or a negative errno with import->error. Rows added before an error are kept. */
	int (*import)(struct import *import);
};

/*
 * import_device_file - import @path into @model
 *
 * @alone: see struct import. The caller runs import_finish() after the last file. Returns 0 or a negative errno
 * with @error, which names the path, the reason and the remedy.
 */
int import_device_file(struct model *model, const char *path, bool alone, char *error,
		       size_t error_size);

/*
 * import_find - finds the importer of the file at @path; *@chosen is NULL if the format is unknown
 *
 * Detection reads the file's beginning. Of JSON it reads more and more as long as no importer is certain, because
 * the fields that identify a format may come after any number of bytes. Returns 0 or a negative errno with @error.
 */
int import_find(const char *path, const struct importer **chosen, char *error, size_t error_size);

/* Row of the import of the same file or folder, under this or another name; INDEX_NONE = none, or it had nothing. */
uint32_t import_before(const struct model *model, const char *path);

/* The preference of an importer among several whose files contain the same work; smaller is more informative. */
unsigned int import_preference(const struct importer *importer);

/* The importer that made @row of the model's imports; NULL = none of the table. */
const struct importer *import_of_format(const struct model *model, uint32_t row);

/* import_as - import_device_file() with a given importer, without detection by content */
int import_as(const struct importer *importer, struct model *model, const char *path, bool alone,
	      char *error, size_t error_size);

/* Common state of the files of one result. */
struct import_result {
	struct import_identities *shared; /* their common identities; NULL if each file has its own */
	uint32_t first_device; /* rows of devices from here on are the result's */
	uint32_t first_task; /* the same for tasks */
};

/*
 * import_part - import one file of a directory; @whole is the directory's import
 *
 * @complete: see struct import. Returns as import_device_file(), but -ENOMSG if no importer reads the file.
 */
int import_part(const struct import *whole, const char *path, const struct import_result *result,
		bool complete, char *error, size_t error_size);

/*
 * import_folder_part - import_part() for a folder and a given importer; -ENOENT if the folder is not of its format
 */
int import_folder_part(const struct import *whole, const char *path,
		       const struct importer *importer, char *error, size_t error_size);

/*
 * import_finish - completes the model after the last file: time window and indexes
 *
 * Returns 0 or -ENOMEM.
 */
int import_finish(struct model *model, bool alone);

/*
 * import_finding - reports that something in the file was skipped or changed
 *
 * @what: static text, one per kind of finding; findings of a kind are counted. @example (may be NULL) of the first
 * one is stored, with its place if a reader knows it. `analyzer info --device` prints them. Returns 0 or -ENOMEM.
 */
int import_finding(struct import *import, const char *what, const char *example);

/*
 * import_damage - the same for a file of which a part, or the whole, could not be read
 *
 * Reports say this, too, as their figures are not those of the whole.
 */
int import_damage(struct import *import, const char *what, const char *example);

/*
 * import_rounded - import_damage() for a time of which digits were rounded away; @context is the struct import
 *
 * For readers (csv_table.h, json_objects.h), which then leave the row or object out.
 */
int import_rounded(void *context, const char *what);

/* import_fail - set import->error (printf-like) and return @err */
int import_fail(struct import *import, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * import_end_reading - the result of an import whose file could not be read to the end
 *
 * Data before the damage is valid: if @any of it was used, the damage is a finding, else the import fails with
 * @err. @err: 0 or the reader's error; @damage: the reader's message, "" if none. An error that is already in
 * import->error is kept. Returns 0 or a negative errno.
 */
int import_end_reading(struct import *import, int err, bool any, const char *damage);

extern const struct importer import_pytorch;
extern const struct importer import_aicpu_raw;
extern const struct importer import_chrome;
extern const struct importer import_proton_trace;
extern const struct importer import_step_trace;
extern const struct importer import_training_trace;
extern const struct importer import_directory;
extern const struct importer import_hccl_raw;
extern const struct importer import_hwts;
extern const struct importer import_megengine;
extern const struct importer import_megengine_graph;
extern const struct importer import_mindspore_display;
extern const struct importer import_mindspore_timeline;
extern const struct importer import_nsys;
extern const struct importer import_nsys_stats;
extern const struct importer import_nvprof;
extern const struct importer import_nvprof_csv;
extern const struct importer import_onnxruntime;
extern const struct importer import_proton;
extern const struct importer import_perfetto;
extern const struct importer import_rocpd;
extern const struct importer import_rocprof_csv;
extern const struct importer import_rocprof_json;
extern const struct importer import_rocprof_stats;
extern const struct importer import_rocprof_v1;
extern const struct importer import_tensorrt;
extern const struct importer import_xplane;
extern const struct importer import_ascend_db;
extern const struct importer import_ascend_csv;
extern const struct importer import_ascend_json;
extern const struct importer import_ascend_directory;
extern const struct importer import_minddata;
extern const struct importer import_ascend_memory;
extern const struct importer import_ascend_api;
extern const struct importer import_ascend_communication;
extern const struct importer import_ascend_l2;
extern const struct importer import_ascend_figures;
extern const struct importer import_ascend_fusion;
extern const struct importer import_static_memory;
extern const struct importer import_ascend_rules;
extern const struct importer import_mindspore_cluster;
extern const struct importer import_mindspore_facts;
extern const struct importer import_mindspore_memory;
extern const struct importer import_mindspore_graphs;
extern const struct importer import_mindspore_shapes;
extern const struct importer import_operator_sums;
extern const struct importer import_operator_details;

#endif /* PROFBPF_ANALYZER_IMPORT_IMPORTER_H */
