/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/model_reserve.h"

#include <stdlib.h>

#include "analyzer/model/rows_fit.h"

bool model_reserve(void **row, uint32_t *capacity, uint32_t count, uint32_t more, size_t row_size)
{
	const uint64_t want = (uint64_t)count + more;
	void *grown;

	if (want <= *capacity)
		return true;
	if (want >= UINT32_MAX || !rows_fit(want * row_size))
		return false;
	grown = reallocarray(*row, want, row_size);
	if (!grown)
		return false;
	*row = grown;
	*capacity = (uint32_t)want;
	return true;
}
