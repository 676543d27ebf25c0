/**
 * Listens on a Unix socket that is never accessible to other users: the socket is bound in a private directory next to
 * its path, set to mode 0600 and renamed into place, which also replaces the socket of a dead process.
 */
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { type Server, ServerCredentials } from "@grpc/grpc-js";
import { makeDirectoriesSync } from "../fileSystem/makeDirectories.ts";

/** The smallest limit of the supported systems (macOS), without the terminating zero. */
const MAX_PATH_BYTES = 103;

/**
 * Binds the server to the path; returns the function that removes the socket. Throws if a live process listens there.
 */
export async function listenOnUnixSocket(server: Server, socketPath: string): Promise<() => void> {
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
    await bind(server, temporary);
    fs.chmodSync(temporary, 0o600);
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
