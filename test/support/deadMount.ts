/**
 * Mounts as of NFS whose server is gone, or means harm: FUSE file systems of this process that do not answer. Whatever looks
 * at one waits until it is killed, or until `close` gives everybody ENOTCONN.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readSync, writeSync } from "node:fs";
import { missingForMounts } from "./privateMounts.ts";

/** Lists the requirements of dead mounts that this machine lacks. */
export const missingForDeadMounts = (): readonly string[] => [
  ...missingForMounts(),
  ...(existsSync("/dev/fuse") ? [] : ["/dev/fuse"]),
];

export interface DeadMount {
  close(): void;
}

/** Mounts it at a directory. `answersForRoot`: everybody may look at the root, and waits at each name in it. */
export function deadMount(at: string, { answersForRoot = false } = {}): DeadMount {
  const server = openSync("/dev/fuse", constants.O_RDWR | constants.O_NONBLOCK);
  const options = "fd=3,rootmode=40000,user_id=0,group_id=0,allow_other";
  execFileSync("mount", ["-i", "-t", "fuse", "-o", options, "dead", at], { stdio: ["ignore", "pipe", "pipe", server] });
  let isOpen = true;
  const serving = answersForRoot ? setInterval(() => answerAll(server), 5) : undefined;
  return {
    close() {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(serving);
      closeSync(server);
      spawnSync("umount", ["--lazy", at]);
    },
  };
}

/** Numbers of linux/fuse.h. */
const FUSE = { getAttributes: 3, init: 26, major: 7, minor: 31, headIn: 40, headOut: 16, maxRequest: 128 * 1024 };
const ROOT_MODE = 0o040755;

function answerAll(server: number): void {
  const request = Buffer.alloc(FUSE.maxRequest);
  for (;;) {
    try {
      readSync(server, request);
    } catch {
      return; // nobody asks
    }
    const answer = answerTo(request.readUInt32LE(4));
    if (answer === undefined) continue;
    const head = Buffer.alloc(FUSE.headOut);
    head.writeUInt32LE(FUSE.headOut + answer.length, 0);
    request.copy(head, 8, 8, 16);
    writeSync(server, Buffer.concat([head, answer]));
  }
}

function answerTo(operation: number): Buffer | undefined {
  if (operation === FUSE.init) {
    const init = Buffer.alloc(64);
    init.writeUInt32LE(FUSE.major, 0);
    init.writeUInt32LE(FUSE.minor, 4);
    init.writeUInt32LE(4096, 20);
    return init;
  }
  if (operation !== FUSE.getAttributes) return undefined;
  const attributes = Buffer.alloc(104);
  attributes.writeUInt32LE(1, 16);
  attributes.writeUInt32LE(ROOT_MODE, 76);
  attributes.writeUInt32LE(2, 80);
  return attributes;
}
