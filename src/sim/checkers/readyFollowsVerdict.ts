/**
 * A container is not ready while its readiness probe fails: before the first success on this instance, and from the
 * failure beyond the threshold until the next success. A restarted kubelet counts failures from zero.
 */
import type { Container } from "../../core/api.ts";
import type { SimChecker } from "../simChecker.ts";
import { liveContainers } from "./liveContainers.ts";
import { probeAnswers } from "./probeAnswers.ts";
import { reportedRunning } from "./reportedRunning.ts";

/** The first probe of an instance may run early; its failure does not count. */
const EARLY_LOOKS = 1;
/** Allowed delay between a verdict and the status that shows it. */
const TELLING_MS = 1_000;

interface Verdict {
  readonly isReady: boolean;
  readonly hasPassed: boolean;
  readonly last: boolean | undefined;
  readonly run: number;
  readonly sinceMs: number;
}

/** Returns the verdict after one more answer of the probe. */
function verdictAfter(before: Verdict, probe: Container["readinessProbe"], isSuccess: boolean, atMs: number): Verdict {
  const { successThreshold = 1, failureThreshold = 3 } = probe ?? {};
  const run = before.last === isSuccess ? before.run + 1 : 1;
  const isReady = run >= (isSuccess ? successThreshold : failureThreshold + EARLY_LOOKS) ? isSuccess : before.isReady;
  const sinceMs = isReady === before.isReady ? before.sinceMs : atMs;
  return { isReady, hasPassed: before.hasPassed || isReady, last: isSuccess, run, sinceMs };
}

export function readyFollowsVerdict(live = liveContainers()): SimChecker {
  /** Verdicts of running instances with a readiness probe. */
  const verdicts = new Map<string, Verdict>();
  /** Running instances that the last status shows as ready. */
  const reportedReady = new Set<string>();
  /** Instances in `toldReady` whose verdict is negative: nearly none, checked at every observation. */
  const suspects = new Set<string>();
  const weigh = (id: string): void => {
    if (reportedReady.has(id) && verdicts.get(id)?.isReady === false) suspects.add(id);
    else suspects.delete(id);
  };
  const judge = (id: string, verdict: Verdict): void => {
    verdicts.set(id, verdict);
    weigh(id);
  };
  const reported = (id: string, isReady: boolean): void => {
    if (isReady) reportedReady.add(id);
    else reportedReady.delete(id);
    weigh(id);
  };
  const answered = (id: string, isSuccess: boolean, atMs: number): void => {
    const before = verdicts.get(id);
    const container = live.get(id);
    if (before === undefined || container === undefined) return;
    judge(id, verdictAfter(before, live.spec(container)?.readinessProbe, isSuccess, atMs));
  };
  const broken = (atMs: number): string | undefined => {
    for (const id of suspects) {
      if (atMs - (verdicts.get(id)?.sinceMs ?? atMs) <= TELLING_MS) continue;
      return `${live.get(id)?.subject} is reported as ready while its readiness probe fails`;
    }
    return undefined;
  };
  return {
    name: "readyFollowsVerdict",
    check(observation) {
      live.look(observation);
      switch (observation.kind) {
        case "change": {
          const { kind, id } = observation.change;
          const container = live.get(id);
          if (kind === "container started" && container !== undefined && live.spec(container)?.readinessProbe) {
            judge(id, { isReady: false, hasPassed: false, last: undefined, run: 0, sinceMs: -Infinity });
          }
          if (kind === "container exited") {
            verdicts.delete(id);
            reported(id, false);
          }
          break;
        }
        case "kubelet":
          for (const [id, verdict] of verdicts) {
            // The API server may lack the last verdict; a ready status still requires an earlier success.
            judge(id, { ...verdict, isReady: verdict.hasPassed, last: undefined, run: 0 });
          }
          break;
        case "probe":
          for (const { container, kind, isSuccess } of probeAnswers(live, observation)) {
            if (kind === "readiness") answered(container.id, isSuccess, observation.atMs);
          }
          break;
        case "status":
          for (const id of reportedRunning(observation.before).keys()) reported(id, false);
          for (const [id, { ready }] of reportedRunning(observation.after))
            if (ready && live.get(id)) reported(id, true);
          break;
        default:
      }
      return broken(observation.atMs);
    },
  };
}
