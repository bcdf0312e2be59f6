-- SPDX-License-Identifier: Apache-2.0
-- The rank, host or communicator that holds the job back in each step: the suspect with the highest cost. If at least
-- two ranks of a host, and at least half of its ranks, lose time for the same reason in a block, they are reported as
-- one holder, the host (rank -1). Of several slow communicators in a step only the one with the highest cost over all
-- steps is a holder, so that the holder does not change from step to step.
WITH on_host AS (SELECT host, count(DISTINCT rank) AS ranks FROM costs GROUP BY host),
together AS (
  SELECT r.host, r.block, r.why, r.cause
  FROM reasons r JOIN on_host h ON h.host = r.host
  WHERE r.kind = 'rank' AND r.host <> ''
  GROUP BY r.host, r.block, r.why, r.cause
  HAVING count(*) >= 2 AND 2 * count(*) >= max(h.ranks)),
known AS (
  SELECT s.kind, CASE WHEN t.host IS NOT NULL THEN -1 ELSE s.rank END AS rank, s.communicator, s.host, s.step, s.ns, r.why, r.cause, r.who
  FROM suspects s
  JOIN reasons r ON r.kind = s.kind AND r.rank = s.rank AND r.communicator = s.communicator AND r.block = s.block
  LEFT JOIN together t ON t.host = s.host AND t.block = s.block AND t.why = r.why AND t.cause = r.cause AND s.kind = 'rank'),
whole AS (SELECT communicator, sum(ns) AS ns FROM suspects WHERE kind = 'link' GROUP BY communicator),
one_link AS (
  SELECT k.step, k.communicator, row_number() OVER (PARTITION BY k.step ORDER BY w.ns DESC, k.communicator) AS place
  FROM known k JOIN whole w ON w.communicator = k.communicator WHERE k.kind = 'link'),
left_over AS (
  SELECT k.kind, k.rank, k.communicator, k.host, k.step, k.why, k.cause, max(k.who) AS who, max(k.ns) AS ns
  FROM known k LEFT JOIN one_link l ON l.step = k.step AND l.communicator = k.communicator AND k.kind = 'link'
  WHERE k.kind = 'rank' OR l.place = 1
  GROUP BY k.kind, k.rank, k.communicator, k.host, k.step, k.why, k.cause)
SELECT kind, rank, communicator, host, step, why, cause, who, ns,
       row_number() OVER (PARTITION BY step ORDER BY ns DESC, rank, communicator) AS place
FROM left_over
