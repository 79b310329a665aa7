import type { Express, Request } from "express";
import type { Authenticator } from "../../src/index.js";
import type { PinoJournal } from "../system/pino-journal.js";
import { formatMetrics } from "./metrics.js";
import type { Mounts } from "./mounts.js";

export interface HealthDeps {
  readonly mounts: Pick<Mounts, "list">;
  readonly journal: Pick<PinoJournal, "counts">;
  readonly authenticator: Authenticator | undefined;
  readonly draining: () => boolean;
}

/** Lets an orchestrator look at the process (`/healthz`, `/readyz`) and an operator at what it did. */
export function mountHealth(app: Express, deps: HealthDeps): void {
  const { mounts, journal, authenticator } = deps;

  const mayCall = async ({ headers }: Request): Promise<boolean> => {
    if (authenticator === undefined) return true;
    const { authorization = "" } = headers;
    return (await authenticator({ authorization })).type === "accepted";
  };

  app.get("/healthz", (_request, response) => {
    response.type("text").send("ok\n");
  });

  app.get("/readyz", (_request, response) => {
    const waiting = mounts.list().filter((each) => !each.ready());
    const reasons = deps.draining()
      ? ["draining"]
      : waiting.map(({ settings }) => `waiting for ${settings.name}`);
    const ready = reasons.length === 0;
    response.status(ready ? 200 : 503).type("text");
    response.send(ready ? "ready\n" : `${reasons.join("\n")}\n`);
  });

  app.get("/metrics", async (request, response) => {
    if (!(await mayCall(request))) {
      response.status(401).set("www-authenticate", "Bearer").end();
      return;
    }
    const upstreams = mounts
      .list()
      .map(({ settings, bridge }) => ({ upstream: settings.name, gauges: bridge.stats() }));
    response.type("text/plain; version=0.0.4").send(formatMetrics(journal.counts(), upstreams));
  });
}
