import {
  catchError,
  defer,
  filter,
  ignoreElements,
  map,
  merge,
  mergeWith,
  NEVER,
  type Observable,
  observeOn,
  of,
  Subject,
  switchMap,
  tap,
  throwError,
  timer,
} from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { type PodUid, podUid } from "../../../../src/core/ids.ts";
import * as cri from "../../../../src/gen/cri.ts";
import { measuredPods } from "../../../../src/core/runtime/measuredPods.ts";
import { pleg } from "../../../../src/pipelines/runtime/pleg.ts";
import type { RuntimeService } from "../../../../src/ports/cri.ts";
import type { RuntimeSignal } from "../../../../src/ports/kubeletPorts.ts";
import type { Logger } from "../../../../src/ports/telemetry.ts";
import { createSimFiles } from "../../../../src/sim/host/simFiles.ts";
import { createSimLogFiles } from "../../../../src/sim/host/simLogFiles.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import type { Sequence } from "../../../../src/state/sequence.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const { CONTAINER_RUNNING, CONTAINER_EXITED } = cri.ContainerState;
const UID_LABEL = "io.kubernetes.pod.uid";

interface Filtered {
  readonly filter: { readonly labelSelector: Readonly<Record<string, string>> } | undefined;
}

/** A runtime of a map: pod UID to the states of its containers, which are named `<uid>-c0`, `<uid>-c1` and so on. */
function fakeRuntime({ clock }: Pick<Marbles, "clock">, latencyMs: number, statusMs: number) {
  const pods = new Map<string, readonly cri.ContainerState[]>();
  const looks: string[] = [];
  const fake = {
    pods,
    /** Pods, or `all` for the audit, whose lists never answer. */
    hung: new Set<string>(),
    /** Pods, or `all`, whose lists fail. */
    failing: new Set<string>(),
    /** Inspections and relists, as `<ms> <uid>` and `<ms> all`. */
    looks,
    runtime: undefined as unknown as RuntimeService,
  };
  const labels = (uid: string) => ({
    [UID_LABEL]: uid,
    "io.kubernetes.pod.name": uid,
    "io.kubernetes.pod.namespace": "ns",
  });
  /** The state when the request arrives, sent with half of the latency still ahead. */
  const answer = <T>({ filter }: Filtered, list: (uids: readonly string[]) => T): Observable<T> =>
    defer(() => {
      const wanted = filter?.labelSelector[UID_LABEL];
      if (fake.hung.has(wanted ?? "all")) return NEVER;
      if (fake.failing.has(wanted ?? "all")) return throwError(() => kubeletError("Unavailable", "down"));
      const found = list([...pods.keys()].filter((uid) => wanted === undefined || uid === wanted));
      return timer(latencyMs, clock.scheduler).pipe(map(() => found));
    });
  const containersOf = (uid: string) =>
    (pods.get(uid) ?? []).map((state, index) => ({
      id: `${uid}-c${index}`,
      podSandboxId: `${uid}-s`,
      state,
      labels: labels(uid),
    }));
  fake.runtime = {
    listPodSandbox: (request: Filtered) =>
      defer(() => {
        looks.push(`${clock.monotonicMs()} ${request.filter?.labelSelector[UID_LABEL] ?? "all"}`);
        return answer(request, (uids) => ({
          items: uids.map((uid) => cri.PodSandbox.create({ id: `${uid}-s`, labels: labels(uid) })),
        }));
      }),
    listContainers: (request: Filtered) =>
      answer(request, (uids) => ({ containers: uids.flatMap(containersOf).map((each) => cri.Container.create(each)) })),
    podSandboxStatus: ({ podSandboxId: id }: { podSandboxId: string }) =>
      of({ status: cri.PodSandboxStatus.create({ id, labels: labels(id.slice(0, -2)) }) }),
    containerStatus: ({ containerId: id }: { containerId: string }) =>
      defer(() => {
        const found = containersOf(id.replace(/-c.*/, "")).find((each) => each.id === id);
        const answer = { status: cri.ContainerStatus.create(found) };
        return statusMs === 0 ? of(answer) : timer(statusMs, clock.scheduler).pipe(map(() => answer));
      }),
  } as unknown as RuntimeService;
  return fake;
}

const CONFIG = { relistPeriodMs: 1_000, resyncPeriodMs: 30_000, inspectionDeadlineMs: 100, inspectionsAtOnce: 2 };

