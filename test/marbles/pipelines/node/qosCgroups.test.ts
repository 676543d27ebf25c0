/** The cgroups of the QoS classes follow their pods, and changes by other programs are undone. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import type { ErrorCode } from "../../../../src/core/errors.ts";
import type { Registry } from "../../../../src/core/pod/podRegistryTypes.ts";
import { qosCgroups } from "../../../../src/pipelines/node/qosCgroups.ts";
import type { Cgroups } from "../../../../src/ports/cgroup.ts";
import { createSimCgroups } from "../../../../src/sim/host/simCgroups.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const [BURSTABLE, BEST_EFFORT] = ["/kubepods/burstable", "/kubepods/besteffort"] as const;
const MI = 2 ** 20;

interface Options {
  readonly qosReserved?: { readonly memoryPercent: number; readonly nodeBytes: number };
  fault?(operation: keyof Cgroups, name: string): ErrorCode | undefined;
}

/** Cgroups kept for the pods of a registry; a write takes 1 ms. */
function world({ clock }: Marbles, { qosReserved, fault }: Options = {}) {
  const calls: string[] = [];
  const cgroups = createSimCgroups({
    clock,
    latencyMs: 1,
    fault: (operation, name) => {
      calls.push(`${operation} ${name}`);
      return fault?.(operation, name);
    },
  });
  const telemetry = recordingTelemetry();
  const state = createNodeState();
  const setPods = (...pods: readonly Pod[]): void => {
    const records = new Map(pods.map((pod) => [pod.metadata.uid, { allocated: pod, state: "syncing" }]));
    state.registry.set({ ...state.registry.value, records } as unknown as Registry);
  };
  const config = { cgroupRoot: "/", memoryQos: undefined, qosReserved };
  return { cgroups, calls, telemetry, setPods, stream$: qosCgroups({ cgroups, clock, telemetry }, config, state) };
}

const requesting = (uid: string, requests: Record<string, string>, limits = {}): Pod =>
  podOf({ uid, spec: { containers: [containerOf({ resources: { requests, limits } })] } });

describe("qosCgroups", () => {
  it(
    "undoes a change by another program within a minute",
    marbles((m) => {
      const unsub = "   10m !";
      const expected = "-";

      const { cgroups, setPods, stream$ } = world(m);
      setPods(requesting("a", { cpu: "500m" }));
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(10, () => cgroups.tamper(BURSTABLE, { cpuShares: 4 }));
      m.at(59_990, () => expect(cgroups.all().get(BURSTABLE)).toEqual({ cpuShares: 4 }));
      m.at(60_010, () => expect(cgroups.all().get(BURSTABLE)).toEqual({ cpuShares: 512 }));
      m.flush();
    }),
  );

  it(
    "logs each change by another program once",
    marbles((m) => {
      const unsub = "   10m !";
      const expected = "-";

      const { cgroups, telemetry, setPods, stream$ } = world(m);
      setPods(requesting("a", { cpu: "500m" }));
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(10, () => cgroups.tamper(BURSTABLE, { cpuShares: 4 }));
      m.at(200_000, () => cgroups.tamper(BEST_EFFORT, { cpuShares: 9 }));
      m.flush();
      expect(cgroups.all().get(BEST_EFFORT)).toEqual({ cpuShares: 2 });
      expect(telemetry.lines.map(({ level, message, fields }) => ({ level, message, ...fields }))).toEqual(
        [
          { cgroup: BURSTABLE, file: `${BURSTABLE}/cpuShares`, found: "4", wanted: "512" },
          { cgroup: BEST_EFFORT, file: `${BEST_EFFORT}/cpuShares`, found: "9", wanted: "2" },
        ].map((fields) => ({
          level: "warn",
          message: "Another program changed a cgroup of the node: set it back",
          ...fields,
        })),
      );
    }),
  );

  it(
    "logs a value once that is changed again before every check, and again after it was in order",
    marbles((m) => {
      const unsub = "   10m !";
      const expected = "-";

      const { cgroups, telemetry, stream$ } = world(m);
      m.expectObservable(stream$, unsub).toBe(expected);
      for (const atMs of [30_000, 90_000, 150_000, 300_000])
        m.at(atMs, () => cgroups.tamper(BURSTABLE, { cpuShares: 9 }));
      m.flush();
      expect(telemetry.lines).toHaveLength(2);
    }),
  );

  it(
    "checks all classes as soon as a pod comes",
    marbles((m) => {
      const unsub = "   10s !";
      const expected = "-";

      const { cgroups, setPods, stream$ } = world(m);
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(1_000, () => {
        cgroups.tamper(BEST_EFFORT, { cpuShares: 9 });
        setPods(podOf({ uid: "a" }));
      });
      m.at(1_010, () => expect(cgroups.all().get(BEST_EFFORT)).toEqual({ cpuShares: 2 }));
      m.flush();
    }),
  );

  it(
    "writes nothing for a pod whose status alone has changed",
    marbles((m) => {
      const unsub = "   10s !";
      const expected = "-";

      const { calls, setPods, stream$ } = world(m);
      const pod = requesting("a", { cpu: "500m" });
      setPods(pod);
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(1_000, () => {
        calls.length = 0;
        setPods({ ...pod, status: { phase: "Running" } });
      });
      m.flush();
      expect(calls).toEqual([]);
    }),
  );

  it(
    "creates a removed cgroup again as soon as a pod goes",
    marbles((m) => {
      const unsub = "   10s !";
      const expected = "-";

      const { cgroups, telemetry, setPods, stream$ } = world(m);
      setPods(podOf({ uid: "a" }));
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(2_000, () => {
        cgroups.clear();
        setPods();
      });
      m.flush();
      expect([...cgroups.all().keys()]).toEqual(["/kubepods", BEST_EFFORT, BURSTABLE]);
      expect(telemetry.lines).not.toEqual([]);
    }),
  );

  it(
    "logs no change of its own",
    marbles((m) => {
      const unsub = "   10m !";
      const expected = "-";

      const { cgroups, telemetry, setPods, stream$ } = world(m);
      setPods(requesting("a", { cpu: "500m" }));
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(100_000, () => setPods(requesting("a", { cpu: "500m" }), requesting("b", { cpu: "500m" })));
      m.flush();
      expect(cgroups.all().get(BURSTABLE)).toEqual({ cpuShares: 1024 });
      expect(telemetry.lines).toEqual([]);
    }),
  );

  it(
    "writes a failed limit again at the next check",
    marbles((m) => {
      const unsub = "   10m !";
      const expected = "-";

      let failures = 1;
      const fault = (operation: keyof Cgroups, name: string): ErrorCode | undefined =>
        operation === "ensure" && name === BURSTABLE && failures-- > 0 ? "Unavailable" : undefined;
      const { cgroups, telemetry, setPods, stream$ } = world(m, { fault });
      setPods(requesting("a", { cpu: "500m" }));
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(59_990, () => expect(cgroups.all().has(BURSTABLE)).toBe(false));
      m.at(60_010, () => expect(cgroups.all().get(BURSTABLE)).toEqual({ cpuShares: 512 }));
      m.flush();
      expect(telemetry.lines.map(({ level }) => level)).toEqual(["error"]);
    }),
  );

  it(
    "reads unchanged limits and writes none of them",
    marbles((m) => {
      const unsub = "   90s !";
      const expected = "-";

      const { calls, stream$ } = world(m);
      m.expectObservable(stream$, unsub).toBe(expected);
      m.flush();
      expect(calls).toEqual(
        ["ensure", "correct"].flatMap((operation) => [`${operation} ${BURSTABLE}`, `${operation} ${BEST_EFFORT}`]),
      );
    }),
  );
});

