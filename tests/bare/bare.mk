# SPDX-License-Identifier: Apache-2.0
# What needs a Debian of its own, made by mmdebstrap: slow, needs root and a mirror.

# This checkout in a fresh Debian 13: compiled with gcc and clang, unit tests, demo.
test-debian13:
	tests/bare/debian13

.PHONY: test-debian13
