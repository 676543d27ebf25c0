/**
 * Path elements of a subPath. sinks/mounts/insideVolume.ts guards the links behind them. Upstream: validation of
 * subPath, and PathWithinBase.
 */

/** Returns the problem of a subPath; undefined when it is valid. */
export function subPathFault(subPath: string): string | undefined {
  if (subPath.startsWith("/")) return "must be a relative path";
  if (subPath.split("/").includes("..")) return "must not contain '..'";
  if (subPath.includes("\0") || !subPath.isWellFormed()) return "must be UTF-8 without NUL";
  return undefined;
}

/** Returns the elements of a relative path without empty and dot elements. */
export const namesOf = (path: string): readonly string[] =>
  path.split("/").filter((name) => name !== "" && name !== ".");

/** Returns the elements from a directory to a path, both without links; undefined when the path is outside. */
export function namesBelow(root: string, path: string): readonly string[] | undefined {
  if (path === root) return [];
  const prefix = root === "/" ? "/" : `${root}/`;
  return path.startsWith(prefix) ? namesOf(path.slice(prefix.length)) : undefined;
}
