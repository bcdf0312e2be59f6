/* SPDX-License-Identifier: Apache-2.0 */
/* take FILE... - imports device files, one after the other, and prints CPU time and rows of each. For bench/import/run. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "analyzer/import/importer.h"

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct model *model = model_new();
		double before = cpu_seconds();
		char error[512];

		if (!model) {
			fprintf(stderr, "take: out of memory\n");
			return 1;
		}
		if (import_device_file(model, argv[i], true, error, sizeof(error)) != 0) {
			fprintf(stderr, "take: %s\n", error);
			return 1;
		}
		printf("%.6f %u %u\n", cpu_seconds() - before, model->tasks.count,
		       model->calls.count);
		model_free(model);
	}
	return 0;
}
