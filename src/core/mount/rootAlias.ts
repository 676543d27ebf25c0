/**
 * A root directory that is reached through a symbolic link. The kernel's mount table has paths without links, while
 * runtimes and plugins are given paths below the root directory as it was configured.
 */
import type { MountEntry } from "./mountInfo.ts";

export interface RootAlias {
  /** As the kernel has the path. */
  toReal(path: string): string;
  /** The mount table with paths as they were configured. */
  toConfigured(entries: readonly MountEntry[]): readonly MountEntry[];
}

/** `configured` and `real` are the same directory; both absolute, `real` without links. */
export function rootAlias(configured: string, real: string): RootAlias {
  if (configured === real) return { toReal: (path) => path, toConfigured: (entries) => entries };
  return {
    toReal: (path) => moved(path, configured, real),
    toConfigured: (entries) =>
      entries.map((entry) => {
        const mountPoint = moved(entry.mountPoint, real, configured);
        return mountPoint === entry.mountPoint ? entry : { ...entry, mountPoint };
      }),
  };
}

const moved = (path: string, from: string, to: string): string =>
  path === from || path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path;
