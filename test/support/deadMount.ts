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
  /** Whether a caller waits for an answer that never comes; known only with `answersForRoot`. */
  isWaitedFor(): boolean;
  close(): void;
}

/** Mounts it at a directory. `answersForRoot`: everybody may look at the root, and waits at each name in it. */
export function deadMount(at: string, { answersForRoot = false } = {}): DeadMount {
  const server = openSync("/dev/fuse", constants.O_RDWR | constants.O_NONBLOCK);
  const options = "fd=3,rootmode=40000,user_id=0,group_id=0,allow_other";
  execFileSync("mount", ["-i", "-t", "fuse", "-o", options, "dead", at], { stdio: ["ignore", "pipe", "pipe", server] });
  let isOpen = true;
  let isWaitedFor = false;
  const serving = answersForRoot
    ? setInterval(() => {
        if (answerAll(server) > 0) isWaitedFor = true;
      }, 5)
    : undefined;
  return {
    isWaitedFor: () => isWaitedFor,
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

/** Answers the requests of the moment; returns how many it left without an answer. */
function answerAll(server: number): number {
  const request = Buffer.alloc(FUSE.maxRequest);
  let unanswered = 0;
  for (;;) {
    try {
      readSync(server, request);
    } catch {
      return unanswered; // no further request
    }
    const answer = answerTo(request.readUInt32LE(4));
    if (answer === undefined) {
      unanswered += 1;
      continue;
    }
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
