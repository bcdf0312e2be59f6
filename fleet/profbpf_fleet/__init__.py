# SPDX-License-Identifier: Apache-2.0
"""Who holds a distributed job back: the SQL of a lake's tables, the engines it runs on, and what is said of the answer."""
