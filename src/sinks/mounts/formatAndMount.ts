/** Mounts a block device: formats it first if it is blank, checks it otherwise. */
import { toKubeletError, kubeletError } from "../../core/errors.ts";
import { BLKID_NOTHING, blkidArgs, formatOf, FSCK_DAMAGED, mkfsArgs } from "../../core/mount/deviceFormat.ts";
import type { MountRequest } from "../../ports/mounts.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { runMount } from "./mountTool.ts";
import type { RunTool } from "./mountTools.ts";

/** Formats or checks the device and mounts it; see the port. Errors have upstream's wording. */
export async function formatAndMount(request: MountRequest, run: RunTool, log: Logger): Promise<void> {
  const { source: device, target, fsType, options } = request;
  const isReadOnly = options.includes("ro");
  const found = await formatOn(device, run);
  if (found !== "" && found !== fsType) log.warn("A disk has another format than it is mounted as", { device, found });
  if (found !== "") {
    if (!isReadOnly) await repair(device, run, log);
  } else if (isReadOnly) {
    const why = `cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`;
    throw kubeletError("InvalidArgument", why);
  } else await format(request, run, log);
  const args = ["-t", fsType, ...(options.length === 0 ? [] : ["-o", options.join(",")]), "--", device, target];
  await runMount(run, { args, what: `mount ${device} at ${target}` }, [device, target]);
}

/** Returns the format of a device; empty: it is blank. */
export async function formatOn(device: string, run: RunTool): Promise<string> {
  const tool = { program: "blkid", args: blkidArgs(device), what: `look at ${device}` };
  const { status, said } = await run({ ...tool, statuses: [0, BLKID_NOTHING] });
  if (status === BLKID_NOTHING) return "";
  const found = formatOf(said);
  if (found !== undefined) return found;
  throw kubeletError("Io", `failed to get disk format of disk ${device}: blkid returns invalid output: ${said}`);
}

async function repair(device: string, run: RunTool, log: Logger): Promise<void> {
  const tool = { program: "fsck", args: ["-a", device], what: `check ${device}`, statuses: "all" } as const;
  const ended = await run(tool).catch((thrown: unknown) => {
    log.warn("Mounting a disk that could not be checked", { device, error: toKubeletError(thrown) });
  });
  if (ended === undefined || ended.status === 0) return;
  const { status, said } = ended;
  if (status !== FSCK_DAMAGED) log.info("Checked a disk", { device, status, said });
  else throw kubeletError("Io", `'fsck' found errors on device ${device} but could not correct them: ${said}`);
}

async function format({ source, target, fsType, options }: MountRequest, run: RunTool, log: Logger): Promise<void> {
  const args = mkfsArgs(fsType, source);
  log.info("Formatting a blank disk", { device: source, fsType });
  try {
    await run({ program: `mkfs.${fsType}`, args, what: `format ${source}` });
  } catch (thrown) {
    const { code, message } = toKubeletError(thrown);
    const how = `type:("${fsType}") target:("${target}") options:("${options.join(",")}")`;
    throw kubeletError(code, `format of disk "${source}" failed: ${how} ${message}`, { cause: thrown });
  }
}
