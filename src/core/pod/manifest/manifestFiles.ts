/**
 * State of the file source, as pure functions: which files to read again, how long a bad or missing file is waited for,
 * and the resulting snapshot. Owner: the file source. Bounds: one record per listed file. Upstream: the store and
 * file-to-pod map of pkg/kubelet/config/file.go.
 *
 *     absent -> read, valid ---------------------------> accepted at once
 *            -> read, invalid or pods missing -> held -> settled or read again -> accepted with its problems
 *            -> read while others are gone ----> held -> accepted when those are forgotten
 *     listed -> gone --------------------------> held -> still gone -> forgotten
 */
import type { MonotonicMs } from "../../ids.ts";
import { sameItems } from "../../sameValue.ts";
import type { ManifestProblem, SourceSnapshot } from "../sourceSnapshot.ts";
import { manifestNote, remembered, withoutClashes, wording } from "./manifestClashes.ts";
import { inOrder } from "./problemText.ts";
import type { ManifestContent, ManifestReading } from "./readManifest.ts";
import { isDoubtful, takeOver } from "./takeOver.ts";

/** An entry of the manifest directory. */
export interface ManifestEntry {
  /** Absolute path. */
  readonly path: string;
  /** `other`: a FIFO, socket or device, never read. `unreadable`: cannot be examined, such as a dangling link. */
  readonly kind: "file" | "directory" | "other" | "unreadable";
  /** Why the entry is unreadable. */
  readonly reason?: string;
  /** Device, inode, size and times of the file: changes whenever its content may have changed. */
  readonly version: string;
  /** Set if the entry was seen to be removed and created again since the last listing. */
  readonly remade?: true;
}

/** The listing of the manifest path, with sorted entries and without ignored names. */
export type ManifestListing =
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "found"; readonly entries: readonly ManifestEntry[] };

/** How long to wait for uncertain states to settle, in milliseconds. */
export interface SettleTimes {
  /** Wait for a file that is invalid or has lost pods: it may be half-written. */
  readonly contentMs: number;
  /** Wait for a missing file: it may be about to be replaced. */
  readonly removalMs: number;
  /** Maximum wait for a file that keeps changing. */
  readonly longestMs: number;
  /** Two changes within this time may have the same version, so the file is read again afterwards. */
  readonly versionMs: number;
}

/**
 * The result of reading a file: its content and a digest of its bytes, or that the file vanished. `again`: the result
 * concerns the read and not the file, so the file is read again next time.
 */
export type FileRead =
  | { readonly path: string; readonly content: string; readonly reading: ManifestReading; readonly again?: true }
  | { readonly path: string; readonly gone: true };

interface Held {
  readonly content: string;
  readonly since: MonotonicMs;
  readonly until: MonotonicMs;
}
interface FileRecord extends ManifestContent {
  readonly version: string;
  readonly versionSeenAt: MonotonicMs;
  readonly readAt: MonotonicMs;
  /** Digest of the accepted content; undefined before the first. */
  readonly content: string | undefined;
  readonly problems: readonly ManifestProblem[];
  readonly held: Held | undefined;
  /** End of the time in which a missing file still counts as present. */
  readonly goneUntil: MonotonicMs | undefined;
}

/** The state; opaque to its owner. */
export interface ManifestFiles {
  readonly records: ReadonlyMap<string, FileRecord>;
  readonly snapshot: SourceSnapshot | undefined;
  /** Whether the manifest path was listed at least once. */
  readonly isListed: boolean;
  /** Problems of the path itself and of entries that are not files, by wording, so that they keep their identity. */
  readonly notes: ReadonlyMap<string, ManifestProblem>;
}

export const NO_MANIFEST_FILES: ManifestFiles = {
  records: new Map(),
  snapshot: undefined,
  isListed: false,
  notes: new Map(),
};

/** A listing of the manifest path and the files read after it. */
export interface ManifestLook {
  /** The manifest directory or file. */
  readonly path: string;
  readonly listing: ManifestListing;
  readonly reads: readonly FileRead[];
  /** Problems of the path other than those of the listing, such as a failed watch. */
  readonly notes: readonly ManifestProblem[];
  readonly now: MonotonicMs;
}

