# Spokewire. `make help` lists what there is.

BIN     := $(CURDIR)/bin
GO      ?= go

KUBE_VERSION := v1.37.2
OCM_API      := open-cluster-management.io/api
SIG_API      := sigs.k8s.io/cluster-inventory-api

export CGO_ENABLED ?= 0

# A pinned program is built once, from the go.mod of its own under hack/tools,
# and again when that changes. $(call tool,MODULE DIR,PACKAGE,EXTRA LDFLAGS)
define tool
	@echo "building $(notdir $@) (once; $(if $(4),$(4),a minute or two))"
	@cd hack/tools/$(1) && $(GO) build -trimpath -ldflags '-s -w $(3)' -o $@ $(2)
endef

OCM := $(BIN)/placement $(BIN)/registration $(BIN)/work

KUBE_LDFLAGS := -X k8s.io/component-base/version.gitVersion=$(KUBE_VERSION) \
	-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37

$(BIN)/kube-apiserver: hack/tools/kube/go.mod
	$(call tool,kube,k8s.io/kubernetes/cmd/kube-apiserver,$(KUBE_LDFLAGS),about five minutes on two cores)
$(BIN)/kubectl: hack/tools/kube/go.mod
	$(call tool,kube,k8s.io/kubernetes/cmd/kubectl,$(KUBE_LDFLAGS))
$(BIN)/etcd: hack/tools/etcd/go.mod
	$(call tool,etcd,go.etcd.io/etcd/server/v3)
$(BIN)/nats-server: hack/tools/nats/go.mod
	$(call tool,nats,github.com/nats-io/nats-server/v2)
$(BIN)/nats: hack/tools/nats/go.mod
	$(call tool,nats,github.com/nats-io/natscli/nats)
$(BIN)/kube-controller-manager: hack/tools/kube/go.mod
	$(call tool,kube,k8s.io/kubernetes/cmd/kube-controller-manager,$(KUBE_LDFLAGS))
$(OCM): $(BIN)/%: hack/tools/ocm/go.mod
	$(call tool,ocm,open-cluster-management.io/ocm/cmd/$*)
