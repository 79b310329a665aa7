/**
 * Looks again and again until the value passes, and brings it; rejects after `ms`. For tests that run beside
 * others, where `expect.poll` cannot tell whose it is.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  passes: (value: T) => boolean,
  ms = 15_000,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const value = await look();
    if (passes(value)) return value;
    if (Date.now() > end)
      throw new Error(`not within ${ms} ms; the last was ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
