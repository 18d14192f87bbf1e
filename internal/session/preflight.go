package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
)

// preflightLimit bounds each question to a vendor that only finds out whether
// it can be asked.
const preflightLimit = 20 * time.Second

// ready finds the models that cannot be asked, all in one list, before an
// answer is paid for that nobody could judge.
func (m *models) ready(ctx context.Context) error {
	if m.lazy() {
		return nil
	}
	return m.reachableAll(ctx)
}

func (m *models) reachableAll(ctx context.Context) error {
	m.mu.Lock()
	clients := maps.Clone(m.clients)
	m.mu.Unlock()
	names := slices.Sorted(maps.Keys(clients))
	faults := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { faults[i] = m.reachable(ctx, name, clients[name]) })
	}
	wg.Wait()
	return joinMissing(faults...)
}

// readyNamed is [models.model] for a judge that a check names: it is checked
// when it is first asked for, which is before the first case.
func (m *models) readyNamed(ctx context.Context, name string) (llm.Model, error) {
	made, err := m.model(name)
	if err != nil || m.lazy() {
		return made, err
	}
	m.mu.Lock()
	client, check := m.clients[name], m.named[name]
	if check == nil {
		check = sync.OnceValue(func() error { return m.reachable(ctx, name, client) })
		m.named[name] = check
	}
	m.mu.Unlock()
	if err := check(); err != nil {
		return nil, err
	}
	return made, nil
}

// lazy tells whether models may turn out not to be needed: a tape may have all
// replies.
func (m *models) lazy() bool { return m.replay != nil || m.opts.Cache != "" }

// atFirst makes sure that all models of a run can be asked when the first of
// them is. It ends a run that could not go on.
func (m *models) atFirst(inner llm.Model) llm.Model {
	return llm.ModelFunc(func(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
		m.once.Do(func() { m.unready = m.reachableAll(ctx) })
		if m.unready != nil {
			return nil, &eval.Stop{Why: m.unready.Error()}
		}
		return inner.Generate(ctx, req)
	})
}

// reachable tells whether a model can be asked. What may be over in a moment
// is not held against it: the schedule of calls waits for that.
func (m *models) reachable(ctx context.Context, name string, client vendorModel) error {
	if client == nil { // it is on a tape
		return nil
	}
	err := m.check(ctx, client)
	hint := m.hint(name, llm.ClassOf(err))
	if err == nil || hint == "" || ctx.Err() != nil {
		return nil //nolint:nilerr // see above
	}
	return &eval.Missing{What: []string{err.Error() + ": " + hint}}
}

// check finds out whether a model can be asked.
func (m *models) check(ctx context.Context, client vendorModel) error {
	err := m.briefly(ctx, client.Check)
	switch llm.ClassOf(err) {
	case llm.Transport:
		return m.briefly(ctx, client.Check) // once is an accident
	case llm.Auth, llm.NotFound:
		// Lists of models are not complete everywhere, and not every key may
		// read them: what counts is whether the model replies.
		return m.briefly(ctx, func(ctx context.Context) error {
			_, err := client.Generate(ctx, &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Reply with the word ready."}}, MaxTokens: 16})
			return err
		})
	}
	return err
}

func (m *models) briefly(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, min(cmp.Or(m.try, preflightLimit), preflightLimit))
	defer cancel()
	return ask(ctx)
}

// hint says what to do about a model that will not reply, "" when it may yet.
func (m *models) hint(name string, class llm.Class) string {
	spec, err := llm.ParseSpec(name)
	if err != nil {
		return ""
	}
	local := spec.Provider == "ollama"
	switch {
	case class == llm.Transport && local:
		return "start Ollama with: ollama serve"
	case class == llm.Transport:
		return "is the address right, and the network there?"
	case class == llm.NotFound && local:
		return "get it with: ollama pull " + spec.Model
	case class == llm.NotFound:
		return "is the name right?"
	case class == llm.Auth:
		return "is the key in " + m.keyVariable(spec) + " right?"
	case class == llm.Quota:
		return "the account has nothing left to spend"
	}
	return ""
}

// keyVariable names where the key of a model comes from.
func (m *models) keyVariable(spec llm.Spec) string {
	switch spec.Provider {
	case "anthropic":
		return "ANTHROPIC_API_KEY"
	case "openai":
		return "OPENAI_API_KEY"
	}
	key := strings.TrimSuffix(strings.TrimPrefix(m.cfg.Endpoints[spec.Endpoint].Key, "${"), "}")
	return cmp.Or(key, fmt.Sprintf("endpoints.%s.key of mettle.yaml", spec.Endpoint))
}

// joinMissing joins errors; when all of them say what is missing, into one list.
func joinMissing(errs ...error) error {
	all := new(eval.Missing)
	for _, err := range errs {
		var missing *eval.Missing
		switch {
		case err == nil:
		case !errors.As(err, &missing):
			return errors.Join(errs...)
		default:
			all.What = append(all.What, missing.What...)
		}
	}
	if len(all.What) == 0 {
		return nil
	}
	return all
}
