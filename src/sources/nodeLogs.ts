/**
 * The NodeLogs port on the file system and journalctl. Bounds: one directory is listed at a time per request, files are
 * read as fast as the client takes them, journalctl ends after 30 s. Each opened file is checked before it is read, so
 * that no link or race leads out of the directory.
 */
import { spawn } from "node:child_process";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { journalArguments, serviceLogFiles } from "../core/server/nodeLogQuery.ts";
import { isKubeletError, kubeletError } from "../core/errors.ts";
import { epochMs } from "../core/ids.ts";
import { openedAt, PLACE } from "../fileSystem/insideDirectory.ts";
import { listDirectory } from "../fileSystem/listDirectory.ts";
import { openRegular } from "../fileSystem/regularFile.ts";
import type { LogBytes, NodeLogEntry, NodeLogs } from "../ports/nodeLogs.ts";

const JOURNAL_MS = 30_000;

/** Creates the port for the logs below `directory`. */
export function createNodeLogs(directory: string): NodeLogs {
  const openPath = (below: string): Promise<NodeLogEntry> => openBelow(directory, below);
  return {
    open: openPath,
    services: async ({ services, options }) => {
      const known = await journalUnits();
      const native = services.filter((service) => known.includes(`${service}.service`));
      const others = services.filter((service) => !native.includes(service));
      const hasOptions = Object.values(options).some((value) => value !== undefined && value !== "");
      return Readable.toWeb(
        Readable.from(
          (async function* () {
            if (native.length > 0) yield* journal(journalArguments(native, options));
            if (others.length > 0 && hasOptions) {
              yield `\noptions present and query resolved to log files for [${others.join(" ")}]\ntry without specifying options\n`;
            } else for (const service of others) yield* ofService(openPath, service);
          })(),
          { objectMode: false },
        ),
      );
    },
  };
}

const missing = (below: string) => kubeletError("NotFound", `there is no log ${below}`);

async function openBelow(directory: string, below: string): Promise<NodeLogEntry> {
  const root = await realpath(directory).catch(() => {
    throw missing(below);
  });
  // O_PATH: a FIFO or a device among the logs neither blocks this process nor notices the open.
  await using place = await open(path.join(root, path.posix.normalize(`/${below}`)), PLACE).catch(() => {
    throw missing(below);
  });
  const at = await readlink(openedAt(place));
  const stat = await place.stat();
  if (at !== root && !at.startsWith(`${root}/`)) throw missing(below);
  const modifiedAt = epochMs(stat.mtimeMs);
  if (stat.isFile()) {
    const handle = await openRegular(openedAt(place), { links: "followed" });
    return { kind: "file", modifiedAt, bytes: bytesOf(handle) };
  }
  if (!stat.isDirectory()) throw missing(below);
  const entries = await listDirectory(openedAt(place));
  return {
    kind: "directory",
    modifiedAt,
    names: entries.map((each) => (each.isDirectory() ? `${each.name}/` : each.name)).sort(),
  };
}

/** Closes the file at the end, or when the client stops reading. */
const bytesOf = (handle: FileHandle): LogBytes => Readable.toWeb(handle.createReadStream());

async function* ofService(
  openPath: (below: string) => Promise<NodeLogEntry>,
  service: string,
): AsyncGenerator<Uint8Array | string> {
  for (const name of serviceLogFiles(service)) {
    const entry = await openPath(name).catch((thrown: unknown) => {
      if (isKubeletError(thrown) && thrown.code === "NotFound") return undefined;
      throw thrown;
    });
    if (entry?.kind !== "file") continue;
    yield* entry.bytes as unknown as AsyncIterable<Uint8Array>;
    return;
  }
  yield `\nlog not found for ${service}\n`;
}

/** Maximum number of bytes of unit names. A node has a few hundred units, but any number of transient ones. */
const MAX_UNIT_BYTES = 1_024 * 1_024;

/** Returns the units that ever wrote to the journal, up to MAX_UNIT_BYTES; none without a journal. */
async function journalUnits(): Promise<readonly string[]> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of journal(["--field", "_SYSTEMD_UNIT"])) {
    const kept = Buffer.from(part).subarray(0, MAX_UNIT_BYTES - bytes);
    parts.push(kept);
    bytes += kept.length;
    if (bytes === MAX_UNIT_BYTES) break;
  }
  const names = Buffer.concat(parts).toString("utf8").split("\n");
  return bytes === MAX_UNIT_BYTES ? names.slice(0, -1) : names;
}

/** Merges both outputs of journalctl in order of arrival. */
async function* journal(args: readonly string[]): AsyncGenerator<Uint8Array | string> {
  const child = spawn("journalctl", [...args], { stdio: ["ignore", "pipe", "pipe"], timeout: JOURNAL_MS });
  const output = new PassThrough();
  let isMissing = false;
  child.once("error", () => {
    isMissing = true;
    output.end();
  });
  child.once("close", () => output.end());
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  try {
    for await (const part of output) yield part as Uint8Array;
    if (isMissing) yield "\nerror: journal output not available\n";
  } finally {
    child.kill();
  }
}
