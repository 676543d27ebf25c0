import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import {
  type GcImage,
  type ImageGcPolicy,
  imageNames,
  imagesOfPod,
  inRemovalOrder,
  isNamed,
  isTooOld,
  isTooYoung,
  type SpaceGoal,
  spaceGoal,
  tooLittleFreed,
} from "../../../../src/core/image/imageGc.ts";
import type { ImageRecord } from "../../../../src/core/image/imageRecords.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const POLICY: ImageGcPolicy = { highPercent: 85, lowPercent: 80, minAgeMs: 120, maxAgeMs: 600 };
const DIGEST = `sha256:${"a".repeat(64)}`;
const imageOf = (id: string, more: Partial<GcImage> = {}): GcImage => ({
  ...{ id, repoTags: [], repoDigests: [], size: 1n, pinned: false },
  ...more,
});
const recordOf = (detectedAt: number, usedAt?: number, wasThere = false): ImageRecord => ({
  detectedAt: epochMs(detectedAt),
  usedAt: usedAt === undefined ? undefined : epochMs(usedAt),
  wasThere,
});

describe("names of an image", () => {
  it.each<[string, readonly string[]]>([
    ["busybox", ["busybox", "docker.io/library/busybox:latest"]],
    ["registry.example/a:1", ["registry.example/a:1", "registry.example/a:1"]],
    [`a@${DIGEST}`, [`a@${DIGEST}`, `docker.io/library/a@${DIGEST}`, DIGEST]],
    ["Not A Reference", ["Not A Reference"]],
  ])("of %s", (reference, names) => {
    expect(imageNames(reference)).toEqual(names);
  });

  it.each<[string, GcImage, boolean]>([
    ["its ID", imageOf("x"), true],
    ["a tag", imageOf("1", { repoTags: ["y", "x"] }), true],
    ["a digest", imageOf("1", { repoDigests: ["x"] }), true],
    ["none of them", imageOf("1", { repoTags: ["y"], repoDigests: ["z"] }), false],
  ])("match %s", (_what, image, expected) => {
    expect(isNamed(image, new Set(["x"]))).toBe(expected);
  });
});

describe("images of a pod", () => {
  it("are those of all containers and of image volumes", () => {
    const container = (image: string) => containerOf({ name: image, image });
    const pod = podOf({
      spec: {
        initContainers: [container("init")],
        containers: [container("main"), { name: "none" }],
        ephemeralContainers: [container("debug")],
        volumes: [
          { name: "data", image: { reference: "artifact" } },
          { name: "empty", emptyDir: {} },
          { name: "v", image: {} },
        ],
      },
    });
    expect(imagesOfPod(pod)).toEqual(["init", "main", "debug", "artifact"]);
  });
});

describe("the order of removal", () => {
  const images = ["late", "early", "never", "never but older", "used"].map((id) => imageOf(id));
  const records = new Map([
    ["late", recordOf(1, 9)],
    ["early", recordOf(2, 8)],
    ["never", recordOf(5)],
    ["never but older", recordOf(4)],
    ["used", recordOf(1, 10)],
  ]);

  it("puts images first that were used longest ago, then those detected first", () => {
    const order = inRemovalOrder([...images, imageOf("unknown")], records, new Set(["used"]));
    expect(order.map(({ id }) => id)).toEqual(["unknown", "never but older", "never", "early", "late"]);
  });

  it("leaves pinned images out", () => {
    expect(inRemovalOrder([imageOf("a", { pinned: true })], new Map(), new Set())).toEqual([]);
  });
});

describe("the age of an image", () => {
  it.each<[string, ImageRecord, number, boolean]>([
    ["used at the limit", recordOf(0, 1_000), 1_600, false],
    ["used before the limit", recordOf(0, 1_000), 1_601, true],
    ["never used, detected at the limit", recordOf(1_000), 1_600, false],
    ["never used, detected before the limit", recordOf(1_000), 1_601, true],
  ])("is too high: %s", (_what, record, now, expected) => {
    expect(isTooOld(record, now, POLICY)).toBe(expected);
  });

  it("is never too high without a maximum", () => {
    expect(isTooOld(recordOf(0), 1e12, { ...POLICY, maxAgeMs: 0 })).toBe(false);
  });

  it.each<[string, ImageRecord, number, boolean]>([
    ["detected less than the minimum ago", recordOf(1_000), 1_119, true],
    ["detected the minimum ago", recordOf(1_000), 1_120, false],
    ["there before the first record", recordOf(1_000, undefined, true), 1_001, false],
  ])("is too low: %s", (_what, record, now, expected) => {
    expect(isTooYoung(record, now, POLICY)).toBe(expected);
  });
});

describe("the space to free", () => {
  const free = (usagePercent: number, bytes: bigint): SpaceGoal => ({
    kind: "free",
    usagePercent,
    capacityBytes: 1_000n,
    bytes,
    available: 200n,
  });
  it.each<[string, bigint, bigint, SpaceGoal]>([
    ["below the high mark", 1_000n, 160n, { kind: "enough" }],
    ["at the high mark", 1_000n, 150n, free(85, 50n)],
    ["between two percents", 1_000n, 159n, free(85, 41n)],
    ["a full disk", 1_000n, 0n, free(100, 200n)],
    ["more available than there is", 1_000n, 2_000n, { kind: "enough" }],
    ["no capacity", 0n, 0n, { kind: "invalid" }],
  ])("%s", (_what, capacityBytes, availableBytes, goal) => {
    expect(spaceGoal({ capacityBytes, availableBytes }, POLICY)).toEqual(goal);
  });
});

describe("the message of a collection that freed too little", () => {
  it.each<[bigint, string]>([
    [1_023n, "1023 B"],
    [1_024n, "1.0 KiB"],
    [2n ** 20n * 3n, "3.0 MiB"],
    [2n ** 20n * 1_023n, "1023.0 MiB"],
    [2n ** 30n * 10n + 2n ** 29n, "10.5 GiB"],
    [2n ** 50n, "1024.0 TiB"],
  ])("has a capacity of %s bytes in a readable unit", (capacityBytes, size) => {
    expect(tooLittleFreed({ kind: "free", usagePercent: 95, capacityBytes, bytes: 9n, available: 9n }, 7n)).toBe(
      `Insufficient free disk space on the node's image filesystem (95% of ${size} used). Failed to free sufficient ` +
        "space by deleting unused images (freed 7 bytes). Investigate disk usage, as it could be used by active " +
        "images, logs, volumes, or other data.",
    );
  });
});
