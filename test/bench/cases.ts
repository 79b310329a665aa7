/** What is measured. `rounds` of `seconds` each are shared out to the subjects in turn. */
export interface BenchCase {
  readonly name: string;
  readonly title: string;
  readonly upstream: "http-json" | "http-sse" | "stdio";
  readonly tool: "echo" | "image";
  readonly arguments: Readonly<Record<string, unknown>>;
  /** An answer shorter than this is a fault of the measurement. */
  readonly leastBytes: number;
  readonly connections: number;
}

const ECHO = { tool: "echo", arguments: { text: "hello, bridge" }, leastBytes: 60 } as const;

export const CASES: readonly BenchCase[] = [
  {
    name: "http-json",
    title: "small echo, HTTP upstream, JSON answers",
    upstream: "http-json",
    connections: 16,
    ...ECHO,
  },
  {
    name: "http-sse",
    title: "small echo, HTTP upstream, SSE answers",
    upstream: "http-sse",
    connections: 16,
    ...ECHO,
  },
  {
    name: "stdio",
    title: "small echo, stdio upstream",
    upstream: "stdio",
    connections: 16,
    ...ECHO,
  },
  {
    name: "image",
    title: "10 MB result, HTTP upstream, JSON answers",
    upstream: "http-json",
    tool: "image",
    arguments: {},
    leastBytes: 10_000_000,
    connections: 4,
  },
];
