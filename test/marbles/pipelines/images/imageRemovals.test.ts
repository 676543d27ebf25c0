import { lastValueFrom, of, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
import type { GcImage } from "../../../../src/core/image/imageGc.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import type { Registry } from "../../../../src/core/pod/podRegistryTypes.ts";
import { namesInPods, removeImages } from "../../../../src/pipelines/images/imageRemovals.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const imageOf = (id: string): GcImage => ({ id, repoTags: [`${id}:1`], repoDigests: [], size: 1n, pinned: false });
const NEVER_USED = { detectedAt: epochMs(0), usedAt: undefined, wasThere: true };

/** A node whose image file system has so many percent left; each removal frees two. */
function nodeWith(ids: readonly string[], { percent, capacity = 100n }: { percent: number; capacity?: bigint }) {
  const registry = createCell({ records: new Map() } as unknown as Registry);
  const node = { removed: [] as string[], available: BigInt(percent), onRemoval: (_id: string): void => {} };
  const ports = {
    clock: { wallTime: () => epochMs(1_000) },
    telemetry: recordingTelemetry(),
    hostUsage: {
      fileSystem: (path: string) =>
        of({ capacityBytes: path === "/images" ? capacity : 0n, availableBytes: node.available }),
    },
    images: {
      imageFsInfo: () => of({ imageFilesystems: [{ fsId: { mountpoint: "/images" } }] }),
      removeImage: ({ image }: { readonly image: { readonly image: string } }) => {
        node.removed.push(image.image);
        node.available += 2n;
        node.onRemoval(image.image);
        return of({});
      },
    },
  } as unknown as Parameters<typeof removeImages>[1];
  const images = ids.map(imageOf);
  const policy = { highPercent: 85, lowPercent: 80, minAgeMs: 0, maxAgeMs: 0 };
  const run = () =>
    lastValueFrom(
      removeImages(
        {
          images,
          records: new Map(ids.map((id) => [id, NEVER_USED])),
          used: namesInPods({ registry }),
          policy,
          onRemoved: () => {},
        },
        ports,
        { nodeName: "node", imageGc: policy, directories: { rootDir: "/", podLogsDir: "/", containerLogsDir: "/" } },
        { registry },
      ).pipe(toArray()),
    );
  /** A pod arrives that uses this image, in this state. */
  const bind = (image: string, state: string, successor?: string): void => {
    const podWith = (name: string) => podOf({ spec: { containers: [containerOf({ image: name })] } });
    const record = { pod: podWith(image), state, successor: successor && podWith(successor) };
    registry.set({ records: new Map([["uid", record]]) } as unknown as Registry);
  };
  return { node, run, bind };
}

describe("the removal of images", () => {
  it("stops at the low mark as it is measured", async () => {
    const { node, run } = nodeWith(["a", "b", "c", "d"], { percent: 15 });
    expect([await run(), node.removed, node.available]).toEqual([[], ["a", "b", "c"], 21n]);
  });

  it("keeps the image of a pod that arrives meanwhile", async () => {
    const { node, run, bind } = nodeWith(["a:1", "b:1", "c:1"], { percent: 17 });
    node.available = 15n;
    node.onRemoval = () => bind("b:1", "waiting");
    await expect(run()).rejects.toMatchObject({ code: "ResourceExhausted" });
    expect(node.removed).toEqual(["a:1", "c:1"]);
  });

  it.each<[string, string, string | undefined, readonly string[]]>([
    ["that terminates", "terminating", undefined, ["b", "c"]],
    ["that has terminated", "terminated", undefined, ["a", "b", "c"]],
    ["that was rejected", "rejected", undefined, ["a", "b", "c"]],
    ["that has terminated before its successor", "terminated", "c", ["a", "b"]],
  ])("heeds a pod %s", async (_what, state, successor, removed) => {
    const { node, run, bind } = nodeWith(["a", "b", "c"], { percent: 0 });
    bind("a", state, successor);
    await run().catch(() => {});
    expect(node.removed).toEqual(removed);
  });

  it("reports a file system without capacity", async () => {
    const { node, run } = nodeWith(["a"], { percent: 0, capacity: 0n });
    await expect(run()).rejects.toMatchObject({ message: "invalid capacity 0 on image filesystem" });
    expect(node.removed).toEqual([]);
  });
});
