// Command mcpconf is mettle's MCP client as the protocol's conformance suite
// wants to drive it: the suite starts a server for each scenario, runs this
// program with the server's address as its last argument, and judges what the
// server saw. e2e/conformance_test.go runs it.
//
// It does what a run does, connect, list and call, and nothing that the client
// package cannot do.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout) //nolint:forbidigo // the suite speaks through the environment
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpconf:", err)
		os.Exit(1) //nolint:forbidigo // the verdict of a scenario
	}
}

// scenario is what the suite tells beside the address.
type scenario struct {
	name string

	ToolCalls    []toolCall `json:"toolCalls"`
	ClientID     string     `json:"client_id"`
	ClientSecret string     `json:"client_secret"`
	Issuer       string     `json:"issuer"`
}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// run connects to the server, lists its tools and makes the calls that the
// scenario asks for; without any, one of each tool.
func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("usage: mcpconf URL")
	}
	s := scenario{name: env("MCP_CONFORMANCE_SCENARIO")}
	if told := env("MCP_CONFORMANCE_CONTEXT"); told != "" {
		if err := json.Unmarshal([]byte(told), &s); err != nil {
			return fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	c, err := mcpclient.Dial(ctx, s.config(args[len(args)-1]))
	if err != nil {
		return err
	}
	defer c.Close()
	tools, err := c.Tools(ctx)
	if err != nil {
		return err
	}
	calls := s.ToolCalls
	if calls == nil {
		calls = oneOfEach(tools)
	}
	for _, call := range calls {
		res, err := c.Call(ctx, call.Name, call.Arguments)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s\n", call.Name, res.Text())
	}
	return nil
}

func (s *scenario) config(url string) mcpclient.Config {
	return mcpclient.Config{
		URL: url, Name: "mettle", Version: "conformance", OAuth: s.oauth(),
		// Whoever runs an evaluation takes what the server suggests.
		Elicit: func(context.Context, mcpclient.Question) (map[string]any, bool) { return nil, true },
		// The suite runs all scenarios at once, and a busy machine is slow.
		Timeouts: mcpclient.Timeouts{Probe: 20 * time.Second, Connect: 25 * time.Second, Call: 20 * time.Second},
	}
}

// oauth has a client for every way of authorization: known to the server by
// the scenario, by a document or by registration.
func (s *scenario) oauth() *mcpclient.OAuth {
	o := &mcpclient.OAuth{ClientID: s.ClientID, ClientSecret: s.ClientSecret, Issuer: s.Issuer}
	if strings.HasPrefix(s.name, "auth/client-credentials") {
		return o
	}
	o.Authorize, o.RedirectURL = followRedirect, "http://localhost:3000/callback"
	o.ClientDocument = "https://conformance-test.local/client-metadata.json" // the suite knows it
	o.Register = true
	o.DefaultEndpoints = strings.HasPrefix(s.name, "auth/2025-03-26-")
	return o
}

// followRedirect is the person: the suite's authorization server sends everyone
// back at once.
func followRedirect(ctx context.Context, address string) (back mcpclient.Redirect, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return back, err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return back, err
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return back, fmt.Errorf("the authorization server does not redirect: %w", err)
	}
	q := to.Query()
	return mcpclient.Redirect{Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss")}, nil
}

// oneOfEach calls every tool with arguments made from its schema.
func oneOfEach(tools []mcpclient.Tool) (calls []toolCall) {
	for _, tool := range tools {
		calls = append(calls, toolCall{tool.Name, arguments(tool.InputSchema, tools)})
	}
	return calls
}

// arguments gives a value to each property of an object schema. Where a schema
// is asked for, it is that of the first tool, as it came: the suite looks
// whether the client lost a part of it.
func arguments(schema json.RawMessage, tools []mcpclient.Tool) json.RawMessage {
	var object struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &object) // a schema of another shape asks for nothing
	values := map[string]any{}
	for name, property := range object.Properties {
		switch {
		case name == "schema":
			values[name] = tools[0].InputSchema
		case property.Type == "number", property.Type == "integer":
			values[name] = 3
		case property.Type == "string":
			values[name] = "text"
		case property.Type == "boolean":
			values[name] = true
		}
	}
	b, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	return b
}
