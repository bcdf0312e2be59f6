/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any other directory of device files, such as the ranks of a job or a folder for TensorBoard.
 *
 * Files are chosen by name, because a directory may hold anything; their content determines the format. If no name
 * is a profiler's, content also chooses the files (directory_content.h).
 */
#include <errno.h>

#include "analyzer/import/directory_content.h"
#include "analyzer/import/directory_walk.h"
#include "analyzer/import/importer.h"

/* Tasks by kernel come before the overview that TensorFlow and JAX write beside them. */
static const char *const PATTERNS[] = { "*.xplane.pb",
					"*.xplane.pb.gz",
					"*.pt.trace.json",
					"*.pt.trace.json.gz",
					"*_results.db",
					"*_results.json",
					"*_kernel_trace.csv",
					"*.sqlite",
					"*.trace.json.gz",
					"*.trace.json",
					"*.pftrace",
					"*.perfetto-trace",
					"*.chrome_timeline.json",
					"onnxruntime_profile*.json",
					"onnxruntime_profile*.json.gz",
					NULL };

static int detect(const struct import_sample *sample)
{
	return sample->directory ? 1 : 0;
}

static int take(struct import *import)
{
	struct directory_walk walk = { .import = import, .patterns = PATTERNS };
	int err = directory_take(&walk, import->path);

	return !err && !walk.taken ? directory_take_content(import) : err;
}

/* Exports of profbpf repeat the data of their source: they are imported only if the source is not there. */
static int import(struct import *import)
{
	int err = take(import);

	if (err != -ENODATA)
		return err;
	import->own = true;
	err = import_ascend_directory.import(import);
	if (err != -EBADMSG)
		return err;
	import->error[0] = '\0';
	return take(import);
}

const struct importer import_directory = {
	.name = "directory",
	.what = "a directory of such files, of several ranks",
	.detect = detect,
	.import = import,
};
