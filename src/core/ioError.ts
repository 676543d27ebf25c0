/** Failures of the file system as KubeletErrors: the one table of errno names. */
import { type ErrorCode, type KubeletError, isKubeletError, kubeletError } from "./errors.ts";

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

/** The errno name of what Node threw (`ENOENT`), or an empty text. */
export function errnoOf(thrown: unknown): string {
  const code = typeof thrown === "object" && thrown !== null && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "";
}

/** What went wrong while doing `action` to `path`; KubeletErrors pass through. */
export function ioError(action: string, path: string, thrown: unknown): KubeletError {
  if (isKubeletError(thrown)) return thrown;
  const errno = errnoOf(thrown);
  const why = errno === "" ? (thrown instanceof Error ? thrown.message : String(thrown)) : errno;
  return kubeletError(CODES.get(errno) ?? "Io", `cannot ${action} ${path}: ${why}`, { cause: thrown });
}
