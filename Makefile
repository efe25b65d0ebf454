# SPDX-License-Identifier: Apache-2.0
# A promise: this works in a clean clone on a bare Debian 12. All else is cmake (CONTRIBUTING.md).
.PHONY: test

test:
	@tools/setup.sh test
	@cmake --preset release
	@cmake --build --preset release
	@ctest --preset release
