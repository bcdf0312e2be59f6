/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes that are mapped but have no recorded launch: from the trace to the report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/view/report_parts.h"
#include "tests/unit/report_of.h"

#define START (5000 * MS)
#define LAUNCH PROFBPF__FUNCTION__KIND__LAUNCH
#define MAPPED PROFBPF__COVERAGE__STATE__MAPPED
#define LATE_NOTE "process 7: something was found out late"

enum { CL_LAUNCH = 1, CL_WAIT, VK_SUBMIT, VK_WAIT, CL_DRIVER_LAUNCH, CUDA_LAUNCH };

static void late_note(struct trace_builder *builder)
{
	Profbpf__Notes m = PROFBPF__NOTES__INIT;
	char *text[] = { LATE_NOTE };
	uint8_t body[256];

	m.n_text = 1;
	m.text = text;
	trace_packet(builder, PROFBPF__PACKET__KIND__NOTES, body, profbpf__notes__pack(&m, body));
}

/* Processes 10 and 20 map OpenCL, in two files, 30 maps Vulkan. */
static struct trace_builder *new_trace(void)
{
	struct trace_builder *builder = trace_builder_new();

	trace_segment(builder, &(struct trace_segment){ .start_ns = START, .session = 1, .boot = 1 });
	trace_function(builder, &(struct trace_function){ CL_LAUNCH, "opencl", NULL, "clEnqueueNDRangeKernel", LAUNCH,
							  .file = "/usr/lib/libOpenCL.so.1" });
	trace_function(builder, &(struct trace_function){ CL_WAIT, "opencl", NULL, "clFinish", PROFBPF__FUNCTION__KIND__SYNC,
							  .file = "/usr/lib/libOpenCL.so.1" });
	trace_function(builder, &(struct trace_function){ CL_DRIVER_LAUNCH, "opencl", NULL, "clEnqueueNDRangeKernel", LAUNCH,
							  .file = "/usr/lib/libpocl.so" });
	trace_function(builder, &(struct trace_function){ VK_SUBMIT, "vulkan", NULL, "vkQueueSubmit", LAUNCH,
							  .file = "/usr/lib/libvulkan.so.1" });
	trace_function(builder, &(struct trace_function){ VK_WAIT, "vulkan", NULL, "vkQueueWaitIdle", PROFBPF__FUNCTION__KIND__SYNC,
							  .file = "/usr/lib/libvulkan.so.1" });
	for (uint32_t pid = 10; pid <= 40; pid += 10)
		trace_target(builder, START, pid, pid, "t");
	for (uint32_t pid = 10; pid <= 20; pid += 10) {
		trace_coverage(builder, pid, "/usr/lib/libOpenCL.so.1", 0, START, 2);
		trace_looked(builder, pid, "/usr/lib/libOpenCL.so.1", START + MS, 2, MAPPED);
		trace_looked(builder, pid, "/usr/lib/libOpenCL.so.1", START + 2 * MS, 2, MAPPED);
		trace_looked(builder, pid, "/usr/lib/libpocl.so", START + MS, 1, MAPPED);
	}
	trace_looked(builder, 30, "/usr/lib/libvulkan.so.1", START + MS, 2, MAPPED);
	/* A library that was only expected to be loaded. */
	trace_coverage(builder, 40, "/usr/lib/libvulkan.so.1", 0, START, 2);
	trace_looked(builder, 40, "/opt/job", START + MS, 0, PROFBPF__COVERAGE__STATE__NO_SYMBOLS);
	return builder;
}

static void call(struct trace_builder *builder, uint32_t pid, uint32_t function)
{
	trace_call(builder, &(struct trace_call_row){ .start_ns = START + 10 * MS, .end_ns = START + 11 * MS,
						      .tid = pid, .tgid = pid, .function = function });
}

static struct trace_builder *end(struct trace_builder *builder)
{
	late_note(builder);
	trace_statistics(builder, START + 100 * MS, true, "duration");
	return builder;
}

static yajl_val json_of(struct trace_builder *builder, uint32_t sections)
{
	const struct report_options options = { .sections = sections };
	const struct analysis_options wanted = { 0 };
	char *text = report_of(end(builder), &wanted, &options, report_json);
	yajl_val root = json_parse(text);

	free(text);
	return root;
}

static void expect(yajl_val root, int i, uint32_t pid, const char *runtime, const char *file, uint32_t functions)
{
	char path[64];

#define AT(key) (snprintf(path, sizeof(path), "capture.no_launches.%d." key, i), path)
	assert_int_equal(json_int(root, AT("pid")), pid);
	assert_string_equal(json_string(root, AT("runtime")), runtime);
	assert_string_equal(json_string(root, AT("file")), file);
	assert_int_equal(json_int(root, AT("functions")), functions);
	assert_string_equal(json_string(root, AT("why")), "not_called");
#undef AT
}

static void expect_none_launched(yajl_val root)
{
	assert_int_equal(json_length(root, "capture.no_launches"), 4);
	expect(root, 0, 10, "opencl", "/usr/lib/libOpenCL.so.1", 2);
	expect(root, 1, 20, "opencl", "/usr/lib/libOpenCL.so.1", 2);
	assert_null(json_at(root, "capture.no_launches.0.pointers"));
	expect(root, 2, 30, "vulkan", "/usr/lib/libvulkan.so.1", 1);
	assert_string_equal(json_string(root, "capture.no_launches.2.pointers"), "vkGetDeviceProcAddr");
	assert_int_equal(json_int(root, "capture.no_launches.3.pid"), 40);
	assert_string_equal(json_string(root, "capture.no_launches.3.why"), "no_symbols");
	assert_string_equal(json_string(root, "capture.no_launches.3.file"), "/opt/job");
	assert_null(json_at(root, "capture.no_launches.3.runtime"));
	assert_true(json_true(root, "capture.complete"));
	yajl_tree_free(root);
}

