import type { StartChannelFront } from "../../src/front/channel-front.js";
import { createModernChannelFront } from "../../src/front/modern-channel-front.js";
import { createModernFront } from "../../src/front/modern-front.js";
import { toOffer } from "../../src/front/offer.js";
import { type ServedChannel, serveChannel } from "../../src/front/opening.js";
import { DEFAULT_LIMITS, type Journal, type Limits, LOCAL_PRINCIPAL } from "../../src/index.js";
import { createManualClock } from "../support/manual-clock.js";
import { createScriptedChannel, type ScriptedChannel } from "../support/scripted-channel.js";
import { createScriptedService, type ScriptedService } from "../support/scripted-service.js";

const SILENT: Journal = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export interface ChannelTalk extends ScriptedService {
  readonly far: ScriptedChannel;
  readonly served: ServedChannel;
  readonly clock: ReturnType<typeof createManualClock>;
}

export interface ChannelTalkOptions {
  readonly scripted?: ScriptedService;
  readonly limits?: Partial<Limits>;
  readonly legacy?: StartChannelFront;
  readonly forwardUnknown?: boolean;
  /** Leaves the modern era out. */
  readonly legacyOnly?: boolean;
}

/** A served channel over a scripted service, talked to in texts. */
export function startChannelTalk(options: ChannelTalkOptions = {}): ChannelTalk {
  const scripted = options.scripted ?? createScriptedService();
  const clock = createManualClock();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const far = createScriptedChannel();
  const sender = {
    principal: LOCAL_PRINCIPAL,
    anonymous: false,
    affinity: undefined,
    authorization: undefined,
  };
  const front = createModernFront({
    service: scripted.service,
    clock,
    journal: SILENT,
    limits,
    offer: toOffer(options.legacy !== undefined, options.forwardUnknown ?? true),
  });
  const modern: StartChannelFront = (outlet) =>
    createModernChannelFront({ front, sender, clock, journal: SILENT }, outlet);
  const served = serveChannel({
    channel: far.channel,
    modern: options.legacyOnly ? undefined : modern,
    legacy: options.legacy,
    limits,
    journal: SILENT,
    endGraceMs: limits.eofGraceMs,
  });
  return { ...scripted, far, served, clock };
}
