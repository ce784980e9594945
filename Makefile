# Every target first sets up its environment. PYTHON is the interpreter of this environment (3.10 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODEL ?= fixtures/models/mobilenet_block.tflite
DEMO_STAMP := $(VENV)/.stamp-demo
STAMP := $(VENV)/.stamp
DEMO_LOCK := requirements-demo.lock
LOCK := requirements.lock
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
DELEGATES = $(shell $(BIN)/python -c 'from delegate_sim.delegates.registry import DELEGATE_NAMES as n; print(*n)')

TREES ?=
FROM ?=
OLD ?=
NEW ?=
TO ?=
TIME ?= 60
SEED ?= 1
RUNS ?=
ONLY ?=
MODELS ?=
TENSORFLOW ?= python3
TFLM ?= python3
TORCH ?= python3

.PHONY: setup accuracy lock demo browser screenshots page-figures examples samples viewers stores notebook web web-figures web-equality site test pytest matrix wheel version release installs lint types language conformance numbers planted fixtures docs schema sources log-statements upstream-diff upstream-wheels gpu-comparison fix-table sweep-models sweep-table peers peer-costs rewrites advice micro-fixes micro-crashes model-types kernel-types android-releases releases driver-profiles bench bench-scan fuzz fuzz-guided fuzz-links faults random-graphs coverage mutation audit sbom clean

setup: $(STAMP)

# A lock has the version and the digest of every package. DEMO_LOCK has the packages to build and run this package. LOCK adds the extras.
$(DEMO_STAMP): pyproject.toml setup.py $(DEMO_LOCK)
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --require-hashes --requirement $(DEMO_LOCK)
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# Half of the code of all packages is compiled when it is imported, if ever.
SELDOM_IMPORTED = tests|pip|mypy|mypyc|setuptools|lexers

# pip installs uv, and uv the rest of LOCK, which is faster. uv checks the digests, as LOCK has them; it refuses --require-hashes
# because of the constraint in pyproject.toml. Where only pip is configured for a mirror, pip installs all.
$(STAMP): $(DEMO_STAMP) $(LOCK)
	sed -n '/^uv==/,/[^\\]$$/p' $(LOCK) > $(VENV)/uv.txt
	$(PIP_INSTALL) --no-deps --require-hashes --requirement $(VENV)/uv.txt
	$(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python --no-deps --requirement $(LOCK) \
	  || $(PIP_INSTALL) --require-hashes --requirement $(LOCK)
	$(BIN)/python -m compileall -q -j 0 delegate_sim cli fixtures tools tests/support
	$(BIN)/python -m compileall -qq -j 0 -x '/($(SELDOM_IMPORTED))/' $(VENV)/lib || true
	@touch $@

lock:  ## write both lock files again, with the newest versions that pyproject.toml allows
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lock/bin/uv pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
	  --extra test --extra lint --extra live --extra report --extra export --extra browser --extra scan --extra remote --extra dask --extra mcp --extra vela --extra docs --custom-compile-command 'make lock' --output-file $(LOCK)
	.venv-lock/bin/uv pip compile pyproject.toml --group build --quiet --universal --python-version 3.10 --generate-hashes \
	  --constraint $(LOCK) --custom-compile-command 'make lock' --output-file $(DEMO_LOCK)

demo: $(DEMO_STAMP)  ## analyze a model (MODEL=...); by default, a fixture
	$(BIN)/delegate-sim analyze $(MODEL) --delegate nnapi

test: lint pytest  ## run lint, type checks, unit tests, property tests and conformance on a sample, on all cores

# A worker more than there are cores, since a test of a browser or of a program waits half of its time.
pytest: setup  ## run all tests, without lint
	$(BIN)/python -m pytest --numprocesses $$(( $$(nproc 2> /dev/null || getconf _NPROCESSORS_ONLN) + 1 )) --dist worksteal

samples: setup  ## run the tests of diagnoses that each run of the tests does on a sample only, on all fixtures and converted models
	DELEGATE_SIM_WHOLE_SAMPLES=1 $(BIN)/python -m pytest tests/diagnosis/test_examiner.py tests/diagnosis/test_followers.py

matrix: setup  ## run the tests that dependency versions can affect, on each installed Python: lowest versions on the oldest, newest on the others (ARGS=--help)
	$(BIN)/python -m tools.packaging.matrix $(ARGS)

# Install Debian's Chromium if it is missing and can be installed. Without it, the tests of the report page are skipped.
browser:
	@command -v chromium > /dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; \
	} > /dev/null 2>&1 || echo "no Chromium here, and it cannot be installed: the browser tests are skipped"

