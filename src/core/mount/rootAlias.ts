/**
 * A root directory that is reached through a symbolic link. The kernel's mount table has resolved paths, while runtimes
 * and plugins get paths below the configured root directory.
 */
import type { MountEntry } from "./mountInfo.ts";

/** Conversion between configured and resolved paths. */
export interface RootAlias {
  /** Returns the path as the kernel resolves it. */
  toReal(path: string): string;
  /** Returns a resolved path as the kubelet names it. */
  toConfiguredPath(path: string): string;
  /** Returns the mount table with configured paths. */
  toConfigured(entries: readonly MountEntry[]): readonly MountEntry[];
}

/** `configured` and `real` are the same directory; both absolute, `real` without links. */
export function rootAlias(configured: string, real: string): RootAlias {
  if (configured === real)
    return { toReal: (path) => path, toConfiguredPath: (path) => path, toConfigured: (entries) => entries };
  return {
    toReal: (path) => moved(path, configured, real),
    toConfiguredPath: (path) => moved(path, real, configured),
    toConfigured: (entries) =>
      entries.map((entry) => {
        const mountPoint = moved(entry.mountPoint, real, configured);
        return mountPoint === entry.mountPoint ? entry : { ...entry, mountPoint };
      }),
  };
}

const moved = (path: string, from: string, to: string): string =>
  path === from || path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path;
