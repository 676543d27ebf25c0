/** Ports for servers that a test starts, ends and starts again. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** Below the ports that Linux gives to outgoing connections: such a connection would take the port while its server restarts. */
const RANGE = { first: 12_000, count: 20_000 };
const ATTEMPTS = 50;
const LOOPBACK = "127.0.0.1";

/** Returns a port of the loopback address on which nobody listens now, and which no outgoing connection takes later. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = await listenBriefly(RANGE.first + Math.floor(Math.random() * RANGE.count));
    if (port !== undefined) return port;
  }
  throw new Error(`no free port among ${ATTEMPTS} between ${RANGE.first} and ${RANGE.first + RANGE.count - 1}`);
}

async function listenBriefly(wanted: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(wanted, LOOPBACK);
    await once(server, "listening");
  } catch {
    return undefined;
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
