import { describe, expect, it } from "vitest";
import { nestedMountPoints } from "../../../../src/core/volume/nestedMountPoints.ts";
import { expectLinear } from "../../../support/expectLinear.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const mounting = (...mounts: readonly (readonly [name: string, mountPath: string])[]) =>
  containerOf({ volumeMounts: mounts.map(([name, mountPath]) => ({ name, mountPath })) });

describe("nestedMountPoints", () => {
  it.each([
    [
      "nothing is below it",
      [
        ["v", "/etc"],
        ["w", "/etcetera"],
      ],
      [],
    ],
    [
      "one is below it",
      [
        ["v", "/etc"],
        ["w", "/etc/ssl"],
      ],
      ["ssl"],
    ],
    [
      "the order is another, and the paths are not clean",
      [
        ["w", "/etc//x/../ssl/"],
        ["v", "/etc/."],
      ],
      ["ssl"],
    ],
    [
      "a mount point is nested two levels deep",
      [
        ["v", "/d"],
        ["a", "/d/n"],
        ["b", "/d/n/x"],
        ["c", "/d/n-v"],
        ["d", "/d/n.v/y"],
      ],
      ["n", "n-v", "n.v/y"],
    ],
    [
      "it is below another",
      [
        ["w", "/etc"],
        ["v", "/etc/ssl"],
      ],
      [],
    ],
    [
      "it is mounted twice",
      [
        ["v", "/a"],
        ["v", "/b"],
        ["w", "/a/x"],
        ["w", "/b/y"],
      ],
      ["x", "y"],
    ],
    [
      "another is mounted over it, however its path is written",
      [
        ["v", "/a"],
        ["w", "/a//"],
        ["x", "/a/x"],
      ],
      [],
    ],
    [
      "it is mounted over another, however its path is written",
      [
        ["w", "/a//"],
        ["v", "/b/../a/"],
        ["x", "/a/x"],
        ["x", "/a/./x/"],
      ],
      ["x"],
    ],
    [
      "it is the whole file system, or no place",
      [
        ["v", "/"],
        ["v", "."],
        ["w", "/a/x"],
      ],
      [],
    ],
    [
      "it would lead out of the container",
      [
        ["v", "../../a"],
        ["w", "../../a/x"],
      ],
      [],
    ],
  ] as const)("when %s", (_when, mounts, expected) => {
    expect(nestedMountPoints(podOf({ spec: { containers: [mounting(...mounts)] } }), "v")).toEqual(expected);
  });

  it("considers each container separately", () => {
    const spec = {
      initContainers: [mounting(["v", "/a"], ["w", "/a/init"])],
      containers: [mounting(["v", "/a"]), mounting(["w", "/a/alone"])],
      ephemeralContainers: [mounting(["v", "/a"], ["w", "/a/debug"])],
    };
    expect(nestedMountPoints(podOf({ spec }), "v")).toEqual(["init", "debug"]);
  });

  const mountsOf = (count: number, pathOf: (index: number) => string) =>
    mounting(
      ...Array.from({ length: count }, (_, index) => [index === 0 ? "v" : `w${index % 9}`, pathOf(index)] as const),
    );

  it.each<[string, (index: number) => string]>([
    ["side by side", (index) => (index === 0 ? "/a" : `/a/${index}`)],
    [
      "at one place written in many ways",
      (index) => `/a${index % 2 === 0 ? "" : `/${index}`}${"/".repeat(index % 100)}`,
    ],
    ["each in the one before", (index) => `/a${"/a".repeat(index % 50)}${index}`],
  ])("takes linear time for mounts %s", (_how, pathOf) => {
    expectLinear(
      (size) => podOf({ spec: { containers: [mountsOf(size, pathOf)] } }).spec,
      (spec) => nestedMountPoints(podOf({ spec: { ...spec } }), "v"),
      16 * 1024,
    );
  });

  it("takes linear time for many volumes", () => {
    expectLinear(
      (size) => Array.from({ length: size }, (_, index) => [`v${index}`, `/a${index}`] as const),
      (mounts) => {
        const pod = podOf({ spec: { containers: [mounting(...mounts)] } });
        return mounts.map(([name]) => nestedMountPoints(pod, name));
      },
      16 * 1024,
    );
  });
});
