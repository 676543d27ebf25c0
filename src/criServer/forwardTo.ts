/** Connects a stream of port-forward to a server of the pod. */
import net from "node:net";
import type { Duplex } from "node:stream";

/** Connects the stream to the first address that accepts; returns the errors if none does, and none once the stream is closed. */
export async function forwardTo(
  addresses: readonly string[],
  port: number,
  stream: Duplex,
): Promise<string | undefined> {
  const problems: string[] = [];
  for (const host of addresses) {
    if (stream.destroyed) return undefined;
    const target = net.connect({ host, port, allowHalfOpen: true });
    // The client may leave while the server lets it wait.
    stream.once("close", () => target.destroy());
    const connected = await new Promise<boolean>((resolve) => {
      target.once("connect", () => resolve(true));
      target.once("close", () => resolve(false));
      target.once("error", (error) => {
        problems.push(error.message);
        resolve(false);
      });
    });
    if (!connected) continue;
    return await new Promise((resolve) => {
      target.once("error", (error) => resolve(error.message));
      target.once("close", () => resolve(undefined));
      stream.pipe(target).pipe(stream);
    });
  }
  return stream.destroyed ? undefined : problems.join("; ");
}
