/** A TCP proxy on loopback that breaks on demand: what clients of a server meet when machines or networks fail. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../ports.ts";

const LOOPBACK = "127.0.0.1";

/** The way to one server. */
export interface FaultyNetwork {
  readonly port: number;
  /** Connections made by clients since the start. */
  readonly connections: number;
  /** Connections open now. */
  readonly open: number;
  /** Breaks all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Takes connections again, on the same port. */
  accept(): Promise<void>;
  /** Breaks all connections; new ones are fine. */
  cut(): void;
  /** Silently stops all traffic of open connections; new connections work. */
  freeze(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Opens the way to a port of loopback. */
export async function createFaultyNetwork(target: number): Promise<FaultyNetwork> {
  const pairs = new Set<Pair>();
  let connections = 0;
  const destroy = ({ client, server }: Pair): void => {
    client.destroy();
    server.destroy();
  };
  const join = (client: Socket): void => {
    connections += 1;
    const server = connect({ port: target, host: LOOPBACK });
    const pair = { client, server };
    pairs.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.pipe(to);
      from.on("error", () => destroy(pair));
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  };
  const listen = async (port: number): Promise<Server> => {
    const made = createServer(join);
    made.listen(port, LOOPBACK);
    await once(made, "listening");
    return made;
  };
  const port = await freePort();
  let proxy: Server | undefined = await listen(port);
  const cut = (): void => {
    for (const pair of pairs) destroy(pair);
  };
  const refuse = async (): Promise<void> => {
    if (proxy === undefined) return;
    const closed = once(proxy, "close");
    proxy.close();
    proxy = undefined;
    cut();
    await closed;
  };
  return {
    port,
    get connections() {
      return connections;
    },
    get open() {
      return pairs.size;
    },
    refuse,
    accept: async () => {
      proxy ??= await listen(port);
    },
    cut,
    freeze() {
      for (const { client, server } of pairs) {
        client.unpipe().pause();
        server.unpipe().pause();
      }
    },
    close: refuse,
  };
}
