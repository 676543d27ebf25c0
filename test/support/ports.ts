/** Ports for servers that a test starts, ends and starts again. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that Linux gives to outgoing connections: such a connection would take the port while its server restarts. */
const RANGE = { first: 12_000, count: 20_000 };
/** Test files run side by side: each of that many workers of vitest has ports of its own. */
const WORKERS = 16;
const PORTS_OF_WORKER = RANGE.count / WORKERS;
const LOOPBACK = "127.0.0.1";

const worker = Number(process.env["VITEST_POOL_ID"] ?? 0) % WORKERS;
let taken = Math.floor(Math.random() * PORTS_OF_WORKER);

/**
 * Returns a port of the loopback address on which nobody listens now, and which no outgoing connection and no other call
 * takes later.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_OF_WORKER; tries += 1) {
    taken = (taken + 1) % PORTS_OF_WORKER;
    const port = RANGE.first + worker * PORTS_OF_WORKER + taken;
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port of worker ${worker} among ${PORTS_OF_WORKER}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, LOOPBACK);
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
