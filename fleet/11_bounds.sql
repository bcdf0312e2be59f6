-- SPDX-License-Identifier: Apache-2.0
-- The cost above which a block is reported: the larger of 2 % of the usual step (a communicator: 1 %), and five times
-- the scatter of blocks, from one block to the next and, with at least four ranks or communicators, between them (both
-- from medians, so that the slow ones do not raise the bound).
WITH ordered AS (
  SELECT kind, rank, communicator, ns,
         ns - lag(ns) OVER (PARTITION BY kind, rank, communicator ORDER BY block) AS change_ns
  FROM blocks),
spread AS (
  SELECT kind, count(DISTINCT concat(CAST(rank AS VARCHAR(20)), communicator)) AS members, median(abs(ns)) AS ns, median(abs(change_ns)) AS change_ns
  FROM ordered GROUP BY kind),
one_step AS (SELECT median(usual_step_ns) AS ns FROM costs WHERE step NOT IN (SELECT step FROM doubled))
SELECT s.kind, s.members, t.ns AS usual_step_ns,
       greatest(CASE WHEN s.kind = 'rank' THEN 0.02 ELSE 0.01 END * t.ns, 5 * 1.4826 / sqrt(2) * coalesce(s.change_ns, 0),
                CASE WHEN s.members >= 4 THEN 5 * 1.4826 * s.ns ELSE 0 END) AS ns
FROM spread s CROSS JOIN one_step t
