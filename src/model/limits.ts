/** Every wait (ms), size (bytes) and count the bridge keeps to. Each can be set by the operator. */
export interface Limits {
  /** One message, in bytes: 64 MiB carries large images and still bounds memory. */
  readonly maxMessageBytes: number;
  /** One request upstream, reset by its progress: whoever has less patience than this takes it back. */
  readonly requestTimeoutMs: number;
  /** The same whatever progress says: the specification asks for a ceiling. */
  readonly requestCeilingMs: number;
  /** `initialize` of an upstream: package runners install before they start. */
  readonly startTimeoutMs: number;
  /** After this much silence on the stdio probe, `initialize` follows behind it. */
  readonly probeSilenceMs: number;
  /** How long an era verdict is believed without a new look. */
  readonly verdictHorizonMs: number;
  /** Reverse requests that follow each other within this time make one round. */
  readonly coalesceMs: number;
  /** A parked call waits for the client's answer. */
  readonly parkMs: number;
  /** The same when only sampling is asked: a modern client has no way to say no. */
  readonly parkSamplingMs: number;
  readonly maxParkedPerPrincipal: number;
  readonly maxParked: number;
  /** Rounds in which the same key may stay unanswered before it counts as declined. */
  readonly maxUnansweredRounds: number;
  /** A result kept for the retry of a parked call. */
  readonly maxKeptResultBytes: number;
  /** Log messages kept for the retry of a parked call. */
  readonly maxKeptLogs: number;
  /** Questions of several candidates wait this long for one to remain. */
  readonly attributionHoldMs: number;
  /** Roots asked outside a call wait this long for a call that can carry the question. */
  readonly rootsHoldMs: number;
  /** A request waits this long for an upstream session, or for its turn on one. */
  readonly turnWaitMs: number;
  /** `logging/setLevel` and `resources/subscribe` may delay what waits for them by this much. */
  readonly setLevelWaitMs: number;
  readonly subscribeWaitMs: number;
  /** A log level stays set upstream this long after the last request that wanted it. */
  readonly logLevelGraceMs: number;
  /** An upstream session without calls, parked calls or watchers is closed after this. */
  readonly sessionIdleMs: number;
  readonly maxSessions: number;
  readonly maxSessionsPerPrincipal: number;
  /** A downstream legacy session without traffic or open stream is forgotten after this. */
  readonly frontSessionIdleMs: number;
  readonly maxFrontSessions: number;
  /** Requests of one principal in flight: beyond it, refuse instead of queueing for ever. */
  readonly maxInFlightPerPrincipal: number;
  /** A silent response becomes an SSE stream after this, so that keep-alives can flow. */
  readonly commitMs: number;
  /** The same for legacy clients that can come back after a cut: only a stream gives them the means. */
  readonly primeMs: number;
  readonly keepAliveMs: number;
  /** Unread bytes towards a slow reader before its stream is cut, and a server gets no more requests. */
  readonly maxBacklogBytes: number;
  /** Answer of a client to a reverse request: human time. */
  readonly reverseTimeoutMs: number;
  /** Rounds of one legacy client's call. */
  readonly maxRounds: number;
  /** Pause before a retry that carries no answers; doubles up to the maximum. */
  readonly stateOnlyPauseMs: number;
  readonly stateOnlyPauseMaxMs: number;
  /** A refused URL elicitation is repeated after its completion or this. */
  readonly urlWaitMs: number;
  /** How long an unfinished URL elicitation is polled before the user is asked again. */
  readonly urlPollMs: number;
  /** Pause before such a poll; doubles up to the maximum. */
  readonly urlPollPauseMs: number;
  readonly urlPollPauseMaxMs: number;
  /** A task that names no interval is polled this often; one that does, between these. */
  readonly taskPollMs: number;
  readonly taskPollMinMs: number;
  readonly taskPollMaxMs: number;
  /** Events and bytes kept per stream for a legacy client that reconnects, and for how long. */
  readonly maxReplayEvents: number;
  readonly maxReplayBytes: number;
  readonly replayMs: number;
  /** The same over all finished streams of all clients. */
  readonly maxReplayTotalBytes: number;
  /** Another instance accepts a session id of ours this long after it was issued. */
  readonly sessionIdMs: number;
  /** Watches of one principal, and URIs in one watch. */
  readonly maxWatchesPerPrincipal: number;
  readonly maxWatchedUris: number;
  /** Equal changes within this time are one notice. */
  readonly changeCoalesceMs: number;
  /** A modern server acknowledges `subscriptions/listen` within this. */
  readonly listenAckMs: number;
  /** Watches that come or go within this time change the upstream's listen once. */
  readonly listenSettleMs: number;
  /** A resource stays subscribed upstream this long after its last watcher. */
  readonly unsubscribeGraceMs: number;
  /** Pages of a list the bridge reads for itself. */
  readonly maxPages: number;
  /** Attempts and first pause when an upstream stream is resumed. */
  readonly maxResumeAttempts: number;
  readonly resumePauseMs: number;
  readonly resumePauseMaxMs: number;
  /** A stdio front's input ended: calls in flight may finish within this. */
  readonly eofGraceMs: number;
  /** `serve` was asked to stop: calls in flight may finish within this. */
  readonly drainMs: number;
  /** Pause before a crashed server is started again; doubles up to the maximum. */
  readonly restartPauseMs: number;
  readonly restartPauseMaxMs: number;
  /** A server process that is told to stop may take this after the end of its input, and again after SIGTERM. */
  readonly stopGraceMs: number;
  /** What a process that has exited, or closed its output, may still have on the way. */
  readonly lastWordsMs: number;
  /** The end of a server process's standard error, kept for the log. */
  readonly maxStderrTailBytes: number;
  /** A WebSocket peer that is silent this long is asked for a sign of life, and cut after as long again. */
  readonly heartbeatMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  maxMessageBytes: 64 * MIB,
  requestTimeoutMs: 15 * MINUTE,
  requestCeilingMs: 60 * MINUTE,
  startTimeoutMs: 60 * SECOND,
  probeSilenceMs: 2 * SECOND,
  verdictHorizonMs: 24 * 60 * MINUTE,
  coalesceMs: 50,
  parkMs: 10 * MINUTE,
  parkSamplingMs: 2 * MINUTE,
  maxParkedPerPrincipal: 64,
  maxParked: 4_096,
  maxUnansweredRounds: 3,
  maxKeptResultBytes: 64 * MIB,
  maxKeptLogs: 100,
  attributionHoldMs: 2 * SECOND,
  rootsHoldMs: 2 * SECOND,
  turnWaitMs: 5 * MINUTE,
  setLevelWaitMs: 1 * SECOND,
  subscribeWaitMs: 5 * SECOND,
  logLevelGraceMs: 2 * SECOND,
  sessionIdleMs: 15 * MINUTE,
  maxSessions: 1_024,
  maxSessionsPerPrincipal: 32,
  frontSessionIdleMs: 30 * MINUTE,
  maxFrontSessions: 10_000,
  maxInFlightPerPrincipal: 1_024,
  commitMs: 5 * SECOND,
  primeMs: 250,
  keepAliveMs: 15 * SECOND,
  maxBacklogBytes: 64 * MIB,
  reverseTimeoutMs: 10 * MINUTE,
  maxRounds: 10,
  stateOnlyPauseMs: 250,
  stateOnlyPauseMaxMs: 5 * SECOND,
  urlWaitMs: 5 * SECOND,
  urlPollMs: 5 * MINUTE,
  urlPollPauseMs: 2 * SECOND,
  urlPollPauseMaxMs: 15 * SECOND,
  taskPollMs: 1 * SECOND,
  taskPollMinMs: 100,
  taskPollMaxMs: 60 * SECOND,
  maxReplayEvents: 1_000,
  maxReplayBytes: 4 * MIB,
  replayMs: 10 * MINUTE,
  maxReplayTotalBytes: 64 * MIB,
  sessionIdMs: 24 * 60 * MINUTE,
  maxWatchesPerPrincipal: 64,
  maxWatchedUris: 1_000,
  changeCoalesceMs: 100,
  listenAckMs: 5 * SECOND,
  listenSettleMs: 50,
  unsubscribeGraceMs: 2 * SECOND,
  maxPages: 200,
  maxResumeAttempts: 5,
  resumePauseMs: 1 * SECOND,
  resumePauseMaxMs: 30 * SECOND,
  eofGraceMs: 5 * SECOND,
  drainMs: 10 * SECOND,
  restartPauseMs: 500,
  restartPauseMaxMs: 30 * SECOND,
  stopGraceMs: 2 * SECOND,
  lastWordsMs: 250,
  maxStderrTailBytes: 8 * 1024,
  heartbeatMs: 30 * SECOND,
};
