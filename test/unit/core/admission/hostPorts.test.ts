import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { hostPortsConflict } from "../../../../src/core/admission/hostPorts.ts";
import { container, pod, sidecar } from "../samples.ts";

type Port = NonNullable<Container["ports"]>[number];

const using = (ports: readonly Partial<Port>[], spec: Partial<PodSpec> = {}) =>
  pod({
    containers: [container("web", { ports: ports.map((port): Port => ({ containerPort: 8080, ...port })) })],
    ...spec,
  });
const port = (hostPort: number, hostIP?: string, protocol?: string): Partial<Port> => ({
  hostPort,
  ...(hostIP !== undefined && { hostIP }),
  ...(protocol !== undefined && { protocol }),
});

describe("hostPortsConflict", () => {
  it.each<[string, readonly Partial<Port>[], readonly Partial<Port>[], boolean]>([
    ["the same port on any address", [port(80)], [port(80)], true],
    ["another port", [port(80)], [port(81)], false],
    ["the same port of another protocol", [port(80)], [port(80, undefined, "UDP")], false],
    ["the same port of the default protocol, named", [port(80)], [port(80, undefined, "TCP")], true],
    ["the same address", [port(80, "10.0.0.1")], [port(80, "10.0.0.1")], true],
    ["another address", [port(80, "10.0.0.1")], [port(80, "10.0.0.2")], false],
    ["one of several addresses", [port(80, "10.0.0.1"), port(80, "10.0.0.2")], [port(80, "10.0.0.2")], true],
    ["any address, wanted one", [port(80, "10.0.0.1")], [port(80)], true],
    ["one address, wanted any", [port(80)], [port(80, "10.0.0.1")], true],
    ["any address by name", [port(80, "10.0.0.1")], [port(80, "0.0.0.0")], true],
    ["any address by an empty text", [port(80, "10.0.0.1")], [port(80, "")], true],
    ["no host port", [{}], [{}], false],
    ["port 0, which is none", [port(0)], [port(0)], false],
    ["no ports wanted", [], [port(80)], false],
    ["the lowest port", [port(1)], [port(1)], true],
  ])("with a pod that uses %s", (_, wanted, taken, expected) => {
    expect(hostPortsConflict(using(wanted), [using([port(9)]), using(taken)])).toBe(expected);
  });

  it("counts every port of a pod in the node's network, and those of sidecars", () => {
    const inHost = using([{}], { hostNetwork: true });
    expect(hostPortsConflict(inHost, [inHost])).toBe(true);
    expect(hostPortsConflict(using([port(8080)]), [inHost])).toBe(true);
    const beside = pod({ initContainers: [sidecar("s", { ports: [{ containerPort: 1, hostPort: 80 }] })] });
    expect(hostPortsConflict(using([port(80)]), [beside])).toBe(true);
    const before = pod({ initContainers: [container("i", { ports: [{ containerPort: 1, hostPort: 80 }] })] });
    expect(hostPortsConflict(using([port(80)]), [before])).toBe(false);
  });

  it("is none with the pod alone", () => {
    expect(hostPortsConflict(using([port(80), port(80, undefined, "UDP")]), [])).toBe(false);
  });
});
