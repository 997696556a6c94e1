# Two commands do everything on Debian 12: `make run` and `make test`. The rest is CMake; see `make help`.
JOBS ?= $(shell nproc)
BUILD ?= build
PREFIX ?= /usr/local
WERROR ?= OFF
SANITIZERS := address thread
sanitizer_dirs := $(SANITIZERS:%=$(BUILD)-%)
# Of `tarn bench`: a first look in three minutes; BENCH_ARGS= for all in about 20, see docs/benchmarks.md.
BENCH_ARGS ?= --quick
# Of tarn compare, which runs the game server.
RUN_ARGS ?=

# Each child's output is its own; a parallel make would only mix them. CMake gets its jobs from JOBS.
.NOTPARALLEL:
.PHONY: lib run compare test test-library test-aarch64 test-sanitizers test-windows check bench build \
        configure setup setup-tests setup-check setup-docs setup-windows build-windows install packages \
        packages-aarch64 deb docs clean help $(sanitizer_dirs)

# The library alone, which needs a compiler and CMake only; in a folder of its own, since the others have all.
lib:
	@scripts/setup.sh --library
	@$(call cmake_configure,$(BUILD)-lib,-DTARN_BUILD_TOOLS=OFF -DTARN_BUILD_BENCH=OFF \
	  -DTARN_BUILD_EXAMPLES=OFF -DTARN_BUILD_TESTS=OFF)
	@cmake --build $(BUILD)-lib -j $(JOBS) --target tarn_malloc_shared
	@echo 'Your program on it: LD_PRELOAD=$(abspath $(BUILD)-lib)/libtarn.so ./your_program'

run: setup configure
	@cmake --build $(BUILD) -j $(JOBS) --target game_server game_bots tarn_malloc_shared tarn_tool
	@scripts/run_game_server.sh $(BUILD) $(RUN_ARGS)

compare: setup configure
	@cmake --build $(BUILD) -j $(JOBS) --target tarn_tool tarn_malloc_shared
	@scripts/run_main_job.sh $(BUILD)

test: setup-tests build
	@scripts/run_tests.py --jobs $(JOBS) $(BUILD)

# What other compilers are tried with: `make test-library CC=clang-16 CXX=clang++-16 BUILD=build-clang-16`.
test-library:
	@scripts/setup.sh --library-tests
	@$(call cmake_configure,$(BUILD)-library,-DTARN_BUILD_TOOLS=OFF -DTARN_BUILD_BENCH=OFF \
	  -DTARN_BUILD_EXAMPLES=OFF -DTARN_BUILD_TESTS=ON)
	@cmake --build $(BUILD)-library -j $(JOBS) --target tarn_malloc_shared unit unit_counted_calls
	@scripts/run_tests.py --jobs $(JOBS) --labels '^unit$$' $(BUILD)-library

# The same, under the usual size classes, and the conformance suite for aarch64, cross-built and run by qemu.
test-aarch64:
	@scripts/setup.sh --aarch64
	@$(call cmake_configure,$(BUILD)-aarch64,-DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake \
	  -DTARN_BUILD_TOOLS=OFF -DTARN_BUILD_BENCH=OFF -DTARN_BUILD_EXAMPLES=OFF -DTARN_BUILD_TESTS=ON)
	@cmake --build $(BUILD)-aarch64 -j $(JOBS) --target unit unit_counted_calls conformance_pool
	@scripts/run_tests.py --jobs $(JOBS) --tests '^(unit[.][^f]|conformance[.]pool$$)' \
	  $(BUILD)-aarch64

test-sanitizers: setup-tests $(sanitizer_dirs)
	@scripts/run_tests.py --jobs $(JOBS) $(sanitizer_dirs)

# The library and its tests as Windows programs, by mingw-w64 and Wine.
windows_build := $(BUILD)-windows
test-windows: setup-windows build-windows
	@scripts/run_tests.py --jobs $(JOBS) $(windows_build)

