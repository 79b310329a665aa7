import type { Json } from "./peer.js";
import type { Crossing } from "./transcript.js";

const REVERSE = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);

/** Three lines about what the bridge did, counted from what crossed. */
export function summarize(crossings: readonly Crossing[]): readonly string[] {
  const count = (fits: (crossing: Crossing) => boolean) => crossings.filter(fits).length;
  const method = ({ message }: Crossing) => message["method"];
  const requests = count((each) => each.side === "client" && each.direction === "up");
  const handshakes = count((each) => each.side === "server" && method(each) === "initialize");
  const questions = count(
    (each) =>
      each.side === "server" && each.direction === "down" && REVERSE.has(String(method(each))),
  );
  const rounds = count(
    ({ side, message }) =>
      side === "client" && ((message["result"] ?? {}) as Json)["resultType"] === "input_required",
  );
  const calls = (side: Crossing["side"]) =>
    count((each) => each.side === side && method(each) === "tools/call");
  const progress = count(
    (each) => each.side === "client" && method(each) === "notifications/progress",
  );
  return [
    `${requests} requests of a client without a session were served over ${handshakes} session of a server that needs one.`,
    `${questions} questions of the server became ${rounds} results that ask; ${calls("client")} tool requests reached the server as ${calls("server")} calls.`,
    `${progress} progress notices came back under the client's own token; ids on either side are that side's own.`,
  ];
}
