/** The LogFiles port on simulated files. A compressed file keeps its content unchanged. Stateless. */
import { kubeletError } from "../../core/errors.ts";
import { COMPRESSED, type RotatedFiles, rotatedFiles } from "../../core/logs/logFileNames.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LogFiles } from "../../ports/logFiles.ts";
import { atOnce, later } from "../runtime/simCall.ts";
import type { SimFiles } from "./simFiles.ts";

export interface SimLogFilesOptions {
  readonly clock: Clock;
  readonly files: SimFiles;
  /** Duration of a compression in milliseconds; default 100. */
  readonly compressionMs?: number;
}

/** Creates the port. */
export function createSimLogFiles({ clock, files, compressionMs = 100 }: SimLogFilesOptions): LogFiles {
  const contentOf = (path: string, node = files.at(path)): string => {
    if (node?.kind === "file") return node.content;
    if (node === undefined) throw kubeletError("NotFound", `cannot use ${path}: ENOENT`);
    throw kubeletError("InvalidArgument", `${path} is no regular file`);
  };
  const rename = (from: string, to: string): void => {
    files.put(to, contentOf(from));
    files.drop(from);
  };
  const rotated = (path: string): RotatedFiles => {
    const cut = path.lastIndexOf("/");
    return rotatedFiles(files.tree.list(path.slice(0, cut)), path.slice(cut + 1));
  };
  // The kubelet asks for every log every few seconds: answer at once, without a scheduled action.
  return {
    tail: (path, maxBytes) => files.readTail(path, maxBytes),
    sizeOf: (path) =>
      atOnce(() => {
        const node = files.at(path);
        return node && contentOf(path, node).length;
      }),
    notSmaller: (paths, bytes) =>
      atOnce(() =>
        paths.filter((path) => {
          const node = files.at(path);
          return node?.kind !== "file" || node.content.length >= bytes;
        }),
      ),
    move: (from, to) =>
      later(clock, 0, () => {
        if (files.at(to) !== undefined) throw kubeletError("AlreadyExists", `cannot move ${from}: EEXIST`);
        rename(from, to);
      }),
    rotatedOf: (path) => atOnce(() => rotated(path)),
    removeRotated: (path) =>
      later(clock, 0, () => {
        const { inUse, unused } = rotated(path);
        for (const name of [...inUse, ...unused]) files.drop(`${path.slice(0, path.lastIndexOf("/"))}/${name}`);
      }),
    compress: (path) => later(clock, compressionMs, () => rename(path, `${path}${COMPRESSED}`)),
  };
}