build-windows: setup-windows
	@$(call cmake_configure,$(windows_build),-DCMAKE_TOOLCHAIN_FILE=cmake/mingw-w64.cmake)
	@cmake --build $(windows_build) -j $(JOBS)

check: setup-check setup-windows build build-windows $(sanitizer_dirs)
	@TARN_LONG_TESTS=1 scripts/run_tests.py --jobs $(JOBS) $(BUILD) $(windows_build) $(sanitizer_dirs)
	@$(MAKE) test-aarch64

bench: setup configure
	@cmake --build $(BUILD) -j $(JOBS) --target tarn_tool tarn_malloc_shared tarn_bench
	@$(BUILD)/tarn bench -o $(BUILD)/bench.json -o $(BUILD)/bench.html $(BENCH_ARGS)
	@echo "Drawn: $(BUILD)/bench.html. Every sample: $(BUILD)/bench.json."

build: setup
	@$(call cmake_configure,$(BUILD),-DTARN_BUILD_TESTS=ON -DTARN_BUILD_EXAMPLES=ON)
	@cmake --build $(BUILD) -j $(JOBS)

# Ninja where there is one; a folder that is configured keeps what it has.
generator = $$(test -f $(1)/CMakeCache.txt || ! command -v ninja >/dev/null || echo -G Ninja)
cmake_configure = cmake -S . -B $(1) $(call generator,$(1)) -DTARN_WERROR=$(WERROR) \
                  -DTARN_COMPILE_TOGETHER=ON $(2) \
                  --log-level=WARNING >/dev/null

# Tests need packages of their own: a new folder gets none, one that has them keeps them.
configure: setup
	@$(call cmake_configure,$(BUILD),-DTARN_BUILD_EXAMPLES=ON \
	  $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DTARN_BUILD_TESTS=OFF))

# ThreadSanitizer of g++ 12 fails on kernels that randomise more than 28 bits of addresses; the build runs
# tests to list them.
thread_wrapper := $(shell setarch -R true 2>/dev/null && echo setarch -R)

