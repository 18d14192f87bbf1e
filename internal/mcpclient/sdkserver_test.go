package mcpclient_test

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type greeting struct {
	Text string `json:"text"`
}

// newSDKServer is a well-behaved server made with the official SDK.
func newSDKServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk-fixture", Version: "4.5.6"}, &mcp.ServerOptions{
		Instructions: "Call hello.", PageSize: 2,
	})
	mcp.AddTool(s, &mcp.Tool{Name: "hello", Description: "Says hello."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello"}}}, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "structured", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, greeting, error) {
			return nil, greeting{Text: "hello"}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "everything"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.TextContent{Text: "hello"},
				&mcp.ImageContent{MIMEType: "image/png", Data: []byte{1, 2}},
				&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte{3}},
				&mcp.ResourceLink{URI: "file:///a", Name: "a"},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b", MIMEType: "text/plain", Text: "inside"}},
			}}, nil, nil
		})
	return s
}
