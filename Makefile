# Spokewire. `make help` lists what there is.

BIN     := $(CURDIR)/bin
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

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
