import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { validateHostPorts, validatePorts } from "../../../../src/core/pod/validatePorts.ts";
import { containerOf } from "../../../support/pods.ts";

type Port = NonNullable<Container["ports"]>[number];
const SPEC: PodSpec = { containers: [] };
const TCP = { containerPort: 80, protocol: "TCP" };

const problems = (ports: readonly Partial<Port>[], spec: PodSpec = SPEC): readonly string[] =>
  [...validatePorts(ports as readonly Port[], spec, "ports")].map(({ field, reason }) => `${field}: ${reason}`);

describe("ports of a container", () => {
  it.each<[string, readonly Partial<Port>[]]>([
    ["without a name or a host port", [TCP]],
    ["twice without a name", [TCP, TCP]],
    [
      "with two names",
      [
        { ...TCP, name: "http" },
        { ...TCP, name: "web" },
      ],
    ],
    ["at the lowest number", [{ ...TCP, containerPort: 1, hostPort: 1 }]],
    ["at the highest number", [{ ...TCP, containerPort: 65_535, hostPort: 65_535 }]],
    ["of every protocol", ["SCTP", "TCP", "UDP"].map((protocol) => ({ ...TCP, protocol }))],
    ["with a host IP", [{ ...TCP, hostIP: "127.0.0.1" }]],
    ["with an empty host IP", [{ ...TCP, hostIP: "" }]],
  ])("are valid %s", (_, ports) => {
    expect(problems(ports)).toEqual([]);
  });

  it.each<[string, readonly Partial<Port>[], readonly string[]]>([
    ["without a number", [{ protocol: "TCP" }], ["ports[0].containerPort"]],
    ["beyond the highest number", [{ ...TCP, containerPort: 65_536 }], ["ports[0].containerPort"]],
    ["with a host port beyond the highest number", [{ ...TCP, hostPort: 65_536 }], ["ports[0].hostPort"]],
    ["with a negative host port", [{ ...TCP, hostPort: -1 }], ["ports[0].hostPort"]],
    ["without a protocol", [{ containerPort: 80 }], ["ports[0].protocol"]],
    ["of another protocol", [{ ...TCP, protocol: "tcp" }], ["ports[0].protocol"]],
    [
      "with the name of another",
      [
        { ...TCP, name: "web" },
        { ...TCP, name: "web" },
      ],
      ["ports[1].name"],
    ],
    ["with an invalid name", [{ ...TCP, name: "Web" }], ["ports[0].name"]],
    ["with a host IP that is none", [{ ...TCP, hostIP: "localhost" }], ["ports[0].hostIP"]],
  ])("are invalid %s", (_, ports, paths) => {
    expect(problems(ports).map((problem) => problem.split(": ")[0])).toEqual(paths);
  });

  it.each<[number, boolean, readonly string[]]>([
    [80, true, []],
    [81, true, ["ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"]],
    [81, false, []],
  ])("with host port %i for container port 80 and hostNetwork %s", (hostPort, hostNetwork, expected) => {
    expect(problems([{ ...TCP, hostPort }], { ...SPEC, hostNetwork })).toEqual(expected);
  });
});

describe("host ports of a pod", () => {
  const on = (...ports: readonly Partial<Port>[]) => containerOf({ ports: ports as Port[] });
  const duplicates = (containers: readonly Container[], first?: number): readonly string[] =>
    [...validateHostPorts(containers, "containers", first)].map(({ field }) => field);
  const OPEN = { ...TCP, hostPort: 80 };

  it.each<[string, readonly Container[]]>([
    ["of other protocols", [on(OPEN, { ...OPEN, protocol: "UDP" })]],
    ["on other addresses", [on({ ...OPEN, hostIP: "127.0.0.1" }, { ...OPEN, hostIP: "127.0.0.2" })]],
    ["of other numbers", [on(OPEN, { ...OPEN, hostPort: 1 })]],
    ["that are absent or 0", [on(TCP, TCP, { ...TCP, hostPort: 0 }, { ...TCP, hostPort: 0 }), containerOf()]],
  ])("do not clash %s", (_, containers) => {
    expect(duplicates(containers)).toEqual([]);
  });

  it("clash within a container", () => {
    expect(duplicates([on(OPEN, TCP, OPEN)])).toEqual(["containers[0].ports[2].hostPort"]);
  });

  it("clash between containers, named by their index in the pod", () => {
    expect(duplicates([on(OPEN), on(OPEN)], 3)).toEqual(["containers[4].ports[0].hostPort"]);
  });
});
