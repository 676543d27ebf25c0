/**
 * Temporary faults set by a script: wedged containers, failing calls, commands with other outcomes. The simulated node
 * asks at each start and call. Owns the faults in force.
 */
import type { CriRpc } from "../../core/criOperations.ts";
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import type { SimAction } from "../runtime/simCall.ts";
import type { SimExec, SimExit, SimProgram, SimPrograms } from "../runtime/simProgram.ts";
import { DEFAULT_TERM, KILLED } from "../runtime/simProcess.ts";
import type { SimSubject } from "../simSubjects.ts";
import type { ScenarioNames } from "./scenarioNames.ts";
import { containerName } from "./scenarioPrograms.ts";
import type { CallTrouble } from "./script.ts";

/** Calls of one kind that fail until an instant. */
export interface BrokenCalls {
  readonly rpc: CriRpc;
  readonly how: CallTrouble;
  /** Limits the fault to calls about this pod. */
  readonly pod: string | undefined;
  readonly untilMs: number;
  readonly delayMs: number;
}

/** A request that a step waits for. */
export interface CallWatch {
  readonly rpc: CriRpc;
  readonly pod: string | undefined;
  readonly nth: number;
  readonly then: () => void;
}

export interface Troubles {
  programs(inner: SimPrograms): SimPrograms;
  callFault(rpc: CriRpc, about: SimSubject): SimAction;
  wedge(container: string, untilMs: number): void;
  breakCalls(broken: BrokenCalls): void;
  watchCall(watch: CallWatch): void;
  answer(container: string, command: string | undefined, exec: SimExec): void;
}

/** Creates an empty set of faults. `nowMs` is virtual time. */
export function createTroubles(names: ScenarioNames, nowMs: () => number): Troubles {
  const wedgedUntil = new Map<string, number>();
  const answers = new Map<string, SimExec>();
  const broken: BrokenCalls[] = [];
  const watches = new Map<CallWatch, number>();

  const isAbout = (pod: string | undefined, { subject }: SimSubject): boolean =>
    pod === undefined || (subject.includes("/") && names.shown(podPart(subject)) === pod);
  const late = (container: string, exit: SimExit): SimExit => ({
    ...exit,
    afterMs: Math.max(0, (wedgedUntil.get(container) ?? 0) - nowMs()) + exit.afterMs,
  });
  const wrapped = (container: string, program: SimProgram): SimProgram => ({
    ...program,
    // Evaluated when the signal is sent.
    get onTerm() {
      const { onTerm = DEFAULT_TERM } = program;
      return onTerm === "ignored" ? onTerm : late(container, onTerm);
    },
    get onKill() {
      return late(container, program.onKill ?? KILLED);
    },
    exec: (command) =>
      answers.get(`${container} ${command[0]}`) ??
      answers.get(container) ??
      program.exec?.(command) ?? { afterMs: 0, code: 0 },
  });
  return {
    programs: (inner) => (input) => wrapped(names.shown(containerName(input)), inner(input)),
    callFault(rpc, about) {
      for (const [watch, seen] of [...watches]) {
        if (watch.rpc !== rpc || !isAbout(watch.pod, about)) continue;
        watches.set(watch, seen + 1);
        if (seen + 1 !== watch.nth) continue;
        watches.delete(watch);
        watch.then();
      }
      const found = broken.findLast((each) => each.rpc === rpc && each.untilMs > nowMs() && isAbout(each.pod, about));
      return found === undefined ? { kind: "proceed" } : actionOf(found);
    },
    wedge: (container, untilMs) => void wedgedUntil.set(container, untilMs),
    breakCalls: (calls) => void broken.push(calls),
    watchCall: (watch) => void watches.set(watch, 0),
    answer: (container, command, exec) =>
      void answers.set(command === undefined ? container : `${container} ${command}`, exec),
  };
}

const podPart = (subject: string): string => subject.split("/").slice(0, 2).join("/");

function actionOf({ rpc, how, delayMs }: BrokenCalls): SimAction {
  const error: KubeletError = kubeletError("Unknown", `${rpc}: something went wrong`);
  switch (how) {
    case "fail":
    case "loseReply":
      return { kind: how, error };
    case "hang":
      return { kind: "hang" };
    case "delay":
      return { kind: "delay", ms: delayMs };
  }
}
