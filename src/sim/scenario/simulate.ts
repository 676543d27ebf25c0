/**
 * A scenario: some pods on a simulated node, a script of what befalls them, and what is expected of it. The same
 * scenario is the same run, instant by instant, on any machine.
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

/** Everything but the pods has a default. */
export interface Scenario {
  readonly pods?: readonly ScenarioPod[];
  /** Files of the manifest directory as they are, by name. */
  readonly manifests?: Readonly<Record<string, string | object>>;
  /** What runs in the containers; default: all run until they are stopped. */
  readonly programs?: ScenarioPrograms;
  readonly config?: Partial<KubeletConfig>;
  /** Where jitter and IDs come from; default 1. */
  readonly seed?: string | number;
  /** What every request to the runtime takes; default `10ms`. */
  readonly latency?: Duration;
  /** What every image pull takes; default `1s`. No host below `.invalid` has any image. */
  readonly pull?: Duration;
  /** Whether the runtime ends a request whose caller has gone, or drops it (default), as far as it has no effect yet. */
  readonly abandonedCalls?: "complete" | "drop";
  /** Other parts of the simulated node. */
  readonly node?: Omit<SimNodeOptions, "seed" | "manifests" | "pods" | "config" | "programs" | "watch">;
  readonly script?: readonly ScenarioStep[];
  /** Random faults by rate, as `{ criFails: 0.1, kubeletCrashes: 30 }`; default none. */
  readonly faults?: ScenarioFaultRates;
  /** When they end and all that is broken or down comes back; default: at the end of the run. */
  readonly faultsUntil?: Duration;
  /** Default: one minute past the last time that script and expectations name. */
  readonly until?: Duration;
  readonly expect?: readonly Expectation[];
}

/** What became of it. */
export interface ScenarioResult {
  readonly seed: string | number;
  /** Expectations that do not hold, rules of the simulation that were broken, and steps that could not be taken. */
  readonly faults: readonly ScenarioFault[];
  /** Pods as they were at the end. */
  readonly pods: readonly Pod[];
  readonly events: readonly ScenarioEvent[];
  /** One line per thing that happened. */
  readonly trace: readonly string[];
  /** Equal runs have equal fingerprints. */
  readonly fingerprint: string;
  /** The timeline of a container, as `w1s R5s b10s`; see STATE_LETTERS. */
  timeline(container: string): string;
  /** The diagram of all containers, one letter per slice. */
  diagram(slice: Duration): string;
  /** What happened to a pod, line by line. */
  story(pod: string, only: RegExp, since?: Duration): readonly string[];
  /** The faults for people; empty without any. */
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

/** Runs a scenario and holds it to its expectations. Throws ScenarioFailed, or ScenarioError when it makes no sense. */
export function simulate(scenario: Scenario): ScenarioResult {
  const result = runScenario(scenario);
  if (result.faults.length > 0) throw new ScenarioFailed(result);
  return result;
}

const LAST_WORDS_MS = 60_000;

/** Runs a scenario and tells of its faults in the result. Throws ScenarioError when it makes no sense. */
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
  /** Made after the node it belongs to. */
  const made: { node?: SimNode; stage?: Stage } = {};
  const troubles = createTroubles(names, () => made.node?.clock.monotonicMs() ?? 0);
  const servers = createServerAnswers(names, () => made.node?.pods() ?? []);
  const latencyMs = milliseconds(latency, "latency");
  const { adaptRuntime = (runtime: RuntimeService) => runtime } = more ?? {};
  const node = createSimNode({
    latency: () => latencyMs,
    answers: () => servers.answers,
    ...random.mounts,
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

/** The usual registries, whose images all take this long. */
function registryOf(seed: string | number, ms: number): SimRegistry {
  const usual = usualRegistry(createPrng(seed));
  return (reference) => {
    const pull = usual(reference);
    return "image" in pull ? { ...pull, ms } : pull;
  };
}

/** Runs to the end; what ended the kubelet before that is a fault. */
function run(node: SimNode, endMs: number): readonly ScenarioFault[] {
  try {
    node.runFor(endMs);
    return [];
  } catch (thrown) {
    const found = thrown instanceof Error ? thrown.message : JSON.stringify(thrown);
    return [{ atMs: node.clock.monotonicMs(), expected: "the kubelet goes on", found }];
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

/** All containers, one below the other, under a ruler of times. */
function drawing(history: History, sliceMs: number): string {
  const containers = containersOf(history);
  const width = Math.max(0, ...containers.map((name) => name.length));
  const ruler = rulerOf(Math.ceil(history.endMs / sliceMs), sliceMs);
  const rows = containers.map((name) => `${name.padEnd(width)}  ${diagramText(spansOf(history, name), sliceMs)}`);
  return [`${" ".repeat(width)}  ${ruler}`, ...rows].join("\n");
}

/** Slices between two times on a ruler. */
const RULER_STEP = 10;

const rulerOf = (slices: number, sliceMs: number): string =>
  Array.from({ length: Math.ceil(slices / RULER_STEP) }, (_, step) =>
    shortDuration(step * RULER_STEP * sliceMs).padEnd(RULER_STEP),
  )
    .join("")
    .trimEnd();
