import { describe, expect, it } from "vitest";
import { failedCheck, localSource } from "../../../../src/core/volume/volumeChecks.ts";

import { setUpFailure } from "../../../../src/core/volume/podVolumes.ts";
import { podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";
import { layoutOfFound } from "../../../../src/core/volume/foundVolume.ts";

const on = (host: string) => ({ matchExpressions: [{ key: "host", operator: "In", values: [host] }] });
const hostPath = { path: "/data" };
const nfs = { server: "s", path: "/" };

describe("a volume behind a claim", () => {
  it.each([
    ["belongs to any node", { hostPath }, {}, undefined],
    ["belongs to this one", { hostPath, nodeTerms: [on("a"), on("b")] }, { host: "b" }, undefined],
    [
      "belongs to another one",
      { hostPath, nodeTerms: [on("a")] },
      { host: "b" },
      'MountVolume.NodeAffinity check failed for volume "pv1" : no matching NodeSelectorTerms',
    ],
    [
      "belongs to none",
      { hostPath, nodeTerms: [] },
      {},
      'MountVolume.NodeAffinity check failed for volume "pv1" : no matching NodeSelectorTerms',
    ],
    ["has a node affinity, and the node is not known yet", { hostPath, nodeTerms: [on("a")] }, undefined, undefined],
    ["is mounted with options", { nfs, mountOptions: ["soft"] }, {}, undefined],
    [
      "has options, but is not mounted",
      { hostPath, mountOptions: ["ro"] },
      {},
      'MountVolume.MountOptionSupport check failed for volume "pv1" : mount options are not supported for this volume type',
    ],
  ])("%s", (_what, origin, labels, expected) => {
    const layout = layoutOfFound(podOf(), "v", { name: "pv1", ...origin }, volumeNodeOf());
    const failed = layout.ok ? failedCheck(layout.value, labels) : undefined;
    expect(failed && setUpFailure({ name: "pv1" }, failed).message).toBe(expected);
  });
});

describe("the source of a local volume", () => {
  it.each([
    ["Directory", "directory"],
    ["BlockDevice", "device"],
  ])("may be a %s", (found, expected) => {
    expect(localSource("/mnt/x", found)).toEqual({ ok: true, value: expected });
  });

  it.each([
    [undefined, 'path "/mnt/x" does not exist'],
    ["File", "only directory and block device are supported"],
    ["CharDevice", "only directory and block device are supported"],
  ])("may not be: %s", (found, message) => {
    const source = localSource("/mnt/x", found);
    expect(source.ok ? "" : setUpFailure({ name: "pv1" }, source.error).message).toBe(
      `MountVolume.NewMounter initialization failed for volume "pv1" : ${message}`,
    );
  });
});
