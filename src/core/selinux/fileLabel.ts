/**
 * SELinux labels of files: the label of a container's files by its `seLinuxOptions`, and the mount option that labels a whole
 * file system. Upstream: SELinuxOptionsToFileLabel and AddSELinuxMountOption of pkg/volume/util, InitLabels of go-selinux.
 */
import { type KubeletError, kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** The options of a container, or of its pod. */
export interface SelinuxOptions {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
  readonly level?: string;
}

/** The label that means none. */
export const NO_LABEL = "";

const MAX_CHARS = 1024;
const USER = /^[\w.-]+$/;
const LEVEL = /^[\w.,:-]+$/;

/**
 * Returns the label of the files of a container; `usual` is the node's label of such files. Roles and types name processes, so
 * files keep the usual ones. Differs from upstream: without a level there is no label, because the runtime gives the container a
 * level that nobody knows yet; upstream labels the volume with another random level. Values become part of a mount option, so
 * other characters than those of labels are an error, as are more than 1024.
 */
export function fileLabel({ user = "", level = "" }: SelinuxOptions, usual: string): Result<string> {
  if (level === "") return ok(NO_LABEL);
  const fault = faultOf("user", user, USER) ?? faultOf("level", level, LEVEL);
  if (fault !== undefined) return err(fault);
  const [usualUser = "", role = "", type = ""] = usual.split(":");
  return ok([user || usualUser, role, type, level].join(":"));
}

function faultOf(field: string, value: string, form: RegExp): KubeletError | undefined {
  if (value === "" || (value.length <= MAX_CHARS && form.test(value))) return undefined;
  const why = `seLinuxOptions.${field} has more than ${MAX_CHARS} characters, or others than an SELinux ${field} has`;
  return kubeletError("InvalidArgument", `failed to construct SELinux label from context: ${why}`);
}

/** Returns the mount option of a label, in quotes for its commas. */
export const contextOption = (label: string): string => `context="${label}"`;

const OPTION = /^context="?([^"]*)"?$/;

/** Returns the label with which a file system is mounted; undefined: with none. */
export const mountedLabel = ({ superOptions }: { readonly superOptions: readonly string[] }): string | undefined =>
  superOptions.map((option) => OPTION.exec(option)?.[1]).find((label) => label !== undefined);

/**
 * Returns the label of the files of containers from a file of contexts, such as `lxc_contexts` of a policy; undefined where
 * it names none. Upstream: loadLabels of go-selinux.
 */
export function usualFileLabel(contexts: string): string | undefined {
  for (const line of contexts.split("\n")) {
    const [key = "", value = ""] = line.split("=", 2);
    const label = value.trim().replaceAll('"', "");
    if (key.trim() === "file" && label.split(":").length >= 3) return label;
  }
  return undefined;
}
