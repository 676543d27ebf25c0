/** Health of devices, and where the status of a container has it. */
import { describe, expect, it } from "vitest";
import type { ApiContainerStatus } from "../../../../src/core/api.ts";
import { withClaimedResources } from "../../../../src/core/dra/claimedResources.ts";
import type { ClaimInfo } from "../../../../src/core/dra/claimInfo.ts";
import {
  type DriverHealth,
  firstInvalidAt,
  MAX_HEALTHS,
  saysSame,
  stillValid,
  withReport,
} from "../../../../src/core/dra/deviceHealth.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { HealthStatus, NodeWatchResourcesResponse } from "../../../../src/gen/dra.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const at = monotonicMs;
const NONE: DriverHealth = new Map();
const report = (...devices: readonly object[]) => NodeWatchResourcesResponse.fromPartial({ devices: [...devices] });
const device = (deviceName: string, health: number, more: object = {}) => ({
  device: { poolName: "p", deviceName },
  health,
  ...more,
});

describe("reports of a driver", () => {
  it("are valid for 30 s, or as long as the driver says, up to a day", () => {
    const known = withReport(
      NONE,
      report(
        device("a", HealthStatus.HEALTHY),
        device("b", HealthStatus.UNHEALTHY, { healthCheckTimeoutSeconds: 60n, message: "hot" }),
        device("c", HealthStatus.UNKNOWN, { healthCheckTimeoutSeconds: -1n }),
        device("d", 99, { healthCheckTimeoutSeconds: 1n << 62n }),
        { health: HealthStatus.HEALTHY },
      ),
      at(1_000),
    );
    expect(known).toEqual(
      new Map([
        ["p/a", { health: "Healthy", message: "", validUntil: 31_000 }],
        ["p/b", { health: "Unhealthy", message: "hot", validUntil: 61_000 }],
        ["p/c", { health: "Unknown", message: "", validUntil: 31_000 }],
        ["p/d", { health: "Unknown", message: "", validUntil: 86_401_000 }],
      ]),
    );
    expect([firstInvalidAt(known), [...stillValid(known, at(31_000)).keys()]]).toEqual([31_000, ["p/b", "p/d"]]);
  });

  it("leave devices alone that they lack, and replace the others", () => {
    const once = withReport(NONE, report(device("a", HealthStatus.HEALTHY), device("b", HealthStatus.HEALTHY)), at(0));
    const twice = withReport(once, report(device("a", HealthStatus.UNHEALTHY)), at(10));
    expect([...twice].map(([key, { health }]) => `${key} ${health}`)).toEqual(["p/a Unhealthy", "p/b Healthy"]);
    expect([saysSame(once, twice), saysSame(once, withReport(once, report(), at(5))), saysSame(once, NONE)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("are bounded in devices, names and messages", () => {
    const many = Array.from({ length: MAX_HEALTHS + 1 }, (_, index) => device(String(index), HealthStatus.HEALTHY));
    const full = withReport(NONE, report(...many), at(0));
    expect([full.size, withReport(full, report(device("new", 1)), at(0)).has("p/new")]).toEqual([MAX_HEALTHS, false]);
    const long = withReport(
      NONE,
      report(device("x".repeat(5_000), 1), device("m", 1, { message: "m".repeat(1_025) })),
      at(0),
    );
    expect([...long].map(([key, { message }]) => [key, message.length, message.slice(-3)])).toEqual([
      ["p/m", 1_024, "..."],
    ]);
  });
});

describe("the status of a container", () => {
  const prepared = (deviceName: string, request: string, ...cdiDeviceIds: readonly string[]) => ({
    poolName: "p",
    deviceName,
    requestNames: [request],
    cdiDeviceIds,
  });
  const info: ClaimInfo = {
    namespace: "demo",
    name: "gpu-1",
    uid: "u",
    podUids: new Set(["uid-1"]),
    drivers: new Map([["d", [prepared("a", "r1", "v/c=a"), prepared("b", "r2"), prepared("c", "r1", "v/c=a")]]]),
    isPrepared: true,
  };
  const infos = new Map([["demo/gpu-1", info]]);
  const healths = new Map([
    ["d", withReport(NONE, report(device("a", HealthStatus.UNHEALTHY, { message: "hot" })), at(0))],
  ]);
  const statuses: readonly ApiContainerStatus[] = [
    { name: "main", image: "i", imageID: "", ready: true, restartCount: 0 },
  ];
  const podWith = (claims: readonly { name: string; request?: string }[], resourceClaimName = "gpu-1") =>
    podOf({
      spec: {
        containers: [containerOf({ resources: { claims } })],
        resourceClaims: [{ name: "gpu", resourceClaimName }],
      },
    });
  const reported = (pod: ReturnType<typeof podWith>, withMessages = true) =>
    withClaimedResources(pod, statuses, { infos, healths, withMessages })[0]?.allocatedResourcesStatus;

  it("has the health of each claimed device once, by its first CDI device or its name", () => {
    expect(reported(podWith([{ name: "gpu" }]))).toEqual([
      {
        name: "claim:gpu",
        resources: [
          { resourceID: "v/c=a", health: "Unhealthy", message: "hot" },
          { resourceID: "d/p/b", health: "Unknown" },
        ],
      },
    ]);
  });

  it("tells requests apart", () => {
    expect(
      reported(
        podWith([
          { name: "gpu", request: "r2" },
          { name: "gpu", request: "r1" },
        ]),
        false,
      ),
    ).toEqual([
      { name: "claim:gpu/r2", resources: [{ resourceID: "d/p/b", health: "Unknown" }] },
      { name: "claim:gpu/r1", resources: [{ resourceID: "v/c=a", health: "Unhealthy" }] },
    ]);
  });

  it("has nothing of a claim that is not prepared for the pod", () => {
    expect([reported(podWith([])), reported(podWith([{ name: "gpu" }], "other"))]).toEqual([undefined, undefined]);
  });
});
