/** Probes of one container in virtual time. In a diagram in seconds a character is what happens at that second. */
import { concat, defer, filter, ignoreElements, map, merge, type Observable, of, skip, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import { containerId, epochMs, monotonicMs, podUid, sandboxId } from "../../../../src/core/ids.ts";
import type { ProbeVerdict } from "../../../../src/core/pod/podActionsTypes.ts";
import type { PodCommand } from "../../../../src/core/pod/podRegistry.ts";
import { probePhaseMs } from "../../../../src/core/probe/probeSchedule.ts";
import type { Probe, ProbeKind, ProbeOutcome } from "../../../../src/core/probe/probeTypes.ts";
import {
  emptyRuntimeStatus,
  type RuntimeContainer,
  type RuntimeSandbox,
} from "../../../../src/core/runtime/podRuntimeStatus.ts";
import type { PodContext } from "../../../../src/pipelines/podContext.ts";
import { createPodMemories } from "../../../../src/pipelines/podMemories.ts";
import { podProbes } from "../../../../src/pipelines/probes/probes.ts";
import type { Clock } from "../../../../src/ports/clock.ts";
import type { Probers } from "../../../../src/ports/probers.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { marbles, TEST_EPOCH_MS } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

/** A pod whose probes of this period are all due on the whole second. */
function uidOnTheSecond(kinds: readonly ProbeKind[], periodMs: number): string {
  for (let index = 0; ; index += 1) {
    const podUid = `uid-${index}`;
    const phases = kinds.map((kind) => probePhaseMs({ podUid, containerName: "main" }, kind, periodMs));
    if (phases.every((phase) => phase === 0)) return podUid;
  }
}

/** `s--f` is an `s` at once and an `f` in the third second; `(sf)` is both in one second. */
const seconds = (diagram: string): string =>
  (diagram.match(/\([^)]*\)|\S/g) ?? [])
    .map((sign) => (sign === "-" ? "1s" : `${sign} ${1_000 - sign.length}ms`))
    .join(" ") + " ";

const OUTCOMES: Readonly<Record<string, ProbeOutcome>> = {
  s: { result: "success", output: "" },
  f: { result: "failure", output: "no" },
};

interface Scene {
  readonly clock: Clock;
  readonly probes: Readonly<Partial<Record<ProbeKind, Probe>>>;
  /** Results of the attempts of each kind, in order; the last one repeats. Dashes only align them. */
  readonly answers: Readonly<Partial<Record<ProbeKind, string>>>;
  /** When the container starts and whether it runs; default: at once, and it started before the worker. */
  readonly isFresh?: boolean;
  readonly takesMs?: number;
  readonly known?: ProbeVerdict;
}

