-- SPDX-License-Identifier: Apache-2.0
-- The time of each communicator's transfers in each step beyond the usual time of similar communicators: those with as
-- many ranks, collectives and bytes, in that step if there are at least three of them, else over all steps. A step of a
-- communicator is left out if a rank's rows are missing or present more than once: that rank may have arrived last.
WITH spans AS (SELECT rank, min(step) AS first_step, max(step) AS last_step FROM steps GROUP BY rank),
expected AS (
  SELECT m.communicator, s.first_step, s.last_step, count(*) AS ranks
  FROM members m JOIN spans s ON s.rank = m.rank
  GROUP BY m.communicator, s.first_step, s.last_step),
moved AS (
  SELECT communicator, step, min(ranks) AS ranks, count(*) AS times, sum(bytes) AS bytes,
         sum(greatest(first_end - last_start, 0)) AS ns
  FROM arrivals WHERE step NOT IN (SELECT step FROM doubled)
  GROUP BY communicator, step),
complete AS (
  SELECT m.communicator, m.step, max(m.ranks) AS ranks, max(m.times) AS times, max(m.bytes) AS bytes, max(m.ns) AS ns
  FROM moved m JOIN expected e ON e.communicator = m.communicator AND m.step BETWEEN e.first_step AND e.last_step
  GROUP BY m.communicator, m.step
  HAVING max(m.ranks) > 1 AND max(m.ranks) = sum(e.ranks)),
in_step AS (SELECT step, ranks, times, bytes, count(*) AS alike, median(ns) AS ns FROM complete GROUP BY step, ranks, times, bytes),
ever AS (SELECT ranks, times, bytes, median(ns) AS ns FROM complete GROUP BY ranks, times, bytes)
SELECT c.communicator, c.step, c.ns, c.ns - CASE WHEN s.alike >= 3 THEN s.ns ELSE e.ns END AS more_ns
FROM complete c
JOIN in_step s ON s.step = c.step AND s.ranks = c.ranks AND s.times = c.times AND s.bytes = c.bytes
JOIN ever e ON e.ranks = c.ranks AND e.times = c.times AND e.bytes = c.bytes
