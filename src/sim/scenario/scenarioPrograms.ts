/** What runs in the containers of a scenario, chosen by name and attempt. */
import {
  exitsWith,
  ignoresTerm,
  runsForever,
  type SimExec,
  type SimProgram,
  type SimProgramInput,
  type SimPrograms,
} from "../runtime/simProgram.ts";
import { createScenarioNames, podOfContainer } from "./scenarioNames.ts";
import { parseQuantity, quantityValue } from "../../core/quantity.ts";
import { type Duration, milliseconds, ScenarioError } from "./scenarioTime.ts";

/**
 * Programs by container, `app` in every pod or `web/app`, `*` for all others; a list is one program per attempt, the
 * last for all further ones. What is not named runs until it is stopped.
 */
export type ScenarioPrograms = Readonly<Record<string, SimProgram | readonly SimProgram[]>>;

/** Runs until it is told to stop, which takes it 5 ms. */
export const runs = runsForever;

/** Runs until KILL. */
export const deafToTerm = ignoresTerm;

/** Ends by itself, so long after its start. */
export const exits = (code: number, after: Duration = "0s"): SimProgram =>
  exitsWith(code, milliseconds(after, `exits(${code})`));

/** Runs until it is told to stop, and takes so long for it. */
export const stopsIn = (time: Duration, code = 0): SimProgram => ({
  onTerm: { afterMs: milliseconds(time, "stopsIn"), code },
});

/** Runs with that much memory, from its start or from so much later on: `usesMemory("200Mi", "30s")`. */
export function usesMemory(amount: string, after: Duration = "0s"): SimProgram {
  const what = `usesMemory(${JSON.stringify(amount)})`;
  const quantity = parseQuantity(amount);
  if (quantity === undefined) throw new ScenarioError(`${what}: no quantity like 64Mi or 1Gi`);
  const memoryBytes = Number(quantityValue(quantity));
  const afterMs = milliseconds(after, what);
  return afterMs === 0 ? { usage: { cpuMilli: 0, memoryBytes } } : { grows: { afterMs, memoryBytes } };
}

/** How a command run inside a container goes. */
export interface CommandOutcome {
  readonly takes?: Duration;
  /** Exit code; default 0. */
  readonly code?: number;
  readonly output?: string;
}

/** The outcome in the terms of the simulation. */
export const execOf = ({ takes = "0s", code = 0, output = "" }: CommandOutcome): SimExec => ({
  afterMs: milliseconds(takes, "a command"),
  code,
  stdout: output,
});

/** Commands run inside, by their first word: those of exec probes and hooks. Others end well, at once. */
export const commands = (outcomes: Readonly<Record<string, CommandOutcome>>): SimProgram => ({
  exec: ([first = ""]) => execOf(outcomes[first] ?? {}),
});

/** The chooser. */
export function programsOf(programs: ScenarioPrograms, nodeName: string): SimPrograms {
  const names = createScenarioNames(nodeName);
  return (input) => {
    const name = names.shown(containerName(input));
    const found = programs[name] ?? programs[name.slice(podOfContainer(name).length + 1)] ?? programs["*"] ?? runs;
    if (!isList(found)) return found;
    return found[input.container.metadata?.attempt ?? 0] ?? found.at(-1) ?? runs;
  };
}

const isList = (value: SimProgram | readonly SimProgram[]): value is readonly SimProgram[] => Array.isArray(value);

/** `namespace/pod/container` of what is started. */
export const containerName = ({ sandbox, container }: SimProgramInput): string =>
  `${sandbox.metadata?.namespace}/${sandbox.metadata?.name}/${container.metadata?.name}`;
