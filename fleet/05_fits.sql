-- SPDX-License-Identifier: Apache-2.0
-- A line through the differences of each epoch: drift by least squares, offset by median. Differences farther from a
-- first line than six standard deviations (estimated from the median distance) are left out of the second line. The
-- drift is 0 if its standard error is above 50 ppm or its value above 500 ppm: over times as short as that drift does
-- not matter.
WITH first_slopes AS (
  SELECT rank, epoch, CASE WHEN count(*) >= 10 THEN regr_slope(delta, t) ELSE 0 END AS slope
  FROM differences GROUP BY rank, epoch),
first_lines AS (
  SELECT d.rank, d.epoch, max(s.slope) AS slope, median(d.delta - s.slope * d.t) AS shift
  FROM differences d JOIN first_slopes s ON s.rank = d.rank AND s.epoch = d.epoch
  GROUP BY d.rank, d.epoch),
beside AS (
  SELECT d.rank, d.epoch, d.step, d.t, d.delta, abs(d.delta - l.slope * d.t - l.shift) AS off
  FROM differences d JOIN first_lines l ON l.rank = d.rank AND l.epoch = d.epoch),
usual AS (SELECT rank, epoch, 1.4826 * median(off) AS sigma, min(step) AS first_step FROM beside GROUP BY rank, epoch),
kept AS (
  SELECT b.rank, b.epoch, u.first_step, b.t, b.delta, u.sigma
  FROM beside b JOIN usual u ON u.rank = b.rank AND u.epoch = b.epoch
  WHERE b.off <= 6 * u.sigma + 1),
second_slopes AS (
  SELECT rank, epoch, CAST(count(*) AS DOUBLE) AS n, max(sigma) AS sigma, avg(t) AS middle, min(first_step) AS first_step,
         CASE WHEN count(*) >= 10 THEN regr_slope(delta, t) ELSE 0 END AS slope,
         CASE WHEN count(*) >= 10 THEN stddev_samp(t) ELSE 0 END AS spread
  FROM kept GROUP BY rank, epoch),
known AS (
  SELECT rank, epoch, n, sigma, middle, first_step, spread,
         CASE WHEN spread > 0 AND sigma / (spread * sqrt(n)) < 5e-5 AND abs(slope) < 5e-4 THEN slope ELSE 0 END AS drift
  FROM second_slopes)
SELECT k.rank, k.epoch, max(k.n) AS n, max(k.sigma) AS sigma, max(k.middle) AS middle, max(k.spread) AS spread,
       min(k.first_step) AS first_step, max(k.drift) AS drift, median(b.delta - k.drift * b.t) AS shift
FROM known k JOIN kept b ON b.rank = k.rank AND b.epoch = k.epoch
GROUP BY k.rank, k.epoch
