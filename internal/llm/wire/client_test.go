package wire

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestClient(t *testing.T) {
	var paths []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	given := &http.Client{Jar: jar, Timeout: time.Minute, Transport: s.Client().Transport}
	for _, client := range []*http.Client{Client(nil), Client(given)} {
		res, err := client.Get(s.URL + "/here")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusTemporaryRedirect || client.Jar != nil {
			t.Errorf("status %d, jar %v", res.StatusCode, client.Jar)
		}
		client.CloseIdleConnections()
	}
	if len(paths) != 2 || paths[0] != "/here" || paths[1] != "/here" {
		t.Errorf("asked for %v", paths)
	}
	if given.Jar == nil || given.CheckRedirect != nil || Client(given).Timeout != time.Minute {
		t.Error("the client that was given was changed, or not kept")
	}
	if Client(nil).Transport == http.DefaultTransport {
		t.Error("everybody's transport was taken")
	}
}

// TestBrokenRepliesReportUsage: a body without a reply in it may still say what
// it cost.
func TestBrokenRepliesReportUsage(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]eval.Usage{
		`{"usage":{"input_tokens":7,"output_tokens":5,"cache_read_input_tokens":3}}`: {Calls: 1, Input: 10, Output: 5, CacheRead: 3, Unpriced: 1},
		`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5}}`:           {Calls: 1, Input: 7, Output: 5, Unpriced: 1},
		`{"usage":{"prompt_tokens":-7,"completion_tokens":5}}`:                       {Calls: 1, Input: -7, Output: 5, Unpriced: 1},
		`{"usage":{"prompt_tokens":"many"}}`:                                         {},
		`{"usage":null}`:                                                             {},
		`no JSON`:                                                                    {},
	} {
		x := &Exchange{Status: 200, Body: []byte(body)}
		var got eval.Usage
		if u := x.Malformed("no reply").Usage; u != nil {
			got = *u
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}
