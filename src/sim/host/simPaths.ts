/** Paths and nodes of a simulated file tree. */

/** A regular file. */
export interface SimFile {
  readonly kind: "file";
  readonly content: string;
  readonly mode: number;
  readonly gid?: number;
  /** Size beyond the content, for files that would not fit into memory. */
  readonly moreBytes?: number;
  /** Inodes beyond its own: the file stands for so many more files beside it. */
  readonly moreInodes?: number;
}

/** Returns the size of a file. */
export const sizeOfFile = ({ content, moreBytes = 0 }: SimFile): number => content.length + moreBytes;

/** Usage of a file beyond its content. */
export type SimFileExtent = Pick<SimFile, "moreBytes" | "moreInodes">;

/** Returns the number of inodes that a node takes. */
export const inodesOfNode = (node: SimNode): number => (node.kind === "file" ? 1 + (node.moreInodes ?? 0) : 1);

/** An entry at a path. */
export type SimNode =
  | { readonly kind: "directory"; readonly mode: number; readonly gid?: number }
  | SimFile
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
