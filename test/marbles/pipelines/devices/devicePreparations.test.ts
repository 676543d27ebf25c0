/** Plugins choose and prepare the devices of a pod in admission: outcomes for the registry, slow plugins, ended tasks. */
import { BehaviorSubject, EMPTY, ignoreElements, map, type Observable, tap } from "rxjs";
import { describe, expect, it } from "vitest";
import { ALLOCATION_MS, PREFERENCE_MS } from "../../../../src/core/device/pluginDeadlines.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { monotonicMs, podUid } from "../../../../src/core/ids.ts";
import type { RegistryStep } from "../../../../src/core/pod/podRegistry.ts";
import type { PreparationTask } from "../../../../src/core/pod/registryPreparation.ts";
import { devicePreparations } from "../../../../src/pipelines/devices/devicePreparations.ts";
import { PLUGIN_AWAY, type PodDevices } from "../../../../src/pipelines/devices/podDevices.ts";
import { marbles, type Marbles, TEST_EPOCH_MS } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const GPU = "example.com/gpu";
const uid = podUid("p");
const pod = podOf({ uid, name: "p" });
const question = { container: "main", resource: GPU, available: ["a", "b"], mustInclude: [], size: 1 };
const ASK: PreparationTask = { kind: "ask", question };
const ALLOCATE: PreparationTask = {
  kind: "allocate",
  hardware: new Map([["main", { devices: new Map([[GPU, ["b"]]]) }]]),
};
const ALLOCATE_TWO: PreparationTask = {
  kind: "allocate",
  hardware: new Map([["main", { devices: new Map([GPU, "example.com/nic"].map((name) => [name, ["b"]])) }]]),
};
const stepOf = (task: PreparationTask | undefined): Pick<RegistryStep, "preparations"> => ({
  preparations: [{ uid, begin: task && { pod, task } }],
});
const AWAITED = { plugin: "example.com/gpu", until: monotonicMs(300_000) };
const steps = { q: stepOf(ASK), p: stepOf(ALLOCATE), r: stepOf(ALLOCATE_TWO), x: stepOf(undefined) };
const outcomes = {
  a: { kind: "prepared", uid, task: ASK, outcome: { kind: "answered", ids: ["b"] } },
  p: { kind: "prepared", uid, task: ALLOCATE, outcome: { kind: "prepared" } },
  f: { kind: "prepared", uid, task: ALLOCATE, outcome: { kind: "failed", why: "busy" } },
  w: { kind: "prepared", uid, task: ALLOCATE, outcome: { kind: "away", awaits: AWAITED } },
};

interface World {
  readonly prefer?: () => Observable<readonly string[]>;
  readonly prepare?: () => Observable<never>;
}

/** The ports of the pipeline; `released` has the pods whose devices were given back. */
function world(m: Marbles, { prefer = () => EMPTY, prepare = () => EMPTY }: World) {
  const released: string[] = [];
  const devices: Pick<PodDevices, "prefer" | "prepare" | "undo" | "awaited"> = {
    prefer,
    prepare,
    awaited: () => AWAITED,
    undo: (of) => {
      released.push(of);
      return EMPTY;
    },
  };
  const ports = { clock: m.clock, telemetry: recordingTelemetry() };
  const node = () => ({ hostIPs: [], runtimeName: "containerd" });
  return { released, devices, ports, node };
}

/** Runs the pipeline on steps. */
function run(m: Marbles, diagram: string, calls: World) {
  const { released, devices, ports, node } = world(m, calls);
  const steps$ = m.hot<RegistryStep>(diagram, steps as never);
  return { released, outputs$: devicePreparations(steps$, ports, devices, node) };
}

