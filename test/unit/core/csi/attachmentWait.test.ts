import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { attachmentWait } from "../../../../src/core/csi/attachmentWait.ts";

const NAME = "kubernetes.io/csi/csi.example.com^h1";
const attachment = { volumeName: NAME, id: "csi-1" };
const nodeWith = (status: NonNullable<Node["status"]>): Node => ({ metadata: { name: "n1" }, status });
const ATTACHED = [{ name: NAME, devicePath: "" }];
const OTHERS = [{ name: `${NAME}2`, devicePath: "" }];

describe("the wait for an attachment", () => {
  it.each([
    ["an unknown Node", undefined, "Volume has not been added to the list of VolumesInUse in the node's volume status"],
    [
      "a Node without the volume in use, though attached",
      nodeWith({ volumesAttached: ATTACHED }),
      "Volume has not been added to the list of VolumesInUse in the node's volume status",
    ],
    [
      "a Node with the volume in use and another one attached",
      nodeWith({ volumesInUse: [NAME], volumesAttached: OTHERS }),
      "Volume not attached according to node status",
    ],
    [
      "a Node with the volume in use and attached",
      nodeWith({ volumesInUse: [NAME], volumesAttached: ATTACHED }),
      undefined,
    ],
  ])("on %s", (_title, node, expected) => {
    expect(attachmentWait({ attachment }, node)).toBe(expected);
  });

  it("is none for a volume without an attachment", () => {
    expect(attachmentWait({ attachment: undefined }, undefined)).toBeUndefined();
  });
});
