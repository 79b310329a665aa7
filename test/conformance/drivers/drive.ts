import { startBridge } from "../start-bridge.js";

/**
 * Runs `use` with the URL of a bridge in front of the server whose URL the suite appended to the
 * command line, and stops the bridge afterwards, also when the suite ends this process.
 */
export async function withBridge(use: (url: URL) => Promise<void>): Promise<void> {
  const upstream = process.argv.at(-1) ?? "";
  const bridge = await startBridge({ target: { url: upstream }, options: [], ownGroup: false });
  process.on("SIGTERM", () => {
    void bridge.stop().finally(() => process.exit(143));
  });
  try {
    await use(new URL(bridge.url));
  } catch (error) {
    process.stderr.write(`the bridge wrote:\n${bridge.tail()}\n`);
    throw error;
  } finally {
    await bridge.stop();
  }
}