/* Calls of other functions are no launches. */
static struct trace_builder *none_launched(void)
{
	struct trace_builder *builder = new_trace();

	call(builder, 10, CL_WAIT);
	call(builder, 30, VK_WAIT);
	return builder;
}

static struct trace_builder *one_launched(void)
{
	struct trace_builder *builder = none_launched();

	call(builder, 20, CL_DRIVER_LAUNCH);
	return builder;
}

static void nobody_launched(void **state)
{
	expect_none_launched(json_of(none_launched(), SECTION_ALL));
	expect_none_launched(json_of(none_launched(), SECTION_CAPTURE));
}

/* With and without kept calls. */
static void somebody_launched(void **state)
{
	static const uint32_t sections[] = { SECTION_ALL, SECTION_CAPTURE };

	for (int i = 0; i < 2; i++) {
		yajl_val root = json_of(one_launched(), sections[i]);

		assert_int_equal(json_length(root, "capture.no_launches"), 3);
		expect(root, 0, 10, "opencl", "/usr/lib/libOpenCL.so.1", 2);
		expect(root, 1, 30, "vulkan", "/usr/lib/libvulkan.so.1", 1);
		yajl_tree_free(root);
	}
}

/* Calls that were too short to be recorded count. */
static void short_launches(void **state)
{
	struct trace_builder *builder = none_launched();
	yajl_val root;

	trace_short_calls(builder, VK_SUBMIT, 30, 100, 1000);
	root = json_of(builder, SECTION_CAPTURE);
	assert_int_equal(json_length(root, "capture.no_launches"), 3);
	assert_string_equal(json_string(root, "capture.no_launches.2.why"), "no_symbols");
	yajl_tree_free(root);
}

/* Writes the text of the report's first screen. */
static int losses_text(FILE *out, const struct model *model, const struct results *results,
		       const struct report_options *options)
{
	char text[512];

	return fputs(text_losses(model, results->capture, text, sizeof(text)), out) < 0 ? -1 : 0;
}

static void words(void **state)
{
	const struct report_options options = ALL_ROWS;
	const struct analysis_options wanted = { 0 };
	char *text = report_of(end(none_launched()), &wanted, &options, report_text);

	assert_says(text, "no launches: opencl is mapped by processes 10, 20 (/usr/lib/libOpenCL.so.1), and none of its 2 "
			  "functions that launch was called\n");
	assert_says(text, "none of its 1 functions that launch was called; calls through pointers that vkGetDeviceProcAddr returns "
			  "are not recorded\n");
	assert_says(text, "no symbols: functions of /opt/job, which is process 40, cannot be found");
	assert_says(text, "note: " LATE_NOTE "\n");
	free(text);
	text = report_of(end(none_launched()), &wanted, &options, losses_text);
	assert_says(text, "no launch was recorded, though opencl, vulkan are mapped");
	free(text);
	text = report_of(end(one_launched()), &wanted, &options, losses_text);
	assert_null(strstr(text, "no launch was recorded"));
	free(text);
}

/* The facts on which the verdict relies. */
static void verdict(void **state)
{
	yajl_val root = json_of(none_launched(), SECTION_ALL);

	assert_string_equal(json_string(root, "verdict.but"),
			    "no launch was recorded, though opencl, vulkan are mapped: what the device did may have been "
			    "missed (section capture)");
	yajl_tree_free(root);
	root = json_of(one_launched(), SECTION_ALL);
	assert_null(json_at(root, "verdict.but"));
	yajl_tree_free(root);
}

/* A process with CUDA's runtime launches nothing until the runtime has loaded the driver. */
static void runtime_without_driver(void **state)
{
	for (int loaded = 0; loaded < 2; loaded++) {
		struct trace_builder *builder = none_launched();
		yajl_val root;

		trace_function(builder, &(struct trace_function){ CUDA_LAUNCH, "cuda", NULL, "cudaLaunchKernel", LAUNCH,
								  .file = "/opt/libcudart.so.12" });
		trace_looked(builder, 10, "/opt/libcudart.so.12", START + MS, 1, MAPPED);
		trace_looked(builder, 20, "/usr/lib/libcuda.so.1", START + MS, 0, MAPPED);
		trace_coverage(builder, 10, "/usr/lib/libcuda.so.1", 0, START, 2);
		if (loaded)
			trace_looked(builder, 10, "/usr/lib/libcuda.so.1", START + 2 * MS, 2, MAPPED);
		root = json_of(builder, SECTION_ALL);
		assert_int_equal(json_length(root, "capture.no_launches"), 4 + loaded);
		if (loaded)
			expect(root, 3, 10, "cuda", "/opt/libcudart.so.12", 1);
		yajl_tree_free(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_launched), cmocka_unit_test(somebody_launched),
		cmocka_unit_test(short_launches),  cmocka_unit_test(words),
		cmocka_unit_test(verdict),
		cmocka_unit_test(runtime_without_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
