/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads waited for that take a device's place (analyse/host_waits.h). */
#include "analyzer/analyse/idle/host_waits.h"

#include <inttypes.h>

#include "analyzer/analyse/idle/idle.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/report_roots.h"

#define TEXT_SIZE 512

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void write_threads(struct json *json, const struct model *model,
			  const struct host_waits *waits)
{
	json_array(json, "threads");
	for (uint32_t i = 0; i < waits->thread_count; i++) {
		const struct thread *row = &model->threads.row[waits->threads[i]];

		json_map(json, NULL);
		json_text(json, "name", model_text(model, row->name));
		if (row->process < model->processes.count)
			json_u64(json, "pid", model->processes.row[row->process].pid);
		json_u64(json, "tid", row->tid);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_causes(struct json *json, const struct idle_roots *roots)
{
	bool done[IDLE_CAUSES] = { false };

	json_array(json, "causes");
	for (;;) {
		uint8_t cause = IDLE_CAUSES;

		for (uint8_t i = 0; i < IDLE_CAUSES; i++)
			if (!done[i] && roots->first_ns[i] &&
			    (cause == IDLE_CAUSES || roots->first_ns[i] > roots->first_ns[cause]))
				cause = i;
		if (cause == IDLE_CAUSES)
			break;
		done[cause] = true;
		json_map(json, NULL);
		json_text(json, "cause", idle_cause_name(cause));
		json_u64(json, "ns", roots->first_ns[cause]);
		json_decimal(json, "percent", percent_of(roots->first_ns[cause], roots->total_ns));
		json_map_close(json);
	}
	json_array_close(json);
}

void json_waits_section(struct json *json, const struct model *model, const struct results *results)
{
	const struct host_waits *waits = results->waits;

	if (!waits || !waits->thread_count)
		return;
	json_map(json, "waits");
	json_text(json, "of", waits_why_name(waits->why));
	write_threads(json, model, waits);
	json_text(json, "share_of", waits->of_steps ? "step_time" : "wall_time");
	json_u64(json, "window_ns", waits->window_ns);
	json_u64(json, "total_ns", waits->waits.total_ns);
	json_u64(json, "gaps_total", waits->waits.gaps);
	if (waits->bounds.known) {
		json_decimal(json, "device_busy_at_least_percent", waits->bounds.at_least_percent);
		json_decimal(json, "device_busy_at_most_percent", waits->bounds.at_most_percent);
	}
	write_causes(json, &waits->waits);
	report_json_roots(json, "roots", model, &waits->waits);
	json_u64(json, "run_ns", waits->own.total_ns);
	report_json_roots(json, "run", model, &waits->own);
	json_map_close(json);
}

static void print_whose(FILE *out, const struct model *model, const struct host_waits *waits)
{
	static const char *const texts[] = {
		[WAITS_OF_NONE] = "",
		[WAITS_OF_ASKED] = "as asked for",
		[WAITS_OF_LAUNCHES] = "which submits work to the device",
		[WAITS_OF_FETCHES] = "which fetches batches, in the steps judged",
		[WAITS_OF_MAIN] = "the main thread",
		[WAITS_OF_BUSIEST] =
			"which has the CPU most; the main thread does nothing but sleep",
	};
	char name[TEXT_SIZE], clean[TEXT_SIZE];

	root_thread_text(model, waits->threads[0], name, sizeof(name));
	fprintf(out, "%s", printable(name, clean, sizeof(clean)));
	if (waits->thread_count > 1)
		fprintf(out, " and %u more", waits->thread_count - 1);
	fprintf(out,
		" (%s): on a CPU for %.1f %% of %.3f s, waiting for %.1f %%, in %" PRIu64
		" waits.\n",
		texts[waits->why], percent_of(waits->own.total_ns, waits->window_ns),
		(double)waits->window_ns / 1e9, percent_of(waits->waits.total_ns, waits->window_ns),
		waits->waits.gaps);
	if (waits->bounds.known)
		fprintf(out,
			"By the calls that wait for it the device is busy for at least %.1f %%, at "
			"most %.1f %% of the time.\n",
			waits->bounds.at_least_percent, waits->bounds.at_most_percent);
}

int text_waits(FILE *out, const struct model *model, const struct results *results,
	       const struct report_options *options)
{
	const struct host_waits *waits = results->waits;
	int err = 0;

	if (!waits || !waits->thread_count)
		return 0;
	print_heading(out, options, "What the job waits for, by what its threads did");
	print_whose(out, model, waits);
	if (waits->waits.count)
		err = report_text_roots(out, model, &waits->waits,
					"At the end of all waiting, by who it was", "waiting",
					options);
	if (!err && waits->own.count)
		err = report_text_roots(out, model, &waits->own, "On a CPU themselves", "running",
					options);
	return err;
}
