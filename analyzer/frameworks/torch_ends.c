/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the fetches of a DataLoader that returned the end of its data instead of a batch.
 *
 * With workers, and without a pin-memory thread, the fetching thread opens a batch's tensors. It opens none at an end;
 * but neither for a batch that arrived before its turn, which may have been before the recording, and for a fetch cut
 * by the end of the recording this is unknown. Where tensors do not decide: for a loader that trains, an end is a
 * fetch that no training follows; for other loaders, it is the last fetch before another loader's turn, or before the
 * end of its workers.
 */
#include <stdlib.h>

#include "analyzer/frameworks/torch.h"

#define TOLERANCE 0.98 /* part of a mean: tensors were lost, or opened before recording began */
#define AHEAD 2 /* batches that each worker prefetches; DataLoader's default */
#define OFTEN 3 /* workers that wait for a slow one make one of so many fetches look like an end, or more */
#define QUICK 8 /* an end is at least this many times shorter than a batch */
#define QUICK_AT_EXIT 2 /* if only the thread's end follows */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Returns the number of tensors in a batch. All fetches together opened hardly fewer than one batch each, because ends
 * are few; the result is the least of all counts that occurred, and their divisor, that satisfies this.
 */
static uint32_t tensors_of_batch(const struct torch *torch, uint32_t loader)
{
	uint32_t divisor = 0, fetches = 0, best = UINT32_MAX;
	uint64_t all = 0;

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		const struct torch_fetch *of = &torch->fetches.row[i];

		if (of->loader != loader)
			continue;
		divisor = common_divisor(divisor, of->opened);
		all += of->opened;
		fetches++;
	}
	if (!all)
		return 0;
	for (uint32_t i = 0; i <= torch->fetches.count; i++) {
		const struct torch_fetch *of = &torch->fetches.row[i];
		uint32_t count = i == torch->fetches.count ? divisor
				 : of->loader == loader	   ? of->opened
							   : 0;

		if (count && count < best && count >= TOLERANCE * (double)all / fetches)
			best = count;
	}
	return best == UINT32_MAX ? 0 : best;
}

/* Does the same iterator of the loader have a later fetch? */
static bool goes_on(const struct torch *torch, uint32_t fetch)
{
	const struct torch_fetch *of = &torch->fetches.row[fetch];

	for (uint32_t i = fetch + 1; i < torch->fetches.count; i++)
		if (torch->fetches.row[i].loader == of->loader)
			return torch->fetches.row[i].group == of->group;
	return false;
}

/* A fetch may also open later batches if their workers were quicker: later fetches then find these already open. */
static void ends_by_tensors(struct torch *torch, uint32_t loader, uint32_t batch_tensors)
{
	const struct torch_loader *row = &torch->loaders.row[loader];
	uint32_t there = 0, early = row->before ? AHEAD * row->each_workers : 0;

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		struct torch_fetch *of = &torch->fetches.row[i];
		uint32_t batches = (of->opened + batch_tensors / 2) / batch_tensors;

		if (of->loader != loader)
			continue;
		if (of->opened && !batches)
			batches = 1;
		of->fetch.end_of_data = batches + there == 0 && !(early && goes_on(torch, i)) &&
					(of->end_known || of->next_ns != UINT64_MAX);
		early -= early > 0;
		there = batches + there ? batches + there - 1 : 0;
	}
}

/*
 * Cannot these be ends? An iterator has no more than one, and an epoch has batches: not two in succession. Nor do
 * backward passes follow most ends, if these are many. An optimizer may, before the next epoch or for the last gradients.
 */
static bool ends_are_wrong(const struct torch *torch, uint32_t loader)
{
	const struct torch_fetch *before = NULL;
	uint32_t fetches = 0, ends = 0, trained = 0;

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		const struct torch_fetch *of = &torch->fetches.row[i];

		if (of->loader != loader)
			continue;
		if (before && before->group == of->group && before->fetch.end_of_data && of->fetch.end_of_data)
			return true;
		fetches++;
		ends += of->fetch.end_of_data;
		trained += of->fetch.end_of_data && of->backward;
		before = of;
	}
	return OFTEN * ends >= fetches && trained > 1 && 2 * trained > ends;
}

/*
 * Returns the next smaller number of tensors that divides @count, if all fetches opened hardly more than so many each,
 * and those of batches that are used after the recording; else 0.
 */
static uint32_t fewer_tensors(const struct torch *torch, uint32_t loader, uint32_t count)
{
	uint32_t fetches = AHEAD * torch->loaders.row[loader].each_workers, fewer = count / 2;
	uint64_t all = 0;

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		if (torch->fetches.row[i].loader != loader)
			continue;
		all += torch->fetches.row[i].opened;
		fetches++;
	}
	while (fewer && count % fewer)
		fewer--;
	return fewer && fewer >= TOLERANCE * (double)all / (double)fetches ? fewer : 0;
}

/*
 * If one worker is slow, each fetch of its batch opens those of all others, too, and no other fetch opens any: they
 * look like one batch of many tensors, with ends between them.
 */
static uint32_t count_tensors(struct torch *torch, uint32_t loader)
{
	uint32_t most = tensors_of_batch(torch, loader);

	for (uint32_t count = most; count; count = fewer_tensors(torch, loader, count)) {
		ends_by_tensors(torch, loader, count);
		if (!ends_are_wrong(torch, loader))
			return count;
	}
	if (most)
		ends_by_tensors(torch, loader, most);
	return most;
}

static uint64_t mean_ns(const struct torch *torch, uint32_t loader)
{
	uint64_t sum = 0, count = 0;

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		const struct torch_fetch *of = &torch->fetches.row[i];

		if (of->loader != loader)
			continue;
		sum += of->fetch.end_ns - of->fetch.start_ns;
		count++;
	}
	return count ? sum / count : 0;
}

/* Is the last fetch of a thread so short that it is an end? */
static bool ends_quickly(const struct torch *torch, const struct torch_fetch *of, uint64_t mean)
{
	bool exits = torch->model->threads.row[of->fetch.thread].exit_ns != 0;

	return (of->fetch.end_ns - of->fetch.start_ns) * (exits ? QUICK_AT_EXIT : QUICK) <= mean;
}

/*
 * The last fetch of an epoch is followed by another loader's turn; the very last one is known to be an end by its
 * short duration.
 */
static void ends_by_turns(struct torch *torch, uint32_t loader)
{
	uint64_t mean = mean_ns(torch, loader);

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		struct torch_fetch *of = &torch->fetches.row[i];
		const struct torch_fetch *next = i + 1 < torch->fetches.count ? of + 1 : NULL;

		if (of->loader != loader)
			continue;
		if (next && next->fetch.thread != of->fetch.thread)
			next = NULL;
		if (torch->trains && torch->loaders.row[loader].trains)
			of->fetch.end_of_data = !of->trains && !of->fetch.open;
		else if (next)
			of->fetch.end_of_data = next->loader != loader || next->group != of->group;
		else
			of->fetch.end_of_data = ends_quickly(torch, of, mean);
	}
}

void torch_ends_find(struct torch *torch)
{
	for (uint32_t i = 0; i < torch->loaders.count; i++) {
		struct torch_loader *loader = &torch->loaders.row[i];
		bool opens = !loader->single && loader->pin == INDEX_NONE;

		loader->batch_tensors = opens ? count_tensors(torch, i) : 0;
		if (!loader->batch_tensors)
			ends_by_turns(torch, i);
	}
}
