import type { Interceptor } from "../model/service.js";

/** One interceptor of many: the first is the outermost, as in `first(second(service))`. */
export function compose(interceptors: readonly Interceptor[]): Interceptor {
  return (service) => interceptors.reduceRight((next, wrap) => wrap(next), service);
}
