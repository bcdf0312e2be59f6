-- SPDX-License-Identifier: Apache-2.0
-- Differences between two clocks at one instant: all ranks leave a collective together, so their clocks differ at its
-- end by their offset only. The table tree names, for each rank, the rank whose clock its clock is compared with, and
-- their communicator. The first collective of each step is used.
--
-- Steps that any rank has more than once are left out: their rows are from different times.
--
-- A clock was set where the next three differences all lie beyond the last three, by 1 ms plus 200 ppm of the time
-- between them, which is more than clocks drift. epoch counts these events.
WITH ends AS (SELECT communicator, rank, step, end_ns FROM collectives WHERE sequence = 0 AND step NOT IN (SELECT step FROM doubled)),
pairs AS (
  SELECT t.rank, c.step, CAST(p.end_ns - o.t0 AS DOUBLE) AS t, CAST(c.end_ns - p.end_ns AS DOUBLE) AS delta
  FROM tree t
  JOIN ends c ON c.rank = t.rank AND c.communicator = t.communicator
  JOIN ends p ON p.rank = t.parent AND p.communicator = t.communicator AND p.step = c.step
  CROSS JOIN origin o),
around AS (
  SELECT rank, step, t, delta,
         count(*) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS before_count,
         min(delta) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS before_low,
         max(delta) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS before_high,
         min(t) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS before_t,
         count(*) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS after_count,
         min(delta) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS after_low,
         max(delta) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS after_high,
         max(t) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS after_t
  FROM pairs),
judged AS (
  SELECT rank, step, t, delta,
         CASE WHEN before_count = 3 AND after_count = 3
               AND greatest(after_low - before_high, before_low - after_high) > 1e6 + 2e-4 * abs(after_t - before_t)
              THEN 1 ELSE 0 END AS was_set
  FROM around)
SELECT rank, step, t, delta,
       CAST(sum(was_set) OVER (PARTITION BY rank ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS INT) AS epoch
FROM judged
