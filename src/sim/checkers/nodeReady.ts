/**
 * What the Node says of its readiness is what the runtime said last, once runtime, kubelet and API server have been
 * steady for a while. To a new kubelet the runtime has said nothing yet, and may take minutes to. A runtime whose pods could not be listed for minutes makes a node unready as well.
 */
import type { SimChecker } from "../simChecker.ts";

/** 30 s of patience with a runtime that is away, the period of a report, and a request that was lost on the way. */
const SETTLE_MS = 90_000;

export function nodeReady(): SimChecker {
  let isRunning = false;
  let isUp = false;
  let says: boolean | undefined;
  let told: { readonly status: string | undefined; readonly message: string } = { status: undefined, message: "" };
  let steadySinceMs = 0;
  let isTold = false;
  return {
    name: "nodeReady",
    check(observation) {
      const { kind, atMs } = observation;
      if (kind === "nodeReady") told = observation;
      const isNews = kind === "runtimeSays" && observation.isReady !== says;
      if (kind === "kubelet") {
        isRunning = observation.what === "started";
        says = undefined;
      }
      if (kind === "apiServer") isUp = observation.isUp;
      if (kind === "runtimeSays") says = observation.isReady;
      if (kind === "kubelet" || kind === "apiServer" || isNews) {
        steadySinceMs = atMs;
        isTold = false;
      }
      if (isTold || !isRunning || !isUp || atMs - steadySinceMs < SETTLE_MS) return undefined;
      const isRight = says === true ? told.status === "True" || told.message.includes("PLEG") : told.status !== "True";
      if (isRight) return undefined;
      isTold = true;
      return `Ready is ${told.status} while the runtime is ${says === true ? "ready" : "not ready"}`;
    },
  };
}