/** The pipeline on the fake, its loop closed through the scheduler. `output$` also emits each inspection. */
function follow(
  m: Marbles,
  signals$: Observable<RuntimeSignal>,
  { latencyMs = 2, statusMs = 0, records = [] as readonly string[], sequence = undefined as Sequence | undefined } = {},
) {
  const fake = fakeRuntime(m, latencyMs, statusMs);
  const state = createNodeState();
  const requests = new Subject<PodUid>();
  const files = createSimFiles(m);
  const logFiles = createSimLogFiles({ clock: m.clock, files });
  const telemetry = recordingTelemetry();
  const inspections = new Subject<string>();
  const log = { ...telemetry.log, verbose: (...line: VerboseLine) => inspections.next(describeInspection(line)) };
  const ports = { runtime: fake.runtime, clock: m.clock, files, logFiles, telemetry: { ...telemetry, log } };
  const known = new Set(records);
  const output$ = pleg({ signals$, requests$: requests.pipe(observeOn(m.scheduler)) }, ports, CONFIG, {
    ...state,
    ...(sequence && { sequence }),
    hasRecord: (uid) => known.has(uid),
  }).pipe(
    tap((output) => {
      if (output.kind === "inspectAgain") requests.next(output.uid);
    }),
    map((output) => (output.kind === "inspectAgain" ? `again ${output.uid}` : output.kind)),
    mergeWith(inspections.pipe(filter((text) => text !== ""))),
  );
  return { fake, state, known, output$, ask: (uid: string) => requests.next(podUid(uid)), telemetry };
}

type VerboseLine = Parameters<Logger["verbose"]>;

/** Formats the log line of an inspection; "" for other lines. */
function describeInspection([, , message, fields]: VerboseLine): string {
  if (message !== "Pod inspected") return "";
  const { podUid: uid, containers } = fields() as { readonly podUid: string; readonly containers: readonly string[] };
  return `${uid} ${containers.map((text) => text.split(": ")[1]).join(",")}`.trim();
}

const streaming: RuntimeSignal = { kind: "streaming", via: "cri" };
const unsupported: RuntimeSignal = { kind: "unsupported" };
const lost: RuntimeSignal = { kind: "lost", reason: "broken", isAway: false };
const hint = (uid: string | undefined, container?: string): RuntimeSignal => ({
  kind: "hint",
  podUid: uid === undefined ? undefined : podUid(uid),
  containerId: container,
  change: undefined,
  aheadOfStatus: false,
});

