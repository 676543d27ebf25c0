/** Validates container ports. */
import type { Container, PodSpec } from "../api.ts";
import { duplicate, type FieldProblems, invalid, invalidEach, required, unsupported } from "./fieldProblem.ts";
import { ipAddress, portName, portNumber } from "./validateFormats.ts";

type Port = NonNullable<Container["ports"]>[number];

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Validates the ports of one container, after defaulting. */
export function* validatePorts(ports: readonly Port[], spec: PodSpec, path: string): FieldProblems {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `${path}[${index}]`;
    const { name = "", containerPort = 0, hostPort = 0, protocol = "" } = port;
    if (name !== "") {
      yield* invalidEach(`${at}.name`, name, portName(name));
      if (names.has(name)) yield duplicate(`${at}.name`, name);
      names.add(name);
    }
    if (containerPort === 0) yield required(`${at}.containerPort`);
    else yield* invalidEach(`${at}.containerPort`, containerPort, portNumber(containerPort));
    if (hostPort !== 0) yield* invalidEach(`${at}.hostPort`, hostPort, portNumber(hostPort));
    if (spec.hostNetwork === true && hostPort !== containerPort) {
      yield invalid(`${at}.hostPort`, hostPort, "must match `containerPort` when `hostNetwork` is true");
    }
    if (!PROTOCOLS.includes(protocol)) yield unsupported(`${at}.protocol`, protocol, PROTOCOLS);
    // Differs from upstream: an invalid host IP is rejected here, not only when the sandbox is created.
    if ((port.hostIP ?? "") !== "") yield* invalidEach(`${at}.hostIP`, port.hostIP, ipAddress(port.hostIP ?? ""));
  }
}

/** Validates that host ports are unique among `containers`, whose first index is `firstIndex`. */
export function* validateHostPorts(containers: readonly Container[], path: string, firstIndex = 0): FieldProblems {
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [portIndex, port] of (container.ports ?? []).entries()) {
      if ((port.hostPort ?? 0) === 0) continue;
      const key = `${port.protocol ?? ""}/${port.hostIP ?? ""}/${port.hostPort}`;
      if (taken.has(key)) yield duplicate(`${path}[${firstIndex + index}].ports[${portIndex}].hostPort`, key);
      taken.add(key);
    }
  }
}
