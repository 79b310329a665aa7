import { setTimeout as pause } from "node:timers/promises";
import { blocks, type Call, type JsonObject, type OlderRevision, since, text } from "./content.js";

export interface ToolFixture {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly since?: OlderRevision;
  /** Members that later revisions added to a tool. */
  readonly extra?: JsonObject;
  run(args: JsonObject, call: Call): Promise<JsonObject> | JsonObject;
}

const schema = (properties: JsonObject, ...required: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  required,
});

/** How many `wait` calls this process saw cancelled. */
let cancelledWaits = 0;

async function cancelled(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  cancelledWaits += 1;
}

const FORM: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 1 },
    size: { type: "string", enum: ["s", "m"], enumNames: ["Small", "Medium"] },
    count: { type: "integer", minimum: 1 },
    sure: { type: "boolean", default: false },
  },
  required: ["name"],
};

const TOOLS: readonly ToolFixture[] = [
  {
    name: "echo",
    description: "Says the message again",
    inputSchema: schema({ message: { type: "string" } }, "message"),
    run: ({ message }) => text(`echo: ${message}`),
  },
  {
    name: "arguments",
    description: "Shows what it was called with",
    inputSchema: { type: "object" },
    run: (args) => text(JSON.stringify(args)),
  },
  {
    name: "blocks",
    description: "One block of each kind",
    inputSchema: schema({}),
    run: (_args, { revision }) => blocks(revision),
  },
  {
    name: "annotated",
    description: "Carries hints for the user",
    inputSchema: schema({}),
    since: "2025-03-26",
    extra: { annotations: { title: "Annotated", readOnlyHint: true, openWorldHint: false } },
    run: () => text("annotated"),
  },
  {
    name: "structured",
    description: "Answers with structured content",
    inputSchema: schema({ city: { type: "string" } }, "city"),
    since: "2025-06-18",
    extra: {
      title: "Structured",
      outputSchema: schema({ city: { type: "string" }, degrees: { type: "number" } }, "city"),
    },
    run: ({ city }) => {
      const weather = { city, degrees: -1.5 };
      return { ...text(JSON.stringify(weather)), structuredContent: weather };
    },
  },
  {
    name: "progress",
    description: "Reports three steps",
    inputSchema: schema({}),
    run: async (_args, { notify, progressToken, revision }) => {
      if (progressToken === undefined) return text("nobody listens");
      for (const progress of [1, 2, 3]) {
        const message = since(revision, "2025-03-26") ? { message: `step ${progress}` } : {};
        await notify("notifications/progress", { progressToken, progress, total: 3, ...message });
        // The first clients drop what arrives together with the response.
        await pause(20);
      }
      return text("three steps");
    },
  },
  {
    name: "fail",
    description: "Fails as a tool",
    inputSchema: schema({}),
    run: () => ({ ...text("it broke"), isError: true }),
  },
  {
    name: "break",
    description: "Fails as a request",
    inputSchema: schema({}),
    run: () => {
      throw Object.assign(new Error("broken on purpose"), { code: -32050 });
    },
  },
  {
    name: "capabilities",
    description: "Shows what the client declared",
    inputSchema: schema({}),
    run: (_args, { capabilities }) => text(JSON.stringify(capabilities)),
  },
  {
    name: "sample",
    description: "Asks the client's model",
    inputSchema: schema({ question: { type: "string" } }, "question"),
    run: async ({ question }, { ask }) => {
      const answer = await ask("sampling/createMessage", {
        messages: [{ role: "user", content: { type: "text", text: question } }],
        systemPrompt: "Be short",
        maxTokens: 100,
        modelPreferences: { hints: [{ name: "small" }], speedPriority: 1 },
      });
      return text(JSON.stringify(answer));
    },
  },
  {
    name: "roots",
    description: "Asks for the client's roots",
    inputSchema: schema({}),
    run: async (_args, { ask }) => text(JSON.stringify(await ask("roots/list", {}))),
  },
  {
    name: "form",
    description: "Asks the user twice",
    inputSchema: schema({}),
    since: "2025-06-18",
    run: async (_args, { ask, capabilities }) => {
      if (capabilities["elicitation"] === undefined) return text("there is nobody to ask");
      const first = await ask("elicitation/create", { message: "Who?", requestedSchema: FORM });
      const second = await ask("elicitation/create", { message: "Sure?", requestedSchema: FORM });
      return text(JSON.stringify([first, second]));
    },
  },
  {
    name: "wait",
    description: "Waits until it is cancelled",
    inputSchema: schema({}),
    run: async (_args, { signal }) => {
      await cancelled(signal);
      return text("cancelled");
    },
  },
  {
    name: "cancelled",
    description: "How many waits were cancelled",
    inputSchema: schema({}),
    run: () => text(`${cancelledWaits}`),
  },
];

/** The tools that a server of this revision can have. */
export function toolsOf(revision: OlderRevision): readonly ToolFixture[] {
  return TOOLS.filter((tool) => since(revision, tool.since ?? "2024-11-05"));
}
