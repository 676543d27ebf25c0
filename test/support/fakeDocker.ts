/** A Docker that answers as a test says, on a Unix socket: also with what no Docker would. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Answers a request; what it leaves open stays open. */
export type FakeAnswer = (request: IncomingMessage, response: ServerResponse) => void;

/** See the file header. */
export interface FakeDocker {
  readonly socketPath: string;
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Method and path of each request, without the version. */
  readonly requests: readonly string[];
  /** Answers to requests for this path, without the version, from now on. */
  on(path: string, answer: FakeAnswer): void;
  close(): Promise<void>;
}

/** Returns an answer with this JSON. */
export const json =
  (value: unknown, statusCode = 200): FakeAnswer =>
  (_request, response) =>
    void response.writeHead(statusCode, { "content-type": "application/json" }).end(JSON.stringify(value));

/** Answer of a usable Docker to `/version`. */
export const USABLE = { Version: "20.10.24", ApiVersion: "1.41", MinAPIVersion: "1.12" };

/** Starts one that knows its version, and answers 404 to all else. */
export async function startFakeDocker(socketPath: string): Promise<FakeDocker> {
  const answers = new Map<string, FakeAnswer>([["/version", json(USABLE)]]);
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const answer: FakeAnswer = (request, response) => {
    const path = new URL(request.url ?? "", "http://docker").pathname.replace(/^\/v1\.\d+/, "");
    requests.push(`${request.method} ${path}`);
    (answers.get(path) ?? json({ message: "no such object" }, 404))(request, response);
  };
  const server = createServer(answer);
  server.on("upgrade", (request, socket: Socket) => {
    const path = new URL(request.url ?? "", "http://docker").pathname.replace(/^\/v1\.\d+/, "");
    const raw = answers.get(path);
    if (raw === undefined) socket.destroy();
    else raw(request, socket as unknown as ServerResponse);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(socketPath);
  await once(server, "listening");
  return {
    socketPath,
    sockets,
    requests,
    on: (path, given) => void answers.set(path, given),
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
