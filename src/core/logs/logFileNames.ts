/**
 * The files of one container's log beside the one being written, `0.log`: `0.log.20260102-150405`, once compressed with
 * `.gz` behind it, and while that is made `.tmp`. Other names are nobody's business here. Upstream: container_log_manager.go.
 */
import { type EpochMs, epochMs } from "../ids.ts";
import { civilTime, padded, parseInstant } from "../telemetry/civilTime.ts";

/** Suffix of a compressed file. */
export const COMPRESSED = ".gz";
/** Suffix of a compressed file that is not finished. */
export const UNFINISHED = ".tmp";

/** Rotated files of the log `latest`, oldest first; what was left by a rotation that failed goes to `unused`. */
export interface RotatedFiles {
  readonly inUse: readonly string[];
  readonly unused: readonly string[];
}

const STAMP = /^\d{8}-\d{6}(?:\.gz|\.tmp)?$/;

/** Sorts the names of a directory; `latest` is the name of the file being written. */
export function rotatedFiles(names: readonly string[], latest: string): RotatedFiles {
  const rotated = names
    .filter((name) => name.startsWith(`${latest}.`) && STAMP.test(name.slice(latest.length + 1)))
    .sort();
  const all = new Set(rotated);
  const isInUse = (name: string): boolean =>
    !name.endsWith(UNFINISHED) && (name.endsWith(COMPRESSED) || !all.has(`${name}${COMPRESSED}`));
  return { inUse: rotated.filter(isInUse), unused: rotated.filter((name) => !isInUse(name)) };
}

/** The name a file keeps whether compressed or not: those of one log sort by age. */
export const rotationOf = (name: string): string =>
  name.endsWith(COMPRESSED) ? name.slice(0, -COMPRESSED.length) : name;

/**
 * Where the file being written goes at this moment. Later than all there are, whatever the clock says, so that names sort
 * by age. Differs from upstream: UTC, since local time is not always later than before.
 */
export function nextRotatedName(latest: string, inUse: readonly string[], now: EpochMs): string {
  const newest = inUse.at(-1);
  const stampAt = latest.length + 1;
  const at = newest === undefined ? now : Math.max(now, stampInstant(newest.slice(stampAt)) + 1_000);
  const t = civilTime(epochMs(at));
  const date = `${padded(t.year, 4)}${padded(t.month, 2)}${padded(t.day, 2)}`;
  return `${latest}.${date}-${padded(t.hour, 2)}${padded(t.minute, 2)}${padded(t.second, 2)}`;
}

/** The instant of `20260102-150405`, whatever follows. */
function stampInstant(stamp: string): number {
  const text = stamp.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d).*$/, "$1-$2-$3T$4:$5:$6Z");
  return parseInstant(text) ?? 0;
}

/**
 * What has to go, oldest first, so that the file to rotate and the one that takes its place fit among `maxFiles`; with
 * what compressing them left behind, which would count as theirs once they are gone.
 */
export function excessFiles({ inUse, unused }: RotatedFiles, maxFiles: number): readonly string[] {
  const excess = inUse.slice(0, Math.max(0, inUse.length - Math.max(0, maxFiles - 2)));
  return [...unused.filter((name) => excess.includes(`${name}${COMPRESSED}`)), ...excess];
}

/** What can be compressed: not the newest, to which the runtime may have to write its last lines. */
export const compressibleFiles = ({ inUse }: RotatedFiles): readonly string[] =>
  inUse.slice(0, -1).filter((name) => !name.endsWith(COMPRESSED));
