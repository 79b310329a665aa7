import { isObjectText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Limits } from "../model/limits.js";
import { LOG_LEVELS, type LogLevel } from "../model/log-level.js";
import { createTurnoverMap } from "../model/turnover.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { LegacyCall } from "./legacy-call.js";
import { askServer } from "./legacy-conversation.js";
import type { LegacySession } from "./legacy-session.js";

/** Nothing is quieter: what a session is set to when no request wants messages. */
const SILENT: LogLevel = "emergency";

/** The log level of sessions, from what the requests on them want. */
export interface LogLevels {
  /**
   * The call is about to be sent on the session. Undefined when the level is right already, else
   * resolves when it is set, or when the server takes too long or does not want to.
   */
  want(call: LegacyCall, session: LegacySession): Promise<void> | undefined;
  /** The call is on the session no more, or its newest round wants another level. */
  changed(call: LegacyCall, session: LegacySession): void;
  sessionEnded(session: LegacySession): void;
  close(): void;
}

interface Setting {
  level: LogLevel | undefined;
  readonly wants: Map<LegacyCall, LogLevel>;
  stop: Stop | undefined;
}

export interface LogLevelsOptions {
  readonly clock: Clock;
  readonly limits: Limits;
}

function rank(level: LogLevel): number {
  return LOG_LEVELS.indexOf(level);
}

/**
 * A legacy session has one level, a modern request its own: the session is set to the most talkative
 * of those in flight, and messages are sifted for each request (2025-11-25/server/utilities/logging).
 */
export function createLogLevels({ clock, limits }: LogLevelsOptions): LogLevels {
  const settings = new Map<LegacySession, Setting>();

  const lowest = ({ wants }: Setting): LogLevel => {
    let level = SILENT;
    for (const wanted of wants.values()) if (rank(wanted) < rank(level)) level = wanted;
    return level;
  };

  const set = async (session: LegacySession, setting: Setting, level: LogLevel): Promise<void> => {
    setting.stop?.();
    setting.stop = undefined;
    setting.level = level;
    // A server that refuses, or does not answer, gets the call all the same.
    await askServer(session.conversation, "logging/setLevel", `{"level":"${level}"}`, {
      timeoutMs: limits.setLevelWaitMs,
      ceilingMs: limits.setLevelWaitMs,
    });
  };

  /** Quieter comes later: the next request often wants the same again. */
  const quietenLater = (session: LegacySession, setting: Setting): void => {
    if (setting.level === undefined || setting.stop !== undefined) return;
    if (rank(lowest(setting)) <= rank(setting.level)) return;
    setting.stop = clock.after(limits.logLevelGraceMs, () => {
      setting.stop = undefined;
      const level = lowest(setting);
      if (session.state !== "ready" || setting.level === undefined) return;
      if (rank(level) > rank(setting.level)) void set(session, setting, level);
      if (setting.wants.size === 0) settings.delete(session);
    });
  };

  const settingOf = (session: LegacySession): Setting => {
    const known = settings.get(session);
    if (known !== undefined) return known;
    const setting: Setting = { level: undefined, wants: createTurnoverMap(), stop: undefined };
    settings.set(session, setting);
    return setting;
  };

  const raise = (session: LegacySession, setting: Setting): Promise<void> | undefined => {
    const level = lowest(setting);
    if (setting.level !== undefined && rank(setting.level) <= rank(level)) return undefined;
    return set(session, setting, level);
  };

  return {
    want(call, session) {
      if (call.logLevel === undefined) return undefined;
      if (!isObjectText(memberAt(session.advertisement.capabilities, "logging"))) return undefined;
      const setting = settingOf(session);
      setting.wants.set(call, call.logLevel);
      return raise(session, setting);
    },
    changed(call, session) {
      const setting = settings.get(session);
      if (setting === undefined) return;
      if (call.logLevel !== undefined && call.lease !== undefined) {
        setting.wants.set(call, call.logLevel);
        void raise(session, setting);
      } else if (!setting.wants.delete(call)) return;
      quietenLater(session, setting);
    },
    sessionEnded(session) {
      settings.get(session)?.stop?.();
      settings.delete(session);
    },
    close() {
      for (const { stop } of settings.values()) stop?.();
      settings.clear();
    },
  };
}
