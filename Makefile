# pg_epsilon: what is built and installed, settings, the goals that are used most.  test/Makefile has those of tests,
# measurements and packages.  `make help` prints what follows ## in both.

## DATA=/path      real tables, for make accuracy, bench, check-long and reproduce-* (default: ../shared/data)
# PGXS has another use for the name.
REAL_DATA := $(DATA)
unexport DATA
WITH_DATA = $(if $(REAL_DATA),DATA='$(REAL_DATA)')

EXTENSION   = pg_epsilon
MODULE_big  = pg_epsilon
WORKER_LIB  = pg_epsilon_worker.so
SCRIPTS     = $(wildcard scripts/pg_epsilon_anchor_*)
override DATA = $(wildcard sql/$(EXTENSION)--*.sql)

# ---- Settings ----
comma := ,
# The C compiler of the rooms without PostgreSQL.
PURE_CC := $(CC)
## WERROR=         warnings are not errors: for a compiler that knows more of them
WERROR ?= -Werror
## LAX=1           the same, and nothing is built again for that: a mutation may leave a variable unused
LAX_FLAGS = $(if $(LAX),-Wno-error)
## COVERAGE=1      a build that counts what runs (scripts/measure.sh)
COVERAGE_FLAGS = $(if $(COVERAGE),--coverage -fno-inline)
OPT_FLAGS = -O2 -g $(COVERAGE_FLAGS) -Wall -Wextra $(WERROR) -ffp-contract=off -Wno-declaration-after-statement \
	-ffunction-sections -fdata-sections

# Debian lets an alternative choose between the serial and the threaded OpenBLAS.  A server process must not have
# threads, so the serial one is linked by its directory.  An rpath of the old kind also holds for what LAPACKE asks for.
SERIAL_BLAS := $(wildcard /usr/lib/$(shell $(CC) -print-multiarch 2>/dev/null)/openblas-serial)
BLAS_LIBS  ?= $(if $(SERIAL_BLAS),-L$(SERIAL_BLAS) $(BLAS_RPATH)) $(BLAS_NAMES)
BLAS_RPATH  = -Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)$(SERIAL_BLAS)
BLAS_NAMES  = -llapacke -lopenblas
## STATIC_BLAS=1   OpenBLAS and LAPACKE inside the library, for a server whose system has neither
ifdef STATIC_BLAS
BLAS_RPATH  =
BLAS_NAMES  = -Wl,-Bstatic -llapacke -lopenblas -Wl,-Bdynamic,--exclude-libs,ALL,--gc-sections
FORTRAN_OBJ = build/obj/docker/fortran.o
endif
# Where a distribution keeps their headers apart, that directory is searched.
BLAS_FLAGS ?= $(addprefix -isystem ,$(wildcard /usr/include/openblas /usr/include/lapacke))

# PURE_ROOMS are plain C11.  Their symbols are hidden: the server loads every module into one global name space.
# With a server that has a sanitizer they are built with it, too, and packages leave out the directory of their build.
PURE_FLAGS = -std=c11 $(OPT_FLAGS) $(filter -fsanitize=% -ffile-prefix-map=$(CURDIR)=%,$(CFLAGS)) -fPIC -fvisibility=hidden \
	-fstack-protector-strong -Isrc $(BLAS_FLAGS)
# The compiler makes vectors of the loops of these files only with these flags, which change no value.
LOOP_SRCS  = kernel row_tiles pass unit_clip p_identity lbfgs continual_band tables collect_tables sums
LOOP_FLAGS = -O3 -fno-math-errno -fno-trapping-math
OWN_FLAGS  = $(if $(filter $(notdir $*),$(LOOP_SRCS)),$(LOOP_FLAGS))
# gnu11 in the other rooms: the server's headers use the keyword typeof (copyObject in nodes/nodes.h).
PG_ROOM_FLAGS = -std=gnu11 $(OPT_FLAGS) -Wno-unused-parameter -Wno-sign-compare -Isrc
# Our own references stay in our own module: other modules may export the same names.
SHLIB_LINK += $(BLAS_LIBS) -lm $(COVERAGE_FLAGS) $(if $(filter Linux,$(shell uname -s)),-Wl$(comma)-Bsymbolic)

