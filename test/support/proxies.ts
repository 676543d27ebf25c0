/** Proxies on loopback: HTTP by CONNECT, and SOCKS 5 (RFC 1928, names and addresses, no authentication). */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A proxy, and what it was asked for. */
export interface TestProxy {
  readonly url: string;
  /** `host:port` of each tunnel that was asked for, behind the credentials if there were any. */
  readonly tunnels: readonly string[];
  close(): void;
}

async function listening(scheme: string, server: Server, tunnels: readonly string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function join(client: Socket, host: string, port: number, joined: () => void): void {
  const server = connect({ host, port }, () => {
    joined();
    client.pipe(server);
    server.pipe(client);
  });
  server.on("error", () => client.destroy());
  client.on("close", () => server.destroy());
}

/** Tunnels by CONNECT; `refusal`: the status line of what it says instead. */
export function startHttpProxy(refusal?: string): Promise<TestProxy> {
  const tunnels: string[] = [];
  const server = createHttpServer();
  server.on("connect", ({ url = "", headers }, client: Socket) => {
    const [, basic = ""] = (headers["proxy-authorization"] ?? "").split(" ");
    const who = Buffer.from(basic, "base64").toString();
    tunnels.push(who === "" ? url : `${who} ${url}`);
    if (refusal !== undefined) {
      client.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    join(client, hostname, Number(port), () => client.write("HTTP/1.1 200 Connection established\r\n\r\n"));
  });
  return listening("http", server, tunnels);
}

/** The destination of a SOCKS request: an IPv4 address or a name. */
function socksTarget(request: Buffer): { readonly host: string; readonly port: number } {
  const isName = request[3] === 3;
  const end = isName ? 5 + (request[4] ?? 0) : 8;
  const host = isName ? request.subarray(5, end).toString() : request.subarray(4, end).join(".");
  return { host, port: request.readUInt16BE(end) };
}

/** Tunnels by SOCKS 5. */
export function startSocksProxy(): Promise<TestProxy> {
  const tunnels: string[] = [];
  const server = createServer((client) => {
    client.once("data", () => {
      client.write(Buffer.from([5, 0]));
      client.once("data", (request) => {
        const { host, port } = socksTarget(request);
        tunnels.push(`${host}:${port}`);
        join(client, host, port, () => client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
      });
    });
  });
  return listening("socks5", server, tunnels);
}
