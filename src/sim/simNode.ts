/**
 * A whole node in virtual time: the production kubelet on a simulated runtime, disk, cgroups and pod sources. The
 * options determine the run: same seed, same trace, on any machine. Trace and checkers observe every event, in order.
 */
import type { Subscription } from "rxjs";
import type { Pod } from "../core/api.ts";
import { invariant } from "../core/invariant.ts";
import type { Kubelet } from "../kubelet.ts";
import { usualCheckers } from "./checkers/usualCheckers.ts";
import { looksAt, type SimChecker, type SimViolation } from "./simChecker.ts";
import { clusterObservations } from "./simClusterObservations.ts";
import { createSimNodeActions, nameOf, runningOf, type SimNodeActions } from "./simNodeActions.ts";
import type { SimNodeOptions } from "./simNodeOptions.ts";
import { createSimNodeWorld, type SimNodeWorld } from "./simNodeWorld.ts";
import type { SimObservation } from "./simObservation.ts";
import type { SimTelemetry } from "./simTelemetry.ts";
import { createSimTrace, type SimTrace } from "./simTrace.ts";

/** A node, and the controls of its time and accidents. */
export interface SimNode
  extends SimNodeActions,
    Pick<SimNodeWorld, "prng" | "clock" | "scheduler" | "config" | "runtime" | "host" | "files" | "cgroups">,
    Pick<SimNodeWorld, "manifests" | "apiPods" | "api" | "see"> {
  readonly seed: string | number;
  /** Telemetry of the running kubelet, or of the last one. */
  readonly telemetry: SimTelemetry;
  /** Undefined while it is crashed. */
  readonly kubelet: Kubelet | undefined;
  readonly trace: SimTrace;
  /** Violations found so far. */
  readonly violations: readonly SimViolation[];

  /**
   * Runs the next action due by `notAfterMs` (virtual time); returns false if there is none. Throws the error that
   * ended the kubelet.
   */
  step(notAfterMs?: number): boolean;
  runFor(ms: number): void;
  /**
   * Runs until the condition holds; returns false if it does not within `ms`. Evaluates the condition after each
   * action.
   */
  runUntil(condition: () => boolean, ms: number): boolean;
  /** Schedules an action at a future instant, in milliseconds of virtual time. */
  at(ms: number, action: () => void): Subscription;

  /** Returns the pods with the statuses the kubelet reports; empty while it is crashed. */
  pods(): readonly Pod[];
  /** Queries the kubelet as a local operator does; false if it runs no such pod. */
  retry(namespace: string, name: string): boolean;
  /** Returns the running containers of all pods as `namespace/pod/name#attempt`, sorted. */
  running(): readonly string[];
  /** Writes an action of the driver to the trace. */
  note(text: string): void;
}

/** More actions than this within one millisecond indicate an infinite loop. */
const MAX_ACTIONS_AT_ONCE = 100_000;

/** Creates a node and starts its kubelet; no action runs before time is advanced. */
export function createSimNode(options: SimNodeOptions): SimNode {
  const world = createSimNodeWorld(options);
  const { trace, violations, seen } = observe(world, options);
  if (options.api !== undefined) {
    clusterObservations(options.api, world.config.nodeName).subscribe({
      next: (observation) => world.see(observation),
    });
  }
  world.life.start();
  return {
    ...world,
    seed: options.seed,
    trace,
    violations,
    get telemetry() {
      return world.life.telemetry;
    },
    get kubelet() {
      return world.life.kubelet;
    },
    ...createSteps(world, options.seed, seen),
    ...createSimNodeActions(world),
    pods: () => world.life.kubelet?.queries.pods() ?? [],
    retry: (namespace, name) => {
      world.see({ kind: "action", text: `retry ${namespace}/${name}` });
      return world.life.kubelet?.commands.retry(namespace, name) ?? false;
    },
    running: () => runningOf(world.runtime).map(nameOf(world.runtime)).sort(),
    note: (text) => world.see({ kind: "action", text }),
  };
}

/** Passes each observation to the trace, the checkers and `watch`. `seen` returns their number. */
function observe(world: SimNodeWorld, options: Pick<SimNodeOptions, "maxTraceLines" | "checkers" | "watch">) {
  const trace = createSimTrace(options.maxTraceLines);
  const checkers = options.checkers ?? usualCheckers(world.config);
  const violations: SimViolation[] = [];
  const byKind = new Map<SimObservation["kind"], readonly SimChecker[]>();
  const checkersOf = (kind: SimObservation["kind"]): readonly SimChecker[] => {
    const known = byKind.get(kind) ?? checkers.filter((checker) => looksAt(checker, kind));
    byKind.set(kind, known);
    return known;
  };
  let seen = 0;
  world.watch((untimed) => {
    const observation: SimObservation = { atMs: world.clock.monotonicMs(), ...untimed };
    seen += 1;
    trace.write(observation);
    for (const checker of checkersOf(observation.kind)) {
      const found = checker.check(observation);
      if (found !== undefined) violations.push({ atMs: observation.atMs, checker: checker.name, message: found });
    }
    options.watch?.(observation);
  });
  return { trace, violations, seen: () => seen };
}

/** Advances the time of a node, action by action. `seen` changes whenever something was observed. */
function createSteps(
  { clock, scheduler, life }: Pick<SimNodeWorld, "clock" | "scheduler" | "life">,
  seed: string | number,
  seen: () => number,
): Pick<SimNode, "step" | "runFor" | "runUntil" | "at"> {
  let instantMs = 0;
  let actions = 0;
  const step = (notAfterMs?: number): boolean => {
    const ran = scheduler.runNext(notAfterMs);
    actions = scheduler.now() === instantMs ? actions + 1 : 0;
    instantMs = scheduler.now();
    invariant(actions < MAX_ACTIONS_AT_ONCE, `time stands still at ${instantMs} ms of the node of seed ${seed}`);
    life.look();
    return ran;
  };
  return {
    step,
    runFor(ms) {
      const endMs = clock.monotonicMs() + ms;
      while (step(endMs));
      scheduler.advanceTo(endMs);
    },
    runUntil(condition, ms) {
      const endMs = clock.monotonicMs() + ms;
      let asked = -1;
      for (;;) {
        if (seen() !== asked && condition()) return true;
        asked = seen();
        if (!step(endMs)) break;
      }
      scheduler.advanceTo(endMs);
      return condition();
    },
    at(ms, action) {
      invariant(ms >= clock.monotonicMs(), `${ms} ms is in the past`);
      return scheduler.schedule(() => action(), ms - clock.monotonicMs());
    },
  };
}
