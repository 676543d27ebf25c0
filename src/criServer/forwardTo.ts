/** Connects a stream of port-forward to a server of the pod. */
import net from "node:net";
import type { Duplex } from "node:stream";

/** Connects the stream to the first address that accepts; returns the errors if none does. */
export async function forwardTo(
  addresses: readonly string[],
  port: number,
  stream: Duplex,
): Promise<string | undefined> {
  const problems: string[] = [];
  for (const host of addresses) {
    const target = net.connect({ host, port, allowHalfOpen: true });
    const connected = await new Promise<boolean>((resolve) => {
      target.once("connect", () => resolve(true));
      target.once("error", (error) => {
        problems.push(error.message);
        resolve(false);
      });
    });
    if (!connected) continue;
    return await new Promise((resolve) => {
      target.once("error", (error) => resolve(error.message));
      target.once("close", () => resolve(undefined));
      stream.once("close", () => target.destroy());
      stream.pipe(target).pipe(stream);
    });
  }
  return problems.join("; ");
}
