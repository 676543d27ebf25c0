/**
 * Writes and removes the manifests of `rxlet apply` in the manifest directory: a hidden file first, which no source reads,
 * then a rename. Bounds: MAX_FILES files in the directory, one change at a time.
 */
import * as fs from "node:fs/promises";
import path from "node:path";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import {
  appliedFileName,
  type AppliedChange,
  type AppliedRef,
  appliedText,
  type ApplyAnswer,
  isAppliedFile,
  namesInManifest,
  objectsIn,
  refText,
  repeatedIn,
  type ShownRef,
  shownRef,
} from "../core/local/appliedManifests.ts";
import { isIgnoredName } from "../core/pod/manifest/manifestFiles.ts";
import type { ManifestReading, ManifestText } from "../core/pod/manifest/readManifest.ts";
import { listDirectory } from "../fileSystem/listDirectory.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { readWhole } from "../fileSystem/regularFile.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { LocalManifests } from "../ports/localManifests.ts";

/** Half of the entries that the source of the directory reads. */
const MAX_FILES = 5_000;
/** Secrets may be among the manifests. */
const PRIVATE_FILE = 0o600;

export interface AppliedManifestsOptions {
  /** The manifest directory; empty without one. */
  readonly directory: string;
  readonly nodeName: string;
  /** Maximum size of a manifest, in bytes. */
  readonly maxBytes: number;
  readonly parse: (bytes: Uint8Array) => ManifestText;
  /** Reads and validates a parsed manifest, as the source of the directory does. */
  readonly read: (text: ManifestText) => ManifestReading;
  /** Explains why a pod that no file has is on this node, such as its source; undefined for an unknown pod. */
  readonly otherSource: (ref: AppliedRef) => string | undefined;
}

/** Creates the port. */
export function createAppliedManifests(options: AppliedManifestsOptions): LocalManifests {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const next = last.then(run, run);
    last = next.catch(() => undefined);
    return next;
  };
  return {
    apply: (manifest, isDry) => fromCall(() => inTurn(() => apply(manifest, isDry, options))),
    remove: (ref, isDry) => fromCall(() => inTurn(() => remove(ref, isDry, options))),
  };
}

async function apply(manifest: Uint8Array, isDry: boolean, options: AppliedManifestsOptions): Promise<ApplyAnswer> {
  const text = options.parse(manifest);
  const { problems } = options.read(text);
  if (problems.some(({ severity }) => severity === "error")) return { problems };
  const objects = objectsIn(text);
  const directory = await manifestDirectory(options.directory, !isDry);
  const repeated = repeatedIn(objects);
  if (repeated.length > 0)
    throw kubeletError("InvalidArgument", `more than once in the manifest: ${repeated.join(", ")}`);
  const foreign = await foreignObjects(directory, options);
  const drafts = objects.map((object) => ({
    object,
    file: path.join(directory, fileOf(object, options)),
    text: appliedText(object),
  }));
  for (const { object, text: content } of drafts) {
    const holder = foreign.get(refText(object));
    if (holder !== undefined) throw conflict(object, holder);
    if (Buffer.byteLength(content) > options.maxBytes)
      throw kubeletError("ResourceExhausted", `${refText(object)} is larger than ${options.maxBytes} bytes`);
  }
  const changes: AppliedChange[] = [];
  for (const { object, file, text: content } of drafts) {
    const outcome = outcomeOf(await currentText(file, options.maxBytes), content);
    changes.push({ ...shownRef(object, options.nodeName), outcome });
    if (!isDry && outcome !== "unchanged") await write(file, content);
  }
  if (!isDry) await syncDirectory(directory);
  return { changes, problems };
}

function outcomeOf(before: string | undefined, after: string): AppliedChange["outcome"] {
  if (before === undefined) return "created";
  return before === after ? "unchanged" : "configured";
}

