-- SPDX-License-Identifier: Apache-2.0
-- Each rank's own time in each step, and its excess over the usual own time in that step: the median over all ranks,
-- times the usual ratio of the rank's role to that median (over all steps except those that any rank has more than
-- once; if at least three ranks have the role). Own time is the step without exposed communication (collectives that no
-- other task hides) and without idle time that ends with a message from another host (cause network), which is waiting
-- for other ranks.
WITH elsewhere AS (SELECT rank, step, sum(ns) AS ns FROM idle WHERE cause = 'network' GROUP BY rank, step),
own AS (
  SELECT s.rank, s.host, s.step, r.role, CAST(s.step_ns AS DOUBLE) AS step_ns, CAST(s.compute_ns AS DOUBLE) AS compute_ns,
         CAST(s.idle_ns - coalesce(e.ns, 0) AS DOUBLE) AS idle_ns,
         CAST(greatest(s.step_ns - s.exposed_communication_ns - coalesce(e.ns, 0), 1) AS DOUBLE) AS own_ns
  FROM (SELECT rank, max(host) AS host, step, sum(step_ns) AS step_ns, sum(coalesce(compute_ns, 0)) AS compute_ns,
               sum(coalesce(exposed_communication_ns, 0)) AS exposed_communication_ns, sum(coalesce(idle_ns, 0)) AS idle_ns
        FROM steps GROUP BY rank, step) s
  JOIN roles r ON r.rank = s.rank
  LEFT JOIN elsewhere e ON e.rank = s.rank AND e.step = s.step),
of_all AS (
  SELECT step, median(step_ns) AS step_ns, median(own_ns) AS own_ns, median(compute_ns) AS compute_ns, median(idle_ns) AS idle_ns
  FROM own GROUP BY step),
of_role AS (
  SELECT role, step, count(*) AS ranks, median(own_ns) AS own_ns, median(compute_ns) AS compute_ns
  FROM own WHERE step NOT IN (SELECT step FROM doubled)
  GROUP BY role, step),
shares AS (
  SELECT r.role, CASE WHEN max(r.ranks) >= 3 THEN median(r.own_ns / a.own_ns) ELSE 1 END AS own,
         CASE WHEN max(r.ranks) >= 3 THEN median(r.compute_ns / greatest(a.compute_ns, 1)) ELSE 1 END AS compute
  FROM of_role r JOIN of_all a ON a.step = r.step
  GROUP BY r.role)
SELECT w.rank, w.host, w.step, n.i, n.block, a.step_ns AS usual_step_ns, w.own_ns,
       w.own_ns - a.own_ns * coalesce(h.own, 1) AS more_ns,
       w.compute_ns - a.compute_ns * coalesce(h.compute, 1) AS more_compute_ns,
       w.idle_ns - a.idle_ns AS more_idle_ns
FROM own w
LEFT JOIN shares h ON h.role = w.role
JOIN of_all a ON a.step = w.step
JOIN numbered n ON n.step = w.step
