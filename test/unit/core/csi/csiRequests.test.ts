import { describe, expect, it } from "vitest";
import { csiBlockPlaces } from "../../../../src/core/csi/csiBlockPlaces.ts";
import type { CsiCapability, CsiDriverFacts } from "../../../../src/core/csi/csiDriverFacts.ts";
import {
  csiTokenWish,
  isFinal,
  publishRequest,
  stageRequest,
  tokenText,
} from "../../../../src/core/csi/csiRequests.ts";
import type { CsiLayout } from "../../../../src/core/csi/csiVolumeLayout.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import { VolumeCapability_AccessMode_Mode as Mode } from "../../../../src/gen/csi.ts";
import { podOf } from "../../../support/pods.ts";

const facts = (...capabilities: readonly CsiCapability[]): CsiDriverFacts => ({
  ...{ name: "d", endpoint: "/s", version: [1, 0], vendorVersion: "", nodeId: "n", maxVolumes: undefined },
  ...{ topology: {}, capabilities: new Set(capabilities) },
});
const layoutOf = (more: Partial<CsiLayout> = {}): CsiLayout & { readonly stageDir: string } => ({
  ...{ driver: "d", handle: "h", mode: "Persistent", directory: "/p", target: "/p/mount", stageDir: "/g" },
  ...{ attachment: undefined, fsType: "ext4", accessMode: "ReadWriteOnce", mountOptions: ["noatime"] },
  ...{ attributes: { tier: "1" }, stageSecret: undefined, publishSecret: undefined, wantsPodInfo: false },
  ...{ tokens: [], hasSecretTokens: false, isRepublished: false, fsGroup: undefined },
  ...(more as object),
});
const INPUTS = { publishContext: { path: "/dev/x" }, secrets: { key: "s" } };
const pod = podOf({ uid: "u", name: "p", namespace: "ns", spec: { serviceAccountName: "sa" } });
const publish = (layout: CsiLayout, ...capabilities: readonly CsiCapability[]) =>
  publishRequest({ layout, isReadOnly: true, pod }, facts(...capabilities), INPUTS, '{"a":1}');

describe("requests to a CSI driver", () => {
  it("to stage name the shared mount point, the file system and the attachment", () => {
    expect(stageRequest(layoutOf(), facts(), INPUTS)).toEqual({
      volumeId: "h",
      publishContext: { path: "/dev/x" },
      stagingTargetPath: "/g/globalmount",
      volumeCapability: {
        block: undefined,
        mount: { fsType: "ext4", mountFlags: ["noatime"], volumeMountGroup: "" },
        accessMode: { mode: Mode.SINGLE_NODE_WRITER },
      },
      secrets: { key: "s" },
      volumeContext: { tier: "1" },
    });
  });
  it.each([
    ["ReadWriteOnce", Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER],
    ["ReadWriteOncePod", Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_SINGLE_WRITER],
    ["ReadOnlyMany", Mode.MULTI_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY],
    ["ReadWriteMany", Mode.MULTI_NODE_MULTI_WRITER, Mode.MULTI_NODE_MULTI_WRITER],
    ["Other", Mode.UNKNOWN, Mode.UNKNOWN],
  ])("have the access mode of %s, by the capabilities of the driver", (accessMode, plain, multi) => {
    const modeOf = (...capabilities: readonly CsiCapability[]) =>
      stageRequest(layoutOf({ accessMode }), facts(...capabilities), INPUTS).volumeCapability?.accessMode?.mode;
    expect([modeOf(), modeOf("SINGLE_NODE_MULTI_WRITER")]).toEqual([plain, multi]);
  });
  it("for a device name its capability and its staging path, whatever the driver can", () => {
    const block = csiBlockPlaces({ rootDir: "/k" }, "u", "pv1");
    const layout = layoutOf({ block, target: block.publish, fsGroup: 7 });
    const { staging } = block;
    const volumeCapability = { block: {}, mount: undefined, accessMode: { mode: Mode.SINGLE_NODE_WRITER } };
    expect(stageRequest(layout, facts(), INPUTS)).toMatchObject({ stagingTargetPath: staging, volumeCapability });
    expect(publish(layout)).toMatchObject({ stagingTargetPath: staging, targetPath: block.publish, volumeCapability });
  });
  it("name the group only for drivers that set it", () => {
    const groupOf = (...capabilities: readonly CsiCapability[]) =>
      publish(layoutOf({ fsGroup: 7 }), ...capabilities).volumeCapability?.mount?.volumeMountGroup;
    expect([groupOf(), groupOf("VOLUME_MOUNT_GROUP")]).toEqual(["", "7"]);
  });
  it("to publish name the shared mount point only for drivers that stage", () => {
    expect([
      publish(layoutOf()).stagingTargetPath,
      publish(layoutOf(), "STAGE_UNSTAGE_VOLUME").stagingTargetPath,
      publish(layoutOf({ stageDir: undefined }), "STAGE_UNSTAGE_VOLUME").stagingTargetPath,
    ]).toEqual(["", "/g/globalmount", ""]);
  });
  it("to publish have facts of the pod where the driver asks for them", () => {
    expect(publish(layoutOf()).volumeContext).toEqual({
      tier: "1",
      "csi.storage.k8s.io/serviceAccount.tokens": '{"a":1}',
    });
    expect(publish(layoutOf({ wantsPodInfo: true, mode: "Ephemeral" })).volumeContext).toMatchObject({
      "csi.storage.k8s.io/pod.name": "p",
      "csi.storage.k8s.io/pod.namespace": "ns",
      "csi.storage.k8s.io/pod.uid": "u",
      "csi.storage.k8s.io/serviceAccount.name": "sa",
      "csi.storage.k8s.io/ephemeral": "true",
    });
  });
  it("to publish have tokens among the secrets where the driver asks for it", () => {
    const { secrets, volumeContext } = publish(layoutOf({ hasSecretTokens: true }));
    expect([secrets, volumeContext]).toEqual([
      { key: "s", "csi.storage.k8s.io/serviceAccount.tokens": '{"a":1}' },
      { tier: "1" },
    ]);
  });
});

describe("tokens for a CSI driver", () => {
  it("are asked for the audience, without one for an empty audience", () => {
    expect(csiTokenWish(pod, { audience: "vault", expirationSeconds: 600 })).toEqual({
      ...{ namespace: "ns", serviceAccount: "sa", audiences: ["vault"], expirationSeconds: 600 },
      pod: { name: "p", uid: "u" },
    });
    expect(csiTokenWish(pod, { audience: "" })).toMatchObject({ audiences: [], expirationSeconds: 3600 });
  });
  it("are a JSON object by audience", () => {
    const token = (text: string) => ({ token: text, expiresAt: epochMs(0), issuedAt: epochMs(0) }) as never;
    expect(
      tokenText([
        ["b", token("2")],
        ["a", token("1")],
      ]),
    ).toBe(
      '{"a":{"token":"1","expirationTimestamp":"1970-01-01T00:00:00Z"},"b":{"token":"2","expirationTimestamp":"1970-01-01T00:00:00Z"}}',
    );
  });
});

describe("a failed call", () => {
  it.each([1, 4, 8, 10, 14])("may still be at work after code %i", (status) => {
    expect(isFinal(kubeletError("Unknown", "x", { cause: { status } }))).toBe(false);
  });
  it.each([2, 3, 5, 13])("has changed nothing after code %i", (status) => {
    expect(isFinal(kubeletError("Unknown", "x", { cause: { status } }))).toBe(true);
  });
  it("may still be at work after an error without a code", () => {
    expect(isFinal(new Error("x"))).toBe(false);
  });
});