# ---- What is built: every src/<room>/*.c ----
# The rooms that never see PostgreSQL's headers and flags, in the order of scripts/check_layers.sh.
PURE_ROOMS  = base domain workload optimum strategy blocks time published methods glm affine accumulator
PURE_ROOMS += accounting noise fit minimum counts study plan
PURE_SRCS := $(sort $(foreach room,$(PURE_ROOMS),$(wildcard src/$(room)/*.c)))
PG_SRCS   := $(filter-out $(PURE_SRCS),$(sort $(wildcard src/*/*.c)))
PURE_OBJS := $(PURE_SRCS:%.c=build/obj/%.o)
PG_OBJS   := $(PG_SRCS:%.c=build/obj/%.o)
# object NAME: the object of that name, in whichever room of the server
object     = $(filter %/$(1).o,$(PG_OBJS))
WORKER_OBJ = $(call object,worker_module)
WORKER_MAP = $(wildcard src/*/worker_module.map)
OBJS       = $(PURE_OBJS) $(filter-out $(WORKER_OBJ),$(PG_OBJS)) $(FORTRAN_OBJ)

# ---- PGXS.  It has a goal "check" of its own, so it is read unless all goals are ours ----
OUR_GOALS = help deps deps-build demo demo-dashboard demo-stop quick check check-ci check-long check-settings clean-private
-include test/Makefile
EXTENSION_GOALS = $(filter-out $(OUR_GOALS),$(or $(MAKECMDGOALS),all))
## PG_CONFIG=/path/to/pg_config   of the PostgreSQL to build for
PG_CONFIG := $(or $(PG_CONFIG),$(shell scripts/pg_config.sh 2>/dev/null))
PGXS := $(wildcard $(if $(PG_CONFIG),$(shell $(PG_CONFIG) --pgxs 2>/dev/null)))
.DEFAULT_GOAL := all
.PHONY: $(OUR_GOALS) all install uninstall installcheck clean FORCE

ifneq ($(EXTENSION_GOALS),)
ifneq ($(PGXS),)
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
else
all install uninstall installcheck:
	@echo "No PostgreSQL server with server headers found. Run scripts/deps.sh to install one, or set" \
		"PG_CONFIG=/path/to/pg_config." >&2; exit 1
endif
endif

# ---- Objects.  A change of flags or of PostgreSQL rebuilds; -MMD tracks the headers ----
build/flags.pure: FLAGS_NOW = $(PURE_CC) $(PURE_FLAGS) $(LOOP_FLAGS) $(LINK_UNIT)
build/flags.pg:   FLAGS_NOW = $(VERSION) $(CC) $(CFLAGS) $(PG_ROOM_FLAGS) $(CPPFLAGS)
build/flags.%: FORCE
	@mkdir -p build
	@echo '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS_NOW))' >$@

$(PURE_OBJS) $(FORTRAN_OBJ): build/obj/%.o: %.c build/flags.pure
	@mkdir -p $(@D)
	$(PURE_CC) $(PURE_FLAGS) $(OWN_FLAGS) $(LAX_FLAGS) -MMD -MP -c -o $@ $<

$(PG_OBJS): build/obj/%.o: %.c build/flags.pg
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(PG_ROOM_FLAGS) $(CPPFLAGS) $(LAX_FLAGS) -MMD -MP -c -o $@ $<

# What the ledger's worker needs and no more: to load linear algebra takes longer than to start the process.
# A sanitizer keeps what nothing uses.
$(WORKER_LIB): $(WORKER_OBJ) $(filter-out $(call object,module),$(OBJS)) $(WORKER_MAP)
	$(CC) $(CFLAGS) $(CFLAGS_SL) $(LDFLAGS) -shared $(COVERAGE_FLAGS) -o $@ $(filter %.o,$^) -Wl,--gc-sections \
		-Wl,--version-script=$(WORKER_MAP) $(if $(filter -fsanitize=%,$(CFLAGS)),$(BLAS_LIBS)) -lm

-include $(wildcard $(PURE_OBJS:.o=.d) $(PG_OBJS:.o=.d))

# ---- Goals ----
## make                  build pg_epsilon.so and pg_epsilon_worker.so (needs a PostgreSQL 15 to 18 with server headers)
## make install          install them and what SQL needs into that PostgreSQL
## make clean            remove build/ and everything else that was built; stop the demo's server
clean: clean-private
clean-private:
	@scripts/cluster.sh clean
	@rm -rf build output_iso results log tmp_check regression.diffs regression.out $(WORKER_LIB)
## make deps             install what building and testing need (deps-build: building only)
deps:
	@scripts/deps.sh test
deps-build:
	@scripts/deps.sh build
## make demo             install what is missing, build, start a private server under build/, run demo/run.sh
## make demo-dashboard   the same server with a dashboard to click on (needs python3 with psycopg2, and a browser)
demo demo-dashboard: deps-build
## make demo-stop        stop that server and remove its data
demo demo-dashboard demo-stop:
	@scripts/demo.sh $(patsubst demo,start,$(@:demo-%=%))
## make quick            build; check-layers, the unit tests with few samples, regress tests: a minute or two
## make check            all tests on a private copy of the server, the unit tests with sanitizers too: minutes
$(filter check,$(MAKECMDGOALS)) quick check-ci check-long check-settings: deps
	@$(WITH_DATA) scripts/check.sh $(patsubst check-%,%,$(filter-out check,$@))
help:
	@sed -n 's/^## \(make\|   \)/\1/p' Makefile $(wildcard test/Makefile) && echo && echo Settings:
	@sed -n 's/^## \([A-Z]\)/\1/p' Makefile $(wildcard test/Makefile)