screenshots: setup  ## remake the pictures in docs/pictures with Chromium
	$(BIN)/python -m tools.docs.screenshots

page-figures: setup  ## measure size, time and frames per second of the report page
	$(BIN)/python -m benchmarks.page_figures

web-figures: web  ## measure time and memory of the browser application
	$(BIN)/python -m benchmarks.web_figures

viewers: setup  ## open exported files in Model Explorer and Netron, which run in Chromium
	$(PIP_INSTALL) --target .venv-viewers ai-edge-model-explorer netron
	PYTHONPATH=.venv-viewers $(BIN)/python -m pytest tests/export

stores: setup  ## test reading models from S3, with moto as the server
	test -d .venv-stores/moto || $(PIP_INSTALL) --target .venv-stores 'moto[s3,server]>=5' s3fs
	PYTHONPATH=.venv-stores $(BIN)/python -m pytest tests/model/test_remote_s3.py

examples: setup  ## run the examples of README.md and docs, and put their current output into the pages
	$(BIN)/python -m tools.docs.examples --write

web: setup  ## build the browser application in web/dist (needs npm and Node.js)
	$(BIN)/python -m tools.docs.web

site: setup  ## make the documentation as a site with search, in site/; with the browser application where npm is (ARGS=--complete fails without it)
	$(BIN)/python -m tools.docs.site $(ARGS)

web-equality: setup  ## compare the answers of the browser application with those of the command line, where ../shared exists (ARGS=--help)
	$(BIN)/python -m tools.web.equality $(or $(MODELS),$(addprefix ../shared/corpus/,npu-calls.zip fuzz.zip onnx.zip real.zip keras.zip torch.zip)) $(ARGS)

wheel: setup  ## build the wheel, install it into a clean environment and use it there
	$(BIN)/python -m tools.packaging.wheel

version: setup  ## write the number of a new version and today's date where the repository names them (NEW=0.3.0)
	$(BIN)/python -m tools.packaging.version $(NEW)

release: setup  ## build the source distribution and the wheel into dist/, check them, and print what is left to do
	$(BIN)/python -m tools.packaging.release

installs: setup  ## install the package beside TensorFlow 2.17, numpy 1.26 and ai-edge-litert, and check that their versions stay the same
	$(BIN)/python -m tools.packaging.installs

notebook: setup  ## run docs/notebooks/first-model.ipynb with nbclient
	$(PIP_INSTALL) --target .venv-notebook nbclient ipykernel
	PYTHONPATH=.venv-notebook $(BIN)/python -m pytest tests/ready_parts/test_editors.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory --jobs 2 types language

types: setup
	$(BIN)/mypy

language: setup
	$(BIN)/python -m tools.language
	$(BIN)/python -m tools.messages

conformance: setup  ## compare with all recorded verdicts, where ../shared exists
	$(BIN)/python ../shared/tools/conformance.py $(ARGS)

accuracy: setup  ## measure how often results agree with recorded verdicts, where ../shared exists, and write docs/accuracy.md (ARGS=--help)
	$(BIN)/python -m tools.accuracy $(ARGS)
	$(BIN)/delegate-sim rules --accuracy --format markdown > docs/accuracy.md

numbers: setup  ## check which conditions for wrong numbers hold in the installed LiteRT, where ../shared exists (ARGS=--help)
	$(BIN)/python -m tools.upstream.gpu_numbers $(ARGS)

planted: setup  ## reduce 40 generated networks with a planted failure (ARGS=--help)
	$(BIN)/python -m tools.planted_failures $(ARGS)

fixtures: setup  ## remake fixtures/models and fixtures/expected
	$(BIN)/python -m fixtures.make

CARD_MODEL = fixtures/models/transformer_block.tflite

docs: setup  ## remake the generated pages: docs/pictures/card.svg, docs/rules, api.md, codes.md, commands.md, suggestions.md, schemas, and parts of targets.md, numbers.md, formats.md, scan.md and architecture.md
	@mkdir -p docs/rules
	for delegate in $(DELEGATES); do \
	  $(BIN)/delegate-sim rules --delegate $$delegate --format markdown > docs/rules/$$delegate.md || exit 1; \
	done
	$(BIN)/delegate-sim rules --micro --format markdown > docs/rules/micro.md
	$(BIN)/delegate-sim rules --accuracy --format markdown > docs/accuracy.md
	$(BIN)/python -m tools.docs.suggestions > docs/suggestions.md
	$(BIN)/python -m tools.docs.api > docs/api.md
	$(BIN)/python -m tools.docs.codes > docs/codes.md
	$(BIN)/python -m tools.docs.commands > docs/commands.md
	$(BIN)/python -m tools.docs.architecture
	$(BIN)/python -m tools.docs.targets
	$(BIN)/python -m tools.docs.numbers
	$(BIN)/python -m tools.docs.formats
	$(BIN)/delegate-sim analyze $(CARD_MODEL) --format card --force -o docs/pictures/card.svg