$(BIN)/golangci-lint: hack/tools/lint/go.mod
	$(call tool,lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

# OCM's resource definitions come from the module that the code is built
# against, so that the two cannot differ.
$(BIN)/crds: go.mod
	@mkdir -p $@
	@$(GO) mod download $(OCM_API)
	@cp -f $$($(GO) list -m -f '{{.Dir}}' $(OCM_API))/cluster/v1*/*.crd.yaml $@/
	@chmod u+w $@/*.yaml && touch $@

# Those of OCM's works and add-ons, as a hub and as a spoke has them.
$(BIN)/crds-ocm: go.mod
	@mkdir -p $@/hub $@/spoke
	@$(GO) mod download $(OCM_API)
	@dir=$$($(GO) list -m -f '{{.Dir}}' $(OCM_API)) && \
	cp -f $$dir/work/v1*/*manifestworks.crd.yaml $$dir/work/v1*/*manifestworkreplicasets.crd.yaml $$dir/addon/v1alpha1/*.crd.yaml $@/hub/ && \
	mv -f $@/hub/*appliedmanifestworks.crd.yaml $@/spoke/ && \
	cp -f $$dir/cluster/v1*/*clusterclaims.crd.yaml $@/spoke/
	@chmod u+w $@/*/*.yaml && touch $@

# So do SIG-Multicluster's, which a hub has only where they are asked for.
$(BIN)/crds-sig: go.mod
	@mkdir -p $@
	@$(GO) mod download $(SIG_API)
	@cp -f $$($(GO) list -m -f '{{.Dir}}' $(SIG_API))/config/crd/bases/multicluster.x-k8s.io_*.yaml $@/
	@chmod u+w $@/*.yaml && touch $@

# Debian's Prometheus, which the tests ask for queries and have write to us.
# It is taken out of its package, for installing that would start a service.
$(BIN)/prometheus:
	@echo "fetching Prometheus (Debian's package)"
	@mkdir -p $@.new && cd $@.new && \
	{ apt-get -q download prometheus 2>/dev/null || { apt-get -q update && apt-get -q download prometheus; }; } && \
	dpkg -x prometheus_*.deb . && mv -f usr/bin/prometheus usr/bin/promtool $(BIN)/ && rm -rf $@.new && touch $@

.PHONY: hub
hub: $(BIN)/etcd $(BIN)/kube-apiserver $(BIN)/crds $(BIN)/crds-sig ## build the hub's parts: etcd, kube-apiserver, OCM's and SIG-Multicluster's CRDs

# Programs of ours.
SOURCES := $(shell find cmd services internal pkg deploy -name '*.go' -not -name '*_test.go' 2>/dev/null) \
	$(shell find deploy pkg/schemas -name '*.yaml' -o -name '*.json' 2>/dev/null) go.mod go.sum
SERVICES := $(notdir $(wildcard services/*))
BUILD    := build -trimpath -buildvcs=auto -ldflags '-s -w'

$(BIN)/spokewire: $(SOURCES)
	@echo "building spokewire"
	@$(GO) $(BUILD) -o $@ ./cmd/spokewire
$(BIN)/service/%: $(SOURCES)
	@echo "building $*"
	@$(GO) $(BUILD) -o $@ ./services/$*

.DEFAULT_GOAL := help
.PHONY: help build tools demo demo-scoring up check test lint generate clean
help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN)/spokewire $(SERVICES:%=$(BIN)/service/%) ## build our programs into bin/

tools: hub $(BIN)/prometheus $(BIN)/crds-ocm $(BIN)/kubectl $(BIN)/kube-controller-manager $(BIN)/nats-server $(BIN)/nats $(OCM) ## build the pinned programs: the hub's and Kubernetes's own controllers, kubectl, nats-server, nats, OCM's placement, registration and work, Prometheus

demo: hub $(BIN)/spokewire ## metrics of three clusters become OCM objects on a real API server, step by step
	@$(BIN)/spokewire demo

demo-scoring: hub $(BIN)/prometheus $(BIN)/spokewire ## DynamicScorers as OCM has them score three clusters by a scoring service, step by step
	@$(BIN)/spokewire demo scoring

up: hub $(BIN)/spokewire ## keep the local stack running in the foreground
	@$(BIN)/spokewire up $(ARGS)

lint: $(BIN)/golangci-lint ## lint, with the rules of who may import whom
	@$(BIN)/golangci-lint run ./...

UNIT = $(shell $(GO) list ./... | grep -Ev '/test/(e2e|faults|compose)$$')
# Tests of whole stacks wait more than they compute.
TESTFLAGS ?= -count=1 -timeout 20m -parallel 4

.PHONY: compiler
compiler: # the race detector needs one for C
	@command -v $${CC:-gcc} >/dev/null || { apt-get -q update && apt-get -qy install gcc libc6-dev; }

check: compiler python lint hub $(BIN)/prometheus ## the quick loop: lint and the unit tests, with the race detector
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) $(UNIT)

test: compiler python tools build ## every test, on a fresh machine
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) ./...
	@$(MAKE) sdk-test

# The Python package is tested in an environment of its own, made anew when
# what it needs has changed.
VENV := $(CURDIR)/.venv
.PHONY: python sdk-test
python: # with what makes environments, which Debian has apart
	@python3 -c 'import ensurepip' 2>/dev/null || { apt-get -q update && apt-get -qy install python3 python3-venv; }

$(VENV)/ready: sdk/python/pyproject.toml | python
	@echo "making the Python environment (once; half a minute)"
	@python3 -m venv --clear $(VENV) && $(VENV)/bin/pip -q --disable-pip-version-check install -e 'sdk/python[test]' && touch $@

# Seen from sdk/python, whose rules they all keep to.
PYTHONS := . ../../examples ../../internal/starter/python
sdk-test: $(VENV)/ready $(BIN)/nats-server $(BIN)/spokewire ## lint, type-check and test the Python package and its examples
	@cd sdk/python && PATH="$(VENV)/bin:$$PATH" && ruff check -q --config pyproject.toml $(PYTHONS) && ruff format -q --check --config pyproject.toml $(PYTHONS) && \
	mypy && mypy --no-error-summary ../../examples/python/*.py && pytest

generate: ## make the generated files anew
	$(GO) generate ./...

clean: ## remove what was built, but not the caches
	rm -rf $(BIN)

# Docker Compose. IMAGES are programs, each with spokewire beside it; TAG is
# theirs, and must fit SPOKEWIRE_TAG of deploy/compose.
IMAGES := spokewire nats-server etcd kube-apiserver placement
TAG    ?= dev
SECRETS_OF := operator populate nats etcd kube-apiserver ocm-placement hub-bridge scorer placement-writer inquiry \
	spoke-1 spoke-2 spoke-3

.PHONY: images compose-up compose-down compose-test
images: $(IMAGES:%=image-%) ## build the container images, out of bin/

# The context is made of hard links, and of the empty directories on which
# volumes are mounted; a tmpfs takes its mode from there too.
image-%: $(BIN)/spokewire $(BIN)/% $(BIN)/crds
	@dir=$(BIN)/images/$* && rm -rf $$dir && mkdir -p $$dir/program && \
	mkdir -p -m 0700 $$dir/rootfs/authority $(SECRETS_OF:%=$$dir/rootfs/secrets/%) \
		$$dir/rootfs/data/nats $$dir/rootfs/data/etcd $$dir/rootfs/data/outbox && mkdir -m 1777 $$dir/rootfs/tmp && \
	ln $(BIN)/spokewire $$dir/ && cp -r $(BIN)/crds $$dir/ && \
	if [ $* != spokewire ]; then ln $(BIN)/$* $$dir/program/; fi && \
	docker build --quiet --tag spokewire/$*:$(TAG) --file deploy/compose/Dockerfile $$dir && rm -rf $$dir

compose-up: images ## run the stack in containers and say how to reach it
	@SPOKEWIRE_TAG=$(TAG) deploy/compose/up

compose-down: ## stop the containers; their data stays
	@deploy/compose/down

compose-test: $(BIN)/spokewire $(BIN)/nats $(IMAGES:%=$(BIN)/%) ## test the stack in containers, and leave nothing behind
	@$(GO) run ./test/compose

# Benchmarks. Each result is a file; the document is made of the files.
RESULTS := bench/results
BENCH   := $(BIN)/spokewire bench
MOVE    := $(BENCH) move --placements 100 --ocm
SIZE    := $(BENCH) move --ocm --scores 50 --hub-scores=false --rounds 8 --patience 5m
SIZES   := 100-100 100-1000 1000-100 1000-1000 10000-1000
.PHONY: faults difftest flapsim bench bench-report
flapsim: $(BIN)/spokewire ## replay noisy, swinging, drifting and stepping scores with flap control, beside OCM's Steady; SEED=N makes other traces
	@$(BENCH) flap --seed $(or $(SEED),1) --traces $(or $(TRACES),20) $(if $(SAVE),--save $(SAVE))

faults: tools ## break things at random for MINUTES=10, and check that nothing is lost; SEED=N repeats a run
	@$(GO) test -c -o $(BIN)/faults.test ./test/faults
	@cd test/faults && MINUTES=$(or $(MINUTES),10) $(BIN)/faults.test -test.run '^TestFaults$$' -test.timeout 0

difftest: tools ## have OCM and Spokewire decide CASES=1000 generated Placements of SEED=1 on one hub, and compare; CASE=N repeats one
	@$(GO) build -o $(BIN)/difftest ./test/difftest
	@$(BIN)/difftest --bin $(BIN) --cases $(or $(CASES),1000) --seed $(or $(SEED),1) --case $(or $(CASE),-1)

bench: tools build ## measure everything anew, about 15 minutes on a quiet machine, and write docs/benchmarks.md
	$(BENCH) decide --save $(RESULTS)/decide.json
	$(BENCH) flap --save $(RESULTS)/flap.json
	$(BENCH) collector --save $(RESULTS)/collector.json
	$(BENCH) scorer --save $(RESULTS)/scorer.json
	$(MOVE) --clusters 100 --rounds 20 --save $(RESULTS)/move-0100-idle.json
	$(MOVE) --clusters 1000 --rounds 20 --save $(RESULTS)/move-1000-idle.json
	$(MOVE) --clusters 100 --rounds 8 --background 10000 --save $(RESULTS)/move-0100-busy.json
	$(MOVE) --clusters 1000 --rounds 8 --background 10000 --save $(RESULTS)/move-1000-busy.json
	$(MOVE) --clusters 1000 --rounds 8 --background 10000 --hub-scores=false --save $(RESULTS)/move-1000-busy-off-hub.json
	$(MAKE) -j1 $(SIZES:%=bench-size-%)
	$(BENCH) scale --save $(RESULTS)/scale.json
	$(BENCH) scale --scores 50 --placements 1000 --score-budget 1000 --save $(RESULTS)/scale-1000-placements.json
	$(MAKE) bench-report
bench-size-%:
	$(SIZE) --clusters $(firstword $(subst -, ,$*)) --placements $(lastword $(subst -, ,$*)) --save $(RESULTS)/size-$*.json
bench-report:
	$(BENCH) report $(RESULTS) > docs/benchmarks.md
