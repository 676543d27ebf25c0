import { describe, expect, it } from "vitest";
import { containerId } from "../../../../src/core/ids.ts";
import { isProbed, probedContainers, sameProbes } from "../../../../src/core/probe/podProbing.ts";
import { initialProbeState, type ProbeState } from "../../../../src/core/probe/probeState.ts";
import type { ProbeKind, ProbeResult } from "../../../../src/core/probe/probeTypes.ts";
import {
  initialProbeStates,
  type ProbeStates,
  quietStates,
  verdictOf,
  withHooksRunning,
} from "../../../../src/core/probe/probeVerdict.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const ID = containerId("c1");
const TCP = { tcpSocket: { port: 80 } };

const states = (results: Readonly<Partial<Record<ProbeKind, ProbeResult>>>): ProbeStates =>
  Object.fromEntries(
    Object.entries(results).map(([kind, result]): [string, ProbeState] => [
      kind,
      initialProbeState(kind as ProbeKind, result),
    ]),
  );

describe("verdictOf", () => {
  it.each([
    [{}, "started ready live"],
    [{ readiness: "failure" }, "started live"],
    [{ readiness: "success" }, "started ready live"],
    [{ liveness: "failure", readiness: "success" }, "started ready"],
    [{ startup: "unknown", readiness: "success" }, "live"],
    [{ startup: "failure" }, ""],
    [{ startup: "success", readiness: "failure" }, "started live"],
  ] as const)("%j is %s", (results, expected) => {
    const { started, ready, live, containerId: id } = verdictOf(states(results), ID);
    const words = [started && "started", ready && "ready", live && "live"].filter((word) => word !== false);
    expect([words.join(" "), id]).toEqual([expected, ID]);
  });
});

describe("initialProbeStates", () => {
  const container = containerOf({ startupProbe: TCP, livenessProbe: TCP, readinessProbe: TCP });

  it("starts from scratch for a new instance", () => {
    expect(initialProbeStates(container, undefined)).toEqual(
      states({ startup: "unknown", liveness: "success", readiness: "failure" }),
    );
  });

  it("keeps started and ready of a known instance, and probes liveness again", () => {
    const known = { started: true, ready: true, live: false, containerId: ID };
    expect(initialProbeStates(container, known)).toEqual(
      states({ startup: "success", liveness: "success", readiness: "success" }),
    );
  });
});

describe("quietStates", () => {
  it.each([
    [{ startup: "success", liveness: "failure", readiness: "success" }, "started ready live"],
    [{ startup: "success", liveness: "failure", readiness: "failure" }, "started live"],
    [{ startup: "failure", readiness: "failure" }, "live"],
    [{ startup: "unknown" }, "live"],
    [{ liveness: "failure" }, "started ready live"],
  ] as const)("%j: what failed is no cause any more, what has not started has not started", (results, expected) => {
    const { started, ready, live } = verdictOf(quietStates(states(results)), ID);
    expect([started && "started", ready && "ready", live && "live"].filter(Boolean).join(" ")).toBe(expected);
  });
});

describe("isProbed", () => {
  const kinds = ["startup", "liveness", "readiness"] as const;
  const open = (mode: "all" | "readiness" | "none", now: ProbeStates): readonly ProbeKind[] =>
    kinds.filter((kind) => isProbed(kind, mode, now));
  const waiting = states({ startup: "unknown", liveness: "success", readiness: "failure" });
  const passed = states({ startup: "success", liveness: "success", readiness: "failure" });

  it("delays liveness and readiness until the startup probe has passed, which ends it", () => {
    expect([open("all", waiting), open("all", passed)]).toEqual([["startup"], ["liveness", "readiness"]]);
  });

  it("probes only readiness during termination, and nothing afterwards", () => {
    expect([open("readiness", passed), open("none", passed)]).toEqual([["readiness"], []]);
  });

  it("does not run a probe on hold", () => {
    const held = { ...passed, liveness: { ...initialProbeState("liveness", "failure"), onHold: true } };
    expect(open("all", held)).toEqual(["readiness"]);
  });
});

describe("probedContainers", () => {
  const init = containerOf({ name: "init", readinessProbe: TCP });
  const sidecar = containerOf({ name: "sidecar", restartPolicy: "Always", startupProbe: TCP });
  const plain = containerOf({ name: "plain" });
  const web = containerOf({ name: "web", livenessProbe: TCP });
  const pod = podOf({ spec: { initContainers: [init, sidecar], containers: [plain, web] } });

  it("are sidecars and regular containers with a probe", () => {
    expect(probedContainers(pod)).toEqual([sidecar, web]);
  });

  it("are equal while no probe setting changes", () => {
    const relabelled = { ...pod, metadata: { ...pod.metadata, labels: { a: "b" } } };
    const slower = podOf({ spec: { containers: [plain, { ...web, livenessProbe: { ...TCP, periodSeconds: 3 } }] } });
    expect([sameProbes(pod, relabelled), sameProbes(pod, slower)]).toEqual([true, false]);
  });
});

describe("withHooksRunning", () => {
  it("reports a container as not started before its postStart hook has succeeded, with or without probes", () => {
    const verdicts = new Map([["web", { started: true, ready: true, live: true, containerId: ID }]]);
    const notYet = { started: false, ready: false, live: true };
    expect(withHooksRunning(verdicts, new Map())).toBe(verdicts);
    expect(withHooksRunning(verdicts, new Map([["plain", containerId("c2")]]))).toEqual(
      new Map([...verdicts, ["plain", { ...notYet, containerId: "c2" }]]),
    );
    expect(withHooksRunning(verdicts, new Map([["web", ID]]))).toEqual(
      new Map([["web", { ...notYet, containerId: ID }]]),
    );
  });
});
