/**
 * Names of one container's rotated log files, next to the current file `0.log`: `0.log.20260102-150405`, with `.gz`
 * once compressed and `.tmp` while compression runs. Other names are ignored. Upstream: container_log_manager.go.
 */
import { type EpochMs, epochMs } from "../ids.ts";
import { civilTime, padded, parseInstant } from "../time/civilTime.ts";

/** Suffix of a compressed file. */
export const COMPRESSED = ".gz";
/** Suffix of an unfinished compressed file. */
export const UNFINISHED = ".tmp";

/** Rotated files of the log `latest`, oldest first; leftovers of failed rotations are in `unused`. */
export interface RotatedFiles {
  readonly inUse: readonly string[];
  readonly unused: readonly string[];
}

const STAMP = /^\d{8}-\d{6}(?:\.gz|\.tmp)?$/;

/** Sorts the names of a directory; `latest` is the name of the current file. */
export function rotatedFiles(names: readonly string[], latest: string): RotatedFiles {
  const rotated = names
    .filter((name) => name.startsWith(`${latest}.`) && STAMP.test(name.slice(latest.length + 1)))
    .sort();
  const all = new Set(rotated);
  const isInUse = (name: string): boolean =>
    !name.endsWith(UNFINISHED) && (name.endsWith(COMPRESSED) || !all.has(`${name}${COMPRESSED}`));
  return { inUse: rotated.filter(isInUse), unused: rotated.filter((name) => !isInUse(name)) };
}

/** Returns the name without the compression suffix, so that the names of one log sort by age. */
export const rotationOf = (name: string): string =>
  name.endsWith(COMPRESSED) ? name.slice(0, -COMPRESSED.length) : name;

/**
 * Returns the name for rotating the current file now. It is later than all existing ones, whatever the clock says, so
 * that names sort by age. Differs from upstream: UTC, since local time can go backwards.
 */
export function nextRotatedName(latest: string, inUse: readonly string[], now: EpochMs): string {
  const newest = inUse.at(-1);
  const stampAt = latest.length + 1;
  const at = newest === undefined ? now : Math.max(now, stampInstant(newest.slice(stampAt)) + 1_000);
  const t = civilTime(epochMs(at));
  const date = `${padded(t.year, 4)}${padded(t.month, 2)}${padded(t.day, 2)}`;
  return `${latest}.${date}-${padded(t.hour, 2)}${padded(t.minute, 2)}${padded(t.second, 2)}`;
}

/** Returns the time of `20260102-150405`; ignores what follows. */
function stampInstant(stamp: string): number {
  const text = stamp.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d).*$/, "$1-$2-$3T$4:$5:$6Z");
  return parseInstant(text) ?? 0;
}

/**
 * Returns the files to remove, oldest first, so that the rotated file and its successor fit into `maxFiles`; includes
 * the leftovers of their compression, which would otherwise count as rotated files.
 */
export function excessFiles({ inUse, unused }: RotatedFiles, maxFiles: number): readonly string[] {
  const excess = inUse.slice(0, Math.max(0, inUse.length - Math.max(0, maxFiles - 2)));
  return [...unused.filter((name) => excess.includes(`${name}${COMPRESSED}`)), ...excess];
}

/** Returns the files to compress: all but the newest, to which the runtime may still write its last lines. */
export const compressibleFiles = ({ inUse }: RotatedFiles): readonly string[] =>
  inUse.slice(0, -1).filter((name) => !name.endsWith(COMPRESSED));
