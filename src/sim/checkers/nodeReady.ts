/**
 * The Ready condition of the Node follows the runtime's last status, once the runtime, the kubelet and the API server
 * have been steady for `SETTLE_MS`. A new kubelet has no runtime status yet, which may take minutes. A failed relist
 * (PLEG) for minutes makes a node unready as well.
 */
import type { SimChecker } from "../simChecker.ts";

/** 30 s until the runtime counts as down, one report period, and one lost request. */
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
