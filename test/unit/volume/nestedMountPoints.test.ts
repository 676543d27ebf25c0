import { describe, expect, it } from "vitest";
import { nestedMountPoints } from "../../../src/core/volume/nestedMountPoints.ts";
import { containerOf, podOf } from "../../support/pods.ts";

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
      "one is below one that is below it",
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

  it("looks at each container by itself", () => {
    const spec = {
      initContainers: [mounting(["v", "/a"], ["w", "/a/init"])],
      containers: [mounting(["v", "/a"]), mounting(["w", "/a/alone"])],
      ephemeralContainers: [mounting(["v", "/a"], ["w", "/a/debug"])],
    };
    expect(nestedMountPoints(podOf({ spec }), "v")).toEqual(["init", "debug"]);
  });
});
