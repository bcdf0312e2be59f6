-- SPDX-License-Identifier: Apache-2.0
-- Who is in which communicator, and in how many steps.
SELECT communicator, rank, count(*) AS steps, min(step) AS first_step, max(step) AS last_step
FROM collectives
WHERE sequence = 0
GROUP BY communicator, rank
