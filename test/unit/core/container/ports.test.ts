import { describe, expect, it } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import { podPortMappings } from "../../../../src/core/container/ports.ts";
import { Protocol } from "../../../../src/gen/cri.ts";
import { podOf } from "../../../support/pods.ts";

const NAMES = new Map<number, string>(Object.entries(Protocol).map(([name, number]) => [number, name]));
type Ports = NonNullable<Container["ports"]>;
const mappings = (...containers: readonly Ports[]) =>
  podPortMappings(podOf({ spec: { containers: containers.map((ports, at) => ({ name: `c${at}`, ports })) } })).map(
    ({ protocol, containerPort, hostPort, hostIp }) => `${NAMES.get(protocol)} ${hostIp}:${hostPort}->${containerPort}`,
  );

describe("port mappings", () => {
  it.each<[title: string, ports: Ports, expected: readonly string[]]>([
    ["without a host port", [{ containerPort: 80 }], ["TCP :0->80"]],
    [
      "with everything",
      [{ containerPort: 80, hostPort: 8080, hostIP: "10.0.0.1", protocol: "UDP" }],
      ["UDP 10.0.0.1:8080->80"],
    ],
    ["by SCTP", [{ containerPort: 80, protocol: "SCTP" }], ["SCTP :0->80"]],
    [
      "that are equal, once",
      [{ containerPort: 80 }, { containerPort: 80, protocol: "TCP", hostPort: 0, hostIP: "" }],
      ["TCP :0->80"],
    ],
    ["of two protocols", [{ containerPort: 53 }, { containerPort: 53, protocol: "UDP" }], ["TCP :0->53", "UDP :0->53"]],
    ["of two host ports", [{ containerPort: 80 }, { containerPort: 80, hostPort: 1 }], ["TCP :0->80", "TCP :1->80"]],
    [
      "of two host addresses",
      [{ containerPort: 80 }, { containerPort: 80, hostIP: "::1" }],
      ["TCP :0->80", "TCP ::1:0->80"],
    ],
    ["of two container ports", [{ containerPort: 80 }, { containerPort: 81 }], ["TCP :0->80", "TCP :0->81"]],
    [
      "of one name, the first",
      [
        { name: "web", containerPort: 80 },
        { name: "web", containerPort: 81 },
      ],
      ["TCP :0->80"],
    ],
  ])("%s", (_, ports, expected) => {
    expect(mappings(ports)).toEqual(expected);
  });

  it("of two containers stay, even if they are equal", () => {
    expect(mappings([{ containerPort: 80 }], [{ containerPort: 80 }])).toEqual(["TCP :0->80", "TCP :0->80"]);
  });

  it("include sidecars after containers, and no other init containers", () => {
    const pod = podOf({
      spec: {
        initContainers: [
          { name: "setup", ports: [{ containerPort: 1 }] },
          { name: "proxy", restartPolicy: "Always", ports: [{ containerPort: 2 }] },
        ],
        containers: [{ name: "main", ports: [{ containerPort: 3 }] }],
      },
    });
    expect(podPortMappings(pod).map(({ containerPort }) => containerPort)).toEqual([3, 2]);
  });
});
