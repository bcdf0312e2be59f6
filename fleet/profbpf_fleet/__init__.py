# SPDX-License-Identifier: Apache-2.0
"""Finds which ranks hold a distributed job back: SQL over a lake's tables, the engines that run it, and the answer in words."""
