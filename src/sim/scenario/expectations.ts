/** Expectations of a scenario: claims with a text, judged on the history of the whole run. */
import type { ApiContainerStatus, PodStatus } from "../../core/api.ts";
import { type History, momentAt } from "./history.ts";
import { podOfContainer, type ScenarioNames } from "./scenarioNames.ts";
import { type Duration, milliseconds, shortDuration } from "./scenarioTime.ts";
import { statusOfContainer } from "./timeline.ts";

/** A failed claim: the state found instead, and when. */
export interface Finding {
  readonly atMs: number;
  readonly found: string;
}

/** A claim about the run. */
export interface Expectation {
  /** The claim as text. */
  readonly text: string;
  /** The instant until which the run must last to judge the claim. */
  readonly untilMs: number;
  /** Returns undefined when the claim holds. */
  judge(history: History, names: ScenarioNames): Finding | undefined;
}

/** When a claim must hold: at an instant, at some instant of an interval, throughout the interval, or at no instant. */
export interface ClaimTime {
  readonly kind: "at" | "by" | "throughout" | "never";
  readonly fromMs: number;
  /** Infinity stands for the end of the run. */
  readonly toMs: number;
  readonly text: string;
}

/** Claims about a pod. */
export interface PodClaims {
  /** Claims the phase `Pending`, `Running`, `Succeeded` or `Failed`. */
  is(phase: "Pending" | "Running" | "Succeeded" | "Failed"): Expectation;
  isReady(): Expectation;
  isNotReady(): Expectation;
  /** Claims a `status.reason` such as `DeadlineExceeded`. */
  hasReason(reason: string): Expectation;
  /** Claims that the kubelet no longer knows the pod. A pod that never existed fails the claim. */
  isGone(): Expectation;
}

/** Claims about a container. */
export interface ContainerClaims {
  /** Claims `running`, `waiting`, `terminated`, or a reason of the state such as `CrashLoopBackOff` or `Completed`. */
  is(state: string): Expectation;
  isReady(): Expectation;
  isNotReady(): Expectation;
  /** Claims that the startup probe has succeeded and the postStart hook has completed. */
  isStarted(): Expectation;
  isNotStarted(): Expectation;
  /** Claims the restart count. */
  hasRestarts(count: number): Expectation;
  /** Claims a terminated state with this exit code. */
  hasExited(code: number): Expectation;
}

/** Pods and containers that claims are about. */
export interface Subjects {
  pod(name: string): PodClaims;
  /** Selects a container by `web/app` or `demo/web/app`. */
  container(name: string): ContainerClaims;
}

/** Subjects of an interval, in which events can occur. */
export interface WindowSubjects extends Subjects {
  /** Claims an event of that reason about a pod; `message` is a part of the event's message. */
  event(pod: string, reason: string, message?: string): Expectation;
}

interface Claim {
  readonly text: string;
  holds(status: PodStatus | undefined): boolean;
  found(status: PodStatus | undefined): string;
}

/** Creates claims about pods and containers at a time. */
export const subjectsAt = (time: ClaimTime): Subjects => ({
  pod(name) {
    const claim = (text: string, holds: Claim["holds"]): Expectation =>
      claimOf(time, name, (names) => names.pod(name), { text: `pod ${name} ${text}`, holds, found: podText });
    return {
      is: (phase) => claim(`is ${phase}`, (status) => status?.phase === phase),
      isReady: () => claim("is ready", (status) => readyOf(status) === "True"),
      isNotReady: () => claim("is not ready", (status) => readyOf(status) === "False"),
      hasReason: (reason) => claim(`has reason ${reason}`, (status) => status?.reason === reason),
      isGone: () => claim("is gone", (status) => status === undefined),
    };
  },
  container(name) {
    const own = name.slice(podOfContainer(name).length + 1);
    const claim = (text: string, holds: (status: ApiContainerStatus) => boolean): Expectation =>
      claimOf(time, name, (names) => podOfContainer(names.container(name)), {
        text: `container ${name} ${text}`,
        holds(status) {
          const found = statusOfContainer(status, own);
          return found !== undefined && holds(found);
        },
        found: (status) => containerText(statusOfContainer(status, own)),
      });
    return {
      is: (state) => claim(`is ${state}`, (status) => stateWords(status).includes(state)),
      isReady: () => claim("is ready", ({ ready }) => ready),
      isNotReady: () => claim("is not ready", ({ ready }) => !ready),
      isStarted: () => claim("is started", ({ started }) => started === true),
      isNotStarted: () => claim("is not started", ({ started }) => started !== true),
      hasRestarts: (count) => claim(`has ${count} restarts`, ({ restartCount }) => restartCount === count),
      hasExited: (code) => claim(`has exited with ${code}`, ({ state }) => state?.terminated?.exitCode === code),
    };
  },
});

