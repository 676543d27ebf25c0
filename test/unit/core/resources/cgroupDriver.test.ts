import { describe, expect, it } from "vitest";
import {
  driverCgroupPath,
  hasSlice,
  parentSliceUnit,
  parseChildSlice,
  slicePath,
  sliceUnit,
} from "../../../../src/core/resources/cgroupDriver.ts";

const UID = "5b2f3f4e-8a4e-4e0e-9b5a-0123456789ab";
const ESCAPED = "5b2f3f4e_8a4e_4e0e_9b5a_0123456789ab";

describe("names of cgroups under systemd", () => {
  it.each([
    ["/", "-.slice", "/"],
    ["", "-.slice", "/"],
    ["/kubepods", "kubepods.slice", "/kubepods.slice"],
    ["/kubepods/burstable", "kubepods-burstable.slice", "/kubepods.slice/kubepods-burstable.slice"],
    [`/kubepods/pod${UID}`, `kubepods-pod${ESCAPED}.slice`, `/kubepods.slice/kubepods-pod${ESCAPED}.slice`],
    [
      `/kubepods/besteffort/pod${UID}`,
      `kubepods-besteffort-pod${ESCAPED}.slice`,
      `/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${ESCAPED}.slice`,
    ],
    // A root of several steps, one with a `-` of its own.
    [
      "/my-nodes/one/kubepods",
      "my_nodes-one-kubepods.slice",
      "/my_nodes.slice/my_nodes-one.slice/my_nodes-one-kubepods.slice",
    ],
  ])("%j is the unit %s at %s", (name, unit, path) => {
    expect([sliceUnit(name), slicePath(name)]).toEqual([unit, path]);
  });

  it.each([
    ["/kubepods", "-.slice"],
    ["/kubepods/burstable", "kubepods.slice"],
    ["/my-nodes/kubepods/poda", "my_nodes-kubepods.slice"],
  ])("the unit above %s is %s", (name, unit) => {
    expect(parentSliceUnit(name)).toBe(unit);
  });

  it.each([
    ["/kubepods", "kubepods-burstable.slice", "burstable"],
    ["/kubepods", `kubepods-pod${ESCAPED}.slice`, `pod${UID}`],
    ["/my-nodes/kubepods", "my_nodes-kubepods-poda.slice", "poda"],
    ["/", "kubepods.slice", "kubepods"],
    ["/kubepods", "kubepods.slice", undefined],
    ["/kubepods", "kubepods-burstable-poda.slice", undefined],
    ["/kubepods", "other-poda.slice", undefined],
    ["/kubepods", "poda", undefined],
    ["/kubepods", "kubepods-.slice", undefined],
    ["/kubepods/poda", "cri-containerd-0123.scope", undefined],
  ])("below %s, %s is the child %s", (parent, directory, child) => {
    expect(parseChildSlice(parent, directory)).toBe(child);
  });

  it("is recovered from its slice, unless it contains the replacement character", () => {
    expect(["/kubepods/poda-b", "/my_root/kubepods", "/kubepods/poda_b"].map(hasSlice)).toEqual([true, true, false]);
  });

  it("runtimes get a path in the form of the current driver", () => {
    expect([driverCgroupPath("cgroupfs", "/kubepods/poda-b"), driverCgroupPath("systemd", "/kubepods/poda-b")]).toEqual(
      ["/kubepods/poda-b", "/kubepods.slice/kubepods-poda_b.slice"],
    );
  });
});
