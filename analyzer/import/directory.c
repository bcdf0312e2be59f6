/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any other directory of device files, such as the ranks of a job or a folder for TensorBoard.
 *
 * Files with names of profilers are imported first; their content determines the format. Content also chooses among
 * the other files (directory_content.h).
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

/*
 * Imports the files, or with import->own the exports of profbpf. *@torn: some files could not be imported. Returns
 * -ENODATA if only exports of profbpf can be imported.
 */
static int take(struct import *import, bool *torn)
{
	struct directory_walk walk = { .import = import, .patterns = PATTERNS };
	int err = directory_take(&walk, import->path);

	*torn = walk.taken > walk.imported;
	if (!err && (!import->own || !walk.taken))
		err = directory_take_content(import, &walk);
	if ((err == -EBADMSG || err == -ENODATA) && (walk.taken || walk.own.count)) {
		import->error[0] = '\0';
		err = !walk.imported && (walk.own.count || err == -ENODATA) ? -ENODATA : 0;
	}
	directory_walk_free(&walk);
	return err;
}

/*
 * Exports of profbpf repeat the data of their source: they are imported only if the source is not there or cannot be
 * read.
 */
static int import(struct import *import)
{
	bool torn, ignored;
	int err = take(import, &torn);

	if (err != -ENODATA)
		return err;
	import->own = true;
	err = import_ascend_directory.import(import);
	if (err != -EBADMSG)
		return err;
	import->error[0] = '\0';
	err = take(import, &ignored);
	if (err != -EBADMSG || !torn)
		return err;
	import->error[0] = '\0';
	return 0;
}

const struct importer import_directory = {
	.name = "directory",
	.what = "a directory of such files, of several ranks",
	.detect = detect,
	.import = import,
};
