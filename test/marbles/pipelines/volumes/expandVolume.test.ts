/** Expansion of a volume that several pods have: the pods take turns, and a later one finds what an earlier one did. */
import { EMPTY, NEVER } from "rxjs";
import { expect, it } from "vitest";
import { volumeKey } from "../../../../src/core/volume/volumeLayout.ts";
import { type Expandable, expandInUse, type ExpansionDeps } from "../../../../src/pipelines/volumes/expandVolume.ts";
import { createVolumeSizes, type VolumeSize } from "../../../../src/pipelines/volumes/volumeSizes.ts";
import { podOf } from "../../../support/pods.ts";

const MEBIBYTE = 2n ** 20n;
const layout = {
  ...{ name: "pv1", plugin: "kubernetes.io/csi", path: "/pods/a/volumes/pv1", isReadOnly: false },
  capacity: { claim: { namespace: "default", name: "c" }, claimed: "16Mi", size: "32Mi" },
} as unknown as Expandable["layout"];

/** Whether a turn asks for the claim, given what happened to the volume after the turn was taken. */
function asksAfter(change: (known: VolumeSize) => void): boolean {
  const sizes = createVolumeSizes();
  const known = sizes.hold(volumeKey(layout), "a", 16n * MEBIBYTE);
  let asked = false;
  const get = () => {
    asked = true;
    return NEVER;
  };
  const deps = { sizes, kinds: {}, claims: { get, patch: () => EMPTY } } as unknown as ExpansionDeps;
  const turn$ = expandInUse({ pod: podOf({ name: "a" }), layout }, deps);
  change(known);
  turn$.subscribe().unsubscribe();
  return asked;
}

it("expands a volume that is still too small", () => {
  expect(asksAfter(() => {})).toBe(true);
});

it("leaves a volume alone that was expanded for another pod meanwhile", () => {
  expect(asksAfter((known) => (known.size = 32n * MEBIBYTE))).toBe(false);
});

it("leaves a volume alone whose driver has refused to expand it for another pod meanwhile", () => {
  expect(asksAfter((known) => (known.isInUse = true))).toBe(false);
});
