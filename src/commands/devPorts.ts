/** Chooses the port of the read-only server of `rxlet dev`. */
import { type AddressInfo, createServer } from "node:net";

/** Address of the servers of `rxlet dev`. */
export const LOOPBACK = "127.0.0.1";

const DEFAULT_PORT = 10_255;

/** Returns the wanted port, or any free port if the default one is taken, so that a first trial never fails on it. */
export async function usablePort(wanted: number): Promise<number> {
  if (wanted !== DEFAULT_PORT) return wanted;
  return (await freePort(wanted)) ?? (await freePort(0)) ?? wanted;
}

/** Returns the port after listening on it briefly; undefined when it is taken. */
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