$(sanitizer_dirs): $(BUILD)-%: setup
	@$(call cmake_configure,$@,-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-Og -g1" -DTARN_SANITIZE=$* \
	  -DTARN_BUILD_TOOLS=OFF -DTARN_BUILD_BENCH=OFF -DTARN_BUILD_EXAMPLES=ON)
	@$(if $(filter thread,$*),$(thread_wrapper)) cmake --build $@ -j $(JOBS)

# A folder that is configured keeps what it has; a new one gets neither tests nor examples, nor needs their
# packages.
install:
	@scripts/setup.sh --install
	@test -f $(BUILD)/CMakeCache.txt || \
	  $(call cmake_configure,$(BUILD),-DTARN_BUILD_TESTS=OFF -DTARN_BUILD_EXAMPLES=OFF)
	@cmake --build $(BUILD) -j $(JOBS) --target tarn_installed
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig; fi

# Stripped, without benchmarks, which would need the libraries of other allocators; the libraries are made for
# the libc of Debian 11, and are where the systems that take the package look for them.
packages:
	@scripts/setup.sh --packages
	@scripts/sysroot.sh $(sysroot)/libc bullseye $$(dpkg --print-architecture) libc6-dev
	@$(call configure_packages,packages,libc,/usr/local,lib)
	@cmake --build $(BUILD)-packages -j $(JOBS)
	@scripts/make_tarball.sh $(BUILD)-packages
	@$(call configure_packages,packages,libc,/usr,lib64)
	@cd $(BUILD)-packages && cpack -G RPM

# The tarball for another processor, whose archives for the command come from its Debian.
packages-aarch64:
	@scripts/setup.sh --packages-aarch64
	@scripts/sysroot.sh $(sysroot)/libc-arm64 bullseye arm64 libc6-dev
	@scripts/sysroot.sh $(sysroot)/arm64 bookworm arm64 \
	  $$(sed '/^Package/q' packaging/debian/control | grep -o '[a-z0-9-]*-dev')
	@$(call configure_packages,packages-aarch64,libc-arm64,/usr/local,lib \
	  -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/aarch64.cmake -DCMAKE_FIND_ROOT_PATH=$(sysroot)/arm64)
	@cmake --build $(BUILD)-packages-aarch64 -j $(JOBS)
	@scripts/make_tarball.sh $(BUILD)-packages-aarch64
sysroot = $(abspath $(BUILD)-sysroot)
configure_packages = $(call cmake_configure,$(BUILD)-$(1),-DTARN_BUILD_TESTS=OFF -DTARN_BUILD_BENCH=OFF \
                     -DTARN_BUILD_EXAMPLES=OFF -DTARN_SYSROOT=$(sysroot)/$(2) \
                     -DCMAKE_INSTALL_PREFIX=$(3) -DCMAKE_INSTALL_LIBDIR=$(4))

deb:
	@scripts/setup.sh --packages
	@scripts/make_deb.sh $(BUILD)-deb

docs: setup-docs configure
	@cmake --build $(BUILD) -j $(JOBS) --target tarn_tool
	@scripts/options_page.py $(BUILD)/tarn > docs/options.md
	@scripts/benchmark_claims.py
	@scripts/site/build_site.py . $(BUILD)/site
	@echo 'To read the site: python3 -m http.server --directory $(BUILD)/site'

setup:
	@scripts/setup.sh

setup-tests:
	@scripts/setup.sh --tests

setup-check:
	@scripts/setup.sh --check

setup-windows:
	@scripts/setup.sh --windows

setup-docs:
	@scripts/setup.sh --docs

clean:
	rm -rf $(BUILD) $(BUILD)-lib $(BUILD)-library $(BUILD)-aarch64 $(BUILD)-packages $(BUILD)-packages-aarch64 \
	  $(BUILD)-sysroot $(BUILD)-deb $(windows_build) $(sanitizer_dirs)

help:
	@echo 'make lib               build libtarn.so alone, to be preloaded: about a minute'
	@echo 'make run               build, then run the game server on the pools and on every allocator installed'
	@echo 'make compare           build, then run two real programs on tarn and on every allocator installed'
	@echo 'make test              build, then all tests but the long ones; ends with "N passed, N failed"'
	@echo 'make test-library      the library and its unit tests alone, for other systems and compilers'
	@echo 'make test-aarch64      unit and conformance tests for aarch64, cross-built and run by qemu'
	@echo 'make test-sanitizers   the tests under Address- and UndefinedBehaviorSanitizer,' \
	      'then under ThreadSanitizer'
	@echo 'make test-windows      the library and its tests as Windows programs, by mingw-w64 and Wine'
	@echo 'make check             all of these tests, the long ones (pages in a browser too), and a minute of' \
	      'fuzzing for each fuzz target'
	@echo 'make bench             the sources'\'' benchmarks on every allocator, quickly;' \
	      'BENCH_ARGS= for all of it'
	@echo 'make install           into PREFIX=/usr/local; DESTDIR is honoured'
	@echo 'make packages          a tarball and an RPM of what is installed, in $(BUILD)-packages'
	@echo 'make packages-aarch64  the tarball for aarch64, in $(BUILD)-packages-aarch64'
	@echo 'make deb               Debian packages of what is committed, in $(BUILD)-deb'
	@echo 'make docs              write anew what is generated: docs/options.md,' \
	      'the figures of the benchmarks in prose,' \
	      'and the site of the documentation in BUILD/site'
	@echo 'make clean             remove what was built'
	@echo 'Missing packages are installed when you are root or may use sudo without a password.'
	@echo 'Variables: JOBS=N, BUILD=DIR, PREFIX=DIR, WERROR=ON, BENCH_ARGS="...", RUN_ARGS="...";' \
	      'CC and CXX before the first build.'
