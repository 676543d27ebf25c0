/**
 * Packs a file or directory of this machine for a container. Links are packed as links where they stay within the copied
 * directory, and skipped otherwise; devices, sockets and FIFOs are skipped. Bounds: MAX_ENTRIES entries.
 */
import type { Stats } from "node:fs";
import * as fs from "node:fs/promises";
import path from "node:path";
import { staysInside } from "../core/copy/copyPaths.ts";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { TAR_BLOCK, tarHeader, tarPadding } from "../core/tar/tarHeader.ts";
import { openRegular } from "../fileSystem/regularFile.ts";

const MAX_ENTRIES = 1_000_000;
const CHUNK_BYTES = 64 * 1024;

export interface PackOptions {
  readonly source: string;
  /** Name of the copy in the archive. */
  readonly name: string;
  readonly onSkipped: (why: string) => void;
}

/** Yields the archive. Rejects with Io for a file that cannot be read, or that changes its size meanwhile. */
export async function* packTar(options: PackOptions): AsyncGenerator<Uint8Array> {
  const budget = { left: MAX_ENTRIES };
  // The source itself may be a link; links below it are looked at.
  const stats = await fs.stat(options.source).catch((thrown: unknown) => {
    throw ioError("read", options.source, thrown);
  });
  yield* packed(options, [], stats, budget);
  yield new Uint8Array(2 * TAR_BLOCK);
}

async function* packed(
  options: PackOptions,
  names: readonly string[],
  stats: Stats,
  budget: { left: number },
): AsyncGenerator<Uint8Array> {
  budget.left -= 1;
  if (budget.left < 0) throw kubeletError("Rejected", `the copy has more than ${MAX_ENTRIES} entries`);
  const file = path.join(options.source, ...names);
  const entry = { path: [options.name, ...names].join("/"), mode: stats.mode & 0o777, size: 0, target: "" };
  if (stats.isFile()) yield* packedFile(file, entry);
  else if (stats.isSymbolicLink()) {
    const target = await fs.readlink(file);
    if (staysInside(names, target)) yield tarHeader({ ...entry, kind: "link", target });
    else options.onSkipped(`skipping link out of the copy: ${JSON.stringify(file)} -> ${JSON.stringify(target)}`);
  } else if (stats.isDirectory()) {
    yield tarHeader({ ...entry, kind: "directory" });
    for (const name of (await fs.readdir(file)).toSorted()) {
      const below = await fs.lstat(path.join(file, name)).catch(() => undefined);
      if (below !== undefined) yield* packed(options, [...names, name], below, budget);
    }
  } else options.onSkipped(`skipping ${JSON.stringify(file)}: it is no file`);
}

async function* packedFile(
  file: string,
  entry: Omit<Parameters<typeof tarHeader>[0], "kind">,
): AsyncGenerator<Uint8Array> {
  await using opened = await openRegular(file, { links: "followed" }).catch((thrown: unknown) => {
    throw ioError("read", file, thrown);
  });
  const { size } = await opened.stat();
  yield tarHeader({ ...entry, kind: "file", size });
  for (let left = size; left > 0; ) {
    const { bytesRead, buffer } = await opened.read(Buffer.allocUnsafe(Math.min(left, CHUNK_BYTES)));
    if (bytesRead === 0) throw kubeletError("Io", `${file} became shorter during the copy`);
    yield buffer.subarray(0, bytesRead);
    left -= bytesRead;
  }
  yield new Uint8Array(tarPadding(size));
}
