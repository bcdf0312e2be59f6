-- SPDX-License-Identifier: Apache-2.0
-- The role of each rank. Ranks with the same role do the same work and can be compared: they have as many collectives
-- and bytes a step, and are as often the lower and the higher rank of a pair (neighbours in a pipeline). Computed from
-- some steps of the lake (at least 8, if it has as many).
WITH looked AS (
  SELECT c.rank, c.step, count(*) AS times, sum(coalesce(c.bytes, 0)) AS bytes
  FROM collectives c JOIN numbered n ON n.step = c.step CROSS JOIN origin o
  WHERE n.i % CAST(greatest(1, floor(o.steps / 8)) AS INT) = 0
  GROUP BY c.rank, c.step),
usual AS (SELECT rank, median(times) AS times, median(bytes) AS bytes FROM looked GROUP BY rank),
pairs AS (SELECT communicator, min(rank) AS lower, max(rank) AS higher FROM members GROUP BY communicator HAVING count(*) = 2 AND max(sends) = 1),
lower_ones AS (SELECT lower AS rank, count(*) AS pairs FROM pairs GROUP BY lower),
higher_ones AS (SELECT higher AS rank, count(*) AS pairs FROM pairs GROUP BY higher)
SELECT r.rank, concat(CAST(CAST(coalesce(u.times, 0) AS BIGINT) AS VARCHAR(20)), ' ', CAST(CAST(coalesce(u.bytes, 0) AS BIGINT) AS VARCHAR(20)), ' ',
                      CAST(coalesce(l.pairs, 0) AS VARCHAR(20)), ' ', CAST(coalesce(h.pairs, 0) AS VARCHAR(20))) AS role
FROM (SELECT DISTINCT rank FROM steps) r
LEFT JOIN usual u ON u.rank = r.rank
LEFT JOIN lower_ones l ON l.rank = r.rank
LEFT JOIN higher_ones h ON h.rank = r.rank
