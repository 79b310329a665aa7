/** The only door into the core: adapters and embedders import from here. */
export {
  type Bridge,
  type BridgeOptions,
  type ChannelSender,
  createBridge,
} from "./bridge/bridge.js";
export { BridgeError, type BridgeErrorCode, type Challenge } from "./errors.js";
export { createLineDecoder, type LineDecoder } from "./framing/lines.js";
export { createOriginGuard } from "./front/http/origin-guard.js";
export { onOneLine } from "./jsonrpc/json-text.js";
export type { Advertisement } from "./model/advertisement.js";
export {
  type Caller,
  LOCAL_PRINCIPAL,
  type Principal,
  toPrincipal,
} from "./model/caller.js";
export type { Era } from "./model/era.js";
export { DEFAULT_LIMITS, type Limits } from "./model/limits.js";
export type { Interest, Notice, Notices } from "./model/notice.js";
export type { Operation, Outcome } from "./model/operation.js";
export type { Acknowledgement, Interceptor, Service } from "./model/service.js";
export type { Authentication, Authenticator } from "./ports/authenticator.js";
export type { Channel, ChannelEnd, ChannelReceiver } from "./ports/channel.js";
export type { Clock, Stop } from "./ports/clock.js";
export type { Entropy } from "./ports/entropy.js";
export type {
  Departure,
  HttpCall,
  HttpExchange,
  HttpFailure,
  HttpHandler,
  HttpHeaders,
  HttpReply,
  HttpRequest,
  HttpSink,
  HttpStream,
} from "./ports/http.js";
export type { Journal } from "./ports/journal.js";
export type { Sealer } from "./ports/sealer.js";
export type { ChannelTarget, HttpTarget, Target } from "./ports/target.js";
export type { Fate, Rule } from "./translation/rule.js";
export { RULES } from "./translation/rules.js";
