/** History of a scenario's node, queried for any instant. Bound: the length of the run. */
import type { PodStatus } from "../../core/api.ts";
import type { SimObservation } from "../simObservation.ts";
import { READS } from "../simTrace.ts";
import type { ScenarioNames } from "./scenarioNames.ts";

/** The status of a pod from `atMs` on; undefined when the kubelet knows no pod of that name. */
export interface PodMoment {
  readonly atMs: number;
  readonly status: PodStatus | undefined;
}

/** An event the kubelet recorded. */
export interface ScenarioEvent {
  readonly atMs: number;
  /** Scenario name of the pod; empty for events of the node. */
  readonly pod: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** A mutating call, a change in the runtime or an event, as one line: `web/app#0 started`. */
export interface Happening {
  readonly atMs: number;
  readonly pod: string;
  readonly text: string;
}

/** The record of a whole run. */
export interface History {
  readonly endMs: number;
  /** Statuses by pod, pods in order of appearance, statuses oldest first. */
  readonly pods: ReadonlyMap<string, readonly PodMoment[]>;
  /** Intervals in which the kubelet was down, oldest first; the last one may be open. */
  readonly kubeletDown: readonly { readonly fromMs: number; readonly toMs: number }[];
  readonly events: readonly ScenarioEvent[];
  readonly happenings: readonly Happening[];
}

export interface HistoryRecorder {
  see(observation: SimObservation): void;
  /** Returns everything recorded until now. */
  history(endMs: number): History;
}

/** Creates an empty recorder. */
export function createHistoryRecorder(names: ScenarioNames): HistoryRecorder {
  const pods = new Map<string, PodMoment[]>();
  const current = new Map<string, Map<string, PodStatus>>();
  const down: { readonly fromMs: number; readonly toMs: number }[] = [];
  const events: ScenarioEvent[] = [];
  const happenings: Happening[] = [];
  let downSinceMs: number | undefined;

  const add = (atMs: number, name: string, text: string): void => {
    const parts = name.split("#")[0]?.split("/") ?? [];
    const subject = names.shown(name);
    const pod = parts.length < 2 ? "" : names.shown(parts.slice(0, 2).join("/"));
    happenings.push({ atMs, pod, text: `${subject} ${text}` });
  };
  const status = (atMs: number, subject: string, podUid: string, after: PodStatus | undefined): void => {
    const pod = names.shown(subject);
    const incarnations = current.get(pod) ?? new Map<string, PodStatus>();
    current.set(pod, incarnations);
    incarnations.delete(podUid);
    if (after !== undefined) incarnations.set(podUid, after);
    const moments = pods.get(pod) ?? [];
    pods.set(pod, moments);
    moments.push({ atMs, status: [...incarnations.values()].at(-1) });
  };
  return {
    see(observation) {
      const { atMs } = observation;
      switch (observation.kind) {
        case "status":
          status(atMs, observation.subject, observation.podUid, observation.after);
          break;
        case "change": {
          const { name, kind, exitCode } = observation.change;
          const what = kind.replace(/^container /, "");
          add(atMs, name, exitCode === undefined ? what : `${what} code ${exitCode}`);
          break;
        }
        case "call": {
          const { subject, rpc, graceSeconds } = observation;
          if (subject !== "" && !READS.has(rpc))
            add(atMs, subject, graceSeconds === undefined ? rpc : `${rpc} within ${graceSeconds} s`);
          break;
        }
        case "event": {
          const { type, reason, message, object } = observation.event;
          const subject = `${object.namespace}/${object.name}`;
          const pod = object.kind === "Pod" ? names.shown(subject) : "";
          events.push({ atMs, pod, type, reason, message });
          if (pod !== "") add(atMs, subject, `${reason}: ${message}`);
          break;
        }
        case "kubelet":
          if (observation.what !== "started") downSinceMs ??= atMs;
          else if (downSinceMs !== undefined) {
            down.push({ fromMs: downSinceMs, toMs: atMs });
            downSinceMs = undefined;
          }
          break;
        default:
          break;
      }
    },
    history: (endMs) => ({
      endMs,
      pods,
      kubeletDown: downSinceMs === undefined ? down : [...down, { fromMs: downSinceMs, toMs: endMs }],
      events,
      happenings,
    }),
  };
}

/** Returns the status in force at an instant: the last moment not after it. */
export const momentAt = (moments: readonly PodMoment[], atMs: number): PodMoment | undefined =>
  moments.findLast((moment) => moment.atMs <= atMs);
