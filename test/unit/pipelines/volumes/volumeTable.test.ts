import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { type PodVolumes, podVolumesOf, volumeStage, type VolumeWish } from "../../../../src/core/volume/podVolumes.ts";
import { layoutOf, volumeKey } from "../../../../src/core/volume/volumeLayout.ts";
import { absentVolume } from "../../../../src/core/volume/volumePlan.ts";
import { createVolumeTable, type WantedWish } from "../../../../src/pipelines/volumes/volumeTable.ts";
import { createKeyedCell } from "../../../../src/state/keyedCell.ts";
import { podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";

const UID = podUid("uid-1");
const pod = podOf();

const resolved = (name: string): WantedWish => {
  const volume = { name, emptyDir: {} };
  const made = layoutOf(pod, volume, volumeNodeOf());
  if (!made.ok) throw made.error;
  return { wish: { kind: "resolved", layout: made.value }, wanted: { pod, volume, layout: made.value } };
};
const pending: WantedWish = { wish: { kind: "pending" }, wanted: undefined };
const refused: WantedWish = {
  wish: { kind: "refused", error: kubeletError("Unavailable", "no") },
  wanted: undefined,
};
const keyOf = (wish: WantedWish): string => (wish.wanted === undefined ? "" : volumeKey(wish.wanted.layout));

function tableOf(wishes: Readonly<Record<string, WantedWish>>) {
  const volumes = createKeyedCell<typeof UID, PodVolumes>();
  const table = createVolumeTable(UID, volumes);
  table.setAll(new Map(Object.entries(wishes)));
  const mount = (wish: WantedWish): void => {
    if (wish.wanted === undefined) return;
    table.record(keyOf(wish)).set({ ...absentVolume(wish.wanted.layout), condition: "mounted" });
  };
  /** The counts of the cell, and the same counts computed afresh. */
  const counts = () => {
    const reported = volumes.get(UID);
    const counted = reported && podVolumesOf(reported);
    return [reported, counted].map((each) => each && [volumeStage(each), each.unmounted, each.refused]);
  };
  return { table, volumes, mount, counts };
}

describe("the table of a pod's volumes", () => {
  it("counts as its wishes and volumes change", () => {
    const [a, b] = [resolved("a"), resolved("b")];
    const { table, mount, counts } = tableOf({ a, b, again: a, c: pending, d: refused });
    const steps: readonly (() => void)[] = [
      () => mount(a),
      () => table.set("c", resolved("c")),
      () => mount(resolved("c")),
      () => table.set("d", b),
      () => mount(b),
      () => table.set("again", pending),
      () => table.record(keyOf(a)).set(undefined),
      () => table.setAll(new Map()),
    ];
    const seen = steps.map((step) => {
      step();
      const [reported, counted] = counts();
      expect(reported).toEqual(counted);
      return reported;
    });
    expect(seen).toEqual([
      ["mounting", 3, 1],
      ["mounting", 3, 1],
      ["mounting", 2, 1],
      ["mounting", 2, 0],
      ["mounted", 0, 0],
      ["mounting", 1, 0],
      ["mounting", 2, 0],
      ["unmounting", 0, 0],
    ]);
  });

  it("counts a volume that another pod has with another label as refused", () => {
    const a = resolved("a");
    const { table, mount, counts } = tableOf({ a, again: a });
    const block = (isBlocked: boolean): void => {
      if (a.wanted === undefined) return;
      const volume = absentVolume(a.wanted.layout);
      table.record(keyOf(a)).set({ ...volume, condition: "uncertain", waitsFor: "waiting for b", isBlocked });
    };
    const seen = [() => block(true), () => block(false), () => block(true), () => mount(a)].map((step) => {
      step();
      const [reported, counted] = counts();
      expect(reported).toEqual(counted);
      return reported;
    });
    expect(seen).toEqual([
      ["mounting", 2, 2],
      ["mounting", 2, 0],
      ["mounting", 2, 2],
      ["mounted", 0, 0],
    ]);
  });

  it("begins with what an earlier worker left, and gives it up once nobody wants it", () => {
    const { volumes, mount } = tableOf({ a: resolved("a") });
    mount(resolved("a"));
    const table = createVolumeTable(UID, volumes);
    const key = keyOf(resolved("a"));
    expect([table.keys(), table.record(key).get()?.condition, table.isAllKnown()]).toEqual([[key], "mounted", true]);
    table.setAll(new Map());
    table.record(key).set(undefined);
    expect(volumes.get(UID)).toEqual(podVolumesOf({ wishes: new Map<string, VolumeWish>(), actual: new Map() }));
  });

  it("takes no longer for a change when there are 100,000 volumes", () => {
    const wishes = Array.from({ length: 100_000 }, (_, index) => resolved(`v${index}`));
    const { mount, volumes } = tableOf(Object.fromEntries(wishes.map((wish) => [keyOf(wish), wish])));
    let stages = 0;
    const following = volumes.changes$(UID).subscribe((now) => (stages += volumeStage(now) === "mounting" ? 1 : 0));
    for (const wish of wishes) mount(wish);
    following.unsubscribe();
    expect([stages, volumes.get(UID)?.unmounted]).toEqual([wishes.length, 0]);
  });
});