/** A container with probes, by commands unless they say otherwise, under a worker, and its observed outputs. */
function sceneOf({ clock, probes, answers, isFresh = false, takesMs = 0, known }: Scene) {
  const kinds = Object.keys(probes) as readonly ProbeKind[];
  const uid = uidOnTheSecond(kinds, (probes[kinds[0] ?? "startup"]?.periodSeconds ?? 10) * 1000);
  const probeFor = (kind: ProbeKind): Probe | undefined =>
    probes[kind] === undefined || probes[kind].tcpSocket !== undefined
      ? probes[kind]
      : { ...probes[kind], exec: { command: [kind] } };
  const [startupProbe, livenessProbe, readinessProbe] = (["startup", "liveness", "readiness"] as const).map(probeFor);
  const container: Container = containerOf({
    ...(startupProbe === undefined ? {} : { startupProbe }),
    ...(livenessProbe === undefined ? {} : { livenessProbe }),
    ...(readinessProbe === undefined ? {} : { readinessProbe }),
  });
  const pod = podOf({ uid, spec: { containers: [container] } });
  const identity = { uid: podUid(uid), name: "plain", namespace: "demo" };
  const memory = createPodMemories(monotonicMs(isFresh ? 0 : 1));
  if (known !== undefined) memory.probing.verdicts.set(new Map([["main", known]]));
  const instance = createCell({ id: "c1", isRunning: true, startedMs: 0 });
  const sandbox = { id: sandboxId("s1"), ready: true, ips: ["10.1.0.2"], labels: {}, annotations: {} };
  const runtimeStatus = () => ({
    ...emptyRuntimeStatus(identity.uid, identity.name, identity.namespace, 1),
    sandboxes: [sandbox] as unknown as readonly RuntimeSandbox[],
    containers: [
      {
        id: containerId(instance.value.id),
        name: "main",
        sandboxId: sandboxId("s1"),
        state: instance.value.isRunning ? "running" : "exited",
        startedAt: epochMs(TEST_EPOCH_MS + instance.value.startedMs),
      },
    ] as unknown as readonly RuntimeContainer[],
  });
  const attempts: string[] = [];
  const counts = new Map<string, number>();
  const exec: Probers["exec"] = ({ command: [kind = ""] }) =>
    defer(() => {
      const script = answers[kind as ProbeKind]?.replaceAll(/[- ]/g, "") ?? "s";
      const attempt = counts.get(kind) ?? 0;
      counts.set(kind, attempt + 1);
      attempts.push(`${clock.monotonicMs()} ${kind}`);
      const outcome = OUTCOMES[script[Math.min(attempt, script.length - 1)] ?? "s"] as ProbeOutcome;
      const answer$ = of(outcome);
      return takesMs === 0 ? answer$ : concat(timer(takesMs, clock.scheduler).pipe(ignoreElements()), answer$);
    });
  const tcp: Probers["tcp"] = ({ host }) => {
    attempts.push(`${clock.monotonicMs()} ${host}`);
    return of({ result: "success", output: "" });
  };
  const telemetry = recordingTelemetry();
  const context = {
    identity,
    memory,
    ports: { clock, telemetry, probers: { exec, tcp } },
    node: { nodeIps: ["192.0.2.1"] },
    runtimeStatus,
  } as unknown as PodContext;
  const sync: PodCommand = { phase: "sync", identity, pod };
  const command = createCell<PodCommand>(sync);
  const outputs$ = podProbes(() => context, command.changes$, instance.changes$);
  const verdictOf = (): ProbeVerdict | undefined => memory.probing.verdicts.value.get("main");
  /** Each new verdict: started, ready, dead; or a dot when it is none of them. */
  const verdicts$ = memory.probing.verdicts.changes$.pipe(
    filter(() => verdictOf() !== undefined),
    map(() => {
      const verdict = verdictOf();
      if (verdict?.live === false) return "d";
      return verdict?.ready === true ? "r" : verdict?.started === true ? "u" : ".";
    }),
  );
  const running$ = <T>(seen$: Observable<T>): Observable<T> => merge(seen$, outputs$.pipe(ignoreElements()));
  const terminating: PodCommand = { ...sync, phase: "terminating", graceSeconds: 30, override: undefined };
  return { outputs$, verdicts$, running$, attempts, instance, sandbox, command, terminating, sync, telemetry, memory };
}

describe("the address", () => {
  it(
    "is that of the container's own sandbox, not the one that the pod's status still shows",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   2s !";
      const expected = "ur";

      const scene = sceneOf({
        clock,
        probes: { readiness: { periodSeconds: 1, tcpSocket: { port: 80 } } },
        answers: {},
      });
      scene.memory.reported.status = { podIPs: [{ ip: "10.1.0.3" }] };
      scene.sandbox.ready = false;
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
      flush();
      expect(scene.attempts).toEqual(["1000 10.1.0.2"]);
    }),
  );
});

