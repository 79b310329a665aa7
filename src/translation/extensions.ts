import type { Draft } from "../jsonrpc/draft.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "extensions",
  feature: "Extensions, unknown methods and members",
  modernClient: {
    fate: "same",
    how: "Extensions such as `io.modelcontextprotocol/ui` pass in capabilities and messages; methods that neither era defines are forwarded (`--no-forward-unknown` refuses them); unknown members are carried.",
  },
  legacyClient: {
    fate: "same",
    how: "The same. Between two legacy sides, or two modern ones, everything passes.",
  },
  loss: "Authorization extensions hold between neighbours and are not passed on. Requests of a legacy server that are no input requests get -32601.",
  spec: ["2026-07-28/basic/versioning"],
  about: ["extensions", "experimental", "io.modelcontextprotocol/ui"],
};

/** Extensions that hold between two neighbours only. */
const HOP_BY_HOP: readonly string[] = [
  "io.modelcontextprotocol/tasks",
  "io.modelcontextprotocol/oauth-client-credentials",
  "io.modelcontextprotocol/enterprise-managed-authorization",
];

/** Removes the extensions that each hop negotiates for itself. */
export function stripHopExtensions(capabilities: Draft): void {
  const extensions = capabilities.object("extensions");
  if (extensions === undefined) return;
  for (const name of HOP_BY_HOP) extensions.remove(name);
  if (extensions.changed && extensions.keys().length === 0) capabilities.remove("extensions");
}
