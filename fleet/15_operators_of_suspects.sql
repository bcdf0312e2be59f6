-- SPDX-License-Identifier: Apache-2.0
-- Operators of suspects that compute longer, in up to 64 of the suspects' steps, in some cases up to twice as many: the
-- mean time in a step of each operator, and its usual time: the median over the ranks of the same role, or over all
-- ranks if fewer than three of that role ran it.
WITH stride AS (SELECT CAST(greatest(1, floor(count(DISTINCT step) / 64)) AS INT) AS every FROM suspects WHERE kind = 'rank'),
slow AS (
  SELECT s.rank, s.step, x.role
  FROM suspects s
  JOIN reasons r ON r.kind = s.kind AND r.rank = s.rank AND r.block = s.block
  JOIN roles x ON x.rank = s.rank
  JOIN numbered n ON n.step = s.step
  CROSS JOIN stride t
  WHERE s.kind = 'rank' AND r.why = 'compute' AND n.i % t.every = 0),
taken AS (
  SELECT o.rank, x.role, o.step, o.name, sum(o.total_ns) AS ns
  FROM operators o JOIN roles x ON x.rank = o.rank
  WHERE o.step IN (SELECT step FROM slow)
  GROUP BY o.rank, x.role, o.step, o.name),
of_role AS (SELECT role, step, name, count(*) AS ranks, median(ns) AS ns FROM taken GROUP BY role, step, name),
of_all AS (SELECT step, name, median(ns) AS ns FROM taken GROUP BY step, name),
means AS (
  SELECT w.rank, w.name, avg(CAST(w.ns AS DOUBLE)) AS ns, avg(CASE WHEN r.ranks >= 3 THEN r.ns ELSE a.ns END) AS usual_ns
  FROM slow s
  JOIN taken w ON w.rank = s.rank AND w.step = s.step
  JOIN of_role r ON r.role = w.role AND r.step = w.step AND r.name = w.name
  JOIN of_all a ON a.step = w.step AND a.name = w.name
  GROUP BY w.rank, w.name)
SELECT rank, name, ns, usual_ns, row_number() OVER (PARTITION BY rank ORDER BY ns - usual_ns DESC, name) AS place
FROM means