schema: setup  ## remake delegate_sim/model/tflite_schema.json from the installed tflite package
	$(BIN)/python -m tools.schema

sources: setup  ## check the upstream lines of every rule (TREES="ACCOUNT/NAME=PATH ..." names git trees or unpacked source packages; ARGS=--write writes the lines again)
	$(BIN)/python -m tools.sources $(addprefix --tree ,$(TREES)) $(ARGS)

log-statements: setup  ## check delegate_sim/device/parse/sources.tsv, the log statements of upstream code (TREES="ACCOUNT/NAME=PATH ..." names git trees; ARGS=--write writes the table again)
	$(BIN)/python -m tools.upstream.log_statements $(addprefix --tree ,$(TREES)) $(ARGS)

upstream-diff: setup  ## list what changed upstream in the code that rules follow (TREES="ACCOUNT/NAME=PATH ...", FROM=, TO=)
	$(BIN)/python -m tools.upstream.release_diff $(addprefix --tree ,$(TREES)) $(addprefix --from ,$(FROM)) --to $(or $(TO),HEAD) $(ARGS)

upstream-wheels: setup  ## run two installed wheels on the corpora, and list the changes by class (OLD= and NEW= name Pythons, MODELS="ARCHIVE ...", ARGS=--help)
	$(BIN)/python -m tools.upstream.wheels $(OLD) $(NEW) $(or $(MODELS),$(wildcard ../shared/corpus/*.zip)) $(ARGS)

gpu-comparison: setup  ## remake docs/appendix/gpu-comparison.md, where ../shared exists
	$(BIN)/python -m tools.corpus_tables.gpu_comparison --write

time-stories: setup  ## remake the worked examples of docs/time.md, where ../shared exists
	$(BIN)/python -m tools.corpus_tables.time_stories --write

fix-table: setup  ## remake the tables of docs/appendix/fix.md and docs/passes.md, where ../shared exists (ARGS=--help)
	$(BIN)/python -m tools.corpus_tables.fixes --write $(ARGS)

SWEEP ?= sweep-models

sweep-models:  ## write the source models of docs/appendix/sweep.md (TENSORFLOW and TORCH are Pythons with these packages)
	$(TENSORFLOW) -m tools.sweep.source_models $(SWEEP) keras
	$(TORCH) -m tools.sweep.source_models $(SWEEP) torch onnx

sweep-table: setup  ## remake the tables of docs/appendix/sweep.md from the source models (ARGS='--python PATH ...' names the converters)
	$(BIN)/python -m tools.sweep.table --models $(SWEEP) --write $(ARGS)

peers: setup  ## remake the table in docs/appendix/analyzer.md that compares with TensorFlow's analyzer
	for version in $$($(BIN)/python -c 'from tools.upstream.model_analyzer import VERSIONS as v; print(*v)'); do \
	  test -x .venv-tensorflow-$$version/bin/python || { \
	    $(PYTHON) -m venv .venv-tensorflow-$$version && \
	    .venv-tensorflow-$$version/bin/python -m pip install --quiet --disable-pip-version-check tensorflow-cpu==$$version; \
	  } || exit 1; \
	done
	$(BIN)/python -m tools.upstream.model_analyzer --write

peer-costs: setup  ## remake benchmarks/peer_costs.md: time and memory of other tools, where ../shared exists (ARGS=--help)
	$(BIN)/python -m benchmarks.peer_costs --write $(ARGS)

rewrites advice:  ## convert models as a diagnosis suggests (TENSORFLOW is a Python with TensorFlow and this package's dependencies)
	$(TENSORFLOW) -m tools.upstream.$@ $(if $(filter advice,$@),--write)

micro-fixes: setup  ## run models that fix --micro rewrites in TensorFlow Lite Micro (TFLM is a Python with tflite-micro), where ../shared exists (ARGS=--help)
	$(BIN)/python -m tools.upstream.micro_fixes --python $(TFLM) $(ARGS)

micro-crashes: setup  ## run the models at which TensorFlow Lite Micro crashed, and print the functions that crash (TFLM is a Python with tflite-micro; needs gdb)
	$(BIN)/python -m tools.upstream.micro_crashes --python $(TFLM) $(ARGS)

model-types: setup  ## remake docs/appendix/model-types.md from the converted models, where ../shared exists
	$(BIN)/python -m tools.corpus_tables.model_types

kernel-types: setup  ## measure again which types CPU kernels compute, with the installed wheels ARGS="RELEASE=FOLDER ..."
	$(BIN)/python -m tools.kernel_types $(ARGS)

android-releases: setup  ## remake docs/appendix/android-releases.md: what Android's NNAPI runtime accepts, where ../shared exists
	$(BIN)/python -m tools.corpus_tables.android_releases

releases: setup  ## remake docs/appendix/releases.md from the converted models, where ../shared exists
	$(BIN)/python -m tools.corpus_tables.releases

driver-profiles: setup  ## count the driver profiles learned from logs that reproduce the device
	$(BIN)/python -m tools.driver_profiles

fuzz: setup  ## run mutated inputs through the library and through whole commands (TIME=seconds or RUNS=10000, SEED="1 2", ONLY=commands, KIND="log driver", MODELS="FOLDER ...")
	$(BIN)/python -m tools.fuzz $(if $(RUNS),--runs $(RUNS),--time $(TIME)) --seed $(SEED) $(addprefix --only ,$(ONLY)) $(if $(KIND),--kind $(KIND)) $(addprefix --models ,$(MODELS))

faults: setup  ## test full disks, programs killed while they write (KILLS=100), and paths that are not regular files or that shrink
	KILLS=$(or $(KILLS),100) $(BIN)/python -m pytest tests/cli/test_hostile_files.py tests/cli/test_interrupted_writing.py tests/foundation/test_files.py tests/bundles/test_shrinking_files.py tests/scan/test_scan.py tests/scan/test_journal.py

random-graphs: setup  ## test every pass of fix, and the delegates of LiteRT that run here, on many random graphs (EXAMPLES=2000)
	DELEGATE_SIM_FIX_EXAMPLES=$(or $(EXAMPLES),200) DELEGATE_SIM_LIVE_EXAMPLES=$(or $(EXAMPLES),2000) \
	  $(BIN)/python -m pytest tests/fixing/passes/test_catalogue.py tests/live

mutation: setup  ## measure whether the tests notice changes of the code that decides (ARGS="--sample 60"); see docs/mutation.md
	$(PIP_INSTALL) --target .venv-mutation --upgrade cosmic-ray coverage
	PYTHONPATH=.venv-mutation $(BIN)/python -m tools.mutation $(ARGS)

coverage: setup  ## measure the lines and branches of delegate_sim that the tests run (ARGS=tests/FOLDER)
	$(PIP_INSTALL) --target .venv-coverage --upgrade coverage
	PYTHONPATH=.venv-coverage $(BIN)/python -m coverage run -m pytest $(ARGS)
	PYTHONPATH=.venv-coverage $(BIN)/python -m coverage report --skip-covered --sort cover

# atheris has wheels for Python 3.11 to 3.13.
fuzz-guided: setup  ## fuzz, guided by the code that a mutant reaches (atheris)
	$(PIP_INSTALL) --target .venv-atheris --upgrade atheris
	PYTHONPATH=.venv-atheris $(BIN)/python -m tools.fuzz.guided --time $(TIME) --seed $(SEED) $(addprefix --models ,$(MODELS))

fuzz-links: setup  ## open mutated links to results in the system's Chromium (TIME=seconds, SEED=1)
	$(BIN)/python -m tools.fuzz.result_links --time $(TIME) --seed $(SEED)

audit: setup  ## look up known vulnerabilities of the packages in requirements.lock
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.venv-audit/bin/pip-audit --requirement $(LOCK) --require-hashes --disable-pip

sbom: setup  ## list the packages that the package installs, as CycloneDX: build/delegate-sim.cdx.json
	@mkdir -p build
	$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/python -m pip install --quiet --disable-pip-version-check .
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom
	.venv-audit/bin/cyclonedx-py environment .venv-sbom/bin/python --pyproject pyproject.toml --output-reproducible \
	  --output-file build/delegate-sim.cdx.json
	rm -rf .venv-sbom

bench: setup  ## measure what commands cost, and compare with the budgets (ARGS=--write remakes benchmarks/budgets.md, where ../shared exists)
	$(BIN)/python -m benchmarks.budgets $(ARGS)

bench-scan: setup  ## remake benchmarks/scan.md: rate and memory of scans with several processes and with Dask
	$(BIN)/python -m benchmarks.scan --write $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info
