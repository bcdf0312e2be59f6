/* SPDX-License-Identifier: Apache-2.0 */
/*
 * importer.h - device files of other profilers, taken into the model.
 *
 * One file per format, each a struct importer; importers.c holds their table and
 * picks one by content. An importer adds devices, tasks and, if the file has a
 * host half and no trace was given, threads, functions and calls. It never
 * trusts a size, a count, an offset or an order; what it cannot understand it
 * leaves out and says so with import_finding().
 *
 * Instants: with a trace the file's clock is declared (struct device.clock) and
 * the clock join converts task times; without one the file's own clock is the
 * model's and struct device.own_clock is set.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_IMPORTER_H
#define PROFBPF_ANALYZER_IMPORT_IMPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define IMPORT_SAMPLE 65536 /* bytes of a file, decompressed, that detection looks at first */
#define IMPORT_SAMPLE_MAX (16u << 20) /* and at most, while no importer is sure */

struct import_identities; /* import_rows.h */

/* One path being taken in. */
struct import {
	struct model *model;
	const char *path;
	uint32_t file; /* row of model->imports */
	bool alone; /* no trace was given: the file's host half is the host */
	struct import_identities *shared; /* with the other files of a result; NULL = it is alone */
	uint32_t first_device; /* rows of devices from this one on may be those the file is about */
	uint32_t first_task; /* the same of tasks */
	bool complete; /* its tasks are there already: it only says more of them */
	bool own; /* of a directory: exports of profbpf are taken (own_export.h), and nothing else: that gave nothing */
	char error[512]; /* why it failed; names what to do */
};

/* What detection looks at. */
struct import_sample {
	const char *path;
	bool directory;
	const char *text; /* the first bytes, decompressed, NUL-terminated; "" of a directory */
	size_t size;
	bool whole; /* that was all of it */
};

struct importer {
	const char *name; /* "pytorch": device.source in reports */
	const char *what; /* "a PyTorch profiler (Kineto) trace" */
	/* 0 = it is none of mine; the importer that answers the highest gets it */
	int (*detect)(const struct import_sample *sample);
	/* Returns 0 or a negative errno with import->error. Rows added before an error stay. */
	int (*import)(struct import *import);
};

/*
 * import_device_file - take @path into @model
 *
 * @alone: see struct import. The caller runs import_finish() after the last one. Returns 0 or a
 * negative errno with @error, which names the path, the reason and the remedy.
 */
int import_device_file(struct model *model, const char *path, bool alone, char *error,
		       size_t error_size);

/*
 * import_find - whose is the file at @path? @chosen, NULL if it is of no known format
 *
 * By its beginning; of JSON by more and more of it while no importer is sure, because what tells a format may
 * stand behind any number of bytes. Returns 0 or a negative errno with @error.
 */
int import_find(const char *path, const struct importer **chosen, char *error, size_t error_size);

/* Of several that tell of the same work, the one with the least says most. */
unsigned int import_preference(const struct importer *importer);

/*
 * import_as - the same with an importer that was told: what is in the file does not choose it
 */
int import_as(const struct importer *importer, struct model *model, const char *path, bool alone,
	      char *error, size_t error_size);

/* What files of one result have in common. */
struct import_result {
	struct import_identities *shared; /* who is who in them; NULL if files are of their own */
	uint32_t first_device; /* rows of devices from this one on are the result's */
	uint32_t first_task; /* the same of tasks */
};

/*
 * import_part - the same for a file of a directory that @whole is the import of
 *
 * @complete: see struct import.
 */
int import_part(const struct import *whole, const char *path, const struct import_result *result,
		bool complete, char *error, size_t error_size);

/* import_folder_part - the same for a folder, by this importer; -ENOENT if it is none of its own */
int import_folder_part(const struct import *whole, const char *path,
		       const struct importer *importer, char *error, size_t error_size);

/*
 * import_finish - after the last file: window and indexes of the model
 *
 * Returns 0 or -ENOMEM.
 */
int import_finish(struct model *model, bool alone);

/*
 * import_finding - something in the file was not taken in, or not as it stands
 *
 * @what: static text, the same for all of one kind, which are counted; @example (may be NULL) is
 * kept of the first. Shown by `analyzer info --device`. -ENOMEM without memory.
 */
int import_finding(struct import *import, const char *what, const char *example);

/* import_fail - set import->error (printf-like) and return @err */
int import_fail(struct import *import, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * import_end_reading - what comes of a file of which no more can be read
 *
 * What stands before the damage is as good as ever: if @any of it was of use, the damage is a
 * finding, else the import fails with @err. @err: 0 or what the reader returned; @damage: what it
 * said, "" if nothing. An error that is in import->error stays. Returns 0 or a negative errno.
 */
int import_end_reading(struct import *import, int err, bool any, const char *damage);

extern const struct importer import_pytorch;
extern const struct importer import_aicpu_raw;
extern const struct importer import_chrome;
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
