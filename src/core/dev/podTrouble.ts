/** Why a pod is not what its manifest asks for, in one line for a terminal. */
import type { ApiContainerStatus, Pod } from "../api.ts";
import { podContainerStatuses } from "../pod/containers.ts";
import type { TimelineView, WaitView } from "../timeline/timelineView.ts";

/** A pod by its namespace and name, and what is wrong with it. */
export interface PodTrouble {
  readonly namespace: string;
  readonly name: string;
  readonly text: string;
}

const PROBE_SECONDS = 5;

/** The trouble of a pod; undefined when there is none, or nothing is known of it. `view` may have the cause of a wait. */
export function podTrouble({ metadata, status = {} }: Pod, view: TimelineView | undefined): string | undefined {
  if (metadata.deletionTimestamp !== undefined || status.phase === "Succeeded") return undefined;
  const { message = "" } = status;
  if (status.phase === "Failed" && message !== "") return message;
  for (const container of podContainerStatuses(status)) {
    const text = containerTrouble(container);
    if (text !== undefined) return `${container.name}: ${text}`;
  }
  const wait = view?.waits.find(isTrouble);
  return wait && `${[wait.container, wait.what].filter((word) => word !== undefined).join(" ")}: ${wait.cause}`;
}

/** Waits that have a cause nobody may hear of otherwise. Probes get some time to succeed first. */
function isTrouble({ what, cause, seconds = 0 }: WaitView): boolean {
  if (cause === undefined) return false;
  return what === "Volume" || ((what === "ReadinessProbe" || what === "StartupProbe") && seconds >= PROBE_SECONDS);
}

function containerTrouble({ state = {}, lastState = {} }: ApiContainerStatus): string | undefined {
  const { waiting, terminated } = state;
  // The back-off itself says less than the end before it.
  const ended = terminated ?? (waiting?.reason === "CrashLoopBackOff" ? lastState.terminated : undefined);
  if (ended !== undefined && ended.exitCode !== 0) {
    const reason = ended.reason === undefined || ended.reason === "Error" ? "" : ` (${ended.reason})`;
    const message = ended.message === undefined || ended.message === "" ? "" : `: ${ended.message}`;
    return `ended with exit code ${ended.exitCode}${reason}${message}`;
  }
  return waiting?.message === undefined || waiting.message === "" ? undefined : waiting.message;
}
