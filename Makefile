# pg_epsilon: build, install, test, demo.  `make help` lists the targets.

# DATA=/path, of whoever calls: where real tables are.  PGXS has another use for the name.
REAL_DATA := $(DATA)
unexport DATA

EXTENSION  = pg_epsilon
MODULE_big = pg_epsilon
override DATA = $(wildcard sql/$(EXTENSION)--*.sql)

# ---- What is built: every src/<room>/*.c ----

# The rooms that never see PostgreSQL's headers and flags; all others are the server's.
PURE_ROOMS = base domain workload optimum strategy published methods glm affine accumulator accounting noise fit minimum counts plan

# ---- What is tested: everything is found by its name ----
#   sql/<name>.sql with expected/<name>.out; test/isolation/specs/<name>.spec with expected/<name>.out beside it;
#   test/unit/test_*.c, test/t/*.pl, test/t_long/*.pl, test/bench/*, test/mutations/*.patch

REGRESS    = $(patsubst sql/%.sql,%,$(sort $(filter-out sql/$(EXTENSION)--%,$(wildcard sql/*.sql))))
ISOLATION  = $(patsubst test/isolation/specs/%.spec,%,$(sort $(wildcard test/isolation/specs/*.spec)))

# What is fuzzed: test/fuzz/fuzz_<name>.c, or test/fuzz/server_<name>.pl, which works on a private
# server; its seeds test/fuzz/corpus/<name>/* (those called *.hex are written in hexadecimal) and,
# if there is one, test/fuzz/<name>.dict.
FUZZ       = $(sort $(patsubst test/fuzz/fuzz_%.c,%,$(wildcard test/fuzz/fuzz_*.c)) $(FUZZ_SERVER))

# ---- Settings ----

comma := ,

# make WERROR= builds with a compiler that knows more warnings than ours did.
WERROR ?= -Werror
# LAX=1: warnings are no errors, and nothing is built again for that: a mutation may leave a variable unused.
LAX_FLAGS  = $(if $(LAX),-Wno-error)

# COVERAGE=1: for scripts/measure.sh, which counts what a request runs.
COVERAGE_FLAGS = $(if $(COVERAGE),--coverage -fno-inline)

OPT_FLAGS  = -O2 -g $(COVERAGE_FLAGS) -Wall -Wextra $(WERROR) -ffp-contract=off -Wno-declaration-after-statement -ffunction-sections -fdata-sections

# OpenBLAS and LAPACKE.  Debian lets an alternative choose between the serial and the threaded OpenBLAS, and
# another one between their BLAS and LAPACK.  A server process must not have threads, so the serial one is
# linked by its own directory.  An rpath of the old kind also holds for what LAPACKE asks for.
SERIAL_BLAS := $(wildcard /usr/lib/$(shell $(CC) -print-multiarch 2>/dev/null)/openblas-serial)
BLAS_LIBS  ?= $(if $(SERIAL_BLAS),-L$(SERIAL_BLAS) $(BLAS_RPATH)) $(BLAS_NAMES)
BLAS_RPATH  = -Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)$(SERIAL_BLAS)
BLAS_NAMES  = -llapacke -lopenblas
# STATIC_BLAS=1: both inside the library, for a server whose system has neither (docker/Dockerfile.extension).
ifdef STATIC_BLAS
BLAS_RPATH  =
BLAS_NAMES  = -Wl,-Bstatic -llapacke -lopenblas -Wl,-Bdynamic,--exclude-libs,ALL,--gc-sections
FORTRAN_OBJ = build/obj/docker/fortran.o
endif
# Where a distribution keeps their headers apart, that directory is searched.
BLAS_FLAGS ?= $(addprefix -isystem ,$(firstword $(wildcard /usr/include/openblas)) $(firstword $(wildcard /usr/include/lapacke)))

# Rooms of PURE_ROOMS are plain C11 and never see PostgreSQL's headers or flags.  Their symbols
# are hidden: the server loads every module into one global name space.
# With a server that has a sanitizer they are built with it, too.
PURE_FLAGS = -std=c11 $(OPT_FLAGS) $(filter -fsanitize=%,$(CFLAGS)) -fPIC -fvisibility=hidden -fstack-protector-strong -Isrc $(BLAS_FLAGS)

# The other rooms: gnu11, not c11, because the server's headers use the keyword typeof
# (copyObject in nodes/nodes.h), which strict c11 does not have.
PG_ROOM_FLAGS = -std=gnu11 $(OPT_FLAGS) -Wno-unused-parameter -Wno-sign-compare -Isrc

# Unit tests and benchmarks: PURE_ROOMS and test/unit/shim.c, no server.
# cmocka 2 has new names for some assertions, which cmocka 1 does not know.
TEST_FLAGS = -std=gnu11 $(OPT_FLAGS) -Wno-unused-parameter -Wno-deprecated-declarations -Isrc -Itest/unit $(BLAS_FLAGS)
# The loops over the rows of a model and of tables, and of the search under L1: the compiler makes vectors of them
# only with these, which change no value.
LOOP_SRCS  = kernel rows pass unit_clip p_identity lbfgs continual_band tables sums
LOOP_FLAGS = -O3 -fno-math-errno -fno-trapping-math
OWN_FLAGS  = $(if $(filter $(notdir $*),$(LOOP_SRCS)),$(LOOP_FLAGS))

SANITIZE   = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# Fuzzing needs clang, for its libFuzzer.  Warnings are the other compiler's matter.
FUZZ_CC       ?= clang
FUZZ_SANITIZE  = -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_FLAGS     = -std=gnu11 -O1 -g -ffp-contract=off -Isrc -Itest/unit $(BLAS_FLAGS)

# ---- Derived ----

PURE_SRCS = $(sort $(foreach room,$(PURE_ROOMS),$(wildcard src/$(room)/*.c)))
PG_SRCS   = $(filter-out $(PURE_SRCS),$(sort $(wildcard src/*/*.c)))
PURE_OBJS = $(PURE_SRCS:%.c=build/obj/%.o)
SAN_OBJS  = $(PURE_SRCS:%.c=build/san/%.o)
PG_OBJS   = $(PG_SRCS:%.c=build/obj/%.o)
OBJS      = $(PURE_OBJS) $(filter-out $(WORKER_OBJ),$(PG_OBJS)) $(FORTRAN_OBJ)
# object NAME: it, in the room where its source is
object     = $(filter %/$(1).o,$(PG_OBJS))
WORKER_OBJ = $(call object,worker_module)
WORKER_MAP = $(wildcard src/*/worker_module.map)
WORKER_LIB = pg_epsilon_worker.so
EXTRA_CLEAN = $(WORKER_LIB)

UNIT_SRCS   = $(sort $(wildcard test/unit/test_*.c))
UNIT_SHIM   = $(wildcard test/unit/shim.c)
UNIT_TESTS  = $(UNIT_SRCS:test/unit/%.c=build/unit/%)
UNIT_SAN    = $(UNIT_SRCS:test/unit/%.c=build/unit-san/%)
FUZZ_OBJS   = $(PURE_SRCS:%.c=build/fuzz/obj/%.o) $(UNIT_SHIM:%.c=build/fuzz/obj/%.o)
FUZZ_SERVER = $(patsubst test/fuzz/server_%.pl,%,$(wildcard test/fuzz/server_*.pl))
REPLAY_BINS = $(patsubst %,build/replay/fuzz_%,$(filter-out $(FUZZ_SERVER),$(FUZZ)))
FUZZ_BINS   = $(patsubst %,build/fuzz/fuzz_%,$(filter-out $(FUZZ_SERVER),$(FUZZ)))
BENCH_SRCS  = $(sort $(wildcard test/bench/bench_*.c))
BENCH_BINS  = $(BENCH_SRCS:test/bench/%.c=build/bench/%)
AUDIT_BIN   = build/audit/audit
DOOR_BIN    = build/audit/door
DOOR_FAULTS = build/audit/pg_epsilon_steps.so build/audit/pg_epsilon_floats.so
ACCURACY_BIN = build/accuracy/accuracy
REPRODUCE_SRCS = $(sort $(wildcard test/reproduce/*.c))
REPRODUCE_BINS = $(REPRODUCE_SRCS:test/reproduce/%.c=build/reproduce/%)

TAP_TESTS    = $(if $(wildcard test/t/*.pl),1)
PROVE_TESTS  = test/t/*.pl
ISOLATION_OPTS = --inputdir=test/isolation --outputdir=output_iso

SHLIB_LINK  += $(BLAS_LIBS) -lm $(COVERAGE_FLAGS)
# Our own references stay in our own module, whatever other modules export.
ifeq ($(shell uname -s),Linux)
SHLIB_LINK  += -Wl,-Bsymbolic
endif

# The C compiler of the rooms without PostgreSQL.
PURE_CC := $(CC)

ifndef PG_CONFIG
PG_CONFIG := $(shell scripts/pg_config.sh 2>/dev/null)
endif
PGXS := $(if $(PG_CONFIG),$(shell $(PG_CONFIG) --pgxs 2>/dev/null))
ifeq ($(wildcard $(PGXS)),)
override undefine PGXS
endif

# PGXS has a target "check" of its own, which only says that it is not supported.  So it is
# read unless all goals are ours; ours call make again for what they need from it.
OUR_GOALS = help dist deps deps-build quick check check-ci check-long check-settings check-layers check-sanitize mutate fuzz demo demo-stop bench bench-builds audit audit-door load \
	accuracy reproduce-models reproduce-piecewise reproduce-strategies reproduce-large reproduce-quantiles reproduce-continual accuracy-binary reproduce-binaries unit-binaries unit-san-binaries bench-binaries \
	audit-binary fuzz-binaries replay-binaries clean-private majors package check-packages syntax
EXTENSION_GOALS = $(filter-out $(OUR_GOALS),$(or $(MAKECMDGOALS),all))

.DEFAULT_GOAL := all

ifneq ($(EXTENSION_GOALS),)
ifdef PGXS
override with_llvm = no
include $(PGXS)
override CFLAGS := $(filter-out -flto% -ffat-lto-objects,$(CFLAGS))
override LDFLAGS := $(filter-out -flto% -ffat-lto-objects,$(LDFLAGS))
all: $(WORKER_LIB)
install: install-worker
install-worker: $(WORKER_LIB) installdirs
	$(INSTALL_SHLIB) $(WORKER_LIB) '$(DESTDIR)$(pkglibdir)/'
uninstall: uninstall-worker
uninstall-worker:
	rm -f '$(DESTDIR)$(pkglibdir)/$(WORKER_LIB)'
clean: clean-private
else
.PHONY: all install uninstall installcheck clean
all install uninstall installcheck:
	@echo "No PostgreSQL server with server headers found. Run scripts/deps.sh to install one, or set PG_CONFIG=/path/to/pg_config." >&2; exit 1
clean: clean-private
endif
endif

# ---- Objects.  A change of flags or of PostgreSQL rebuilds; -MMD tracks the headers. ----

FLAG_FILES = build/flags.pure build/flags.san build/flags.pg build/flags.fuzz
build/flags.pure: FLAGS_NOW = $(PURE_CC) $(PURE_FLAGS) $(LOOP_FLAGS) $(LINK_UNIT)
build/flags.san:  FLAGS_NOW = $(PURE_CC) $(PURE_FLAGS) $(LOOP_FLAGS) $(LINK_UNIT) $(SANITIZE)
build/flags.fuzz: FLAGS_NOW = $(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_SANITIZE)
build/flags.pg:   FLAGS_NOW = $(VERSION) $(CC) $(CFLAGS) $(PG_ROOM_FLAGS) $(CPPFLAGS)

.PHONY: FORCE
FORCE:
$(FLAG_FILES): FORCE
	@mkdir -p build
	@echo '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS_NOW))' >$@

$(PURE_OBJS) $(FORTRAN_OBJ): build/obj/%.o: %.c build/flags.pure
	@mkdir -p $(@D)
	$(PURE_CC) $(PURE_FLAGS) $(OWN_FLAGS) $(LAX_FLAGS) -MMD -MP -c -o $@ $<

$(SAN_OBJS): build/san/%.o: %.c build/flags.san
	@mkdir -p $(@D)
	$(PURE_CC) $(PURE_FLAGS) $(OWN_FLAGS) $(SANITIZE) -MMD -MP -c -o $@ $<

$(PG_OBJS): build/obj/%.o: %.c build/flags.pg
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(PG_ROOM_FLAGS) $(CPPFLAGS) $(LAX_FLAGS) -MMD -MP -c -o $@ $<

# The rooms of the server against other headers (HEADERS=-I...), without objects: for scripts/majors.sh.
SYNTAX = $(addprefix syntax/,$(PG_SRCS) $(filter-out test/server/fault_%,$(wildcard test/server/*.c)))
.PHONY: syntax $(SYNTAX)
syntax: $(SYNTAX)
$(SYNTAX): syntax/%:
	$(PURE_CC) $(PG_ROOM_FLAGS) -Wmissing-prototypes -D_GNU_SOURCE -fsyntax-only $(HEADERS) $*

# What the ledger's worker needs and no more: to load linear algebra takes longer than to start the process.  A sanitizer keeps what nothing uses.
$(WORKER_LIB): $(WORKER_OBJ) $(filter-out $(call object,module),$(OBJS)) $(WORKER_MAP)
	$(CC) $(CFLAGS) $(CFLAGS_SL) $(LDFLAGS) -shared $(COVERAGE_FLAGS) -o $@ $(filter %.o,$^) -Wl,--gc-sections -Wl,--version-script=$(WORKER_MAP) $(if $(filter -fsanitize=%,$(CFLAGS)),$(BLAS_LIBS)) -lm

build/libpure.a: $(PURE_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

build/libpure-san.a: $(SAN_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

LINK_TEST = $(PURE_CC) $(TEST_FLAGS)
# Their own code runs for a moment: to optimise it takes longer.
LINK_UNIT = $(LINK_TEST) -O0 -Wno-format-truncation

$(UNIT_TESTS): build/unit/%: test/unit/%.c $(UNIT_SHIM) build/libpure.a build/flags.pure
	@mkdir -p $(@D)
	$(LINK_UNIT) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(UNIT_SHIM) build/libpure.a -lcmocka $(BLAS_LIBS) -lm

$(UNIT_SAN): build/unit-san/%: test/unit/%.c $(UNIT_SHIM) build/libpure-san.a build/flags.san
	@mkdir -p $(@D)
	$(LINK_UNIT) $(SANITIZE) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(UNIT_SHIM) build/libpure-san.a -lcmocka $(BLAS_LIBS) -lm

$(BENCH_BINS): build/bench/%: test/bench/%.c $(UNIT_SHIM) build/libpure.a build/flags.pure
	@mkdir -p $(@D)
	$(LINK_TEST) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(BENCH_SHIM) build/libpure.a $(BLAS_LIBS) -lm

# Server functions for tests, and what some settings need: built for the private server of `make check`, never installed.
TEST_MODULES = build/test/pg_epsilon_test.so build/test/pg_epsilon_settings.so build/test/pg_epsilon_noise.so build/test/pg_epsilon_hooks.so build/test/pg_epsilon_clock.so
TEST_MODULE_LINK = $(CC) $(CFLAGS) $(PG_ROOM_FLAGS) $(CPPFLAGS) $(CFLAGS_SL) -MMD -MP -MT $@ -MF $@.d -shared -o $@ $<
TEST_OBJS = $(call object,shim) $(call object,offset_value)
.PHONY: test-modules
test-modules: $(TEST_MODULES)
build/test/pg_epsilon_test.so: test/server/pg_epsilon_test.c $(TEST_OBJS) build/libpure.a build/flags.pg
	@mkdir -p $(@D)
	$(TEST_MODULE_LINK) $(TEST_OBJS) build/libpure.a $(SHLIB_LINK)

build/test/pg_epsilon_settings.so build/test/pg_epsilon_hooks.so build/test/pg_epsilon_clock.so: build/test/%.so: test/server/%.c build/flags.pg
	@mkdir -p $(@D)
	$(TEST_MODULE_LINK)

$(FUZZ_OBJS): build/fuzz/obj/%.o: %.c build/flags.fuzz
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_SANITIZE:-fsanitize=fuzzer,%=-fsanitize=fuzzer-no-link,%) -MMD -MP -c -o $@ $<

build/fuzz/libpure.a: $(FUZZ_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

$(FUZZ_BINS): build/fuzz/%: test/fuzz/%.c build/fuzz/libpure.a build/flags.fuzz
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_SANITIZE) -MMD -MP -MT $@ -MF $@.d -o $@ $< build/fuzz/libpure.a $(BLAS_LIBS) -lm

# The same without clang: only what is known is tried.
$(REPLAY_BINS): build/replay/%: test/fuzz/%.c test/fuzz/replay.c $(UNIT_SHIM) build/libpure-san.a build/flags.san
	@mkdir -p $(@D)
	$(LINK_TEST) $(SANITIZE) -MMD -MP -MT $@ -MF $@.d -o $@ $< test/fuzz/replay.c $(UNIT_SHIM) build/libpure-san.a $(BLAS_LIBS) -lm

$(AUDIT_BIN): test/audit/audit.c $(UNIT_SHIM) build/libpure.a build/flags.pure
	@mkdir -p $(@D)
	$(LINK_TEST) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(UNIT_SHIM) build/libpure.a $(BLAS_LIBS) -lm

$(DOOR_BIN): test/audit/door.c $(UNIT_SHIM) build/libpure.a build/flags.pure
	@mkdir -p $(@D)
	$(LINK_TEST) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(UNIT_SHIM) build/libpure.a $(BLAS_LIBS) -lm

build/test/pg_epsilon_noise.so: test/server/fault_noise.c $(OBJS) build/flags.pg
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(PG_ROOM_FLAGS) $(CPPFLAGS) $(CFLAGS_SL) -MMD -MP -MT $@ -MF $@.d -shared -o $@ $< $(OBJS) \
		-Wl,--wrap=pe_gaussian_release $(SHLIB_LINK)

# The extension with a fault in the place of its Gaussian noise, for the private server of the audit, never installed.
$(DOOR_FAULTS): build/audit/pg_epsilon_%.so: test/audit/fault_%.c $(OBJS) build/flags.pg
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(PG_ROOM_FLAGS) $(CPPFLAGS) $(CFLAGS_SL) -MMD -MP -MT $@ -MF $@.d -shared -o $@ $< $(OBJS) \
		-Wl,--wrap=pe_gaussian_release $(SHLIB_LINK)

# What measures accuracy: tables and trials, which the programs of test/reproduce use too.
TRIALS = test/accuracy/dataset.c test/accuracy/trial.c test/accuracy/synthetic.c
TRIAL_OBJS = $(TRIALS:%.c=build/obj/%.o)

$(TRIAL_OBJS): build/obj/%.o: %.c build/flags.pure
	@mkdir -p $(@D)
	$(PURE_CC) $(TEST_FLAGS) -MMD -MP -c -o $@ $<

$(ACCURACY_BIN): test/accuracy/accuracy.c $(TRIAL_OBJS) $(UNIT_SHIM) build/libpure.a build/flags.pure
	@mkdir -p $(@D)
	$(LINK_TEST) -Itest/accuracy -MMD -MP -MT $@ -MF $@.d -o $@ $< $(TRIAL_OBJS) $(UNIT_SHIM) build/libpure.a $(BLAS_LIBS) -lm

# What the experiments on strategies are made of, besides their program.
STRATEGIES = $(wildcard test/reproduce/strategies/*.c)
STRATEGY_OBJS = $(STRATEGIES:%.c=build/obj/%.o)

$(STRATEGY_OBJS): build/obj/%.o: %.c build/flags.pure
	@mkdir -p $(@D)
	$(PURE_CC) $(TEST_FLAGS) -Itest/accuracy -MMD -MP -c -o $@ $<

build/reproduce/strategies: TRIAL_OBJS += $(STRATEGY_OBJS)
build/reproduce/strategies: $(STRATEGY_OBJS)

$(REPRODUCE_BINS): build/reproduce/%: test/reproduce/%.c $(TRIAL_OBJS) $(UNIT_SHIM) build/libpure.a build/flags.pure
	@mkdir -p $(@D)
	$(LINK_TEST) -Itest/accuracy -MMD -MP -MT $@ -MF $@.d -o $@ $< $(TRIAL_OBJS) $(UNIT_SHIM) build/libpure.a $(BLAS_LIBS) -lm

# The sampler is measured with the server's own random source, if there are headers for it.
BENCH_SHIM = $(UNIT_SHIM)
build/bench/bench_sampler: BENCH_SHIM = $(if $(shell $(PURE_CC) -E -x c -include openssl/rand.h /dev/null >/dev/null 2>&1 && echo yes),-DPE_BENCH_OPENSSL -lcrypto,$(UNIT_SHIM))

# What a fit spends is counted by standing between a method and the noise.
build/unit/test_fit_newton build/unit-san/test_fit_newton: UNIT_SHIM := $(UNIT_SHIM) -Wl,--wrap=pe_gaussian_release,--wrap=pe_laplace_release
build/unit/test_plan build/unit-san/test_plan: UNIT_SHIM := $(UNIT_SHIM) -Wl,--wrap=pe_gaussian_release,--wrap=pe_laplace_release,--wrap=pe_gaussian_release_rounded,--wrap=pe_laplace_release_rounded
build/unit/test_plan_series build/unit-san/test_plan_series: UNIT_SHIM := $(UNIT_SHIM) -Wl,--wrap=pe_gaussian_release,--wrap=pe_gaussian_release_rounded
build/unit/test_fit_search build/unit-san/test_fit_search: UNIT_SHIM := $(UNIT_SHIM) -Wl,--wrap=pe_gaussian_release,--wrap=pe_select_least
build/unit/test_quantile_select build/unit-san/test_quantile_select: UNIT_SHIM := $(UNIT_SHIM) -Wl,--wrap=pe_draw_from_runs
build/unit/test_units build/unit-san/test_units build/unit/test_rows build/unit-san/test_rows: UNIT_SHIM := $(UNIT_SHIM) -Wl,--wrap=pe_siphash
build/unit/test_minimum build/unit-san/test_minimum: UNIT_SHIM := $(UNIT_SHIM) -Wl,--wrap=pe_cube_release,--wrap=pe_laplace_release,--wrap=pe_gaussian_release,--wrap=pe_select_least,--wrap=pe_select_exponential

# Linear programmes are compared with GLPK's, where it is.
build/unit/test_programme build/unit-san/test_programme: BLAS_LIBS += $(if $(shell $(PURE_CC) -E -x c -include glpk.h /dev/null >/dev/null 2>&1 && echo yes),-lglpk)

# The optimum's gap is followed by standing between the solver and the shim.
build/reproduce/strategies: UNIT_SHIM := $(UNIT_SHIM) -Wl,--wrap=pe_progress

# Memory is measured by standing between the solver and the shim.
build/bench/bench_optimum: BENCH_SHIM = $(UNIT_SHIM) -Wl,--wrap=pe_alloc,--wrap=pe_free

-include $(wildcard $(OBJS:.o=.d) $(SAN_OBJS:.o=.d) $(FUZZ_OBJS:.o=.d) \
	$(addsuffix .d,$(UNIT_TESTS) $(UNIT_SAN) $(BENCH_BINS) $(AUDIT_BIN) $(DOOR_BIN) $(DOOR_FAULTS) $(ACCURACY_BIN) $(FUZZ_BINS) $(REPLAY_BINS) $(REPRODUCE_BINS)) $(TRIAL_OBJS:.o=.d) $(STRATEGY_OBJS:.o=.d))

.PHONY: unit-binaries unit-san-binaries bench-binaries audit-binary door-binaries accuracy-binary fuzz-binaries replay-binaries reproduce-binaries
unit-binaries: $(UNIT_TESTS)
unit-san-binaries: $(UNIT_SAN)
bench-binaries: $(BENCH_BINS)
audit-binary: $(AUDIT_BIN)
door-binaries: $(DOOR_BIN) $(DOOR_FAULTS)
accuracy-binary: $(ACCURACY_BIN)
reproduce-binaries: $(REPRODUCE_BINS)
fuzz-binaries: $(FUZZ_BINS)
replay-binaries: $(REPLAY_BINS)

# ---- Targets for people ----

# Programs look in ../shared/data where they are not told.
WITH_DATA = $(if $(REAL_DATA),DATA='$(REAL_DATA)')

.PHONY: help dist deps deps-build check-layers demo demo-stop bench bench-builds audit audit-door load accuracy pictures reproduce-models reproduce-piecewise reproduce-strategies reproduce-large reproduce-quantiles reproduce-continual clean-private
help:
	@echo "make               build pg_epsilon.so and pg_epsilon_worker.so (needs a PostgreSQL 15 to 18 with server headers)"
	@echo "make install       install it into that PostgreSQL (PG_CONFIG=/path/to/pg_config chooses another)"
	@echo "make demo          install what is missing, build, start a private server under build/, run demo/run.sh"
	@echo "make demo-stop     stop that server and remove its data"
	@echo "make quick         build; check-layers, the unit tests with few samples, regress tests: a minute or two"
	@echo "make check         install what is missing, build, run all tests on a private copy of the server, the unit tests with sanitizers too: minutes"
	@echo "make check-ci      make check, then the fuzzers' seeds without fuzzing, mutations of files that have changed since a commit (BASE=commit), ten seconds of load"
	@echo "make check-long    make check, then regress and isolation tests with all of check-settings, the unit tests under valgrind, 30 seconds of each fuzzer, a short audit, a short audit through the door, ten seconds of load, samples of accuracy, of reproduce-piecewise, reproduce-strategies and reproduce-quantiles, reproduce-large, reproduce-continual, every mutation that is not rare, and the long runs"
	@echo "make check-settings  regress, isolation and TAP tests with the library preloaded, with parallel workers, with jit, read only, and with all of it"
	@echo "make check-sanitize  the unit tests under valgrind, and with the address and undefined behaviour sanitizers"
	@echo "make majors        make check on every major of PostgreSQL that the machine has, or a root that scripts/majors.sh root RELEASE made (MAJORS='17 18', GOAL=quick, ONLY, TESTS)"
	@echo "make mutate        break what privacy relies on, one thing at a time, and see a test fail for each (MUTATIONS='name ...')"
	@echo "make pictures      draw the pictures of the README"
	@echo "make fuzz          feed random bytes to what reads bytes, 10 minutes each (FUZZ_SECONDS=n, FUZZ='name ...')"
	@echo "make audit         bound by draws what the mechanisms lose between neighbouring tallies (AUDIT_DRAWS=n, default 10^7; AUDIT_ONLY=selection: that alone, and slow ones too with all the draws)"
	@echo "make audit-door    the same for what an analyst sees of neighbouring tables, against what the ledger charged (DOOR_RELEASES=n, default 20000)"
	@echo "make load          sixteen clients ask while backends and the ledger's worker are killed, and what they saw is held against the ledger (LOAD_SECONDS=n, default 60; LOAD_PRELOAD=0)"
	@echo "make accuracy      how good the private models are, against trusted figures, on ../shared/data (DATA=/path)"
	@echo "make reproduce-models  repeat the papers' experiments on private models, compare and draw them (RUNS=n, default 20: half an hour or more; TESTS='kuru dpagd')"
	@echo "make reproduce-piecewise  repeat the paper's experiments on piecewise affine objectives, compare and draw them (DRAWS=n, default 1000: four minutes)"
	@echo "make reproduce-strategies  repeat the paper's experiments on strategies, compare and draw them (LIMIT=n, default 120: seconds for a point; JOBS=n, default 2; hours; goes on where it was stopped)"
	@echo "make reproduce-large  errors for many attributes beside those of two published programs (seconds)"
	@echo "make reproduce-continual  errors of running totals on one budget, beside trees, periods added up and the budget split, as table and picture (seconds)"
	@echo "make reproduce-quantiles  rank errors of quantiles beside those of two published mechanisms (RUNS=n, default 20: a minute)"
	@echo "make check-layers  check who includes whom, the compiler flags, the install script and that no test lacks its other half"
	@echo "make bench         run the benchmarks of test/bench"
	@echo "make bench-builds  scans, latency and SELECTs of another build (OLD=commit or OLD=/checkout) beside those of this one, in turn, and whether this one is slower (PAIRS=n, default 20: ten minutes)"
	@echo "make twin          the same random requests, with the same random bytes, to another build (OLD=commit) and to this one: nothing may differ (REQUESTS=n, default 10000; SEED=n)"
	@echo "make deps          install what building and testing need (deps-build: building only)"
	@echo "make dist          the last commit as an archive for PGXN, build/pg_epsilon-VERSION.zip"
	@echo "make package       Debian packages, built in clean roots of releases of Debian, in build/packages/RELEASE (as root; RELEASES='bookworm trixie')"
	@echo "make check-packages  the same, then lintian, autopkgtest, and installed over itself beside a server with a ledger"
	@echo "make clean         remove build/ and whatever else was built; stops the demo's server"
	@echo
	@echo "Settings: PG_CONFIG=/path/to/pg_config, JOBS=n (parallel tests), WERROR= (warnings are not errors),"
	@echo "ONLY='unit regress tap ...' (make check: these suites only), TESTS='name ...' (these regress, isolation, unit or TAP tests only),"
	@echo "SETTINGS='preloaded parallel jit readonly' (make check: the servers of tests get test/settings/<name>.conf)"

# What PGXN takes: the last commit, under the name and version of META.json.
DIST = $(EXTENSION)-$(shell sed -n 's/^   "version": "\(.*\)",$$/\1/p' META.json)
dist:
	@mkdir -p build
	git archive --format zip --prefix=$(DIST)/ -o build/$(DIST).zip HEAD

deps:
	@scripts/deps.sh test

deps-build:
	@scripts/deps.sh build

export REGRESS ISOLATION FUZZ FUZZ_SECONDS PURE_SRCS PG_SRCS ONLY TESTS SETTINGS JOBS GOAL

ifneq ($(filter check,$(MAKECMDGOALS)),)
.PHONY: check
check: deps
	@scripts/check.sh
endif

.PHONY: quick check-ci
quick: deps
	@scripts/check.sh quick

check-ci: deps
	@scripts/check.sh ci

ifneq ($(filter check-long,$(MAKECMDGOALS)),)
.PHONY: check-long
check-long: deps
	@$(WITH_DATA) scripts/check.sh long
endif

ifneq ($(filter check-settings,$(MAKECMDGOALS)),)
.PHONY: check-settings
check-settings: deps
	@scripts/check.sh settings
endif

ifneq ($(filter check-sanitize,$(MAKECMDGOALS)),)
.PHONY: check-sanitize
check-sanitize: deps
	@ONLY="sanitize valgrind" scripts/check.sh long
endif

.PHONY: majors
majors:
	@scripts/majors.sh $(MAJORS)

.PHONY: mutate
mutate: deps
	@scripts/mutate.sh $(MUTATIONS)

.PHONY: fuzz
fuzz:
	@scripts/deps.sh test
	@scripts/deps.sh fuzz
	@scripts/fuzz.sh

RELEASES ?= bookworm trixie

.PHONY: package check-packages
package:
	@scripts/packages.sh build $(RELEASES)

check-packages:
	@scripts/packages.sh check $(RELEASES)

check-layers:
	@scripts/check_layers.sh

demo: deps-build
	@scripts/demo.sh start

demo-stop:
	@scripts/demo.sh stop

bench: deps
	@$(WITH_DATA) scripts/bench.sh

bench-builds: deps
	@OLD='$(OLD)' PAIRS='$(PAIRS)' scripts/bench_builds.sh

twin: deps
	@OLD='$(OLD)' REQUESTS='$(REQUESTS)' SEED='$(SEED)' FROM='$(FROM)' scripts/twin.sh
.PHONY: twin

AUDIT_DRAWS ?= 10000000

audit: deps
	@$(MAKE) -s --no-print-directory audit-binary
	@$(AUDIT_BIN) $(AUDIT_DRAWS) $(AUDIT_ONLY)

audit-door: deps
	@ONLY=long TESTS=audit_door NOTES=1 DOOR_RELEASES=$(or $(DOOR_RELEASES),20000) scripts/check.sh long

load: deps
	@ONLY=long TESTS=load NOTES=1 LOAD_SECONDS=$(or $(LOAD_SECONDS),60) scripts/check.sh long

accuracy: deps
	@$(MAKE) -s --no-print-directory accuracy-binary
	@$(WITH_DATA) $(ACCURACY_BIN)

RUNS ?= 20

reproduce-models: deps
	@scripts/deps.sh pictures
	@$(WITH_DATA) TESTS="$(or $(TESTS),kuru dpagd)" scripts/reproduce.sh $(RUNS)

DRAWS ?= 1000

reproduce-piecewise: deps
	@scripts/deps.sh pictures
	@TESTS=piecewise scripts/reproduce.sh $(DRAWS)

reproduce-strategies: deps
	@scripts/deps.sh pictures
	@$(WITH_DATA) TESTS=strategies scripts/reproduce.sh

reproduce-large: deps
	@TESTS=large scripts/reproduce.sh

reproduce-quantiles: deps
	@$(WITH_DATA) TESTS=quantiles scripts/reproduce.sh $(RUNS)

reproduce-continual: deps
	@scripts/deps.sh pictures
	@TESTS=continual scripts/reproduce.sh

pictures: deps
	@scripts/deps.sh pictures
	@scripts/pictures.sh

clean-private:
	@scripts/cluster.sh clean
	@rm -rf build output_iso results log tmp_check regression.diffs regression.out
