/** What a hostPath volume wants to find on the node. Counterpart: checkTypeInternal of pkg/volume/hostpath. */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** What the types that name a kind want, in upstream's words. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  Directory: "directory",
  File: "file",
  Socket: "socket file",
  CharDevice: "character device",
  BlockDevice: "block device",
};

/** What to do about a hostPath of this type (not empty), given the kind of file found there; undefined: nothing is. */
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
