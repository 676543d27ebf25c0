/** The permission bits that the kernel takes away from new files of this process. */
import { readFileSync } from "node:fs";

const PERMISSIONS = 0o777;
const OCTAL = 8;

let umask: number | undefined;

/**
 * Returns whether a file or directory made with this mode has exactly it, so that no chmod is needed. The umask is read once:
 * nothing in this process changes it. Where it is unknown, returns false.
 */
export function isKeptByUmask(mode: number): boolean {
  umask ??= readUmask();
  return (mode & (umask | ~PERMISSIONS)) === 0;
}

function readUmask(): number {
  try {
    const [, bits] = /^Umask:\s*([0-7]+)$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
    return bits === undefined ? PERMISSIONS : Number.parseInt(bits, OCTAL);
  } catch {
    return PERMISSIONS;
  }
}
