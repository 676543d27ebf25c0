/** The rules of the CSI specification that the test driver checks each call of the kubelet by. */
import { describe, expect, it } from "vitest";
import type { CsiCapability } from "../../src/core/csi/csiDriverFacts.ts";
import { VolumeCapability_AccessMode_Mode as Mode } from "../../src/gen/csi.ts";
import { brokenRules, type CsiRequest, followCall, newRuleState } from "../support/csiRules.ts";

const [STAGE, TARGET] = ["/stage", "/target"];
const MOUNT = { fsType: "ext4", mountFlags: [], volumeMountGroup: "" };
const volumeCapability = { mount: MOUNT, accessMode: { mode: Mode.SINGLE_NODE_WRITER } };
const stage: CsiRequest = { volumeId: "v", stagingTargetPath: STAGE, volumeCapability };
const publish: CsiRequest = { ...stage, targetPath: TARGET, readonly: false };
const unpublish: CsiRequest = { volumeId: "v", targetPath: TARGET };
const expand: CsiRequest = { volumeId: "v", volumePath: TARGET, capacityRange: { requiredBytes: 1n, limitBytes: 0n } };
const ALL: readonly CsiCapability[] = ["STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME_STATS"];
type Step = readonly [rpc: string, request: CsiRequest];

/** Returns the rules that the last call breaks; those before it succeed. */
function broken(steps: readonly Step[], capabilities = ALL): readonly string[] {
  const state = newRuleState();
  const verdicts = steps.map(([rpc, request]) => {
    const found = brokenRules(rpc, request, new Set(capabilities), state);
    followCall(rpc, request, state)(true);
    return found;
  });
  return verdicts.at(-1) ?? [];
}

const STAGED: Step = ["nodeStageVolume", stage];
const PUBLISHED: Step = ["nodePublishVolume", publish];

describe("a call to a CSI driver", () => {
  it.each<[string, readonly Step[]]>([
    ["stages", [STAGED]],
    ["stages again", [STAGED, STAGED]],
    ["publishes again", [STAGED, PUBLISHED, PUBLISHED]],
    ["publishes elsewhere", [STAGED, PUBLISHED, ["nodePublishVolume", { ...publish, targetPath: "/other" }]]],
    ["expands", [STAGED, PUBLISHED, ["nodeExpandVolume", expand]]],
    ["unstages", [STAGED, PUBLISHED, ["nodeUnpublishVolume", unpublish], ["nodeUnstageVolume", stage]]],
    ["unpublishes an unknown volume", [["nodeUnpublishVolume", unpublish]]],
    ["reads statistics", [STAGED, ["nodeGetVolumeStats", { volumeId: "v", volumePath: STAGE }]]],
  ])("keeps the rules: %s", (_, steps) => expect(broken(steps)).toEqual([]));

  const withCapability = (more: object): Step => [
    "nodeStageVolume",
    { ...stage, volumeCapability: { ...volumeCapability, ...more } },
  ];
  it.each<[string, readonly Step[]]>([
    ["volumeId is required", [["nodeUnpublishVolume", { ...unpublish, volumeId: "" }]]],
    ["stagingTargetPath is required", [["nodeStageVolume", { ...stage, stagingTargetPath: "" }]]],
    ["targetPath is required", [STAGED, ["nodePublishVolume", { ...publish, targetPath: "" }]]],
    ["volumeCapability is required", [["nodeStageVolume", { ...stage, volumeCapability: undefined }]]],
    ["volumePath is required", [["nodeGetVolumeStats", { volumeId: "v" }]]],
    ["volumeId exceeds 128 bytes", [["nodeUnpublishVolume", { ...unpublish, volumeId: "v".repeat(129) }]]],
    ["fsType exceeds 128 bytes", [withCapability({ mount: { ...MOUNT, fsType: "x".repeat(129) } })]],
    ["mountFlags exceeds 4096 bytes", [withCapability({ mount: { ...MOUNT, mountFlags: ["x".repeat(4_097)] } })]],
    ["volumeContext exceeds 4096 bytes", [["nodeStageVolume", { ...stage, volumeContext: { a: "x".repeat(4_096) } }]]],
    ["stagingTargetPath is not an absolute path", [["nodeStageVolume", { ...stage, stagingTargetPath: "stage" }]]],
    ["either block or mount is required", [withCapability({ mount: undefined })]],
    ["either block or mount is required", [withCapability({ block: {} })]],
    ["an access mode is required", [withCapability({ accessMode: undefined })]],
    [
      "the driver lacks SINGLE_NODE_MULTI_WRITER",
      [withCapability({ accessMode: { mode: Mode.SINGLE_NODE_MULTI_WRITER } })],
    ],
    ["the driver lacks VOLUME_MOUNT_GROUP", [withCapability({ mount: { ...MOUNT, volumeMountGroup: "1" } })]],
    [
      "capacityRange has no size",
      [STAGED, PUBLISHED, ["nodeExpandVolume", { ...expand, capacityRange: { requiredBytes: 0n, limitBytes: 0n } }]],
    ],
    [
      "limitBytes is less than requiredBytes",
      [STAGED, PUBLISHED, ["nodeExpandVolume", { ...expand, capacityRange: { requiredBytes: 2n, limitBytes: 1n } }]],
    ],
    ["the volume is staged at /stage", [STAGED, ["nodeStageVolume", { ...stage, stagingTargetPath: "/other" }]]],
    ["the volume is not staged", [PUBLISHED]],
    ["the volume is published at /target", [STAGED, PUBLISHED, ["nodeUnstageVolume", stage]]],
    [
      "v is published there",
      [STAGED, PUBLISHED, ["nodePublishVolume", { ...publish, volumeId: "w", stagingTargetPath: "" }]],
    ],
    [
      "it is published there with other arguments",
      [STAGED, PUBLISHED, ["nodePublishVolume", { ...publish, readonly: true }]],
    ],
    ["the volume is not at /target", [STAGED, ["nodeExpandVolume", expand]]],
  ])("breaks a rule: %s", (rule, steps) => expect(broken(steps)).toContain(rule));

  it("breaks a rule: the driver lacks the capability", () => {
    expect(broken([STAGED], [])).toContain("the driver lacks STAGE_UNSTAGE_VOLUME");
    expect(broken([["nodeExpandVolume", expand]], [])).toContain("the driver lacks EXPAND_VOLUME");
    expect(broken([["nodeGetVolumeStats", { volumeId: "v", volumePath: "/x" }]], [])).toEqual([
      "the driver lacks GET_VOLUME_STATS",
    ]);
  });

  it("breaks a rule: another one is under way for the volume", () => {
    const state = newRuleState();
    followCall(...STAGED, state);
    expect(brokenRules(...PUBLISHED, new Set(ALL), state)).toContain("nodeStageVolume is under way for the volume");
  });
});
