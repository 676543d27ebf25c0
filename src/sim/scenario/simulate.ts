/**
 * A scenario: pods on a simulated node, a script of actions, and expectations. The same scenario is the same run,
 * instant by instant, on any machine.
 */
import type { Pod } from "../../core/api.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { RuntimeService } from "../../ports/cri.ts";
import { createPrng } from "../prng.ts";
import type { SimRegistry } from "../runtime/simImageCalls.ts";
import { simKubeletConfig } from "../simKubeletConfig.ts";
import { simMachine } from "../host/simMachine.ts";
import { createSimNode, type SimNode } from "../simNode.ts";
import type { SimNodeOptions } from "../simNodeOptions.ts";
import type { SimObservation } from "../simObservation.ts";
import { usualRegistry } from "../runtime/simRuntime.ts";
import type { Expectation } from "./expectations.ts";
import { createHistoryRecorder, type History, type ScenarioEvent } from "./history.ts";
import { createRandomFaults, type RandomFaults, type ScenarioFaultRates } from "./randomFaults.ts";
import { createScenarioNames, type ScenarioNames } from "./scenarioNames.ts";
import type { ScenarioPod } from "./scenarioPods.ts";
import { programsOf, type ScenarioPrograms } from "./scenarioPrograms.ts";
import { type Duration, milliseconds, shortDuration } from "./scenarioTime.ts";
import { failureReport, type ScenarioFault } from "./scenarioReport.ts";
import type { ScenarioStep } from "./script.ts";
import { createServerAnswers } from "./probedServers.ts";
import { createStage, type Stage } from "./stage.ts";
import { storyOf } from "./stories.ts";
import { containersOf, diagramText, spansOf, timelineText } from "./timeline.ts";
import { createTroubles } from "./troubles.ts";

/** A scenario. Every field except the pods has a default. */
export interface Scenario {
  readonly pods?: readonly ScenarioPod[];
  /** Files of the manifest directory, unchanged, by name. */
  readonly manifests?: Readonly<Record<string, string | object>>;
  /** Programs of the containers; by default they run until they are stopped. */
  readonly programs?: ScenarioPrograms;
  readonly config?: Partial<KubeletConfig>;
  /** Seed of jitter and IDs; default 1. */
  readonly seed?: string | number;
  /** Duration of every request to the runtime; default `10ms`. */
  readonly latency?: Duration;
  /** Duration of every image pull; default `1s`. Registries under `.invalid` have no images. */
  readonly pull?: Duration;
  /** Whether the runtime completes or drops (default) a request without effect so far whose caller has gone. */
  readonly abandonedCalls?: "complete" | "drop";
  /** Other parts of the simulated node. */
  readonly node?: Omit<SimNodeOptions, "seed" | "manifests" | "pods" | "config" | "programs" | "watch">;
  readonly script?: readonly ScenarioStep[];
  /** Random faults by rate, for example `{ criFails: 0.1, kubeletCrashes: 30 }`; default none. */
  readonly faults?: ScenarioFaultRates;
  /** When random faults end and every broken part recovers; default: at the end of the run. */
  readonly faultsUntil?: Duration;
  /** End of the run; default: one minute past the last time that script and expectations name. */
  readonly until?: Duration;
  readonly expect?: readonly Expectation[];
}

/** Result of a scenario. */
export interface ScenarioResult {
  readonly seed: string | number;
  /** Failed expectations, broken rules of the simulation, and steps without a target. */
  readonly faults: readonly ScenarioFault[];
  /** Pods at the end of the run. */
  readonly pods: readonly Pod[];
  readonly events: readonly ScenarioEvent[];
  /** Trace of the run, one line per observation. */
  readonly trace: readonly string[];
  /** Equal runs have equal fingerprints. */
  readonly fingerprint: string;
  /** Returns the timeline of a container, such as `w1s R5s b10s`; see STATE_LETTERS. */
  timeline(container: string): string;
  /** Returns the diagram of all containers, one letter per slice. */
  diagram(slice: Duration): string;
  /** Returns the lines of a pod's story that match `only`. */
  story(pod: string, only: RegExp, since?: Duration): readonly string[];
  /** Returns the readable report of the faults; empty without faults. */
  report(): string;
}

/** Thrown by `simulate` when a scenario does not go as expected. */
export class ScenarioFailed extends Error {
  override readonly name = "ScenarioFailed";
  readonly result: ScenarioResult;

  constructor(result: ScenarioResult) {
    super(result.report());
    this.result = result;
  }
}

/** Runs a scenario and checks its expectations. Throws ScenarioFailed, or ScenarioError for an invalid scenario. */
export function simulate(scenario: Scenario): ScenarioResult {
  const result = runScenario(scenario);
  if (result.faults.length > 0) throw new ScenarioFailed(result);
  return result;
}

const LAST_WORDS_MS = 60_000;

