/** The script of a scenario: steps as data, each an action and its time. */
import type { CriRpc } from "../../core/criOperations.ts";
import type { SimExec } from "../runtime/simProgram.ts";
import type { SimNode } from "../simNode.ts";
import type { ScenarioPod } from "./scenarioPods.ts";
import { type CommandOutcome, execOf } from "./scenarioPrograms.ts";
import { type Duration, milliseconds } from "./scenarioTime.ts";
import { type ServerAnswer, serverAnswerOf, type SimServerAnswer } from "./probedServers.ts";

/** Faults of a runtime request: an error without effect, an error after the effect, no response, or a late response. */
export type CallTrouble = "fail" | "loseReply" | "hang" | "delay";

/** An action on the node. Names are scenario names. */
export type ScenarioAction =
  | { readonly kind: "kill"; readonly container: string; readonly code: number; readonly reason?: string }
  | { readonly kind: "killSandbox"; readonly pod: string }
  | { readonly kind: "wedge"; readonly container: string; readonly forMs: number }
  | { readonly kind: "put"; readonly pod: ScenarioPod }
  | { readonly kind: "delete"; readonly pod: string; readonly graceSeconds: number | undefined }
  | { readonly kind: "forceDelete"; readonly pod: string }
  | { readonly kind: "putManifest"; readonly file: string; readonly manifest: string | object }
  | { readonly kind: "dropManifest"; readonly file: string }
  | { readonly kind: "crashKubelet"; readonly forMs: number | undefined }
  | { readonly kind: "restartKubelet" }
  | { readonly kind: "crashRuntime"; readonly containers: "stay" | "die"; readonly forMs: number | undefined }
  | { readonly kind: "restartRuntime" }
  | { readonly kind: "reboot"; readonly forMs: number }
  | {
      readonly kind: "troubleCalls";
      readonly rpc: CriRpc;
      readonly how: CallTrouble;
      readonly pod: string | undefined;
      readonly forMs: number;
      readonly delayMs: number;
    }
  | {
      readonly kind: "answer";
      readonly container: string;
      readonly command: string | undefined;
      readonly exec: SimExec;
    }
  | { readonly kind: "serve"; readonly container: string; readonly answer: SimServerAnswer }
  | { readonly kind: "stepWallClock"; readonly byMs: number }
  | { readonly kind: "fillDisk"; readonly forMs: number }
  | { readonly kind: "loseNetwork"; readonly forMs: number }
  | { readonly kind: "act"; readonly text: string; readonly act: (node: SimNode) => void };

/** When a step runs. */
export type ScenarioWhen =
  | { readonly kind: "at"; readonly atMs: number }
  | { readonly kind: "every"; readonly periodMs: number; readonly fromMs: number; readonly toMs: number | undefined }
  /** While the n-th such request is in flight to the runtime, before it takes effect. */
  | { readonly kind: "during"; readonly rpc: CriRpc; readonly pod: string | undefined; readonly nth: number };

/** A step of a script. */
export interface ScenarioStep {
  readonly when: ScenarioWhen;
  readonly action: ScenarioAction;
}

/** Selects requests to the runtime. */
export interface CallsOf {
  /** Limits the selection to requests about this pod. */
  readonly of?: string;
  readonly for: Duration;
}

/** Actions available at a time. Every verb returns one step of the script. */
export interface Verbs {
  /** Ends a running container, by default with exit code 137 like KILL. */
  kill(container: string, end?: { readonly code?: number; readonly reason?: string }): ScenarioStep;
  /** Ends the pause process of a pod. */
  killSandbox(pod: string): ScenarioStep;
  /** Blocks all signals to the container, KILL included, for a time. */
  wedge(container: string, time: Duration): ScenarioStep;
  /** Adds a pod or updates the pod of that name. */
  put(pod: ScenarioPod): ScenarioStep;
  /** Deletes a static pod's manifest, or an API pod with a grace period (default: the pod's own). */
  delete(pod: string, how?: { readonly grace?: Duration }): ScenarioStep;
  /** Removes an API pod at once. */
  forceDelete(pod: string): ScenarioStep;
  /** Writes a file of the manifest directory unchanged, valid or not. */
  putManifest(file: string, manifest: string | object): ScenarioStep;
  dropManifest(file: string): ScenarioStep;
  /** Ends the kubelet; with a time, starts it again that much later. */
  crashKubelet(time?: Duration): ScenarioStep;
  restartKubelet(): ScenarioStep;
  /** Ends the runtime; with a time, starts it again that much later. By default containers keep running. */
  crashRuntime(time?: Duration, containers?: "stay" | "die"): ScenarioStep;
  restartRuntime(): ScenarioStep;
  /** Turns the machine off for a time. Disk and images stay. */
  reboot(time: Duration): ScenarioStep;
  /** Makes requests of that kind fail without effect. */
  failCalls(rpc: CriRpc, which: CallsOf): ScenarioStep;
  /** Makes requests of that kind take effect but return an error. */
  loseReplies(rpc: CriRpc, which: CallsOf): ScenarioStep;
  /** Makes requests of that kind hang without effect. */
  hangCalls(rpc: CriRpc, which: CallsOf): ScenarioStep;
  /** Delays requests of that kind. */
  delayCalls(rpc: CriRpc, which: CallsOf & { readonly by: Duration }): ScenarioStep;
  /**
   * Sets, from now on, the outcome of commands in the container (exec probes and hooks; all or by first word), or the
   * answer of its server to probes: `{ http: 503 }`, `{ tcp: "refused" }`, `{ grpc: "NOT_SERVING" }`.
   */
  answer(container: string, answer: (CommandOutcome & { readonly command?: string }) | ServerAnswer): ScenarioStep;
  /** Steps the wall clock; `-1h` sets it back. */
  stepWallClock(by: Duration): ScenarioStep;
  /** Makes all writes to disk fail for a time. */
  fillDisk(time: Duration): ScenarioStep;
  /** Makes the runtime report NetworkReady=false for a time. */
  loseNetwork(time: Duration): ScenarioStep;
  /** Runs any other action; `text` is its line in the trace. */
  act(text: string, act: (node: SimNode) => void): ScenarioStep;
}

