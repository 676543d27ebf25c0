import { describe, expect, it } from "vitest";
import { createHeldVolumes, type KeptVolume } from "../../../../src/pipelines/volumes/heldVolumes.ts";
import { createCell } from "../../../../src/state/cell.ts";

const STAGE: KeptVolume = { kind: "csi", driver: "d", handle: "h" };

function create() {
  const inUse = createCell<readonly string[] | undefined>(undefined);
  return { inUse, heldVolumes: createHeldVolumes(inUse) };
}

describe("staged CSI volumes", () => {
  it("report no volumes in use before those of an earlier kubelet are known", () => {
    const { inUse, heldVolumes } = create();
    heldVolumes.hold("d^h", "a/v", true);
    expect(inUse.value).toBeUndefined();
    heldVolumes.loaded();
    expect(inUse.value).toEqual(["kubernetes.io/csi/d^h"]);
  });
  it("are one for all pods of the node", () => {
    const { heldVolumes } = create();
    expect(heldVolumes.hold("d^h", "a/v", true)).toBe(heldVolumes.hold("d^h", "b/v", true));
  });
  it("stay in use until the last pod has left them and they are unstaged", () => {
    const { inUse, heldVolumes } = create();
    heldVolumes.loaded();
    for (const holder of ["a/v", "b/v"]) heldVolumes.hold("d^h", holder, true);
    heldVolumes.leave("a/v", STAGE);
    expect([inUse.value, heldVolumes.kept()]).toEqual([["kubernetes.io/csi/d^h"], []]);
    heldVolumes.leave("b/v", STAGE);
    expect(inUse.value).toEqual(["kubernetes.io/csi/d^h"]);
    heldVolumes.release(STAGE);
    expect(inUse.value).toEqual([]);
  });
  it("are in use only where they are attached", () => {
    const { inUse, heldVolumes } = create();
    heldVolumes.loaded();
    heldVolumes.hold("d^h", "a/v", false);
    expect(inUse.value).toEqual([]);
  });
  it("are found by their pod", () => {
    const { heldVolumes } = create();
    const volume = heldVolumes.hold("d^h", "a/v", true);
    expect(heldVolumes.of("a/v")).toEqual({ name: "d^h", volume });
    heldVolumes.leave("a/v", STAGE);
    expect(heldVolumes.of("a/v")).toBeUndefined();
  });
  it("are used by no pod that has gone", () => {
    const { heldVolumes } = create();
    const volume = heldVolumes.hold("d^h", "a/v", true);
    heldVolumes.hold("d^h", "b/v", true);
    for (const holder of ["a/v", "b/v"]) volume.users.add(holder);
    heldVolumes.leave("a/v", STAGE);
    expect([...volume.users]).toEqual(["b/v"]);
  });
  it("are listed by all names that their pods give them", () => {
    const { inUse, heldVolumes } = create();
    heldVolumes.loaded();
    heldVolumes.hold("/disk", "a/v", true, "p/a:1:t", "p/a:t");
    heldVolumes.hold("/disk", "b/v", true, "p/b:t");
    expect(inUse.value).toEqual(["p/a:1:t", "p/a:t", "p/b:t"]);
  });
  it("are kept in use for no pod until they are released", () => {
    const { inUse, heldVolumes } = create();
    heldVolumes.keep("d^h", STAGE);
    heldVolumes.loaded();
    expect([inUse.value, heldVolumes.kept()]).toEqual([["kubernetes.io/csi/d^h"], [STAGE]]);
    heldVolumes.release(STAGE);
    expect([inUse.value, heldVolumes.kept()]).toEqual([[], []]);
  });
  it("that a pod has taken over are not released, and kept again after it", () => {
    const { inUse, heldVolumes } = create();
    heldVolumes.keep("d^h", STAGE);
    heldVolumes.loaded();
    const kept = heldVolumes.keptVolume(STAGE);
    expect(heldVolumes.hold("d^h", "a/v", true)).toBe(kept);
    heldVolumes.release(STAGE);
    expect([inUse.value, heldVolumes.keptVolume(STAGE)]).toEqual([["kubernetes.io/csi/d^h"], undefined]);
    heldVolumes.leave("a/v", STAGE);
    expect([inUse.value, heldVolumes.kept()]).toEqual([["kubernetes.io/csi/d^h"], [STAGE]]);
  });
  it("of pods are not kept", () => {
    const { heldVolumes } = create();
    heldVolumes.hold("d^h", "a/v", true);
    heldVolumes.keep("d^h", STAGE);
    expect(heldVolumes.kept()).toEqual([]);
  });
  it("wake a pod that waits for another label once no pod has them any more, with a label or without", () => {
    const { heldVolumes } = create();
    const volume = heldVolumes.hold("d^h", "a/v", true);
    for (const holder of ["b/v", "c/v"]) heldVolumes.hold("d^h", holder, true);
    heldVolumes.mounting(volume, "a/v", "x");
    volume.users.add("b/v");
    let woken = 0;
    heldVolumes.unmounted$.subscribe(() => (woken += 1));
    expect(heldVolumes.labelWait("c/v", "y", "name")).toContain("waiting for unmount");
    heldVolumes.leave("a/v", STAGE);
    expect(woken).toBe(0);
    heldVolumes.leave("b/v", STAGE);
    expect(woken).toBe(1);
  });
  it("ignore the end of an unknown pod", () => {
    const { inUse, heldVolumes } = create();
    heldVolumes.loaded();
    heldVolumes.leave("nobody/v", STAGE);
    expect(inUse.value).toEqual([]);
  });
});
