# Everything here works on a machine with Go and a network to the module proxy;
# e2e installs what else it needs by itself.
GOLANGCI_LINT_VERSION := v2.14.0
GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)

.PHONY: build test race bench e2e lint generate fuzz clean

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/mettle ./cmd/mettle

test:
	go test ./...

race:
	go test -race ./...

bench:
	go run ./bench

e2e:
	./e2e/run

lint: $(GOLANGCI_LINT)
	$(GOLANGCI_LINT) run ./...

$(GOLANGCI_LINT):
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@

generate:
	go generate ./...

fuzz:
	go test ./... -list 'Fuzz' | awk '/^Fuzz/ {f[n++]=$$1} /^ok/ {for (i=0;i<n;i++) print $$2, f[i]; n=0}' | \
	while read -r pkg name; do go test "$$pkg" -run '^$$' -fuzz "^$$name$$" -fuzztime $(or $(FUZZTIME),20s) || exit 1; done

clean:
	rm -rf bin out reports