/** Runs a scenario and returns its faults in the result. Throws ScenarioError for an invalid scenario. */
export function runScenario(scenario: Scenario): ScenarioResult {
  const { script = [], expect = [], seed = 1 } = scenario;
  const endMs = scenario.until === undefined ? lastTimeOf(script, expect) : milliseconds(scenario.until, "until");
  const { node, names, stage, recorder, random } = setUp(scenario, seed);
  const { faultsUntil } = scenario;
  random.happenTo(node, faultsUntil === undefined ? endMs : milliseconds(faultsUntil, "faultsUntil"));
  for (const pod of scenario.pods ?? []) stage.put(pod);
  stage.play(script, endMs);
  const ended = run(node, endMs);
  const history = recorder.history(node.clock.monotonicMs());
  const faults: readonly ScenarioFault[] = [
    ...ended,
    ...stage.lost.map(({ atMs, text }) => ({ atMs, expected: `script: ${text.split(":")[0]}`, found: text })),
    ...node.violations.map(({ atMs, checker, message }) => ({ atMs, expected: `rule ${checker}`, found: message })),
    ...judged(expect, history, names),
  ];
  const { lines, fingerprint } = node.trace;
  return {
    seed,
    faults,
    pods: node.pods(),
    events: history.events,
    trace: lines,
    fingerprint,
    timeline: (container) => timelineText(spansOf(history, names.container(container))),
    diagram: (slice) => drawing(history, milliseconds(slice, "diagram")),
    story: (pod, only, since = "0s") => storyOf(history, names, pod, only, milliseconds(since, "story")),
    report: () => (faults.length === 0 ? "" : failureReport({ seed, faults, expected: expect.length, lines })),
  };
}

interface Setup {
  readonly node: SimNode;
  readonly names: ScenarioNames;
  readonly stage: Stage;
  readonly recorder: ReturnType<typeof createHistoryRecorder>;
  readonly random: RandomFaults;
}

function setUp(
  { programs = {}, config, latency = "10ms", pull = "1s", node: more, manifests, abandonedCalls, faults }: Scenario,
  seed: string | number,
): Setup {
  const random = createRandomFaults(seed, faults);
  const { nodeName } = simKubeletConfig(simMachine(more?.machine), config);
  const names = createScenarioNames(nodeName);
  const recorder = createHistoryRecorder(names);
  /** Set after the creation of the node. */
  const made: { node?: SimNode; stage?: Stage } = {};
  const troubles = createTroubles(names, () => made.node?.clock.monotonicMs() ?? 0);
  const servers = createServerAnswers(names, () => made.node?.pods() ?? []);
  const latencyMs = milliseconds(latency, "latency");
  const { adaptRuntime = (runtime: RuntimeService) => runtime } = more ?? {};
  const node = createSimNode({
    latency: () => latencyMs,
    answers: () => servers.answers,
    ...random.machine,
    ...more,
    seed,
    registry: random.registry(more?.registry ?? registryOf(seed, milliseconds(pull, "pull"))),
    goesOn: (rpc, request) =>
      more?.goesOn?.(rpc, request) === true || abandonedCalls === "complete" || random.parts.goesOn(rpc, request),
    adaptRuntime: (runtime, clock) => random.parts.adaptRuntime(adaptRuntime(runtime, clock), clock),
    ...(config === undefined ? {} : { config }),
    ...(manifests === undefined ? {} : { manifests }),
    programs: troubles.programs(random.programs(programsOf(programs, nodeName))),
    callFault(rpc, about, request) {
      const scripted = troubles.callFault(rpc, about);
      const action = scripted.kind === "proceed" ? (more?.callFault?.(rpc, about, request) ?? scripted) : scripted;
      return action.kind === "proceed" ? random.parts.callFault(rpc, about, request) : action;
    },
    watch(observation: SimObservation) {
      recorder.see(observation);
      made.stage?.look(observation);
    },
  });
  const stage = createStage(node, { names, troubles, servers });
  Object.assign(made, { node, stage });
  return { node, names, stage, recorder, random };
}

/** Creates the default registries with a fixed pull duration. */
function registryOf(seed: string | number, ms: number): SimRegistry {
  const usual = usualRegistry(createPrng(seed));
  return (reference) => {
    const pull = usual(reference);
    return "image" in pull ? { ...pull, ms } : pull;
  };
}

/** Runs to the end; an earlier end of the kubelet is a fault. */
function run(node: SimNode, endMs: number): readonly ScenarioFault[] {
  try {
    node.runFor(endMs);
    return [];
  } catch (thrown) {
    const found = thrown instanceof Error ? thrown.message : JSON.stringify(thrown);
    return [{ atMs: node.clock.monotonicMs(), expected: "the kubelet keeps running", found }];
  }
}

const judged = (expect: readonly Expectation[], history: History, names: ScenarioNames): readonly ScenarioFault[] =>
  expect.flatMap((expectation) => {
    const finding = expectation.judge(history, names);
    return finding === undefined ? [] : [{ ...finding, expected: expectation.text }];
  });

function lastTimeOf(script: readonly ScenarioStep[], expect: readonly Expectation[]): number {
  const steps = script.map(({ when }) =>
    when.kind === "at" ? when.atMs : when.kind === "every" ? (when.toMs ?? 0) : 0,
  );
  return Math.max(0, ...steps, ...expect.map(({ untilMs }) => untilMs)) + LAST_WORDS_MS;
}

/** Draws one row per container under a ruler of times. */
function drawing(history: History, sliceMs: number): string {
  const containers = containersOf(history);
  const width = Math.max(0, ...containers.map((name) => name.length));
  const ruler = rulerOf(Math.ceil(history.endMs / sliceMs), sliceMs);
  const rows = containers.map((name) => `${name.padEnd(width)}  ${diagramText(spansOf(history, name), sliceMs)}`);
  return [`${" ".repeat(width)}  ${ruler}`, ...rows].join("\n");
}

/** Number of slices between two times on the ruler. */
const RULER_STEP = 10;

const rulerOf = (slices: number, sliceMs: number): string =>
  Array.from({ length: Math.ceil(slices / RULER_STEP) }, (_, step) =>
    shortDuration(step * RULER_STEP * sliceMs).padEnd(RULER_STEP),
  )
    .join("")
    .trimEnd();