/** Creates the verbs of a time; `what` names the time in errors. */
export function verbsAt(when: ScenarioWhen, what: string): Verbs {
  const step = (action: ScenarioAction): ScenarioStep => ({ when, action });
  const ms = (time: Duration, verb: string): number => milliseconds(time, `${what}.${verb}`);
  const optionalMs = (time: Duration | undefined, verb: string): number | undefined =>
    time === undefined ? undefined : ms(time, verb);
  const trouble = (how: CallTrouble, verb: string, rpc: CriRpc, which: CallsOf, by: Duration = "0s"): ScenarioStep =>
    step({
      kind: "troubleCalls",
      rpc,
      how,
      pod: which.of,
      forMs: ms(which.for, verb),
      delayMs: ms(by, verb),
    });
  return {
    kill: (container, { code = 137, reason } = {}) =>
      step({ kind: "kill", container, code, ...(reason === undefined ? {} : { reason }) }),
    killSandbox: (pod) => step({ kind: "killSandbox", pod }),
    wedge: (container, time) => step({ kind: "wedge", container, forMs: ms(time, "wedge") }),
    put: (pod) => step({ kind: "put", pod }),
    delete: (pod, { grace } = {}) =>
      step({
        kind: "delete",
        pod,
        graceSeconds: grace === undefined ? undefined : Math.ceil(ms(grace, "delete") / 1000),
      }),
    forceDelete: (pod) => step({ kind: "forceDelete", pod }),
    putManifest: (file, manifest) => step({ kind: "putManifest", file, manifest }),
    dropManifest: (file) => step({ kind: "dropManifest", file }),
    crashKubelet: (time) => step({ kind: "crashKubelet", forMs: optionalMs(time, "crashKubelet") }),
    restartKubelet: () => step({ kind: "restartKubelet" }),
    crashRuntime: (time, containers = "stay") =>
      step({ kind: "crashRuntime", containers, forMs: optionalMs(time, "crashRuntime") }),
    restartRuntime: () => step({ kind: "restartRuntime" }),
    reboot: (time) => step({ kind: "reboot", forMs: ms(time, "reboot") }),
    failCalls: (rpc, which) => trouble("fail", "failCalls", rpc, which),
    loseReplies: (rpc, which) => trouble("loseReply", "loseReplies", rpc, which),
    hangCalls: (rpc, which) => trouble("hang", "hangCalls", rpc, which),
    delayCalls: (rpc, which) => trouble("delay", "delayCalls", rpc, which, which.by),
    answer(container, answer) {
      if (isServerAnswer(answer)) return step({ kind: "serve", container, answer: serverAnswerOf(answer) });
      const { command, ...outcome } = answer;
      return step({ kind: "answer", container, command, exec: execOf(outcome) });
    },
    stepWallClock: (by) => step({ kind: "stepWallClock", byMs: signedMs(by, `${what}.stepWallClock`) }),
    fillDisk: (time) => step({ kind: "fillDisk", forMs: ms(time, "fillDisk") }),
    loseNetwork: (time) => step({ kind: "loseNetwork", forMs: ms(time, "loseNetwork") }),
    act: (text, act) => step({ kind: "act", text, act }),
  };
}

const isServerAnswer = (answer: CommandOutcome | ServerAnswer): answer is ServerAnswer =>
  "http" in answer || "tcp" in answer || "grpc" in answer;

const signedMs = (by: Duration, what: string): number =>
  by.startsWith("-") ? -milliseconds(by.slice(1), what) : milliseconds(by, what);

/** Repeats verbs at every period, from `from` (default: one period) to `to` (default: the end). */
export function every(
  period: Duration,
  { from, to }: { readonly from?: Duration; readonly to?: Duration } = {},
): Verbs {
  const what = `every(${period})`;
  const periodMs = Math.max(1, milliseconds(period, what));
  const fromMs = from === undefined ? periodMs : milliseconds(from, what);
  return verbsAt(
    { kind: "every", periodMs, fromMs, toMs: to === undefined ? undefined : milliseconds(to, what) },
    what,
  );
}

/** Runs verbs during a runtime request: the first of that kind about that pod, or the `nth` (from 1). */
export const during = (rpc: CriRpc, { of, nth = 1 }: { readonly of?: string; readonly nth?: number } = {}): Verbs =>
  verbsAt({ kind: "during", rpc, pod: of, nth }, `during(${rpc})`);
