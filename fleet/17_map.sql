-- SPDX-License-Identifier: Apache-2.0
-- A map of ranks and steps with at most 200 by 200 fields: each field has the excess cost of the rank with the highest
-- cost in it, as the mean over the steps of the field.
WITH size AS (
  SELECT CAST(greatest(1, ceil(steps / 200)) AS INT) AS steps, CAST(greatest(1, ceil(ranks / 200)) AS INT) AS ranks FROM origin),
order_of_ranks AS (SELECT rank, row_number() OVER (ORDER BY rank) - 1 AS i FROM (SELECT DISTINCT rank FROM costs) r),
means AS (
  SELECT CAST(floor(r.i / z.ranks) AS INT) AS line, c.rank, CAST(floor(c.i / z.steps) AS INT) AS field, min(c.step) AS first_step, avg(c.more_ns) AS ns
  FROM costs c JOIN order_of_ranks r ON r.rank = c.rank CROSS JOIN size z
  GROUP BY CAST(floor(r.i / z.ranks) AS INT), c.rank, CAST(floor(c.i / z.steps) AS INT))
SELECT line, field, min(rank) AS first_rank, min(first_step) AS first_step, max(ns) AS ns
FROM means GROUP BY line, field
