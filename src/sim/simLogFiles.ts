/** The LogFiles port on simulated files. What is compressed keeps its content. Keeps nothing. */
import { kubeletError } from "../core/errors.ts";
import { COMPRESSED } from "../core/logs/logFileNames.ts";
import type { Clock } from "../ports/clock.ts";
import type { LogFiles } from "../ports/logFiles.ts";
import { later } from "./simCall.ts";
import type { SimFiles } from "./simFiles.ts";

/** Compression takes that long. */
const COMPRESSION_MS = 100;

/** Makes the port. */
export function createSimLogFiles({ clock, files }: { readonly clock: Clock; readonly files: SimFiles }): LogFiles {
  const contentOf = (path: string): string => {
    const node = files.at(path);
    if (node?.kind === "file") return node.content;
    if (node === undefined) throw kubeletError("NotFound", `cannot use ${path}: ENOENT`);
    throw kubeletError("InvalidArgument", `${path} is no regular file`);
  };
  const rename = (from: string, to: string): void => {
    files.put(to, contentOf(from));
    files.drop(from);
  };
  return {
    sizeOf: (path) => later(clock, 0, () => (files.at(path) === undefined ? undefined : contentOf(path).length)),
    move: (from, to) =>
      later(clock, 0, () => {
        if (files.at(to) !== undefined) throw kubeletError("AlreadyExists", `cannot move ${from}: EEXIST`);
        rename(from, to);
      }),
    removeRotated: (path) =>
      later(clock, 0, () => {
        for (const found of files.paths()) if (found.startsWith(`${path}.`)) files.drop(found);
      }),
    compress: (path) => later(clock, COMPRESSION_MS, () => rename(path, `${path}${COMPRESSED}`)),
  };
}
