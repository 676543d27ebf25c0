import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { hasStorageLimits, storageViolation } from "../../../../src/core/eviction/localStorage.ts";
import type { ContainerStats, FsStats, PodStats } from "../../../../src/core/stats/summary.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const time = epochMs(1_000);
const KI = 1024;
const fs = (usedBytes: number): FsStats => ({ time, usedBytes });
const used = (name: string, logs: number, rootfs: number): ContainerStats => ({
  name,
  startTime: time,
  logs: fs(logs),
  rootfs: fs(rootfs),
});
const stats = (more: Partial<PodStats>): PodStats => ({
  podRef: { name: "web", namespace: "demo", uid: "u" },
  startTime: time,
  containers: [],
  ...more,
});
const volumesOf = (volumes: Readonly<Record<string, number>>): Partial<PodStats> => ({
  volume: Object.entries(volumes).map(([name, bytes]) => ({ ...fs(bytes), name })),
});
const emptyDirs = (...limits: readonly (string | undefined)[]) => ({
  volumes: limits.map((sizeLimit, index) => ({
    name: `v${index}`,
    emptyDir: sizeLimit === undefined ? {} : { sizeLimit },
  })),
});
const limited = (...limits: readonly (string | undefined)[]) => ({
  containers: limits.map((limit, index) =>
    containerOf({
      name: `c${index}`,
      ...(limit === undefined ? {} : { resources: { limits: { "ephemeral-storage": limit } } }),
    }),
  ),
});

describe("storageViolation", () => {
  it.each([
    ["an emptyDir at its limit", emptyDirs("1Ki"), volumesOf({ v0: KI }), undefined],
    [
      "an emptyDir above its limit, which is printed in canonical form",
      emptyDirs("1024"),
      volumesOf({ v0: KI + 1 }),
      'Usage of EmptyDir volume "v0" exceeds the limit "1024". ',
    ],
    [
      "the first of several",
      emptyDirs(undefined, "1Mi", "2048Ki"),
      volumesOf({ v0: 9e9, v1: 3, v2: 2 * KI * KI + 1 }),
      'Usage of EmptyDir volume "v2" exceeds the limit "2Mi". ',
    ],
    ["an emptyDir that was not measured", emptyDirs("1"), {}, undefined],
    ["a limit of nothing", emptyDirs("0"), volumesOf({ v0: 5 }), undefined],
    [
      "memory, which the kernel limits",
      { volumes: [{ name: "v0", emptyDir: { medium: "Memory", sizeLimit: "1Ki" } }] },
      volumesOf({ v0: 2 * KI }),
      undefined,
    ],
    [
      "the limits of all containers together",
      limited("1Ki", "1Ki"),
      { containers: [used("c0", 0, 1000), used("c1", 0, 1000)], "ephemeral-storage": fs(2 * KI + 1) },
      "Pod ephemeral local storage usage exceeds the total limit of containers 2Ki. ",
    ],
    [
      "one container's logs and files",
      limited("1Ki", "4Ki"),
      { containers: [used("c1", 0, 2000), used("c0", 500, 525)], "ephemeral-storage": fs(3025) },
      'Container c0 exceeded its local ephemeral storage limit "1Ki". ',
    ],
    [
      "a container without a limit next to one with a limit",
      limited(undefined, "1Mi"),
      { containers: [used("c0", 0, 5e5), used("c1", 0, 1)], "ephemeral-storage": fs(5e5) },
      undefined,
    ],
    ["no limit at all", emptyDirs(undefined), volumesOf({ v0: 9e12 }), undefined],
  ])("judges %s", (_, spec, measured: Partial<PodStats>, message) => {
    expect(storageViolation(podOf({ spec }), stats(measured), false)?.message).toBe(message);
  });

  it("ignores the writable layer of a container on another file system", () => {
    const spec = limited("1Ki", "1Mi");
    const measured = stats({ containers: [used("c0", 500, 2000)], "ephemeral-storage": fs(2500) });
    expect(storageViolation(podOf({ spec }), measured, true)).toBeUndefined();
    expect(storageViolation(podOf({ spec }), measured, false)?.signal).toBe("ephemeralcontainerfs.limit");
  });

  it("checks volumes first, then the pod, then containers", () => {
    const spec = { ...limited("1Ki"), ...emptyDirs("1Ki") };
    const measured = { containers: [used("c0", 0, 9 * KI)], "ephemeral-storage": fs(9 * KI) };
    const signal = (volume: number) =>
      storageViolation(podOf({ spec }), stats({ ...measured, ...volumesOf({ v0: volume }) }), false)?.signal;
    expect([signal(2 * KI), signal(1)]).toEqual(["emptydirfs.limit", "ephemeralpodfs.limit"]);
  });
});

describe("hasStorageLimits", () => {
  it.each([
    ["an emptyDir with a size", emptyDirs("1Ki"), true],
    ["an emptyDir without", emptyDirs(undefined), false],
    ["a container's limit", limited("1Gi"), true],
    ["the pod's own limit", { resources: { limits: { "ephemeral-storage": "1Gi" } } }, false],
    ["a critical pod", { ...emptyDirs("1Ki"), priority: 2_000_000_000 }, false],
    ["other resources", { containers: [containerOf({ resources: { limits: { memory: "1Gi" } } })] }, false],
  ])("requires measurements only when needed: %s", (_, spec, expected) => {
    expect(hasStorageLimits(podOf({ spec }))).toBe(expected);
  });
});