describe("readiness", () => {
  it(
    "follows its thresholds: two successes to become ready, three failures to stop being it",
    marbles(({ clock, expectObservable }) => {
      const attempts = "-sfssffsfffss";
      const unsub = "   14s !";
      const expected = "u---r-----u-r";

      const scene = sceneOf({
        clock,
        probes: { readiness: { periodSeconds: 1, successThreshold: 2, failureThreshold: 3 } },
        answers: { readiness: attempts },
      });
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
    }),
  );

  const everySecond = { readiness: { periodSeconds: 1, failureThreshold: 1 } };

  it(
    "is probed as soon as a new container runs",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   1500ms !";
      const expected = "(ur)";

      const scene = sceneOf({ clock, probes: everySecond, answers: { readiness: "s" }, isFresh: true });
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(expected);
      flush();
      expect(scene.attempts).toEqual(["0 readiness", "1000 readiness"]);
    }),
  );

  it(
    "does not change for a failure of the first probe of a new container",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   1500ms !";
      const expected = "ur";

      const attempts = "fs";

      const scene = sceneOf({ clock, probes: everySecond, answers: { readiness: attempts }, isFresh: true });
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
    }),
  );

  it(
    "records no event for a failure of the first probe of a new container",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   500ms !";
      const expected = "---";

      const scene = sceneOf({ clock, probes: everySecond, answers: { readiness: "f" }, isFresh: true });
      expectObservable(scene.outputs$, unsub).toBe(expected);
      flush();
      expect(scene.attempts).toEqual(["0 readiness"]);
    }),
  );

  it(
    "waits for the initial delay, counted from the start of the container",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   6s !";
      const expected = "u--r";

      const scene = sceneOf({
        clock,
        probes: { readiness: { periodSeconds: 1, initialDelaySeconds: 3 } },
        answers: { readiness: "s" },
        isFresh: true,
      });
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
    }),
  );

  const READY = { started: true, ready: true, live: true, containerId: containerId("c1") };

  it(
    "keeps its verdict over a restart of the kubelet, until enough probes contradict it",
    marbles(({ clock, expectObservable }) => {
      const attempts = "-ff";
      const unsub = "   4s !";
      const expected = "r-u";

      const probes = { readiness: { periodSeconds: 1, failureThreshold: 2 } };
      const scene = sceneOf({ clock, probes, answers: { readiness: attempts }, known: READY });
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
    }),
  );

  it(
    "forgets the verdict of an earlier instance of the container",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   4s !";
      const expected = "u";

      const probes = { readiness: { periodSeconds: 1, failureThreshold: 2 } };
      const known = { ...READY, containerId: containerId("c0") };
      const scene = sceneOf({ clock, probes, answers: { readiness: "ff" }, known });
      expectObservable(scene.running$(scene.verdicts$.pipe(skip(1))), unsub).toBe(expected);
    }),
  );

  it(
    "is probed while the pod terminates, and can turn false then",
    marbles(({ clock, expectObservable, at }) => {
      const attempts = "-ssff";
      const unsub = "   8s !";
      const expected = "ur-u";

      const scene = sceneOf({
        clock,
        probes: { readiness: { periodSeconds: 1, failureThreshold: 1 } },
        answers: { readiness: attempts },
      });
      at(2_500, () => scene.command.set(scene.terminating));
      at(3_500, () => scene.command.set({ ...scene.sync, phase: "terminated", remove: false }));
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
    }),
  );
});

describe("liveness", () => {
  const probes = { liveness: { periodSeconds: 1, failureThreshold: 2 } };

  it(
    "fails after consecutive failures, then pauses until the next instance",
    marbles(({ clock, expectObservable, at, flush }) => {
      const attempts = "-sff---ss";
      const unsub = "   8500ms !";
      const expected = "r--d--r";

      const scene = sceneOf({ clock, probes, answers: { liveness: attempts } });
      at(5_500, () => scene.instance.set({ id: "c1", isRunning: false, startedMs: 0 }));
      at(6_000, () => scene.instance.set({ id: "c2", isRunning: true, startedMs: 6_000 }));
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
      flush();
      expect(scene.attempts).toEqual([
        "1000 liveness",
        "2000 liveness",
        "3000 liveness",
        "7000 liveness",
        "8000 liveness",
      ]);
    }),
  );

  it(
    "ends when the pod terminates: its last verdict no longer causes a kill",
    marbles(({ clock, expectObservable, at, flush }) => {
      const attempts = "-ff";
      const unsub = "   6s !";
      const expected = "r-dr";

      const scene = sceneOf({ clock, probes, answers: { liveness: attempts } });
      at(3_000, () => scene.command.set(scene.terminating));
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
      flush();
      expect(scene.attempts).toEqual(["1000 liveness", "2000 liveness"]);
    }),
  );

  it(
    "records each failure as an event, with the probe's output",
    marbles(({ clock, expectObservable }) => {
      const attempts = "-sfff";
      const unsub = "   5s !";
      const expected = "--ee";

      const scene = sceneOf({ clock, probes, answers: { liveness: attempts } });
      const messages$ = scene.outputs$.pipe(
        map((output) => (output.kind === "event" ? [output.event.reason, output.event.message] : output)),
      );
      expectObservable(messages$, unsub).toBe(seconds(expected), { e: ["Unhealthy", "Liveness probe failed: no"] });
    }),
  );
});

