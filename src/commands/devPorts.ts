/** The port of the read-only server of `rxlet dev`. */
import { type AddressInfo, createServer } from "node:net";

/** Ports of the servers of `rxlet dev`. */
export const LOOPBACK = "127.0.0.1";

const DEFAULT_PORT = 10_255;

/** The first five minutes do not fail on a port: when the default one is taken, any free one serves. */
export async function usablePort(wanted: number): Promise<number> {
  if (wanted !== DEFAULT_PORT) return wanted;
  return (await freePort(wanted)) ?? (await freePort(0)) ?? wanted;
}

/** The port listened on for a moment; undefined when it is taken. */
async function freePort(port: number): Promise<number | undefined> {
  const server = createServer();
  const listened = new Promise<number | undefined>((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, LOOPBACK, () => resolve((server.address() as AddressInfo).port));
  });
  const found = await listened;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return found;
}