describe("pleg: inspections", () => {
  it(
    "inspects every pod at the first relist, and a pod for each hint about it",
    marbles((m) => {
      const signals = " s---------h---------";
      const unsub = "   20ms !";
      const expected = "c-d-(ef)----g";

      const { fake, output$, state } = follow(m, m.hot(signals, { s: streaming, h: hint("a") }));
      fake.pods.set("a", [CONTAINER_RUNNING]).set("b", []);
      m.at(9, () => fake.pods.set("a", [CONTAINER_EXITED]));
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        e: "a running",
        f: "b",
        g: "a exited",
      });
      m.flush();
      expect(fake.looks).toEqual(["0 all", "2 a", "2 b", "10 a"]);
      expect(state.relistedAt.value).toBe(2);
    }),
  );

  it(
    "ends with a broken invariant when an inspection is not newer than the one before",
    marbles((m) => {
      const signals = " s---------h---";
      const expected = "------------(a|)";

      const signals$ = m.hot(signals, { s: streaming, h: hint("a") });
      const { fake, output$ } = follow(m, signals$, { sequence: { next: () => 1 } });
      fake.pods.set("a", [CONTAINER_RUNNING]);
      const ended$ = output$.pipe(
        ignoreElements(),
        catchError((thrown: unknown) => of((thrown as Error).message)),
      );
      m.expectObservable(ended$).toBe(expected, {
        a: "an inspection of pod a is older than the one before",
      });
    }),
  );

  it(
    "finds the pod of a hint that names only a container, from the relist or from a later inspection",
    marbles((m) => {
      const signals = " s---------h---------r---------i---------j";
      const unsub = "   50ms !";
      const expected = "c-d-a-------a---------n---------n---------n";

      const signals$ = m.hot(signals, {
        s: streaming,
        h: hint(undefined, "a-c0"),
        r: hint("n"),
        i: hint(undefined, "n-c0"),
        j: hint(undefined, "n-s"),
      });
      const { fake, output$ } = follow(m, signals$);
      fake.pods.set("a", [CONTAINER_RUNNING]);
      m.at(15, () => fake.pods.set("n", [CONTAINER_RUNNING]));
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        a: "a running",
        n: "n running",
      });
    }),
  );

  it(
    "inspects a pod again when a hint about an unknown container arrived during its inspection",
    marbles((m) => {
      const signals = " s---------r----h----";
      const unsub = "   50ms !";
      const expected = "c-d--------------(ab)---e";

      const signals$ = m.hot(signals, { s: streaming, r: hint("n"), h: hint(undefined, "n-c0") });
      const { fake, output$ } = follow(m, signals$, { statusMs: 5 });
      m.at(9, () => fake.pods.set("n", [CONTAINER_RUNNING]));
      // It ends after its status was read, and before anyone knows that it is of this pod.
      m.at(14, () => fake.pods.set("n", [CONTAINER_EXITED]));
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        a: "n running",
        b: "again n",
        e: "n exited",
      });
    }),
  );

  it(
    "does not inspect again for a hint older than the inspection, nor for containers of unknown pods",
    marbles((m) => {
      const signals = " s------hi-r---------";
      const unsub = "   50ms !";
      const expected = "c-d---------a";

      const signals$ = m.hot(signals, {
        s: streaming,
        h: hint(undefined, "n-c0"),
        i: hint(undefined, "stranger"),
        r: hint("n"),
      });
      const { fake, output$ } = follow(m, signals$);
      m.at(5, () => fake.pods.set("n", [CONTAINER_RUNNING]));
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        a: "n running",
      });
      m.flush();
      expect(fake.looks).toEqual(["0 all", "10 n"]);
    }),
  );

  it(
    "inspects a pod once more for all hints that came during an inspection of it",
    marbles((m) => {
      const signals = " s---------hhhhhh----";
      const unsub = "   50ms !";
      const expected = "c-----d---------a-----a";

      const signals$ = m.hot(signals, { s: streaming, h: hint("a") });
      const { fake, output$ } = follow(m, signals$, { latencyMs: 6 });
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        a: "a",
      });
      m.flush();
      expect(fake.looks).toEqual(["0 all", "10 a", "16 a"]);
    }),
  );

  it(
    "inspects again shortly after an announced exit that does not show yet, and at most once more",
    marbles((m) => {
      const signals = " s---------x---------";
      const unsub = "   200ms !";
      const expected = "c-d-a 27ms a 9ms b 9ms b";

      const exit = { ...hint(undefined, "a-c0"), aheadOfStatus: true };
      const { fake, output$ } = follow(m, m.hot(signals, { s: streaming, x: exit }));
      fake.pods.set("a", [CONTAINER_RUNNING]);
      m.at(35, () => fake.pods.set("a", [CONTAINER_EXITED]));
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        a: "a running",
        b: "a exited",
      });
      m.flush();
      expect(fake.looks).toEqual(["0 all", "2 a", "30 a", "40 a", "50 a"]);
    }),
  );

  it(
    "finds an announced exit that a busy runtime shows seconds later, long before the relist",
    marbles((m) => {
      const signals = " s---------x---------";
      const unsub = "   10s !";
      const expected = "3212ms a 3199ms a";

      const exit = { ...hint(undefined, "a-c0"), aheadOfStatus: true };
      const { fake, output$, state } = follow(m, m.hot(signals, { s: streaming, x: exit }));
      fake.pods.set("a", [CONTAINER_RUNNING]);
      m.at(3_000, () => fake.pods.set("a", [CONTAINER_EXITED]));
      const exits$ = output$.pipe(filter((output) => output === "a exited"));
      m.expectObservable(exits$, unsub).toBe(expected, { a: "a exited" });
      m.flush();
      expect([state.relistedAt.value, fake.looks.length]).toEqual([2, 13]);
    }),
  );

  it(
    "inspects at once when the container of an announced exit is unknown",
    marbles((m) => {
      const signals = " s---------x---------";
      const unsub = "   200ms !";
      const expected = "c-d-a-------a";

      const exit = { ...hint("a", "a-c9"), aheadOfStatus: true };
      const { fake, output$ } = follow(m, m.hot(signals, { s: streaming, x: exit }));
      fake.pods.set("a", [CONTAINER_RUNNING]);
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        a: "a running",
      });
      m.flush();
      expect(fake.looks).toEqual(["0 all", "2 a", "10 a"]);
    }),
  );
});

