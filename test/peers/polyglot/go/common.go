// A server on the official Go SDK: `<program> [sessions] stdio|http`. Over HTTP its URL is the first
// line; without sessions each request stands alone where the SDK has that.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type message struct {
	Message string `json:"message"`
}

type place struct {
	City string `json:"city"`
}

type report struct {
	City    string  `json:"city"`
	Degrees float64 `json:"degrees"`
}

type question struct {
	Question string `json:"question"`
}

type nothing struct{}

var cancelled atomic.Int64

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func addTools(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Says the message again"},
		func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
			return say("echo: " + in.Message), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "weather", Description: "Answers with structured content"},
		func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, report, error) {
			return nil, report{City: in.City, Degrees: -1.5}, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "progress", Description: "Reports three steps"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
			token := req.Params.GetProgressToken()
			for step := 1; step <= 3 && token != nil; step++ {
				note := &mcp.ProgressNotificationParams{
					ProgressToken: token, Progress: float64(step), Total: 3, Message: fmt.Sprintf("step %d", step),
				}
				if err := req.Session.NotifyProgress(ctx, note); err != nil {
					return nil, nil, err
				}
				time.Sleep(20 * time.Millisecond)
			}
			return say("three steps"), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "wait", Description: "Waits until it is cancelled"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
			select {
			case <-ctx.Done():
				cancelled.Add(1)
				return nil, nil, ctx.Err()
			case <-time.After(time.Minute):
				return say("nobody cancelled"), nil, nil
			}
		})
	mcp.AddTool(server, &mcp.Tool{Name: "cancelled", Description: "How many waits were cancelled"},
		func(_ context.Context, _ *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
			return say(fmt.Sprint(cancelled.Load())), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "fail", Description: "Fails as a tool"},
		func(_ context.Context, _ *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("it broke")
		})
}

func addRest(server *mcp.Server) {
	greet := &mcp.Prompt{
		Name: "greet", Description: "Greets somebody",
		Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}},
	}
	server.AddPrompt(greet, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text := &mcp.TextContent{Text: "hello " + req.Params.Arguments["name"]}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text}}}, nil
	})
	read := func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text := "one"
		if req.Params.URI != "note:///one" {
			text = "by " + req.Params.URI[len("note:///by/"):]
		}
		contents := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: text}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
	}
	server.AddResource(&mcp.Resource{URI: "note:///one", Name: "one", MIMEType: "text/plain"}, read)
	server.AddResourceTemplate(
		&mcp.ResourceTemplate{URITemplate: "note:///by/{author}", Name: "by", MIMEType: "text/plain"}, read)
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: serverName, Version: "1.0.0"}, serverOptions())
	addTools(server)
	addQuestions(server)
	addRest(server)
	if slices.Contains(os.Args, "http") {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("http://%s/mcp\n", listener.Addr())
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: withoutSessions && !slices.Contains(os.Args, "sessions")})
		log.Fatal(http.Serve(listener, handler))
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Print(err)
	}
}
