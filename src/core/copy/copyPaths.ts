/** Paths of `rxlet cp`: which side is in a container, and where an entry of an archive goes. Pure. */
import { isPathSegment } from "../pathSegment.ts";

/** A side of a copy. */
export type CopySide =
  | { readonly kind: "local"; readonly path: string }
  | { readonly kind: "pod"; readonly namespace: string | undefined; readonly pod: string; readonly path: string };

/** Reads `PATH`, `POD:PATH` or `NAMESPACE/POD:PATH`; undefined for anything else. Upstream: extractFileSpec of kubectl. */
export function readCopySide(text: string): CopySide | undefined {
  const colon = text.indexOf(":");
  // A path with a colon is local when something that no pod name has comes first.
  if (colon === -1 || /^[./]/.test(text)) return text === "" ? undefined : { kind: "local", path: text };
  const names = text.slice(0, colon).split("/");
  const path = text.slice(colon + 1);
  const [first = "", second] = names;
  if (names.length > 2 || path === "" || names.includes("")) return undefined;
  return second === undefined
    ? { kind: "pod", namespace: undefined, pod: first, path }
    : { kind: "pod", namespace: first, pod: second, path };
}

/** A path in a container, as the directory that tar starts in and the name in it. */
export interface RemotePlace {
  readonly directory: string;
  /** A single name; `.` for the directory itself. */
  readonly name: string;
}

/** Splits a path; `..` stays for the container to resolve. */
export function remotePlace(path: string): RemotePlace {
  const trimmed = path.replace(/(?<=[^/])\/+$/, "");
  const slash = trimmed.lastIndexOf("/");
  const name = trimmed.slice(slash + 1);
  if (name === "" || name === "." || name === "..") return { directory: trimmed, name: "." };
  const directory = slash === -1 ? "." : trimmed.slice(0, slash) || "/";
  return { directory, name };
}

/**
 * Returns the elements of an entry's path; undefined when the path could lead outside of the target: it is absolute, has
 * `..`, or has a name that no file can have.
 */
export function entryNames(path: string): readonly string[] | undefined {
  if (path.startsWith("/")) return undefined;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return names.every(isPathSegment) && names.length <= MAX_DEPTH ? names : undefined;
}

/** Deepest directory of a copy; a path has at most 4,096 bytes. */
const MAX_DEPTH = 2_048;

/**
 * Whether a link in a copied directory stays within it. `at` are the elements of the link itself below that directory.
 */
export function staysInside(at: readonly string[], target: string): boolean {
  if (target.startsWith("/") || target === "") return false;
  let depth = at.length - 1;
  for (const name of target.split("/")) {
    if (name === "..") depth -= 1;
    else if (name !== "" && name !== ".") depth += 1;
    if (depth < 0) return false;
  }
  return true;
}