describe("startup", () => {
  it(
    "delays the other probes until it has succeeded, and does not run again",
    marbles(({ clock, expectObservable, flush }) => {
      const startup = "  -ffs";
      const readiness = "---ss";
      const unsub = "    4500ms !";
      const expected = " .--(ur)";

      const every = { periodSeconds: 1, failureThreshold: 5 };
      const scene = sceneOf({
        clock,
        probes: { startup: every, readiness: every },
        answers: { startup, readiness },
      });
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
      flush();
      expect(scene.attempts).toEqual([
        "1000 startup",
        "2000 startup",
        "3000 startup",
        "3000 readiness",
        "4000 readiness",
      ]);
    }),
  );

  it(
    "that never passes makes the container one that is not live",
    marbles(({ clock, expectObservable }) => {
      const attempts = "-fff";
      const unsub = "   6s !";
      const expected = ".--d";

      const probes = { startup: { periodSeconds: 1, failureThreshold: 3 } };
      const scene = sceneOf({ clock, probes, answers: { startup: attempts } });
      expectObservable(scene.running$(scene.verdicts$), unsub).toBe(seconds(expected));
    }),
  );
});

describe("schedule", () => {
  it(
    "keeps its schedule when an attempt takes long, and skips missed attempts",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   8s !";
      const expected = "";

      const probes = { liveness: { periodSeconds: 1, failureThreshold: 3 } };
      const scene = sceneOf({ clock, probes, answers: { liveness: "s" }, takesMs: 1_300 });
      expectObservable(scene.outputs$, unsub).toBe(expected);
      flush();
      expect(scene.attempts).toEqual(["1000 liveness", "3000 liveness", "5000 liveness", "7000 liveness"]);
    }),
  );

  const PROBED = { readiness: { periodSeconds: 1 } };
  const countsOf = ({ telemetry }: ReturnType<typeof sceneOf>) =>
    [...telemetry.samples].filter(([series]) => series.startsWith("prober_"));

  it(
    "counts attempts by result under upstream's names",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   4s !";
      const expected = "3500ms c";

      const scene = sceneOf({ clock, probes: PROBED, answers: { readiness: "sfs" } });
      const counts = () => countsOf(scene).map(([series, value]) => [series.split("{")[0], value]);
      const counts$ = timer(3_500, clock.scheduler).pipe(map(counts));
      expectObservable(merge(scene.outputs$.pipe(ignoreElements()), counts$), unsub).toBe(expected, {
        c: [
          ["prober_probe_total", 2],
          ["prober_probe_duration_seconds", 2],
          ["prober_probe_total", 1],
        ],
      });
    }),
  );

  it(
    "forgets the counts with the container",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   4s !";
      const expected = "---";

      const scene = sceneOf({ clock, probes: PROBED, answers: { readiness: "sfs" } });
      expectObservable(scene.outputs$.pipe(ignoreElements()), unsub).toBe(expected);
      flush();
      expect(scene.attempts.length).toBe(3);
      expect(countsOf(scene)).toEqual([]);
    }),
  );

  const readinessChanges = (clock: Clock) => {
    const probes = { readiness: { periodSeconds: 1, failureThreshold: 1 } };
    return sceneOf({ clock, probes, answers: { readiness: "ssffs" }, takesMs: 20 });
  };

  it(
    "logs a result only when it changes",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   6s !";
      const expected = "---";

      const scene = readinessChanges(clock);
      expectObservable(scene.running$(scene.verdicts$.pipe(ignoreElements())), unsub).toBe(expected);
      flush();
      const said = scene.telemetry.lines.filter(({ message }) => message.startsWith("Probe "));
      expect(said.map(({ level, message, fields }) => [level, message, fields["container"], fields["probe"]])).toEqual([
        ["info", "Probe passed", "main", "readiness"],
        ["warn", "Probe failed", "main", "readiness"],
        ["info", "Probe passed", "main", "readiness"],
      ]);
    }),
  );

  it(
    "observes how long successful attempts took",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   6s !";
      const expected = "---";

      const scene = readinessChanges(clock);
      expectObservable(scene.running$(scene.verdicts$.pipe(ignoreElements())), unsub).toBe(expected);
      flush();
      const durations = [...scene.telemetry.observations].filter(([series]) => series.startsWith("prober_"));
      expect(durations.map(([series, values]) => [series.split("{")[0], values])).toEqual([
        ["prober_probe_duration_seconds", [0.02, 0.02, 0.02]],
      ]);
    }),
  );
});
