/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in rows that are sorted by anything. */
#ifndef PROFBPF_LIB_BASE_BISECT_H
#define PROFBPF_LIB_BASE_BISECT_H

#include <stdint.h>

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

/*
 * The same, but the search begins at index @near, in either direction: faster if the result is near the previous one. Any
 * @near gives the right result.
 */
#define BISECT_NEAR(i, from, to, near, before)				\
	({								\
		__typeof__((to) + 0u) low_ = (from), high_ = (to);	\
		__typeof__(low_) i = (near);				\
		uint64_t step_ = 1;					\
									\
		high_ = high_ < low_ ? low_ : high_;			\
		i = i < low_ ? low_ : i > high_ ? high_ : i;		\
		if (i < high_ && (before)) {				\
			low_ = i + 1;					\
			for (; high_ - low_ >= step_; step_ *= 2) {	\
				i = low_ + (__typeof__(low_))step_ - 1;	\
				if (!(before)) {			\
					high_ = i;			\
					break;				\
				}					\
				low_ = i + 1;				\
			}						\
		} else {						\
			high_ = i;					\
			for (; high_ - low_ >= step_; step_ *= 2) {	\
				i = high_ - (__typeof__(low_))step_;	\
				if (before) {				\
					low_ = i + 1;			\
					break;				\
				}					\
				high_ = i;				\
			}						\
		}							\
		while (low_ < high_) {					\
			i = low_ + (high_ - low_) / 2;			\
			if (before)					\
				low_ = i + 1;				\
			else						\
				high_ = i;				\
		}							\
		low_;							\
	})

#endif /* PROFBPF_LIB_BASE_BISECT_H */
