/** Grows a mounted file system to the size of its device. Upstream: ResizeFs of k8s.io/mount-utils. */
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { growTool } from "../../core/mount/deviceFormat.ts";
import type { GrowRequest } from "../../ports/mounts.ts";
import { formatOn } from "./formatAndMount.ts";
import type { RunTool } from "./mountTools.ts";

/** Does nothing on a device without a format. Errors have upstream's wording. */
export async function growFileSystem({ device, mountPoint }: GrowRequest, run: RunTool): Promise<void> {
  const format = await formatOn(device, run).catch((thrown: unknown) => {
    const { code, message } = toKubeletError(thrown);
    throw kubeletError(code, `ResizeFS.Resize - error checking format for device ${device}: ${message}`);
  });
  if (format === "") return;
  const tool = growTool(format, device, mountPoint);
  if (tool === undefined) {
    const where = `device ${device} mounted at ${mountPoint}`;
    throw kubeletError("InvalidArgument", `ResizeFS.Resize - resize of format ${format} is not supported for ${where}`);
  }
  await run({ ...tool, what: `resize ${device}` }).catch((thrown: unknown) => {
    const { code, message } = toKubeletError(thrown);
    throw kubeletError(code, `resize of device ${device} failed: ${message}`);
  });
}
