/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in rows that are sorted by anything. */
#ifndef PROFBPF_LIB_BASE_BISECT_H
#define PROFBPF_LIB_BASE_BISECT_H

/*
 * The first index from @from on that is not @before; @to if all of them are. @before is an
 * expression of the index @i; it holds for the first rows, if any, and for none behind them:
 *
 *	first = BISECT(i, 0, model->calls.count, model->calls.row[i].start_ns < ts_ns);
 *
 * is the first call that starts at @ts_ns or later. @from and @to are evaluated once; the
 * result has the unsigned type of @to. It is @from where @from is beyond @to. Rows in another
 * order give some index from @from to @to.
 */
#define BISECT(i, from, to, before)					\
	({								\
		__typeof__((to) + 0u) low_ = (from), high_ = (to);	\
									\
		while (low_ < high_) {					\
			__typeof__(low_) i = low_ + (high_ - low_) / 2;	\
									\
			if (before)					\
				low_ = i + 1;				\
			else						\
				high_ = i;				\
		}							\
		low_;							\
	})

#endif