/** Creates claims about an interval. */
const windowSubjects = (time: ClaimTime): WindowSubjects => ({
  ...subjectsAt(time),
  event: (pod, reason, message = "") => {
    const isNever = time.kind === "never";
    const about = message === "" ? reason : `${reason} (${message})`;
    return {
      text: `${time.text}: ${isNever ? "no event" : "an event"} ${about} of pod ${pod}`,
      untilMs: finite(time.toMs),
      judge({ events, endMs }, names) {
        const own = events.filter((event) => event.pod === names.pod(pod));
        const hit = own.find(
          (event) =>
            event.reason === reason &&
            event.message.includes(message) &&
            event.atMs >= time.fromMs &&
            event.atMs <= time.toMs,
        );
        if (isNever) return hit === undefined ? undefined : { atMs: hit.atMs, found: `${hit.reason}: ${hit.message}` };
        if (hit !== undefined) return undefined;
        const reasons = [...new Set(own.map((event) => event.reason))];
        const found = reasons.length === 0 ? "no event of that pod at all" : `events ${reasons.join(", ")}`;
        return { atMs: Math.min(time.toMs, endMs), found };
      },
    };
  },
});

const finite = (ms: number): number => (Number.isFinite(ms) ? ms : 0);

function claimOf(
  time: ClaimTime,
  name: string,
  podOf: (names: ScenarioNames) => string,
  { text, holds, found }: Claim,
): Expectation {
  return {
    text: `${time.text}: ${text}`,
    untilMs: finite(time.toMs),
    judge(history, names) {
      const moments = history.pods.get(podOf(names));
      if (moments === undefined) {
        const known = [...history.pods.keys()].join(", ");
        return { atMs: 0, found: `nothing: there never was a pod for ${name}, only ${known === "" ? "none" : known}` };
      }
      const toMs = Math.min(time.toMs, history.endMs);
      const first = { atMs: time.fromMs, status: momentAt(moments, time.fromMs)?.status };
      const stretch = [first, ...moments.filter(({ atMs }) => atMs > time.fromMs && atMs <= toMs)];
      const last = stretch.at(-1) ?? first;
      const finding = (moment: typeof first): Finding => ({ atMs: moment.atMs, found: found(moment.status) });
      switch (time.kind) {
        case "at":
        case "by":
          return stretch.some(({ status }) => holds(status)) ? undefined : { ...finding(last), atMs: toMs };
        case "throughout": {
          const wrong = stretch.find(({ status }) => !holds(status));
          return wrong && finding(wrong);
        }
        case "never": {
          const wrong = stretch.find(({ status }) => holds(status));
          return wrong && finding(wrong);
        }
      }
    },
  };
}

const readyOf = (status: PodStatus | undefined): string | undefined =>
  status?.conditions?.find(({ type }) => type === "Ready")?.status;

function stateWords({ state }: ApiContainerStatus): readonly string[] {
  const { running, terminated, waiting } = state ?? {};
  const words = [
    running === undefined ? [] : ["running"],
    terminated === undefined ? [] : ["terminated", terminated.reason ?? ""],
    waiting === undefined ? [] : ["waiting", waiting.reason ?? ""],
  ];
  return words.flat();
}

const podText = (status: PodStatus | undefined): string =>
  status === undefined
    ? "no such pod at that time"
    : [status.phase ?? "no phase", readyOf(status) === "True" ? "ready" : "not ready", status.reason ?? ""]
        .filter((word) => word !== "")
        .join(", ");

function containerText(status: ApiContainerStatus | undefined): string {
  if (status === undefined) return "no such container at that time";
  const { terminated } = status.state ?? {};
  const words = [
    stateWords(status).join(" "),
    terminated === undefined ? "" : `code ${terminated.exitCode}`,
    status.ready ? "ready" : "not ready",
    `${status.restartCount} restarts`,
  ];
  return words.filter((word) => word !== "").join(", ");
}

/** Creates claims that hold at some instant up to `time`. */
export function by(time: Duration): WindowSubjects {
  const toMs = milliseconds(time, "by");
  return windowSubjects({ kind: "by", fromMs: 0, toMs, text: `by ${shortDuration(toMs)}` });
}

/** Creates claims that hold throughout an interval; an event occurs in it at least once. */
export function between(from: Duration, to: Duration): WindowSubjects {
  const [fromMs, toMs] = [milliseconds(from, "between"), milliseconds(to, "between")];
  const text = `between ${shortDuration(fromMs)} and ${shortDuration(toMs)}`;
  return windowSubjects({ kind: "throughout", fromMs, toMs, text });
}

/** Claims that hold at no instant of the run. */
export const never: WindowSubjects = windowSubjects({ kind: "never", fromMs: 0, toMs: Infinity, text: "never" });
