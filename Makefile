# Spokewire. `make help` lists what there is.

BIN     := $(CURDIR)/bin
GO      ?= go

KUBE_VERSION := v1.37.2
OCM_API      := open-cluster-management.io/api

export CGO_ENABLED ?= 0

# A pinned program is built once, from the go.mod of its own under hack/tools,
# and again when that changes. $(call tool,MODULE DIR,PACKAGE,EXTRA LDFLAGS)
define tool
	@echo "building $(notdir $@) (once; $(if $(4),$(4),a minute or two))"
	@cd hack/tools/$(1) && $(GO) build -trimpath -ldflags '-s -w $(3)' -o $@ $(2)
endef

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
$(BIN)/placement: hack/tools/ocm/go.mod
	$(call tool,ocm,open-cluster-management.io/ocm/cmd/placement)
$(BIN)/golangci-lint: hack/tools/lint/go.mod
	$(call tool,lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

# OCM's resource definitions come from the module that the code is built
# against, so that the two cannot differ.
$(BIN)/crds: go.mod
	@mkdir -p $@
	@$(GO) mod download $(OCM_API)
	@cp -f $$($(GO) list -m -f '{{.Dir}}' $(OCM_API))/cluster/v1*/*.crd.yaml $@/
	@chmod u+w $@/*.yaml && touch $@

.PHONY: hub
hub: $(BIN)/etcd $(BIN)/kube-apiserver $(BIN)/crds ## build the hub's parts: etcd, kube-apiserver, OCM's CRDs

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
.PHONY: help build tools demo up check test lint generate clean
help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN)/spokewire $(SERVICES:%=$(BIN)/service/%) ## build our programs into bin/

tools: hub $(BIN)/kubectl $(BIN)/nats-server $(BIN)/nats $(BIN)/placement ## build the pinned programs: the hub's, kubectl, nats-server, nats, OCM's placement controller

demo: hub $(BIN)/spokewire ## metrics of three clusters become OCM objects on a real API server, step by step
	@$(BIN)/spokewire demo

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

check: compiler lint hub ## the quick loop: lint and the unit tests, with the race detector
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) $(UNIT)

test: compiler tools build ## every test, on a fresh machine
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) ./...

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
	$(BENCH) scale --save $(RESULTS)/scale.json
	$(MAKE) bench-report
bench-report:
	$(BENCH) report $(RESULTS) > docs/benchmarks.md