function fileOf(ref: AppliedRef, { nodeName }: Pick<AppliedManifestsOptions, "nodeName">): string {
  const file = appliedFileName(ref);
  if (file !== undefined) return file;
  throw kubeletError("InvalidArgument", `${refText(ref)}: the name is too long for a file on ${nodeName}`);
}

const conflict = (ref: AppliedRef, holder: string) =>
  kubeletError(
    "Conflict",
    `${refText(ref)} is in ${holder}, which rxlet apply did not write: change or remove that file`,
  );

async function remove(ref: AppliedRef, isDry: boolean, options: AppliedManifestsOptions): Promise<ShownRef> {
  const directory = await manifestDirectory(options.directory, false);
  const known = namesInManifest(ref, options.nodeName).map((name) => ({ ...ref, name }));
  for (const candidate of known) {
    const name = appliedFileName(candidate);
    if (name === undefined || (await kindOf(path.join(directory, name))) === undefined) continue;
    if (!isDry) {
      await fs.rm(path.join(directory, name));
      await syncDirectory(directory);
    }
    return shownRef(candidate, options.nodeName);
  }
  const foreign = await foreignObjects(directory, options);
  for (const candidate of known) {
    const holder = foreign.get(refText(candidate));
    if (holder !== undefined) throw conflict(candidate, holder);
  }
  const why = options.otherSource(ref);
  if (why !== undefined) throw kubeletError("Conflict", `${refText(ref)} ${why}`);
  throw kubeletError("NotFound", `${ref.kind} "${ref.name}" not found`);
}

/** Returns the real path of the directory; makes it where it is missing and `isNeeded`. */
async function manifestDirectory(directory: string, isNeeded: boolean): Promise<string> {
  if (directory === "")
    throw kubeletError(
      "InvalidArgument",
      "this node has no manifest directory: set staticPodPath or --pod-manifest-path",
    );
  try {
    if (isNeeded) await makeDirectories(directory, 0o700);
    const real = await fs.realpath(directory);
    if ((await fs.stat(real)).isDirectory()) return real;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT" && !isNeeded) return directory;
    throw ioError("use the manifest directory", directory, thrown);
  }
  throw kubeletError("InvalidArgument", `${directory} is a file: apply needs a directory as staticPodPath`);
}

/** Returns the objects of the files that apply did not write, with the path of each. Unreadable files hold none. */
async function foreignObjects(
  directory: string,
  { parse, maxBytes }: AppliedManifestsOptions,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const entries = await listDirectory(directory, MAX_FILES).catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return [];
    throw ioError("list", directory, thrown);
  });
  for (const { name } of entries) {
    if (isIgnoredName(name) || isAppliedFile(name)) continue;
    const file = path.join(directory, name);
    const bytes = await readWhole(file, maxBytes, { links: "followed" }).catch(() => undefined);
    for (const ref of bytes === undefined ? [] : objectsIn(parse(bytes))) found.set(refText(ref), file);
  }
  return found;
}

const kindOf = (file: string): Promise<"file" | "other" | undefined> =>
  fs.lstat(file).then(
    (stats) => (stats.isFile() ? "file" : "other"),
    () => undefined,
  );

async function currentText(file: string, maxBytes: number): Promise<string | undefined> {
  if ((await kindOf(file)) === undefined) return undefined;
  return (await readWhole(file, maxBytes).catch(() => undefined))?.toString("utf8") ?? "";
}

async function write(file: string, content: string): Promise<void> {
  const draft = path.join(path.dirname(file), `.${path.basename(file).slice(0, 200)}.draft`);
  try {
    await fs.rm(draft, { force: true });
    {
      await using opened = await fs.open(draft, "wx", PRIVATE_FILE);
      await opened.writeFile(content);
      await opened.sync();
    }
    await fs.rename(draft, file);
  } catch (thrown) {
    throw ioError("write", file, thrown);
  }
}

/** Makes renames and removals survive a power cut. */
async function syncDirectory(directory: string): Promise<void> {
  await using opened = await fs.open(directory, "r");
  await opened.sync();
}
