/** Differences between two statuses of a pod, as timeline entries without their time. */
import { WAITING_FOR_RESOURCES } from "../admission/leavingPods.ts";
import type { ApiContainerStatus, PodStatus } from "../api.ts";
import { allContainerStatuses } from "../pod/containers.ts";
import { parseInstant } from "../time/civilTime.ts";
import type { TimelineEntry } from "./timelineTypes.ts";

/** The end of a container; its entry has the duration of the container's life, and the time of its end. */
export const EXITED = "Exited";

type Entry = Omit<TimelineEntry, "at">;
type Terminated = NonNullable<NonNullable<ApiContainerStatus["state"]>["terminated"]>;

/** Waiting reasons of a normal start. */
const ON_ITS_WAY: ReadonlySet<string> = new Set([WAITING_FOR_RESOURCES, "", "ContainerCreating", "PodInitializing"]);

/** Returns the differences worth an entry; none when the statuses mean the same. */
export function statusEntries(before: PodStatus | undefined, after: PodStatus): readonly Entry[] {
  const known = new Map(allContainerStatuses(before).map((container) => [container.name, container]));
  return [
    ...allContainerStatuses(after).flatMap((container) => containerEntries(known.get(container.name), container)),
    ...podEntries(before, after),
  ];
}

function containerEntries(before: ApiContainerStatus | undefined, after: ApiContainerStatus): readonly Entry[] {
  const container = after.name;
  const found: Entry[] = [];
  const exit = exitBetween(before, after);
  if (exit !== undefined) found.push({ container, ...exitEntry(exit) });
  const { running, waiting } = after.state ?? {};
  if (running !== undefined && (before?.state?.running === undefined || before.containerID !== after.containerID)) {
    const message = after.restartCount > 0 ? { message: `restart ${after.restartCount}` } : {};
    found.push({ container, what: "Running", ...message });
  }
  const { reason = "", message } = waiting ?? {};
  if (
    !ON_ITS_WAY.has(reason) &&
    (before?.state?.waiting?.reason !== reason || before.state.waiting.message !== message)
  ) {
    found.push({ container, what: reason, outcome: "failed", ...(message === undefined ? {} : { message }) });
  }
  const wasReady = before?.ready === true;
  if (after.ready && !wasReady && running !== undefined) found.push({ container, what: "Ready" });
  if (!after.ready && wasReady && running !== undefined)
    found.push({ container, what: "NotReady", outcome: "warning" });
  return found;
}

/** Returns the new termination, from the state, or from the last state if the next instance started at once. */
function exitBetween(before: ApiContainerStatus | undefined, after: ApiContainerStatus): Terminated | undefined {
  const known = new Set([before?.state?.terminated?.containerID, before?.lastState?.terminated?.containerID]);
  const now = after.state?.terminated;
  if (now !== undefined)
    return before?.state?.terminated === undefined && !known.has(now.containerID ?? "") ? now : undefined;
  const last = after.lastState?.terminated;
  const isNew = last !== undefined && before !== undefined && !known.has(last.containerID);
  return isNew ? last : undefined;
}

function exitEntry({ exitCode, reason, message, startedAt, finishedAt }: Terminated): Entry {
  const began = parseInstant(startedAt);
  const ended = parseInstant(finishedAt);
  const reported = [`code ${exitCode}`, reason, message?.trim()].filter((part) => part !== undefined && part !== "");
  return {
    what: EXITED,
    message: reported.join(", "),
    ...(exitCode === 0 ? {} : { outcome: "failed" as const }),
    ...(began === undefined || ended === undefined ? {} : { tookMs: ended - began }),
  };
}

function podEntries(before: PodStatus | undefined, after: PodStatus): readonly Entry[] {
  if (after.phase === undefined || after.phase === before?.phase) return [];
  const reported = [after.phase, after.reason, after.message].filter((part) => part !== undefined && part !== "");
  return [{ what: "Phase", message: reported.join(": ") }];
}
