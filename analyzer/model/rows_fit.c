/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/rows_fit.h"

#include <unistd.h>

bool rows_fit(uint64_t bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);

	if (pages <= 0 || page_size <= 0)
		return true;
	return bytes <= (uint64_t)pages * (uint64_t)page_size / 2;
}
