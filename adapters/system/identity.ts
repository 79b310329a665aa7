import { createRequire } from "node:module";

const manifest = createRequire(import.meta.url)("erabridge/package.json") as {
  readonly version: string;
};

/** What the bridge calls itself where a client says nothing, with the package's own version. */
export const IDENTITY = { name: "erabridge", version: manifest.version } as const;
