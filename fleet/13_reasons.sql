-- SPDX-License-Identifier: Apache-2.0
-- The reason for each suspect's excess cost, by block: the larger of computing and idling, if it is more than half of
-- the excess; for idling also its cause, the one with the largest excess in these steps.
WITH of_ranks AS (SELECT rank, step, block FROM suspects WHERE kind = 'rank'),
present AS (SELECT step, count(*) AS ranks FROM costs GROUP BY step),
causes AS (
  SELECT rank, step, cause, max(who) AS who, sum(ns) AS ns
  FROM idle WHERE cause <> 'network' AND step IN (SELECT step FROM of_ranks)
  GROUP BY rank, step, cause),
usual AS (
  SELECT c.step, c.cause, CASE WHEN 2 * count(*) > max(p.ranks) THEN median(c.ns) ELSE 0 END AS ns
  FROM causes c JOIN present p ON p.step = c.step
  GROUP BY c.step, c.cause),
more AS (
  SELECT s.rank, s.block, c.cause, max(c.who) AS who, sum(c.ns - u.ns) AS ns
  FROM of_ranks s
  JOIN causes c ON c.rank = s.rank AND c.step = s.step
  JOIN usual u ON u.step = c.step AND u.cause = c.cause
  GROUP BY s.rank, s.block, c.cause),
most AS (SELECT rank, block, cause, who, row_number() OVER (PARTITION BY rank, block ORDER BY ns DESC, cause) AS place FROM more),
sums AS (
  SELECT kind, rank, communicator, max(host) AS host, block, sum(ns) AS ns, sum(compute_ns) AS compute_ns, sum(idle_ns) AS idle_ns
  FROM suspects GROUP BY kind, rank, communicator, block)
SELECT s.kind, s.rank, s.communicator, s.host, s.block,
       CASE WHEN s.kind = 'link' THEN 'link'
            WHEN s.compute_ns >= s.idle_ns AND s.compute_ns > 0.5 * s.ns THEN 'compute'
            WHEN s.idle_ns > 0.5 * s.ns AND m.cause = 'pipeline' THEN 'data'
            WHEN s.idle_ns > 0.5 * s.ns THEN 'host'
            ELSE 'unknown' END AS why,
       CASE WHEN s.kind = 'rank' AND s.idle_ns > 0.5 * s.ns AND s.idle_ns > s.compute_ns THEN coalesce(m.cause, 'unknown') ELSE '' END AS cause,
       CASE WHEN s.kind = 'rank' AND s.idle_ns > 0.5 * s.ns AND s.idle_ns > s.compute_ns THEN coalesce(m.who, '') ELSE '' END AS who
FROM sums s LEFT JOIN most m ON m.rank = s.rank AND m.block = s.block AND m.place = 1 AND s.kind = 'rank'