describe("devicePreparations", () => {
  it(
    "tells the registry the choice of a plugin, and that devices are prepared",
    marbles((m) => {
      const source = "  -q---p----------|";
      const chosen = "  --(b|)";
      const prepared = "---|";
      const expected = "---a----p-------|";

      const { outputs$, released } = run(m, source, {
        prefer: () => m.cold(chosen, { b: ["b"] }),
        prepare: () => m.cold<never>(prepared),
      });
      m.expectObservable(outputs$).toBe(expected, outcomes);
      m.flush();
      expect(released).toEqual([]);
    }),
  );

  it(
    "gives the devices back after a failure, and says whether the plugin has gone",
    marbles((m) => {
      const source = "  -p-----p--|";
      const refusal = " --#";
      const gone = "    #";
      const expected = "---f---w--|";

      let isAway = false;
      const { outputs$, released } = run(m, source, {
        prepare: () => {
          if (isAway) return m.cold<never>(gone, {}, kubeletError("Unavailable", "away", { reason: PLUGIN_AWAY }));
          isAway = true;
          return m.cold<never>(refusal, {}, kubeletError("Unknown", "busy"));
        },
      });
      m.expectObservable(outputs$).toBe(expected, outcomes);
      m.flush();
      expect(released).toEqual(["p", "p"]);
    }),
  );

  it(
    "reports a pod that waits for a slow plugin, once",
    marbles((m) => {
      const source = "  p 9999ms |";
      const prepared = "9001ms |";
      const expected = "5000ms (es) 3997ms p 998ms |";

      const { outputs$ } = run(m, source, { prepare: () => m.cold<never>(prepared) });
      const kinds$ = outputs$.pipe(map(({ kind }) => kind));
      m.expectObservable(kinds$).toBe(expected, { e: "event", s: "status", p: "prepared" });
    }),
  );

  it.each([
    ["choose", "q", 1, PREFERENCE_MS],
    ["prepare devices", "p", 1, ALLOCATION_MS],
    ["prepare devices of two resources", "r", 2, 2 * ALLOCATION_MS],
  ])(
    "says when a plugin that has to %s is given up, and names each resource once",
    (_task, step, resources, limitMs) => {
      marbles((m) => {
        const source = `${step}`;
        const never = "   -";
        const unsub = "   5001ms !";
        const expected = "-";

        const { outputs$ } = run(m, source, { prefer: () => m.cold(never), prepare: () => m.cold<never>(never) });
        const messages: string[] = [];
        const reports$ = outputs$.pipe(
          tap((output) => {
            if (output.kind === "event") messages.push(output.event.message);
          }),
          ignoreElements(),
        );
        m.expectObservable(reports$, unsub).toBe(expected);
        m.flush();
        const names = resources === 1 ? GPU : `${GPU}, example.com/nic`;
        const until = new Date(TEST_EPOCH_MS + limitMs).toISOString().replace(".000Z", "Z");
        expect(messages).toEqual([`Waiting for the device plugin of ${names}; rejected at ${until} at the latest`]);
      })();
    },
  );

  it(
    "cancels the task of a pod that does not start, and gives its devices back",
    marbles((m) => {
      const source = "  -p---x----|";
      const endless = " ---------";
      const cancel = "  -^---!";
      const expected = "----------|";

      const prepare = m.cold<never>(endless);
      const { outputs$, released } = run(m, source, { prepare: () => prepare });
      m.expectObservable(outputs$).toBe(expected);
      m.expectSubscriptions(prepare).toBe(cancel);
      m.flush();
      expect(released).toEqual(["p"]);
    }),
  );

  it(
    "begins the task that the registry gives in answer to the end of another one",
    marbles((m) => {
      const chosen = "  --(b|)";
      const prepared = "---|";
      const expected = "--a--p";
      const unsub = "   ------!";

      const { devices, ports, node } = world(m, {
        prefer: () => m.cold(chosen, { b: ["b"] }),
        prepare: () => m.cold<never>(prepared),
      });
      const steps$ = new BehaviorSubject(steps.q as RegistryStep);
      const outputs$ = devicePreparations(steps$, ports, devices, node).pipe(
        tap((output) => {
          if (output.kind === "prepared" && output.outcome.kind === "answered") steps$.next(steps.p as RegistryStep);
        }),
      );
      m.expectObservable(outputs$, unsub).toBe(expected, outcomes);
    }),
  );
});
