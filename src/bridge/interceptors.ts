import type { Interceptor } from "../model/service.js";

/** One interceptor of many: the first is the outermost, as in `first(second(service))`. */
export function compose(interceptors: readonly Interceptor[]): Interceptor {
  return (service) => interceptors.reduceRight((next, wrap) => wrap(next), service);
}

/**
 * What fronts give for a signal may be a host's cheaper stand-in. Interceptors of embedders get real
 * ones, since they may pass them on to `fetch`.
 */
export const withRealSignals: Interceptor = (next) => ({
  ...next,
  describe: (caller, signal) => whilePending(signal, (real) => next.describe(caller, real)),
  relay: (operation, notices, signal) =>
    whilePending(signal, (real) => next.relay(operation, notices, real)),
  // A watch goes on after it has resolved.
  watch: (interest, caller, notices, signal) =>
    next.watch(interest, caller, notices, follow(signal).real),
});

/** A signal of its own that aborts with another one, until it is let go. */
function follow(signal: AbortSignal): { readonly real: AbortSignal; letGo(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return {
    real: controller.signal,
    letGo: () => signal.removeEventListener("abort", abort),
  };
}

function whilePending<T>(signal: AbortSignal, act: (real: AbortSignal) => Promise<T>): Promise<T> {
  const { real, letGo } = follow(signal);
  return act(real).finally(letGo);
}
