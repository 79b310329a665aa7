package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	serverName      = "go-modern"
	withoutSessions = true
)

func serverOptions() *mcp.ServerOptions {
	return &mcp.ServerOptions{Instructions: "Ask for notes.", PageSize: 4}
}

// input is the result that asks the client one question.
func input(request mcp.InputRequest) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{"question": request},
		RequestState:  "one \"question\" \u00e9",
	}
}

// answered gives the client's answer, once it is there with the state that was sent.
func answered[Answer any](req *mcp.CallToolRequest) (Answer, bool, error) {
	var none Answer
	response, here := req.Params.InputResponses["question"]
	if !here {
		return none, false, nil
	}
	if state := req.Params.RequestState; state != "one \"question\" \u00e9" {
		return none, true, fmt.Errorf("request state came back as %q", state)
	}
	answer, fits := response.(Answer)
	if !fits {
		return none, true, fmt.Errorf("an answer of type %T", response)
	}
	return answer, true, nil
}

func addQuestions(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "ask", Description: "Asks the user"},
		func(_ context.Context, req *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
			answer, here, err := answered[*mcp.ElicitResult](req)
			if err != nil {
				return nil, nil, err
			}
			if !here {
				form := &jsonschema.Schema{
					Type:       "object",
					Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}},
					Required:   []string{"name"},
				}
				return input(&mcp.ElicitParams{Message: "Who are you?", RequestedSchema: form}), nil, nil
			}
			if answer.Action != "accept" {
				return say(answer.Action), nil, nil
			}
			return say("accept " + answer.Content["name"].(string)), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "sample", Description: "Asks the client's model"},
		func(_ context.Context, req *mcp.CallToolRequest, in question) (*mcp.CallToolResult, any, error) {
			answer, here, err := answered[*mcp.CreateMessageWithToolsResult](req)
			if err != nil {
				return nil, nil, err
			}
			if !here {
				asked := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: in.Question}}
				return input(&mcp.CreateMessageParams{
					Messages: []*mcp.SamplingMessage{asked}, MaxTokens: 50,
				}), nil, nil
			}
			return say(string(answer.Role) + ": " + answer.Content[0].(*mcp.TextContent).Text), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "roots", Description: "Asks for the client's roots"},
		func(_ context.Context, req *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
			listed, here, err := answered[*mcp.ListRootsResult](req)
			if err != nil {
				return nil, nil, err
			}
			if !here {
				return input(&mcp.ListRootsParams{}), nil, nil
			}
			var uris []string
			for _, root := range listed.Roots {
				uris = append(uris, root.URI)
			}
			return say(strings.Join(uris, ",")), nil, nil
		})
}