describe("qosCgroups with qosReserved", () => {
  const qosReserved = { memoryPercent: 100, nodeBytes: 1000 * MI };
  const same = { cpu: "1", memory: "600Mi" };

  it(
    "limits the memory of a class to its use while it uses more than the limit, then to the limit",
    marbles((m) => {
      const unsub = "   10m !";
      const expected = "-";

      const { cgroups, telemetry, setPods, stream$ } = world(m, { qosReserved });
      const limitOf = (name: string) => cgroups.all().get(name)?.memoryLimitBytes;
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(500, () => {
        expect([limitOf(BURSTABLE), limitOf(BEST_EFFORT)]).toEqual([1000 * MI, 1000 * MI]);
        cgroups.useMemory(BEST_EFFORT, 450 * MI);
        setPods(requesting("g", same, same));
      });
      m.at(1_000, () => expect([limitOf(BURSTABLE), limitOf(BEST_EFFORT)]).toEqual([400 * MI, 450 * MI]));
      m.at(50_000, () => cgroups.useMemory(BEST_EFFORT, 100 * MI));
      m.at(59_990, () => expect(limitOf(BEST_EFFORT)).toBe(450 * MI));
      m.at(60_010, () => expect(limitOf(BEST_EFFORT)).toBe(400 * MI));
      m.flush();
      expect(telemetry.lines).toEqual([]);
    }),
  );

  it(
    "sets no limit on a class that would have no memory left",
    marbles((m) => {
      const unsub = "   10s !";
      const expected = "-";

      const { cgroups, setPods, stream$ } = world(m, { qosReserved: { memoryPercent: 100, nodeBytes: 600 * MI } });
      cgroups.useMemory(BURSTABLE, 5 * MI);
      setPods(requesting("g", same, same));
      m.expectObservable(stream$, unsub).toBe(expected);
      m.flush();
      expect(cgroups.all().get(BURSTABLE)?.memoryLimitBytes).toBeUndefined();
      expect(cgroups.all().get(BEST_EFFORT)?.memoryLimitBytes).toBeUndefined();
    }),
  );
});