describe("pleg: failures and bounds", () => {
  it(
    "repeats a failed inspection after a second, for as long as it fails",
    marbles((m) => {
      const signals = " s---------h";
      const unsub = "   4s !";
      const expected = "c-d 1007ms f 999ms f 999ms f-a";

      const { fake, output$, telemetry } = follow(m, m.hot(signals, { s: streaming, h: hint("a") }));
      fake.failing.add("a");
      m.at(2_015, () => fake.failing.delete("a"));
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        f: "again a",
        a: "a",
      });
      m.flush();
      expect(fake.looks).toEqual(["0 all", "10 a", "1010 a", "2010 a", "3010 a"]);
      expect(telemetry.samples.get('rxlet_inspections_total{result="Unavailable"}')).toBe(3);
      expect(Object.fromEntries(telemetry.observations)).toEqual({
        kubelet_pleg_relist_duration_seconds: [0.002],
        kubelet_pleg_pod_relist_duration_seconds: [0.002],
      });
    }),
  );

  it(
    "ends a hung inspection at its deadline, and delays no other pod meanwhile",
    marbles((m) => {
      const signals = " s---------hi---j----";
      const unsub = "   1500ms !";
      const expected = "c-d----------a---b 1092ms f";

      const signals$ = m.hot(signals, { s: streaming, h: hint("hung"), i: hint("a"), j: hint("b") });
      const { fake, output$ } = follow(m, signals$);
      fake.hung.add("hung");
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        a: "a",
        b: "b",
        f: "again hung",
      });
    }),
  );

  it(
    "limits concurrent inspections; the others wait",
    marbles((m) => {
      const signals = " s---------";
      const unsub = "   50ms !";
      const expected = "s 9ms t 9ms (ab) 6ms (cd) 6ms e";

      const { fake, output$ } = follow(m, m.hot(signals, { s: streaming }), { latencyMs: 10 });
      const names = { a: "a", b: "b", c: "c", d: "d", e: "e" };
      for (const uid of Object.keys(names)) fake.pods.set(uid, []);
      m.expectObservable(output$, unsub).toBe(expected, {
        s: "streamChanged",
        t: "relisted",
        ...names,
      });
      m.flush();
      expect(fake.looks).toEqual(["0 all", "10 a", "10 b", "20 c", "20 d", "30 e"]);
    }),
  );

  it.each([
    { containers: 63, looks: ["2 a", "100 a", "110 a", "120 a", "130 a", "140 a", "150 a", "160 a"] },
    { containers: 64, looks: ["2 a", "100 a", "228 a"] },
    { containers: 600, looks: ["2 a", "100 a", "1100 a"] },
  ])("spaces the inspections of a pod by its containers: $containers", ({ containers, looks }) => {
    marbles((m) => {
      const signals = " s---------";
      const unsub = "   1500ms !";
      const expected = "-";

      const { fake, output$, ask } = follow(m, m.hot(signals, { s: streaming }));
      fake.pods.set("a", Array<cri.ContainerState>(containers).fill(CONTAINER_RUNNING));
      for (let ms = 100; ms <= 160; ms += 10) m.at(ms, () => ask("a"));
      m.expectObservable(output$.pipe(ignoreElements()), unsub).toBe(expected);
      m.flush();
      expect(fake.looks.filter((look) => look.endsWith(" a"))).toEqual(looks);
    })();
  });

  it(
    "inspects other pods at once while a pod with many containers waits",
    marbles((m) => {
      const signals = " s---------";
      const unsub = "   1500ms !";
      const expected = "-";

      const { fake, output$, ask } = follow(m, m.hot(signals, { s: streaming }));
      fake.pods.set("a", Array<cri.ContainerState>(500).fill(CONTAINER_RUNNING));
      for (const uid of ["a", "a", "b"]) m.at(100, () => ask(uid));
      m.expectObservable(output$.pipe(ignoreElements()), unsub).toBe(expected);
      m.flush();
      expect(fake.looks).toEqual(["0 all", "2 a", "100 a", "100 b", "1100 a"]);
    }),
  );

  it(
    "loses no pod of a relist when an inspection requests another one at once",
    marbles((m) => {
      const signals = new Subject<RuntimeSignal>();
      const { fake, output$ } = follow(m, signals, { latencyMs: 0 });
      const seen: string[] = [];
      fake.runtime = Object.assign(fake.runtime, {
        listPodSandbox: () =>
          of({ items: ["a", "b", "c"].map((id) => cri.PodSandbox.create({ id, labels: { [UID_LABEL]: id } })) }),
        listContainers: () => of({ containers: [] }),
        podSandboxStatus: ({ podSandboxId: id }: { podSandboxId: string }) =>
          of({ status: cri.PodSandboxStatus.create({ id, labels: { [UID_LABEL]: id } }) }),
      });
      const subscription = output$.subscribe({
        next: (output) => {
          seen.push(output);
          if (output === "a" && seen.length < 4) signals.next(hint("a"));
        },
      });
      signals.next(streaming);
      subscription.unsubscribe();
      expect(new Set(seen)).toEqual(new Set(["streamChanged", "relisted", "a", "b", "c"]));
    }),
  );
});