/** Temporary files of editors. As in upstream, every other name without a leading dot is a manifest. */
const EDITOR_FILES = [/~$/, /^#.*#$/, /\.sw[nopx]$/, /^4913$/, /___jb_(tmp|old|bak)___$/];

/** Whether a name is never read: hidden files, and swap, backup and probe files of editors. */
export function isIgnoredName(name: string): boolean {
  return name.startsWith(".") || EDITOR_FILES.some((pattern) => pattern.test(name));
}

/** Returns the paths of files to read now: new, changed and uncertain ones. */
export function filesToRead(
  files: ManifestFiles,
  listing: ManifestListing,
  now: MonotonicMs,
  { versionMs }: SettleTimes,
): readonly string[] {
  if (listing.kind !== "found") return [];
  return listing.entries
    .filter(({ kind, path, version }) => {
      if (kind !== "file") return false;
      const record = files.records.get(path);
      if (record === undefined || record.version !== version || record.held !== undefined) return true;
      const certainFrom = record.versionSeenAt + versionMs;
      return record.readAt < certainFrom && now >= certainFrom;
    })
    .map((entry) => entry.path);
}

/**
 * Returns the state after a listing. `snapshot` is a new object only if it differs. `wakeAt` is when the next held
 * state is due; undefined when no state is held or the path cannot be read.
 */
export function applyLook(
  files: ManifestFiles,
  look: ManifestLook,
  settle: SettleTimes,
): { readonly files: ManifestFiles; readonly wakeAt: MonotonicMs | undefined } {
  const isListed = files.isListed || look.listing.kind !== "unreadable";
  const records = look.listing.kind === "unreadable" ? files.records : recordsAfter(files, look, settle);
  const ownNotes = remembered(files.notes, [...look.notes, ...listingNotes(look.path, look.listing)]);
  const { pods, objects, clashes } = withoutClashes([...records].map(([origin, record]) => ({ ...record, origin })));
  const notes = [...ownNotes, ...remembered(files.notes, clashes)];
  const problems = inOrder([...notes, ...[...records.values()].flatMap((record) => record.problems)]);
  const fresh: SourceSnapshot = { source: "file", pods, objects, problems, ...(isListed ? {} : { ready: false }) };
  const snapshot = files.snapshot !== undefined && isSame(files.snapshot, fresh) ? files.snapshot : fresh;
  return {
    files: { records, snapshot, isListed, notes: new Map(notes.map((note) => [wording(note), note])) },
    wakeAt: look.listing.kind === "unreadable" ? undefined : earliest(records),
  };
}

/**
 * Returns the intermediate state for files that were removed and created again: their pods end and then start, as in
 * upstream, although no listing saw the files missing. Undefined when there are no such files.
 */
export function betweenRemakes(
  files: ManifestFiles,
  look: ManifestLook,
  settle: SettleTimes,
): ReturnType<typeof applyLook> | undefined {
  const { listing } = look;
  if (listing.kind !== "found") return undefined;
  const isRemade = ({ path, remade }: ManifestEntry) => remade === true && files.records.has(path);
  const remade = new Set(listing.entries.filter(isRemade).map(({ path }) => path));
  if (remade.size === 0) return undefined;
  const records = new Map([...files.records].filter(([path]) => !remade.has(path)));
  const entries = listing.entries.filter(({ path }) => !remade.has(path));
  return applyLook({ ...files, records }, { ...look, listing: { kind: "found", entries } }, settle);
}

function recordsAfter(files: ManifestFiles, look: ManifestLook, settle: SettleTimes): ReadonlyMap<string, FileRecord> {
  const reads = new Map(look.reads.map((read) => [read.path, read]));
  const entries = look.listing.kind === "found" ? look.listing.entries : [];
  const records = new Map<string, FileRecord>();
  const isFirst = !files.isListed;
  const isAnyGoing = isAnyGone(files, entries, look.now);
  for (const entry of entries) {
    if (entry.kind !== "file") continue;
    const known = files.records.get(entry.path);
    const read = reads.get(entry.path);
    if (read !== undefined && "gone" in read) continue;
    const record =
      read === undefined ? known : afterRead(known, entry, read, look.now, settle, { isFirst, isAnyGoing });
    if (record !== undefined) records.set(entry.path, { ...record, goneUntil: undefined });
  }
  for (const [path, known] of files.records) {
    if (records.has(path)) continue;
    const goneUntil = known.goneUntil ?? later(look.now, settle.removalMs);
    if (known.pods.length + known.objects.length > 0 && look.now < goneUntil)
      records.set(path, { ...known, goneUntil });
  }
  return new Map([...records].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Whether a missing file with pods is still considered present. Its pods must stop before those of a new file start, to
 * free their resources.
 */
function isAnyGone({ records }: ManifestFiles, entries: readonly ManifestEntry[], now: MonotonicMs): boolean {
  const listed = new Set(entries.map(({ path }) => path));
  return [...records].some(
    ([path, { pods, goneUntil }]) =>
      !listed.has(path) && pods.length > 0 && (goneUntil === undefined || now < goneUntil),
  );
}

const later = (now: MonotonicMs, ms: number): MonotonicMs => (now + ms) as MonotonicMs;

function earliest(records: ReadonlyMap<string, FileRecord>): MonotonicMs | undefined {
  const due = [...records.values()].flatMap(({ held, goneUntil }) =>
    [held?.until, goneUntil].filter((at) => at !== undefined),
  );
  return due.length === 0 ? undefined : (Math.min(...due) as MonotonicMs);
}

function afterRead(
  known: FileRecord | undefined,
  entry: ManifestEntry,
  read: Extract<FileRead, { readonly content: string }>,
  now: MonotonicMs,
  settle: SettleTimes,
  { isFirst, isAnyGoing }: { readonly isFirst: boolean; readonly isAnyGoing: boolean },
): FileRecord {
  const isNewVersion = known?.version !== entry.version;
  const base: FileRecord = {
    version: read.again === true ? "" : entry.version,
    versionSeenAt: isNewVersion || known === undefined ? now : known.versionSeenAt,
    readAt: now,
    content: known?.content,
    pods: known?.pods ?? [],
    objects: known?.objects ?? [],
    lines: known?.lines ?? new Map(),
    problems: known?.problems ?? [],
    held: undefined,
    goneUntil: undefined,
  };
  if (read.content === base.content) return base;
  const taken: FileRecord = { ...base, content: read.content, ...takeOver(base, read.reading, entry.path) };
  const isBad = isDoubtful(base, read.reading);
  const isNew = base.content === undefined;
  if (isFirst || !(isBad || (isNew && isAnyGoing))) return taken;
  const before = known?.held;
  const since = before?.since ?? now;
  const holdMs = isBad ? settle.contentMs : settle.removalMs;
  const until = before?.content === read.content ? before.until : later(now, holdMs);
  if (now >= until || now >= since + settle.longestMs) return taken;
  return { ...base, held: { content: read.content, since, until } };
}

/** Whether this content was already accepted, so that parsing it again is unnecessary. */
export const isKnownContent = (files: ManifestFiles, path: string, content: string): boolean =>
  files.records.get(path)?.content === content;

function listingNotes(place: string, listing: ManifestListing): readonly ManifestProblem[] {
  if (listing.kind === "missing") return [manifestNote(place, "does not exist; no pods come from it")];
  if (listing.kind === "unreadable") return [{ ...manifestNote(place, listing.reason), severity: "error" }];
  return listing.entries.flatMap(({ kind, path, reason = "cannot be examined" }): readonly ManifestProblem[] => {
    switch (kind) {
      case "file":
        return [];
      case "directory":
        return [manifestNote(path, "is a directory; only the files directly in the manifest directory are read")];
      case "other":
        return [manifestNote(path, "is neither a file nor a directory; it is ignored")];
      case "unreadable":
        return [manifestNote(path, reason)];
    }
  });
}

const isSame = (a: SourceSnapshot, b: SourceSnapshot): boolean =>
  a.ready === b.ready &&
  sameItems(a.pods, b.pods) &&
  sameItems(a.objects ?? [], b.objects ?? []) &&
  sameItems(a.problems, b.problems);
