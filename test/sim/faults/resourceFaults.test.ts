/** The resources of a simulated machine under faults, as the kubelet measures them. */
import { describe, expect, it } from "vitest";
import { createAccidents } from "../../../src/sim/faults/accidents.ts";
import { createFaultDice } from "../../../src/sim/faults/faultDice.ts";
import { type FaultKind, noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { withProgramFaults, withPullFaults } from "../../../src/sim/faults/programFaults.ts";
import { simImage } from "../../../src/sim/runtime/simImageCalls.ts";
import { runsForever } from "../../../src/sim/runtime/simProgram.ts";
import { createSimNode } from "../../../src/sim/simNode.ts";
import { manifestOf } from "../../support/simWorkload.ts";

const GIB = 2 ** 30;
const MINUTE_MS = 60_000;
const IMAGE = "registry.example/app:1";

/** A node with one pod, which suffers the faults whenever it can, and its figures over time. */
function nodeWith(...kinds: readonly FaultKind[]) {
  const rates = { ...noFaults(), ...Object.fromEntries(kinds.map((kind) => [kind, 1])) };
  const dice = createFaultDice({ seed: 2, rates: { ...rates, ...perHour(kinds) } });
  const volumeMounts = [{ name: "data", mountPath: "/data" }];
  const node = createSimNode({
    seed: "resources",
    config: { evictionThresholds: [] },
    manifests: {
      "app.yaml": manifestOf("app", {
        containers: [{ name: "app", image: IMAGE, volumeMounts }],
        volumes: [{ name: "data", emptyDir: {} }],
      }),
    },
    programs: withProgramFaults(() => runsForever, dice),
    registry: withPullFaults((reference) => ({ ms: 1, image: simImage(reference) }), dice),
  });
  const accidents = createAccidents(node, {}, dice, MINUTE_MS);
  const figures = () => {
    const found = { memoryMib: 0, tasks: 0, diskGib: 0, inodes: 0 };
    const { usage } = node.host;
    usage
      .memory()
      .subscribe({ next: ({ workingSetBytes }) => (found.memoryMib = Number(workingSetBytes) / 2 ** 20), error: fail });
    usage.pids().subscribe({ next: ({ running }) => (found.tasks = Number(running)), error: fail });
    usage.fileSystem("/var").subscribe({
      next: ({ usedBytes, inodes, inodesFree }) => {
        found.diskGib = Number(usedBytes) / GIB;
        found.inodes = Number(inodes - inodesFree);
      },
      error: fail,
    });
    return found;
  };
  return { node, accidents, figures };
}
const fail = (thrown: unknown): void => expect(thrown).toBeUndefined();
const perHour = (kinds: readonly FaultKind[]): Partial<Record<FaultKind, number>> =>
  Object.fromEntries(
    kinds
      .filter((kind) => ["imagesPile", "diskFills", "memoryTaken", "pidsTaken"].includes(kind))
      .map((kind) => [kind, 60]),
  );

describe("faults of resources", () => {
  it("let a program use more memory step by step, until it is killed", () => {
    const { node, figures } = nodeWith("memoryLeak");
    const seen = [1, 2, 3].map((minutes) => {
      node.runFor(minutes * 5_000);
      return figures().memoryMib;
    });
    expect(seen[0]).toBeGreaterThan(0);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(new Set(seen).size).toBe(3);
    node.dropManifest("app.yaml");
    node.runFor(MINUTE_MS);
    expect(figures().memoryMib).toBe(0);
  });

  it("let a program fill its volume, which is free again after the pod", () => {
    const { node, figures } = nodeWith("volumeGrows");
    node.runFor(10 * MINUTE_MS);
    expect(figures().diskGib).toBeGreaterThan(0.1);
    node.dropManifest("app.yaml");
    node.runFor(MINUTE_MS);
    expect(figures().diskGib).toBeLessThan(0.1);
  });

  it("let a program create files in its volume, which take inodes until the pod is gone", () => {
    const { node, figures } = nodeWith("filesGrow");
    node.runFor(10 * MINUTE_MS);
    expect(figures().inodes).toBeGreaterThan(10_000);
    node.dropManifest("app.yaml");
    node.runFor(MINUTE_MS);
    expect(figures().inodes).toBeLessThan(1_000);
  });

  it("let other programs take process ids, and end with all of them free", () => {
    const { node, accidents, figures } = nodeWith("pidsTaken");
    node.runFor(MINUTE_MS);
    expect(figures().tasks).toBeGreaterThan(28_000);
    accidents.heal();
    expect(figures().tasks).toBeLessThan(100);
  });

  it("let images and other programs take memory and disk, and end with all of it free but the images", () => {
    const { node, accidents, figures } = nodeWith("imagesPile", "diskFills", "memoryTaken");
    node.runFor(MINUTE_MS);
    const { memoryMib, diskGib } = figures();
    expect(memoryMib).toBeGreaterThan(31 * 1024);
    expect(diskGib).toBeGreaterThan(40);
    accidents.heal();
    expect([figures().memoryMib, figures().diskGib > 0, figures().diskGib < diskGib - 39]).toEqual([0, true, true]);
    node.runFor(60 * MINUTE_MS);
    expect(node.trace.lines.filter((line) => line.includes("freed by other programs"))).toEqual([]);
  });

  it("give images a size, which their removal frees", () => {
    const { node, figures } = nodeWith("imageLarge");
    node.runFor(5_000);
    const before = figures().diskGib;
    expect(before).toBeGreaterThanOrEqual(1);
    const id = node.runtime.image(IMAGE)?.id ?? "";
    const spec = { image: id, annotations: {}, userSpecifiedImage: "", runtimeHandler: "", imageRef: "" };
    node.runtime.images.removeImage({ image: spec }).subscribe({ error: fail });
    node.runFor(1_000);
    expect(figures().diskGib).toBeLessThan(before - 0.9);
  });
});
