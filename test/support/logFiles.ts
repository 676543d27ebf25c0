/** The files of a container's log as a runtime writes them, for tests that read them. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Time of the n-th second of a log. */
export const logTime = (second: number): string =>
  `2026-01-02T03:${String(4 + Math.floor(second / 60)).padStart(2, "0")}:${String(second % 60).padStart(2, "0")}.000000000Z`;

/** Entries `line <from>` to `line <to - 1>` of stdout, a second apart. */
export const logEntries = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `${logTime(from + i)} stdout F line ${from + i}\n`).join("");

/** Returns the lines that a reader of these entries gets. */
export const logLines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `line ${from + i}\n`).join("");

/** A log directory of one container, and what a runtime and a rotation do to it. */
export function logDirectory(root: string) {
  const directory = join(root, "ns_pod_uid", "main");
  const at = (name: string): string => join(directory, name);
  const path = at("0.log");
  return {
    path,
    at,
    make: () => fs.mkdir(directory, { recursive: true }),
    remove: () => fs.rm(join(root, "ns_pod_uid"), { recursive: true }),
    write: (content: string | Uint8Array, name = "0.log") => fs.writeFile(at(name), content),
    append: (content: string, name = "0.log") => fs.appendFile(at(name), content),
    /** The stamp is a number of seconds. */
    rotate: (stamp: number) => fs.rename(path, at(rotated(stamp))),
    async compress(stamp: number) {
      await fs.writeFile(`${at(rotated(stamp))}.gz`, gzipSync(await fs.readFile(at(rotated(stamp)))));
      await fs.rm(at(rotated(stamp)));
    },
  };
}

/** Name of a rotated file. */
export const rotated = (stamp: number): string => `0.log.20260102-${String(stamp).padStart(6, "0")}`;
