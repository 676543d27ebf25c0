/** Observations for tests of checkers, one second apart unless a step sets its time. */
import type { ApiContainerStatus, PodStatus } from "../../../src/core/api.ts";
import { looksAt, type SimChecker } from "../../../src/sim/simChecker.ts";
import type { SimObservation, UntimedObservation } from "../../../src/sim/simObservation.ts";
import type { SimChange } from "../../../src/sim/runtime/simRecords.ts";
import { type PodParts, podOf } from "../../support/pods.ts";

/** An observation, optionally with its time in seconds. */
export type Step = UntimedObservation | readonly [atSeconds: number, observation: UntimedObservation];

/** Returns the findings of a checker for these observations, in order. Skips kinds outside its `sees`. */
export function verdicts(checker: SimChecker, steps: readonly Step[]): readonly string[] {
  let atMs = 0;
  return steps.flatMap((step) => {
    const isTimed = Array.isArray(step);
    atMs = isTimed ? Number(step[0]) * 1000 : atMs + 1000;
    const untimed = (isTimed ? step[1] : step) as UntimedObservation;
    const observation: SimObservation = { ...untimed, atMs };
    if (!looksAt(checker, observation.kind)) return [];
    const found = checker.check(observation.kind === "change" ? retimed(observation, atMs) : observation);
    return found === undefined ? [] : [found];
  });
}

const retimed = (observation: SimObservation, atMs: number): SimObservation =>
  observation.kind === "change" ? { ...observation, change: { ...observation.change, atMs } } : observation;

/** A change in the runtime, by default `container started` for `main#0` of pod `demo/plain`. */
export function change(
  kind: SimChange["kind"],
  part = "main#0",
  podUid = "uid-1",
  pod = "demo/plain",
): UntimedObservation {
  const name = kind.startsWith("sandbox") ? pod : `${pod}/${part}`;
  return { kind: "change", change: { atMs: 0, kind, id: `${podUid}-${part}`, podUid, name } };
}

type Call = UntimedObservation & { readonly kind: "call" };

/** A runtime request about a part of pod `demo/plain`. */
export const call = (
  rpc: Call["rpc"],
  part = "main#0",
  more: Partial<Pick<Call, "graceSeconds" | "command" | "podUid" | "image">> = {},
): UntimedObservation => ({
  kind: "call",
  rpc,
  podUid: "uid-1",
  subject: `demo/plain/${part}`,
  fate: "proceed",
  ...more,
});

/** A snapshot in which a source lists exactly these pods. */
export const wanted = (...pods: readonly PodParts[]): UntimedObservation => ({
  kind: "wanted",
  source: "api",
  podUids: new Set(pods.map(({ uid = "uid-1" }) => uid)),
  pods: pods.map(podOf),
  news: pods.map(podOf),
});

export const started: UntimedObservation = { kind: "kubelet", what: "started" };

/** A status update of pod `demo/plain`: phase or container statuses, before and after. */
export const status = (
  before: PodStatus | undefined,
  after: PodStatus | undefined,
  podUid = "uid-1",
): UntimedObservation => ({
  kind: "status",
  podUid,
  subject: "demo/plain",
  before,
  after,
});

/** A pod status in which `main#0` runs. */
export const running = (reported: Partial<ApiContainerStatus>): PodStatus => ({
  phase: "Running",
  containerStatuses: [
    {
      name: "main",
      image: "",
      imageID: "",
      containerID: "containerd://uid-1-main#0",
      ready: false,
      restartCount: 0,
      state: { running: {} },
      ...reported,
    },
  ],
});

/** A probe result of pod `uid-1`. */
export const probe = (asked: string, isSuccess: boolean): UntimedObservation => ({
  kind: "probe",
  podUid: "uid-1",
  asked,
  result: isSuccess ? "success" : "failure",
});
