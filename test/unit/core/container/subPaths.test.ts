import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { subPathBinds } from "../../../../src/core/container/subPaths.ts";
import { nodeContextOf } from "../../../support/nodeContext.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { mountedVolumesOf } from "../../../support/podVolumes.ts";

const POD_DIR = "/var/lib/kubelet/pods/uid-1";
const volumes: NonNullable<PodSpec["volumes"]> = [
  { name: "data", emptyDir: {} },
  { name: "settings", configMap: { name: "c" } },
  { name: "tools", image: { reference: "registry.example/tools:1" } },
];

function binds(volumeMounts: NonNullable<Container["volumeMounts"]>) {
  const container = containerOf({ volumeMounts });
  const pod = podOf({ spec: { volumes, containers: [container] } });
  const environment = new Map([
    ["POD", "web-0"],
    ["EMPTY", ""],
    ["LONG", "x".repeat(1024 * 1024)],
  ]);
  const input = { pod, container, environment, volumes: mountedVolumesOf(pod), ...nodeContextOf() };
  const found = subPathBinds(input);
  return found.ok ? found.value : `${found.error.reason}: ${found.error.message}`;
}

describe("subPathBinds", () => {
  it("returns a bind per subPath, with its own target per container and mount", () => {
    const list = [
      { name: "data", mountPath: "/whole" },
      { name: "data", mountPath: "/logs", subPathExpr: "logs/$(POD)" },
      { name: "settings", mountPath: "/etc/app.conf", subPath: "app.conf" },
      { name: "tools", mountPath: "/tools", subPath: "bin" },
    ];
    expect(binds(list)).toEqual([
      {
        index: 1,
        volume: "data",
        volumeRoot: `${POD_DIR}/volumes/kubernetes.io~empty-dir/data`,
        subPath: "logs/web-0",
        target: `${POD_DIR}/volume-subpaths/data/main/1`,
        isMade: true,
      },
      {
        index: 2,
        volume: "settings",
        volumeRoot: `${POD_DIR}/volumes/kubernetes.io~configmap/settings`,
        subPath: "app.conf",
        target: `${POD_DIR}/volume-subpaths/settings/main/2`,
        isMade: false,
      },
    ]);
  });

  it.each([
    [{ subPath: "/etc" }, "error SubPath `/etc` must not be an absolute path"],
    [{ subPath: "a/../../b" }, "unable to provision SubPath `a/../../b`: must not contain '..'"],
    [{ subPathExpr: "$(POD)/../x" }, "unable to provision SubPath `web-0/../x`: must not contain '..'"],
    [{ subPathExpr: "$(NOBODY)/$(EMPTY)" }, "missing value for EMPTY, NOBODY"],
  ])("rejects %j", (part, message) => {
    expect(binds([{ name: "data", mountPath: "/m", ...part }])).toBe(`CreateContainerConfigError: ${message}`);
  });

  it("rejects subPaths that are too long in total", () => {
    const list = Array.from({ length: 7 }, (_, index) => ({
      name: "data",
      mountPath: `/m${index}`,
      subPathExpr: "$(LONG)",
    }));
    expect(binds(list.slice(0, 6))).toHaveLength(6);
    const where = 'container "main": volumeMounts[6].subPathExpr';
    expect(binds(list)).toBe(
      `CreateContainerConfigError: ${where}: paths within volumes must be at most 6291456 bytes in all`,
    );
  });
});
