/** Grows a mounted file system to the size of its device. Upstream: ResizeFs of k8s.io/mount-utils. */
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import { growTool } from "../../core/mount/deviceFormat.ts";
import type { GrowRequest } from "../../ports/mounts.ts";
import { formatOn } from "./formatAndMount.ts";
import type { RunTool } from "./mountTools.ts";

/** Does nothing on a device without a format. Errors have upstream's wording, and name a tool that is not installed. */
export async function growFileSystem({ device, mountPoint }: GrowRequest, run: RunTool): Promise<void> {
  const format = await formatOn(device, run).catch((thrown: unknown) => {
    throw failure(`ResizeFS.Resize - error checking format for device ${device}`, "blkid", thrown);
  });
  if (format === "") return;
  const tool = growTool(format, device, mountPoint);
  if (tool === undefined) {
    const where = `device ${device} mounted at ${mountPoint}`;
    throw kubeletError("InvalidArgument", `ResizeFS.Resize - resize of format ${format} is not supported for ${where}`);
  }
  await run({ ...tool, what: `resize ${device}` }).catch((thrown: unknown) => {
    throw failure(`resize of device ${device} failed`, tool.program, thrown);
  });
}

/** Returns the error of a tool, which says so if the tool is not installed. */
function failure(what: string, program: string, thrown: unknown): KubeletError {
  const { code, message } = toKubeletError(thrown);
  return kubeletError(code, `${what}: ${code === "NotFound" ? `${program} is not installed on this node` : message}`);
}
