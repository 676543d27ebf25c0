import { describe, expect, it } from "vitest";
import type { ApiObjects } from "../../../../src/core/api/apiResources.ts";
import { attachmentFault } from "../../../../src/core/csi/attachmentFault.ts";

type Attachment = ApiObjects["volumeattachments"];
const spec = { attacher: "d", nodeName: "n1", source: { persistentVolumeName: "pv1" } };
const faultOf = (status: Attachment["status"], deletionTimestamp?: string): string | undefined =>
  attachmentFault(
    { metadata: { ...(deletionTimestamp !== undefined && { deletionTimestamp }) }, spec, ...(status && { status }) },
    { handle: "h" },
    { id: "csi-1" },
  );

describe("a volume with a VolumeAttachment", () => {
  it.each<[string, Attachment["status"], string | undefined]>([
    ["without a status", undefined, "volume h is not attached for volume attachment csi-1"],
    ["that is not attached yet", { attached: false }, "volume h is not attached for volume attachment csi-1"],
    ["that its driver cannot attach", { attached: false, attachError: { message: "no room" } }, "no room"],
    ["that is attached", { attached: true }, undefined],
    ["that is attached after an error", { attached: true, attachError: { message: "no room" } }, undefined],
  ])("%s", (_title, status, expected) => {
    expect(faultOf(status)).toBe(expected);
  });

  it("that goes is not attached, whatever its status says", () => {
    expect(faultOf({ attached: true }, "2026-01-01T00:00:00Z")).toBe("volume attachment is being deleted");
  });
});
