/** Paths and nodes of a simulated file tree. */

/** An entry at a path. */
export type SimNode =
  | { readonly kind: "directory"; readonly mode: number; readonly gid?: number }
  | { readonly kind: "file"; readonly content: string; readonly mode: number; readonly gid?: number }
  | { readonly kind: "symlink"; readonly target: string };

/** Returns an absolute path without empty and dot elements. */
export const normalized = (path: string): string =>
  isNormal(path)
    ? path
    : `/${path
        .split("/")
        .filter((name) => name !== "" && name !== ".")
        .join("/")}`;

/** Returns whether a path is normal already: nearly all are, and need no splitting. */
const isNormal = (path: string): boolean =>
  path === "/" || (path.startsWith("/") && !path.includes("//") && !path.includes("/.") && !path.endsWith("/"));

/** Returns the parent of a path; that of the root is the root. */
export const parentOf = (path: string): string => normalized(path.slice(0, path.lastIndexOf("/")));

/** Returns the path of a name in a directory. */
export const childOf = (directory: string, name: string): string =>
  directory === "/" ? `/${name}` : `${directory}/${name}`;