describe("pleg: relists", () => {
  it(
    "finds changes without hints, and inspects only changed pods",
    marbles((m) => {
      const signals = " s";
      const unsub = "   50s !";
      const expected = "c-d-(ab) 29996ms d-(en)";

      const { fake, output$ } = follow(m, m.hot(signals, { s: streaming }));
      fake.pods.set("a", [CONTAINER_RUNNING]).set("b", [CONTAINER_RUNNING]);
      m.at(10_000, () => fake.pods.set("a", [CONTAINER_EXITED]).set("n", []));
      m.expectObservable(output$, unsub).toBe(expected, {
        c: "streamChanged",
        d: "relisted",
        a: "a running",
        b: "b running",
        e: "a exited",
        n: "n",
      });
      m.flush();
      expect(fake.looks).toEqual(["0 all", "2 a", "2 b", "30002 all", "30004 a", "30004 n"]);
    }),
  );

  const paces = [
    ["seldom while a stream is open", streaming, ["0 all", "30000 all", "60000 all"]],
    ["every second while the runtime has no stream", unsupported, ["0 all", "1000 all", "2000 all"]],
    ["every second while the stream is lost", lost, ["0 all", "1000 all", "2000 all"]],
  ] as const;
  it.each(paces)("relists %s, counted from the end of the previous relist", (_when, signal, looks) => {
    marbles((m) => {
      const signals = " s";
      const unsub = "   61s !";
      const expected = "";

      const { fake, output$ } = follow(m, m.hot(signals, { s: signal }), { latencyMs: 0 });
      m.expectObservable(output$.pipe(switchMap(() => NEVER)), unsub).toBe(expected);
      m.flush();
      expect(fake.looks.slice(0, 3)).toEqual(looks);
    })();
  });

  it(
    "relists at once when the stream is lost and again when it is open",
    marbles((m) => {
      const signals = " s----------l 199ms s";
      const unsub = "   1s !";
      const expected = "";

      const signals$ = m.hot(signals, { s: streaming, l: lost });
      const { fake, output$ } = follow(m, signals$);
      m.expectObservable(output$.pipe(switchMap(() => NEVER)), unsub).toBe(expected);
      m.flush();
      expect(fake.looks).toEqual(["0 all", "11 all", "211 all"]);
    }),
  );

  it(
    "repeats a failed or hung relist soon, also while a stream is open: without a listing no pod starts",
    marbles((m) => {
      const signals = " s";
      const unsub = "   3s !";
      const expected = "c 2101ms d";

      const { fake, output$, state } = follow(m, m.hot(signals, { s: streaming }));
      fake.failing.add("all");
      m.at(500, () => {
        fake.failing.delete("all");
        fake.hung.add("all");
      });
      m.at(1_500, () => fake.hung.delete("all"));
      m.expectObservable(output$, unsub).toBe(expected, { c: "streamChanged", d: "relisted" });
      m.flush();
      expect([fake.looks, state.relistedAt.value]).toEqual([["0 all", "1000 all", "2100 all"], 2_102]);
    }),
  );

  it(
    "cancels a relist at the next signal, and uses nothing of it",
    marbles((m) => {
      const signals = " s-l";
      const unsub = "   20ms !";
      const expected = "c-c----d----a";

      const { fake, output$ } = follow(m, m.hot(signals, { s: streaming, l: lost }), { latencyMs: 5 });
      fake.pods.set("a", []);
      m.expectObservable(output$, unsub).toBe(expected, { c: "streamChanged", d: "relisted", a: "a" });
    }),
  );
});

