/** Checks the type of a hostPath volume. Upstream: checkTypeInternal of pkg/volume/hostpath. */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** Required file types, in upstream's terms. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  Directory: "directory",
  File: "file",
  Socket: "socket file",
  CharDevice: "character device",
  BlockDevice: "block device",
};

/**
 * Returns the action for a hostPath of this type (not empty), given the type of the existing file; undefined when there
 * is none.
 */
export function hostPathStep(
  path: string,
  type: string,
  found: string | undefined,
): Result<"nothing" | "makeDirectory" | "makeFile"> {
  const wanted = type.replace("OrCreate", "");
  const refuse = (message: string): Result<never> =>
    err(kubeletError(found === undefined ? "NotFound" : "InvalidArgument", message, { reason: "FailedMount" }));
  if (!Object.hasOwn(KIND_NAMES, wanted)) return refuse(`${type} is an invalid volume type`);
  if (wanted === found) return ok("nothing");
  if (found === undefined && type === "DirectoryOrCreate") return ok("makeDirectory");
  if (found === undefined && type === "FileOrCreate") return ok("makeFile");
  return refuse(`hostPath type check failed: ${path} is not a ${KIND_NAMES[wanted]}`);
}
