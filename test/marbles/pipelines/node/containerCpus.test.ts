import { map, of, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry } from "../../../../src/core/pod/podRegistry.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { nodeHardware } from "../../../../src/core/topology/nodeHardware.ts";
import { containerCpus } from "../../../../src/pipelines/node/containerCpus.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { machineOf } from "../../../support/cpuMachines.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const machine = machineOf({ sockets: 1, nodesPerSocket: 1, coresPerCache: 4, threads: 1 });
const NO_OPTIONS = { fullCores: false, acrossNodes: false, bySocket: false, acrossCores: false };
const policy = cpuPolicy(machine, { ...NO_OPTIONS, strictReservation: false, alignsByCache: false }, 1, []);
const PERIOD_MS = 10_000;

/** A node of four CPUs whose calls are recorded as `time id=cpus`; the runtime fails while `isBroken`. */
function nodeWithCpus({ clock }: Pick<Marbles, "clock">, isRestored = true) {
  if (policy === undefined) throw new Error("too many CPUs are reserved");
  const state = createNodeState();
  const settled = { ...emptyRegistry, isSettled: true };
  if (isRestored) state.registry.set(settled);
  const calls: string[] = [];
  const node = { isBroken: false, callMs: 0 };
  const runtime = {
    updateContainerResources: (request: { containerId: string; linux?: { cpusetCpus: string } | undefined }) => {
      calls.push(`${clock.monotonicMs()} ${request.containerId}=${request.linux?.cpusetCpus}`);
      if (node.isBroken) return throwError(() => kubeletError("Unavailable", "down"));
      return node.callMs === 0 ? of({}) : timer(node.callMs, clock.scheduler).pipe(map(() => ({})));
    },
  };
  const telemetry = recordingTelemetry();
  const topology = { name: "none", scope: "container", topology: { nodes: 1, distances: undefined } } as const;
  const settings = { liftsCpuQuota: true, reconcilePeriodMs: PERIOD_MS };
  const hardware = nodeHardware({ cpus: policy, memory: undefined }, machine.nodes, topology, settings);
  return {
    node,
    calls,
    telemetry,
    cpus$: containerCpus({ clock, telemetry, runtime } as never, { hardware }, state),
    runs: (uid: string, ...ids: readonly string[]) =>
      state.runtimeStatuses.set(podUid(uid), {
        sequence: 1,
        sandboxes: [],
        containers: ids.map((id) => ({ id, name: "main", state: "running" })),
      } as never),
    holds: (hardwareOfPods: Readonly<Record<string, PodHardware>>) =>
      state.registry.set({
        ...settled,
        records: new Map(
          Object.entries(hardwareOfPods).map(([name, of]) => {
            const uid = podUid(name);
            return [uid, { ...freshRecord({ uid, name, namespace: "demo" }), hardware: of }];
          }),
        ),
      }),
  };
}

const withCpus = (...cpus: readonly number[]): PodHardware => new Map([["main", { cpus }]]);

describe("containerCpus", () => {
  it(
    "moves the other containers away as soon as a pod gets CPUs, and back when it has stopped",
    marbles((m) => {
      const unsub = "   4s !";
      const expected = "";

      const { cpus$, calls, runs, holds } = nodeWithCpus(m);
      runs("a", "shares");
      m.at(1_000, () => holds({ b: withCpus(1, 2) }));
      m.at(2_000, () => runs("b", "alone"));
      m.at(3_000, () => holds({}));
      m.expectObservable(cpus$, unsub).toBe(expected);
      m.flush();
      expect(calls).toEqual(["0 shares=0-3", "1000 shares=0,3", "2000 alone=1-2", "3000 shares=0-3", "3000 alone=0-3"]);
    }),
  );

  it(
    "leaves containers alone until the registry knows which CPUs pods of before have",
    marbles((m) => {
      const unsub = "   2s !";
      const expected = "";

      const { cpus$, calls, runs, holds } = nodeWithCpus(m, false);
      runs("a", "shares");
      m.at(1_000, () => holds({ b: withCpus(1, 2) }));
      m.expectObservable(cpus$, unsub).toBe(expected);
      m.flush();
      expect(calls).toEqual(["1000 shares=0,3"]);
    }),
  );

  it(
    "gives a container the CPUs that are shared once its turn comes, however long the calls before it take",
    marbles((m) => {
      const unsub = "   5s !";
      const expected = "";

      const { node, cpus$, calls, runs, holds } = nodeWithCpus(m);
      node.callMs = 1_000;
      runs("a", "first", "second");
      m.at(500, () => holds({ b: withCpus(1, 2) }));
      m.expectObservable(cpus$, unsub).toBe(expected);
      m.flush();
      expect(calls).toEqual(["0 first=0-3", "1000 second=0,3", "2000 first=0,3"]);
    }),
  );

  it(
    "repeats a failed call in the next period",
    marbles((m) => {
      const unsub = "   25s !";
      const expected = "";

      const { node, cpus$, calls, runs, telemetry } = nodeWithCpus(m);
      node.isBroken = true;
      runs("a", "shares");
      m.at(PERIOD_MS - 1, () => (node.isBroken = false));
      m.expectObservable(cpus$, unsub).toBe(expected);
      m.flush();
      expect(calls).toEqual(["0 shares=0-3", `${PERIOD_MS} shares=0-3`]);
      expect(telemetry.lines).toHaveLength(1);
    }),
  );

  it(
    "repeats the calls for a container of which one failed: it may take effect after the others",
    marbles((m) => {
      const unsub = "   601s !";
      const expected = "";

      const { node, cpus$, calls, runs } = nodeWithCpus(m);
      node.isBroken = true;
      runs("a", "first");
      m.at(1_000, () => (node.isBroken = false));
      m.at(2_000, () => runs("a", "first", "second"));
      m.expectObservable(cpus$, unsub).toBe(expected);
      m.flush();
      expect(calls).toEqual([
        "0 first=0-3",
        "2000 first=0-3",
        "2000 second=0-3",
        "300000 first=0-3",
        "600000 first=0-3",
      ]);
    }),
  );

  it(
    "sets the CPUs of a container that comes back",
    marbles((m) => {
      const unsub = "   3s !";
      const expected = "";

      const { cpus$, calls, runs } = nodeWithCpus(m);
      runs("a", "first");
      m.at(1_000, () => runs("a"));
      m.at(2_000, () => runs("a", "first"));
      m.expectObservable(cpus$, unsub).toBe(expected);
      m.flush();
      expect(calls).toEqual(["0 first=0-3", "2000 first=0-3"]);
    }),
  );

  it(
    "does nothing without the static policy",
    marbles((m) => {
      const expected = "|";

      m.expectObservable(containerCpus({} as never, { hardware: undefined }, createNodeState())).toBe(expected);
    }),
  );
});
