/** Image garbage collection on a simulated node whose disk others fill. */
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../src/core/errors.ts";
import type { ImageGcPolicy } from "../../src/core/image/imageGc.ts";
import type { RemoveImageRequest } from "../../src/gen/cri.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { manifestOf } from "../support/simWorkload.ts";

const MINUTE_MS = 60_000;
const GIB = 2 ** 30;
const DISK_GIB = 100;
/** Upstream's defaults. */
const POLICY: ImageGcPolicy = { highPercent: 85, lowPercent: 80, minAgeMs: 2 * MINUTE_MS, maxAgeMs: 0 };
const NAMES = ["app", "later", "once", "x", "y"] as const;
const reference = (name: string): string => `registry.example/${name}:1`;
const podOf = (name: string, ...images: readonly string[]): object =>
  manifestOf(name, {
    initContainers: images.slice(1).map((image) => ({ name: image, image: reference(image) })),
    containers: images.slice(0, 1).map((image) => ({ name: image, image: reference(image) })),
  });

/** A node with an image of five GiB for each name, and a pod `web` that uses `app`. `fails`: images that stay. */
function nodeWithImages({ policy = POLICY, fails = [] }: { policy?: ImageGcPolicy; fails?: readonly string[] } = {}) {
  const images = new Map([...NAMES, "new"].map((name) => [simImage(reference(name)).id, name]));
  const removed: string[] = [];
  const node = createSimNode({
    seed: "image garbage collection",
    // The eviction manager would remove images before the next round does.
    config: { imageGc: policy, evictionThresholds: [] },
    images: NAMES.map((name) => simImage(reference(name), 5 * GIB)),
    manifests: { "web.yaml": podOf("web", "app") },
    programs: () => runsForever,
    intercept(rpc, request) {
      if (rpc !== "RemoveImage") return { kind: "proceed" };
      const name = images.get((request as RemoveImageRequest).image?.image ?? "");
      if (name !== undefined && fails.includes(name)) return { kind: "fail", error: kubeletError("Unknown", "busy") };
      removed.push(String(name));
      return { kind: "proceed" };
    },
  });
  /** Fills the disk so that it is used to so many percent, images included, from the next minute on. */
  const fill = (percent: number): void => {
    const others = percent - 5 * NAMES.length;
    node.host.disk.fill("/", "others", { bytes: (others * DISK_GIB * GIB) / 100 });
  };
  const reasons = (): readonly string[] =>
    node.trace.lines.flatMap((line) => /ImageGCFailed|FreeDiskSpaceFailed|InvalidDiskCapacity/.exec(line)?.[0] ?? []);
  return { node, removed, fill, reasons, runFor: (minutes: number) => node.runFor(minutes * MINUTE_MS) };
}

describe("image garbage collection", () => {
  it("removes unused images, the least recently used last, and stops at the low mark", () => {
    const { node, removed, fill, runFor } = nodeWithImages();
    node.putManifest("once.yaml", podOf("once", "once"));
    runFor(6);
    node.dropManifest("once.yaml");
    const seen = [84.5, 89.5, 94.5, 99.5].map((percent) => {
      fill(percent);
      runFor(5);
      return [...removed];
    });
    expect(seen).toEqual([["later"], ["later", "x"], ["later", "x", "y"], ["later", "x", "y", "once"]]);
  });

  it("removes nothing below the high mark", () => {
    const { removed, fill, runFor } = nodeWithImages();
    fill(83.5);
    runFor(20);
    expect(removed).toEqual([]);
  });

  it("keeps images of containers and those that a pod needs later, and reports that the disk stays full", () => {
    const { node, removed, fill, reasons, runFor } = nodeWithImages();
    node.putManifest("web.yaml", podOf("web", "later", "app"));
    fill(99);
    runFor(7);
    expect([removed, reasons()]).toEqual([
      ["once", "x", "y"],
      ["FreeDiskSpaceFailed", "FreeDiskSpaceFailed", "ImageGCFailed"],
    ]);
  });

  it("goes on after an image that cannot be removed, and reports only repeated failures", () => {
    const { removed, fill, reasons, runFor } = nodeWithImages({ fails: ["later"] });
    fill(88);
    runFor(4);
    const first = reasons();
    fill(93 + 5);
    runFor(5);
    expect([removed, first, reasons()]).toEqual([["once", "x", "y"], [], ["ImageGCFailed"]]);
  });

  it("keeps an image that was pulled a moment ago", () => {
    const { node, removed, fill, runFor } = nodeWithImages({ policy: { ...POLICY, minAgeMs: 4 * MINUTE_MS } });
    runFor(3);
    node.putManifest("new.yaml", podOf("new", "new"));
    runFor(1);
    node.dropManifest("new.yaml");
    fill(120);
    const seen = [2, 5].map((minutes) => {
      runFor(minutes);
      return removed.includes("new");
    });
    expect(seen).toEqual([false, true]);
  });

  it("removes images after the maximum age without use, which a restart of the kubelet does not extend", () => {
    const { node, removed, runFor } = nodeWithImages({ policy: { ...POLICY, maxAgeMs: 60 * MINUTE_MS } });
    runFor(30);
    node.putManifest("once.yaml", podOf("once", "once"));
    runFor(10);
    node.dropManifest("once.yaml");
    runFor(11);
    node.crashKubelet();
    node.restartKubelet();
    const seen = [13, 38].map((minutes) => {
      runFor(minutes);
      return [...removed];
    });
    expect(seen).toEqual([
      ["later", "x", "y"],
      ["later", "x", "y", "once"],
    ]);
  });

  it("starts anew from a damaged state", () => {
    const { node, runFor } = nodeWithImages();
    runFor(1);
    node.crashKubelet();
    node.host.files.put("/var/lib/kubelet/image_gc_state", "{");
    node.restartKubelet();
    runFor(1);
    expect(node.host.files.read("/var/lib/kubelet/image_gc_state")).toContain("wasThere");
  });
});