describe("pleg: retained statuses", () => {
  it(
    "keeps the empty status of a pod with a record, and removes it without one",
    marbles((m) => {
      const signals = " s---------h-i-------";
      const unsub = "   20ms !";
      const expected = "";

      const signals$ = m.hot(signals, { s: streaming, h: hint("wanted"), i: hint("stranger") });
      const { output$, state } = follow(m, signals$, { records: ["wanted"] });
      m.expectObservable(output$.pipe(switchMap(() => NEVER)), unsub).toBe(expected);
      m.flush();
      expect(state.runtimeStatuses.values().map((status) => status.podUid)).toEqual(["wanted"]);
    }),
  );

  it(
    "removes the empty status of a pod whose record was removed, at the next relist",
    marbles((m) => {
      const signals = " s---------h";
      const unsub = "   31s !";
      const expected = "";

      const { output$, state, known, fake } = follow(m, m.hot(signals, { s: streaming, h: hint("a") }), {
        records: ["a"],
      });
      fake.pods.set("b", []);
      m.at(20, () => known.delete("a"));
      const kept: string[][] = [];
      for (const ms of [25, 30_010])
        m.at(ms, () => kept.push(state.runtimeStatuses.values().map((status) => status.podUid)));
      m.expectObservable(output$.pipe(switchMap(() => NEVER)), unsub).toBe(expected);
      m.flush();
      expect(kept).toEqual([["b", "a"], ["b"]]);
    }),
  );

  it(
    "knows a pod as listed while its inspection is late, and the listing of no pod that was inspected since",
    marbles((m) => {
      const signals = " s";
      const unsub = "   40ms !";
      const expected = "";

      const { fake, state, output$ } = follow(m, m.hot(signals, { s: streaming }), { statusMs: 20 });
      fake.pods.set("a", [CONTAINER_RUNNING]);
      const seen: string[] = [];
      const look = () => {
        const pods = measuredPods(state.runtimeStatuses.values(), state.listing.value?.uninspected);
        const states = pods.map(
          ({ podUid: uid, containers }) => `${uid} ${containers.map((each) => each.state).join()}`,
        );
        seen.push(`${states.join()}${state.runtimeStatuses.get(podUid("a")) === undefined ? "" : " inspected"}`);
      };
      for (const at of [1, 10, 35]) m.at(at, look);
      m.expectObservable(output$.pipe(ignoreElements()), unsub).toBe(expected);
      m.flush();
      expect(seen).toEqual(["", "a running", "a running inspected"]);
    }),
  );

  it(
    "removes a pod from the listing when an inspection finds it gone, before the next relist",
    marbles((m) => {
      const signals = " s---------h";
      const unsub = "   20ms !";
      const expected = "";

      const { output$, state, fake } = follow(m, m.hot(signals, { s: streaming, h: hint("a") }));
      fake.pods.set("a", [CONTAINER_RUNNING]).set("b", []);
      m.at(8, () => fake.pods.delete("a"));
      const listed: string[][] = [];
      for (const ms of [9, 15]) m.at(ms, () => listed.push([...(state.listing.value?.pods.keys() ?? [])]));
      m.expectObservable(output$.pipe(switchMap(() => NEVER)), unsub).toBe(expected);
      m.flush();
      expect([listed, state.runtimeStatuses.get(podUid("a"))]).toEqual([[["a", "b"], ["b"]], undefined]);
    }),
  );

  it(
    "orders inspections by when they began",
    marbles((m) => {
      const signals = " s";
      const unsub = "   30ms !";
      const expected = "";

      const { output$, state, ask } = follow(m, m.hot(signals, { s: streaming }), { records: ["a"] });
      const between: number[] = [];
      m.at(10, () => ask("a"));
      m.at(11, () => between.push(state.sequence.next()));
      m.at(20, () => ask("a"));
      const seen: (number | undefined)[] = [];
      for (const ms of [15, 25]) m.at(ms, () => seen.push(state.runtimeStatuses.get(podUid("a"))?.sequence));
      m.expectObservable(merge(output$).pipe(switchMap(() => NEVER)), unsub).toBe(expected);
      m.flush();
      expect([...between, ...seen]).toEqual([2, 1, 3]);
    }),
  );
});
