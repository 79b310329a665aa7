import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncPromptSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceTemplateSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;

/** A legacy server on the official Java SDK: {@code LegacyServer stdio|http}. */
public final class LegacyServer {

  private LegacyServer() {}

  private static CallToolResult say(String text, boolean failed) {
    return CallToolResult.builder().addTextContent(text).isError(failed).build();
  }

  private static Map<String, Object> arguments(String... names) {
    Map<String, Object> properties =
        List.of(names).stream().collect(Collectors.toMap(name -> name, name -> Map.of("type", "string")));
    return Map.of("type", "object", "properties", properties, "required", List.of(names));
  }

  private static SyncToolSpecification tool(
      String name,
      String description,
      Map<String, Object> schema,
      BiFunction<McpSyncServerExchange, CallToolRequest, CallToolResult> handler) {
    McpSchema.Tool tool =
        McpSchema.Tool.builder().name(name).description(description).inputSchema(schema).build();
    return SyncToolSpecification.builder().tool(tool).callHandler(handler).build();
  }

  private static CallToolResult ask(McpSyncServerExchange exchange) {
    McpSchema.ElicitResult answer =
        exchange.createElicitation(
            McpSchema.ElicitRequest.builder("Who are you?", arguments("name")).build());
    String action = answer.action().name().toLowerCase();
    return say(answer.content() == null ? action : action + " " + answer.content().get("name"), false);
  }

  private static CallToolResult sample(McpSyncServerExchange exchange, CallToolRequest request) {
    TextContent question = new TextContent((String) request.arguments().get("question"));
    McpSchema.CreateMessageResult answer =
        exchange.createMessage(
            new McpSchema.CreateMessageRequest.Builder()
                .messages(List.of(new McpSchema.SamplingMessage(McpSchema.Role.USER, question)))
                .maxTokens(50)
                .build());
    String role = answer.role().name().toLowerCase();
    return say(role + ": " + ((TextContent) answer.content()).text(), false);
  }

  private static CallToolResult roots(McpSyncServerExchange exchange) {
    String uris =
        exchange.listRoots().roots().stream()
            .map(McpSchema.Root::uri)
            .collect(Collectors.joining(","));
    return say(uris, false);
  }

  private static CallToolResult progress(McpSyncServerExchange exchange, CallToolRequest request) {
    Object token = request.meta() == null ? null : request.meta().get("progressToken");
    for (int step = 1; step <= 3 && token != null; step++) {
      exchange.progressNotification(
          new McpSchema.ProgressNotification(token, (double) step, 3.0, "step " + step));
      try {
        Thread.sleep(20);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    return say("three steps", false);
  }

  private static List<SyncToolSpecification> tools() {
    return List.of(
        tool(
            "echo",
            "Says the message again",
            arguments("message"),
            (exchange, request) -> say("echo: " + request.arguments().get("message"), false)),
        tool("ask", "Asks the user", arguments(), (exchange, request) -> ask(exchange)),
        tool("sample", "Asks the client's model", arguments("question"), LegacyServer::sample),
        tool("roots", "Asks for the client's roots", arguments(), (exchange, request) -> roots(exchange)),
        tool("progress", "Reports three steps", arguments(), LegacyServer::progress),
        tool("fail", "Fails as a tool", arguments(), (exchange, request) -> say("it broke", true)));
  }

  private static McpSchema.ReadResourceResult read(String uri) {
    String text = uri.equals("note:///one") ? "one" : "by " + uri.substring("note:///by/".length());
    return new McpSchema.ReadResourceResult(
        List.of(new McpSchema.TextResourceContents(uri, "text/plain", text)));
  }

  private static void fill(McpServer.SyncSpecification<?> server) {
    McpSchema.Prompt greet =
        new McpSchema.Prompt(
            "greet",
            "Greets somebody",
            List.of(new McpSchema.PromptArgument("name", "Who", true)));
    server
        .serverInfo("java-legacy", "1.0.0")
        .instructions("Ask for notes.")
        .requestTimeout(Duration.ofSeconds(20))
        .capabilities(
            new McpSchema.ServerCapabilities.Builder()
                .tools(false)
                .prompts(false)
                .resources(false, false)
                .build())
        .tools(tools())
        .prompts(
            new SyncPromptSpecification(
                greet,
                (exchange, request) ->
                    new McpSchema.GetPromptResult(
                        null,
                        List.of(
                            new McpSchema.PromptMessage(
                                McpSchema.Role.USER,
                                new TextContent("hello " + request.arguments().get("name")))))))
        .resources(
            new SyncResourceSpecification(
                new McpSchema.Resource.Builder()
                    .uri("note:///one")
                    .name("one")
                    .mimeType("text/plain")
                    .build(),
                (exchange, request) -> read(request.uri())))
        .resourceTemplates(
            new SyncResourceTemplateSpecification(
                McpSchema.ResourceTemplate.builder()
                    .uriTemplate("note:///by/{author}")
                    .name("by")
                    .mimeType("text/plain")
                    .build(),
                (exchange, request) -> read(request.uri())));
  }

  private static void serveHttp() throws Exception {
    HttpServletStreamableServerTransportProvider transport =
        HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
    McpServer.StreamableSyncSpecification server = McpServer.sync(transport);
    fill(server);
    server.build();
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    Context context = tomcat.addContext("", null);
    Wrapper servlet = Tomcat.addServlet(context, "mcp", transport);
    servlet.setAsyncSupported(true);
    context.addServletMappingDecoded("/*", "mcp");
    tomcat.start();
    System.out.println("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/mcp");
    tomcat.getServer().await();
  }

  public static void main(String[] arguments) throws Exception {
    if (List.of(arguments).contains("http")) {
      serveHttp();
      return;
    }
    McpServer.SingleSessionSyncSpecification server =
        McpServer.sync(new StdioServerTransportProvider(McpJsonDefaults.getMapper()));
    fill(server);
    server.build();
  }
}
