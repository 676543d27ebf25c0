/**
 * Listens on a Unix socket that is never accessible to other users: the socket is bound in a private directory next to
 * its path, set to its owner and mode and renamed into place, which also replaces the socket of a dead process.
 */
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { type Server, ServerCredentials } from "@grpc/grpc-js";
import { makeDirectoriesSync } from "../fileSystem/makeDirectories.ts";

/** The smallest limit of the supported systems (macOS), without the terminating zero. */
const MAX_PATH_BYTES = 103;

/** How a server listens, and who may connect. */
export interface UnixSocketOptions {
  /** Listens at the path. */
  readonly bind: (place: string) => Promise<void>;
  /** Mode of the socket. */
  readonly mode: number;
  /** Group of the socket; absent: that of the process. */
  readonly gid?: number | undefined;
}

/**
 * Binds a gRPC server to the path, for the user of this process alone; returns the function that removes the socket.
 * Throws if a live process listens there.
 */
export const listenOnUnixSocket = (server: Server, socketPath: string): Promise<() => void> =>
  placeUnixSocket(socketPath, { bind: (place) => bind(server, place), mode: 0o600 });

/** Makes a socket at the path, as `listenOnUnixSocket` does. */
export async function placeUnixSocket(
  socketPath: string,
  { bind: listen, mode, gid }: UnixSocketOptions,
): Promise<() => void> {
  const place = path.resolve(socketPath);
  const parent = path.dirname(place);
  const temporaryLength = Buffer.byteLength(path.join(parent, ".rx-XXXXXX", "s"));
  if (Math.max(Buffer.byteLength(place), temporaryLength) > MAX_PATH_BYTES) {
    throw new Error(`socket path ${place} is too long: at most ${MAX_PATH_BYTES} bytes are possible`);
  }
  makeDirectoriesSync(parent, 0o700);
  await refuseUnlessFree(place);
  const dir = fs.mkdtempSync(path.join(parent, ".rx-"));
  try {
    const temporary = path.join(dir, "s");
    await listen(temporary);
    if (gid !== undefined) fs.lchownSync(temporary, process.getuid?.() ?? -1, gid);
    fs.chmodSync(temporary, mode);
    fs.renameSync(temporary, place);
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
  const { ino } = fs.statSync(place);
  return () => {
    if (fs.statSync(place, { throwIfNoEntry: false })?.ino === ino) fs.rmSync(place, { force: true });
  };
}

async function refuseUnlessFree(place: string): Promise<void> {
  const found = fs.lstatSync(place, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${place} exists and is not a socket`);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = net.connect(place);
  probe.on("connect", () => resolve(true));
  probe.on("error", (error: NodeJS.ErrnoException) =>
    resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT"),
  );
  const live = await promise;
  probe.destroy();
  if (live) throw new Error(`${place}: another process is listening there`);
}

const bind = (server: Server, place: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.bindAsync(`unix:${place}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
