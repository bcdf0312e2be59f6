/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows from the forward to the backward pass in Perfetto's timeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/export/export.h"
#include "analyzer/export/timeline/pass_flows.h"
#include "analyzer/view/report.h"
#include "tests/unit/perfetto_read.h"
#include "tests/unit/small_model.h"

/* Two operators, the first of which contains a call of a runtime; an arrow to a place within the second. */
static struct model *make(void)
{
	struct model *model = small_model(1000, 9000);
	uint32_t process = small_process(model, 10, "job", true);
	uint32_t thread = small_thread(model, process, 10, "ten"), back = small_thread(model, process, 11, "eleven");
	uint32_t linear = small_function(model, "aten", "linear", PROFBPF__FUNCTION__KIND__OTHER);
	uint32_t launch = small_function(model, "cuda", "launch", PROFBPF__FUNCTION__KIND__LAUNCH);
	struct pass_arrow arrow = { 1150, 2050, thread, back };

	model->functions.row[linear].scope = SCOPE_OPERATOR;
	small_call(model, thread, linear, 1100, 1300);
	small_call(model, thread, launch, 1150, 1160);
	model->calls.row[1].depth = 1;
	small_call(model, back, linear, 2000, 2100);
	assert_true(MODEL_PUSH(&model->pass_arrows, arrow));
	arrow.to_ns = 3000; /* of no operator */
	assert_true(MODEL_PUSH(&model->pass_arrows, arrow));
	small_index(model);
	return model;
}

static const struct read_slice *slice_of(const struct perfetto_read *read, const char *name, size_t index)
{
	for (size_t i = 0; i < read->slice_count; i++)
		if (strcmp(read->slices[i].name, name) == 0 && index-- == 0)
			return &read->slices[i];
	fail_msg("no slice %s", name);
	return NULL;
}

static void check(const struct export_options *options, size_t wanted)
{
	static const struct results no_results;
	char path[] = "/tmp/profbpf-test-XXXXXX", error[256] = "";
	struct model *model = make();
	struct perfetto_read *read;
	const struct read_slice *from, *to;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(export_perfetto.write(model, &no_results, path, options, error, sizeof(error)), 0);
	read = perfetto_read(path);
	from = slice_of(read, "linear", 0);
	to = slice_of(read, "linear", 1);
	assert_int_equal(from->event->n_flow_ids, wanted);
	assert_int_equal(to->event->n_terminating_flow_ids, wanted);
	assert_int_equal(slice_of(read, "launch", 0)->event->n_flow_ids, 0);
	if (wanted)
		assert_int_equal(from->event->flow_ids[0], to->event->terminating_flow_ids[0]);
	perfetto_read_free(read);
	unlink(path);
	model_free(model);
}

static void in_timelines(void **state)
{
	const struct export_options all = { .start_ns = 1000, .end_ns = 9000 };
	const struct export_options late = { .start_ns = 1120, .end_ns = 9000 };

	(void)state;
	check(&all, 1);
	/* The operator's begin is not shown. */
	check(&late, 0);
}

/* No arrow begins or ends at a call that is merged with others. */
static void hidden(void **state)
{
	const struct export_window window = { .start_ns = 1000, .end_ns = 9000 };
	const bool chosen[] = { true, true };
	struct model *model = make();
	struct pass_flows flows;
	uint32_t at = 0;

	(void)state;
	assert_int_equal(pass_flows_init(&flows, model, &window, chosen), 0);
	assert_true(pass_flows_each(&flows, true, 0, &at) == PASS_FIRST_FLOW);
	assert_true(pass_flows_each(&flows, true, 0, &at) == 0);
	at = 0;
	assert_true(pass_flows_each(&flows, false, 2, &at) == PASS_FIRST_FLOW);
	pass_flows_hide(&flows, 2);
	at = 0;
	assert_true(pass_flows_each(&flows, true, 0, &at) == 0);
	pass_flows_free(&flows);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_timelines),
		cmocka_unit_test(hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
