/** The report on whether node allocatable is enforced, and why it is not. */
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { ReservedCgroup } from "../../../../src/core/resources/reservedCgroups.ts";
import { nodeCgroups } from "../../../../src/pipelines/node/nodeCgroups.ts";
import { createSimCgroups } from "../../../../src/sim/host/simCgroups.ts";
import { simKubeletConfig } from "../../../../src/sim/simKubeletConfig.ts";
import { simMachine } from "../../../../src/sim/host/simMachine.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

/** A node whose cgroup of all pods cannot be written the first `failures` times; a write takes 1 ms. */
function world({ clock }: Marbles, failures: number, reservedCgroups: readonly ReservedCgroup[] = []) {
  const machine = simMachine();
  let left = failures;
  const cgroups = createSimCgroups({
    clock,
    latencyMs: 1,
    fault: (operation, name) => {
      if (operation !== "ensure" || name !== "/kubepods" || left === 0) return undefined;
      left -= 1;
      return "Unavailable";
    },
  });
  const usual = simKubeletConfig(machine, { nodeName: "n1" });
  const config = { ...usual, cgroupsPerQos: true, cgroupRoot: "/", reservedCgroups };
  const ports = { cgroups, clock, machine, telemetry: recordingTelemetry() };
  return { cgroups, config, stream$: nodeCgroups(ports, config, createNodeState()) };
}
const node = { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" };
const events = {
  e: {
    type: "Normal",
    reason: "NodeAllocatableEnforced",
    message: "Updated Node Allocatable limit across pods",
    object: node,
  },
  f: {
    type: "Warning",
    reason: "FailedNodeAllocatableEnforcement",
    message: `Failed to update Node Allocatable Limits ["kubepods"]: cannot ensure cgroup /kubepods: injected fault`,
    object: node,
  },
};

describe("nodeCgroups", () => {
  it(
    "sets the limits of all pods, with one event",
    marbles((m) => {
      const unsub = "   5m !";
      const expected = "-e";

      const { cgroups, config, stream$ } = world(m, 0);
      m.expectObservable(stream$, unsub).toBe(expected, events);
      m.flush();
      expect(cgroups.all().get("/kubepods")).toMatchObject(config.kubepodsLimits);
    }),
  );

  it(
    "creates the cgroups of the QoS classes",
    marbles((m) => {
      const unsub = "   5m !";
      const expected = "-e";

      const { cgroups, stream$ } = world(m, 0);
      m.expectObservable(stream$, unsub).toBe(expected, events);
      m.flush();
      expect([...cgroups.all().keys()]).toEqual(["/kubepods", "/kubepods/besteffort", "/kubepods/burstable"]);
    }),
  );

  it(
    "ends with the error of a reservation that it cannot enforce, after it created the cgroup of all pods",
    marbles((m) => {
      const expected = "-e#";

      const limits = { cpuShares: 2 };
      const { cgroups, stream$ } = world(m, 0, [
        { reservation: "kube reserved", isCompressible: false, cgroup: "/kube", limits },
      ]);
      const message = 'Failed to enforce Kube Reserved Cgroup Limits on "/kube": cgroup /kube does not exist';
      const missing = kubeletError("NotFound", message, { cause: expect.anything() });
      m.expectObservable(stream$).toBe(expected, events, missing);
      m.flush();
      expect([...cgroups.all().keys()]).toEqual(["/kubepods"]);
    }),
  );

  it(
    "retries failed limits each minute, with an event",
    marbles((m) => {
      const unsub = "   10m !";
      const expected = "-f 60s f 60s e";

      const { cgroups, config, stream$ } = world(m, 2);
      m.expectObservable(stream$, unsub).toBe(expected, events);
      m.flush();
      expect(cgroups.all().get("/kubepods")).toMatchObject(config.kubepodsLimits);
    }),
  );

  it(
    "keeps the cgroups of the QoS classes while the limits fail",
    marbles((m) => {
      const unsub = "   40s !";
      const expected = "-f";

      const { cgroups, stream$ } = world(m, 2);
      m.expectObservable(stream$, unsub).toBe(expected, events);
      m.at(30_000, () => expect(cgroups.all().has("/kubepods/burstable")).toBe(true));
      m.flush();
    }),
  );
});
