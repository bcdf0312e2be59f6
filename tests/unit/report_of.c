/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/report_of.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

char *report_of(struct trace_builder *builder, const struct analysis_options *wanted,
		const struct report_options *options, report_writer *write_report)
{
	char path[] = "/tmp/profbpf-test-XXXXXX", error[512] = "";
	char *paths[] = { path }, *text = NULL;
	struct analysis analysis;
	size_t size = 0;
	FILE *out;

	close(mkstemp(path));
	trace_write(builder, path);
	trace_builder_free(builder);
	assert_int_equal(analysis_load(&analysis, paths, 1, true, error, sizeof(error)), 0);
	assert_int_equal(analysis_compute(&analysis, wanted, error, sizeof(error)), 0);
	out = open_memstream(&text, &size);
	assert_int_equal(write_report(out, analysis.model, &analysis.results, options), 0);
	fclose(out);
	analysis_free(&analysis);
	unlink(path);
	return text;
}

yajl_val report_of_sample(unsigned int how, const struct analysis_options *wanted)
{
	const struct report_options options = ALL_ROWS;
	char *text = report_of(sample_trace(how), wanted, &options, report_json);
	yajl_val root = json_parse(text);

	free(text);
	return root;
}

void assert_says(const char *text, const char *words)
{
	if (!strstr(text, words)) {
		print_error("missing: %s\nin:\n%s\n", words, text);
		fail();
	}
}
