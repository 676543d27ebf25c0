/** Servers on free loopback ports for tests of clients: each answers as its test says and ends with it. */
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { afterEach } from "vitest";
import { TEST_CERTIFICATE, TEST_KEY } from "./tlsIdentity.ts";

export const LOOPBACK = "127.0.0.1";

/** Starts loopback servers for a test. */
export interface LoopbackServers {
  http(answer: RequestListener): Promise<number>;
  https(answer: RequestListener): Promise<number>;
  tcp(talk: (socket: Socket) => void): Promise<number>;
  /** A port nobody listens on. */
  closedPort(): Promise<number>;
  /** Connections made so far to all servers of this test. */
  connections(): number;
}

/** Call in a describe; all servers of a test end after it. */
export function loopbackServers(): LoopbackServers {
  const servers: TcpServer[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const listen = async (server: TcpServer | Server): Promise<number> => {
    servers.push(server);
    server.on("connection", (socket: Socket) => {
      connections += 1;
      sockets.add(socket);
      socket.on("error", () => {});
    });
    server.listen(0, LOOPBACK);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    connections = 0;
    for (const server of servers.splice(0)) {
      if (!server.listening) continue;
      server.close();
      await once(server, "close");
    }
  });
  return {
    http: (answer) => listen(createHttpServer(answer)),
    https: (answer) => listen(createHttpsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, answer)),
    tcp: (talk) => listen(createTcpServer(talk)),
    closedPort: async () => {
      const server = createTcpServer();
      const port = await listen(server);
      server.close();
      await once(server, "close");
      return port;
    },
    connections: () => connections,
  };
}

/** Head of a request as it came over the wire: names in their case, repeated ones repeated. */
export const requestHead = ({ method, url, rawHeaders }: IncomingMessage): readonly string[] => [
  `${method} ${url}`,
  ...rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [])),
];
