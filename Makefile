# SPDX-License-Identifier: Apache-2.0
# Two promises: these work in a clean clone on a bare Debian 12. All else is cmake (CONTRIBUTING.md).
.PHONY: demo test
MAKEFLAGS += --no-print-directory

demo:
	@tools/setup.sh build
	@cmake --preset release
	@cmake --build --preset release --target product
	@examples/demo.sh

test:
	@tools/setup.sh test
	@cmake --preset release
	@cmake --build --preset release
	@ctest --preset release
