-- SPDX-License-Identifier: Apache-2.0
-- The ranks and communicators that may hold the job back, with the steps. A rank or communicator whose cost in a block
-- exceeds the bound is a suspect in each step of that block, and of the two blocks beside it, that costs more than half
-- of the block's cost.
WITH named AS (
  SELECT b.kind, b.rank, b.communicator, b.block, b.ns
  FROM blocks b JOIN bounds l ON l.kind = b.kind
  WHERE b.ns > l.ns AND b.steps >= 3),
reach AS (
  SELECT n.kind, n.rank, n.communicator, n.block + d.beside AS block, max(n.ns) AS ns
  FROM named n CROSS JOIN (SELECT -1 AS beside UNION ALL SELECT 0 AS beside UNION ALL SELECT 1 AS beside) d
  GROUP BY n.kind, n.rank, n.communicator, n.block + d.beside)
SELECT r.kind, c.rank, '' AS communicator, c.host, c.step, c.block, c.more_ns AS ns, c.more_compute_ns AS compute_ns, c.more_idle_ns AS idle_ns
FROM costs c JOIN reach r ON r.rank = c.rank AND r.block = c.block
WHERE r.kind = 'rank' AND c.more_ns > 0.5 * r.ns
UNION ALL
SELECT r.kind, -1 AS rank, l.communicator, '' AS host, l.step, n.block, l.more_ns AS ns, CAST(0 AS DOUBLE) AS compute_ns, CAST(0 AS DOUBLE) AS idle_ns
FROM links l JOIN numbered n ON n.step = l.step JOIN reach r ON r.communicator = l.communicator AND r.block = n.block
WHERE r.kind = 'link' AND l.more_ns > 0.5 * r.ns
