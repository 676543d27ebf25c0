/** Paths and nodes of a simulated file tree. */

/** An entry at a path. */
export type SimNode =
  | { readonly kind: "directory"; readonly mode: number; readonly gid?: number }
  | { readonly kind: "file"; readonly content: string; readonly mode: number; readonly gid?: number }
  | { readonly kind: "symlink"; readonly target: string };

/** An absolute path without empty and dot elements. */
export const normalized = (path: string): string =>
  isNormal(path)
    ? path
    : `/${path
        .split("/")
        .filter((name) => name !== "" && name !== ".")
        .join("/")}`;

/** Nearly all paths are: no need to take them apart. */
const isNormal = (path: string): boolean =>
  path === "/" || (path.startsWith("/") && !path.includes("//") && !path.includes("/.") && !path.endsWith("/"));

/** The path one level up; that of the root is the root. */
export const parentOf = (path: string): string => normalized(path.slice(0, path.lastIndexOf("/")));

/** A name in a directory. */
export const childOf = (directory: string, name: string): string =>
  directory === "/" ? `/${name}` : `${directory}/${name}`;
