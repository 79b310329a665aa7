/** Echoes its standard input as a stdio front, amid other code that prints. */
import { createStdioFront } from "../../../adapters/stdio/front.js";

const channel = createStdioFront();
process.stdout.write("printed by somebody else\n");
channel.start({
  message: (text) => channel.send(text),
  dropped: () => undefined,
  closed({ detail }) {
    channel.send(JSON.stringify(detail));
    void channel.close().then(() => process.stdout.write('"afterwards"\n'));
  },
});
