package report

import (
	"bytes"
	"encoding/json"
)

// This file is what package report/lint shares with the formats for runs.

// Bounds of what is shown, in bytes unless said otherwise.
const (
	ReasonBytes    = reasonBytes    // one reason
	MarkdownHead   = markdownHead   // what comes before the lists of a pull request comment
	MarkdownMost   = markdownOthers // a comment without its last lines
	MarkdownReason = markdownReason // one reason in a comment
	AnnotationsMax = annotationsMax // number of GitHub annotations of a class
)

// AppendJSON appends v in JSON, its lines after the first behind the prefix, with strings that are safe to print.
func AppendJSON(dst []byte, prefix string, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return dst, err
	}
	return appendLaidOut(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n")), prefix), nil
}

// LayoutWidth is the width to lay text out in.
func LayoutWidth(o Options) int { return layoutWidth(o) }

// MarkdownText is foreign text as running Markdown or a table cell.
func MarkdownText(s string) string { return mdText(s) }

// GitHubData is foreign text after the second pair of colons of a workflow command.
func GitHubData(s string) string { return githubData(s) }

// GitHubProperty is foreign text as a property of a workflow command.
func GitHubProperty(s string) string { return githubProperty(s) }

// XMLAttr is foreign text inside a quoted attribute.
func XMLAttr(s string) string { return xmlAttr(s) }

// XMLProblem is a failure or an error of a JUnit test: the first reason as its message, all of them as its text.
func XMLProblem(tag, kind string, reasons []string) string { return problem(tag, kind, reasons) }

// XMLBlock is an element of a JUnit test with foreign text in it, empty when there is no text.
func XMLBlock(tag, text string) string { return block(tag, "", text) }

// Plural is a number of things.
func Plural(n int, noun string) string { return plural(n, noun) }
