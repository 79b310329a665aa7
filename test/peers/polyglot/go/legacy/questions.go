package main

import (
	"context"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	serverName      = "go-legacy"
	withoutSessions = false
)

func serverOptions() *mcp.ServerOptions {
	return &mcp.ServerOptions{Instructions: "Ask for notes.", PageSize: 4}
}

func addQuestions(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "ask", Description: "Asks the user"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
			form := &jsonschema.Schema{
				Type:       "object",
				Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}},
				Required:   []string{"name"},
			}
			answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Who are you?", RequestedSchema: form})
			if err != nil {
				return nil, nil, err
			}
			if answer.Action != "accept" {
				return say(answer.Action), nil, nil
			}
			return say("accept " + answer.Content["name"].(string)), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "sample", Description: "Asks the client's model"},
		func(ctx context.Context, req *mcp.CallToolRequest, in question) (*mcp.CallToolResult, any, error) {
			asked := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: in.Question}}
			answer, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
				Messages: []*mcp.SamplingMessage{asked}, MaxTokens: 50,
			})
			if err != nil {
				return nil, nil, err
			}
			return say(string(answer.Role) + ": " + answer.Content.(*mcp.TextContent).Text), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "roots", Description: "Asks for the client's roots"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
			listed, err := req.Session.ListRoots(ctx, &mcp.ListRootsParams{})
			if err != nil {
				return nil, nil, err
			}
			var uris []string
			for _, root := range listed.Roots {
				uris = append(uris, root.URI)
			}
			return say(strings.Join(uris, ",")), nil, nil
		})
}
