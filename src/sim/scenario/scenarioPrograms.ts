/** Programs that run in the containers of a scenario, chosen by container name and attempt. */
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
 * Programs by container: `app` in every pod, `web/app`, or `*` for all other containers. A list has one program per
 * attempt, the last for all further attempts. A container without a program runs until it is stopped.
 */
export type ScenarioPrograms = Readonly<Record<string, SimProgram | readonly SimProgram[]>>;

/** A program that runs until TERM and exits 5 ms later. */
export const runs = runsForever;

/** A program that runs until KILL. */
export const deafToTerm = ignoresTerm;

/** Returns a program that exits with `code` after a time. */
export const exits = (code: number, after: Duration = "0s"): SimProgram =>
  exitsWith(code, milliseconds(after, `exits(${code})`));

/** Returns a program that runs until TERM and takes `time` to exit. */
export const stopsIn = (time: Duration, code = 0): SimProgram => ({
  onTerm: { afterMs: milliseconds(time, "stopsIn"), code },
});

/** Returns a program that uses an amount of memory from its start, or from later on: `usesMemory("200Mi", "30s")`. */
export function usesMemory(amount: string, after: Duration = "0s"): SimProgram {
  const what = `usesMemory(${JSON.stringify(amount)})`;
  const quantity = parseQuantity(amount);
  if (quantity === undefined) throw new ScenarioError(`${what}: not a quantity like 64Mi or 1Gi`);
  const memoryBytes = Number(quantityValue(quantity));
  const afterMs = milliseconds(after, what);
  return afterMs === 0 ? { usage: { cpuMilli: 0, memoryBytes } } : { grows: [{ afterMs, memoryBytes }] };
}

/** Outcome of a command executed in a container. */
export interface CommandOutcome {
  readonly takes?: Duration;
  /** Exit code; default 0. */
  readonly code?: number;
  readonly output?: string;
}

/** Converts an outcome for the simulation. */
export const execOf = ({ takes = "0s", code = 0, output = "" }: CommandOutcome): SimExec => ({
  afterMs: milliseconds(takes, "a command"),
  code,
  stdout: output,
});

/** Returns a program whose exec probe and hook commands have these outcomes, by first word; others succeed at once. */
export const commands = (outcomes: Readonly<Record<string, CommandOutcome>>): SimProgram => ({
  exec: ([first = ""]) => execOf(outcomes[first] ?? {}),
});

/** Returns a function that chooses the program of each container start. */
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

/** Returns `namespace/pod/container` of a container that starts. */
export const containerName = ({ sandbox, container }: SimProgramInput): string =>
  `${sandbox.metadata?.namespace}/${sandbox.metadata?.name}/${container.metadata?.name}`;
