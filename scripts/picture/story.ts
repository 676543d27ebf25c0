/** The story of the picture: four pods come, one of them crashes again and again, another ends. */
import type { LiveMarble, LiveMessage, LivePod } from "../../src/core/live/liveMessages.ts";
import type { Arrival } from "./recordRun.ts";

/** The crash loop comes first: it needs the most time. */
export const ARRIVALS: readonly Arrival[] = [
  { file: "crasher.yaml", afterMs: 500 },
  { file: "web.yaml", afterMs: 4_000 },
  { file: "job.yaml", afterMs: 7_500 },
  { file: "app.yaml", afterMs: 10_500 },
];

/** Restarts after which the countdown is shown. */
const RESTARTS = 2;
/** The countdown that is shown. */
const COUNTDOWN_MS = 14_000;
/** Marbles may come this late. */
const LATE_MS = 1_500;

/** Returns the instant that the picture shows, once the crash loop waits; undefined before. */
export function momentOf(messages: readonly LiveMessage[]): number | undefined {
  const pods = messages.findLast((message) => message.kind === "pods")?.pods ?? [];
  const loop = pods.find(({ containers }) => containers.some(({ restarts }) => restarts >= RESTARTS));
  const next = loop?.waits.find(({ what }) => what === "CrashLoopBackOff")?.next;
  return next === undefined ? undefined : next.at - COUNTDOWN_MS;
}

/** Returns whether all that belongs to the picture has come. */
export function isTold(messages: readonly LiveMessage[]): boolean {
  const moment = momentOf(messages);
  const flow = messages.findLast((message) => message.kind === "flow");
  return moment !== undefined && flow !== undefined && flow.at > moment + LATE_MS;
}

/** The pod that ends, and the marble that is open: the status after its last container has ended. */
export interface Opened {
  readonly pod: LivePod;
  readonly marble: LiveMarble;
}

/** Returns the marble that the picture shows with its effects. Throws when the run has none. */
export function openedMarble(messages: readonly LiveMessage[]): Opened {
  const pods = messages.findLast((message) => message.kind === "pods")?.pods ?? [];
  const pod = pods.find(({ phase }) => phase === "Succeeded");
  const marble = messages
    .flatMap((message) => (message.kind === "marbles" ? message.marbles : []))
    .find((each) => each.pod === pod?.uid && each.place === "podStatuses" && each.text.startsWith("Succeeded"));
  if (pod === undefined || marble === undefined) throw new Error("no pod of this run has succeeded");
  return { pod, marble };
}
