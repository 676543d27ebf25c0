/** File system failures as KubeletErrors, and the table of errno names. */
import { type ErrorCode, type KubeletError, isKubeletError, kubeletError } from "./errors.ts";
import { rethrowInvariant } from "./invariant.ts";

const CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ["ENOENT", "NotFound"],
  ["EEXIST", "AlreadyExists"],
  ["EACCES", "PermissionDenied"],
  ["EPERM", "PermissionDenied"],
  ["EROFS", "PermissionDenied"],
  ["ENOSPC", "ResourceExhausted"],
  ["EDQUOT", "ResourceExhausted"],
  ["EMFILE", "ResourceExhausted"],
  ["ENFILE", "ResourceExhausted"],
  ["EINVAL", "InvalidArgument"],
  ["ABORT_ERR", "Cancelled"],
]);

/** Returns the errno name of an error that Node threw (`ENOENT`), or an empty string. */
export function errnoOf(thrown: unknown): string {
  const code = typeof thrown === "object" && thrown !== null && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "";
}

/**
 * Converts a failure of `action` on `path` to a KubeletError; KubeletErrors pass through. Rethrows a broken invariant.
 */
export function ioError(action: string, path: string, thrown: unknown): KubeletError {
  rethrowInvariant(thrown);
  if (isKubeletError(thrown)) return thrown;
  const errno = errnoOf(thrown);
  const why = errno === "" ? (thrown instanceof Error ? thrown.message : String(thrown)) : errno;
  return kubeletError(CODES.get(errno) ?? "Io", `cannot ${action} ${path}: ${why}`, { cause: thrown });
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file or directory"],
  ["ENOTDIR", "a part of its path is not a directory"],
  ["EISDIR", "is a directory"],
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["ELOOP", "is a symbolic link that leads back to itself"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
]);

/** Explains why a path that the user named cannot be used; the text follows the path in messages. */
export function pathFault(thrown: unknown): string {
  const errno = errnoOf(thrown);
  return WORDS.get(errno) ?? (errno === "" ? String(thrown) : errno);
}
