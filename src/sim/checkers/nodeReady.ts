/**
 * The Ready condition of the Node follows the runtime's last status, once the runtime, the kubelet and the API server
 * have been steady for `SETTLE_MS`. A new kubelet has no runtime status yet, which may take minutes. A failed relist
 * (PLEG) for minutes makes a node unready as well, and so does a shutdown of its machine.
 */
import type { SimChecker } from "../simChecker.ts";

/** 30 s until the runtime counts as down, one report period, and one lost request. */
const SETTLE_MS = 90_000;

export function nodeReady(): SimChecker {
  let isRunning = false;
  let isUp = false;
  let says: boolean | undefined;
  let reported: { readonly status: string | undefined; readonly message: string } = { status: undefined, message: "" };
  let steadySinceMs = 0;
  let isReported = false;
  let isShuttingDown = false;
  return {
    name: "nodeReady",
    check(observation) {
      const { kind, atMs } = observation;
      if (kind === "nodeReady") reported = observation;
      const isNews = kind === "runtimeSays" && observation.isReady !== says;
      if (kind === "kubelet") {
        isRunning = observation.what === "started";
        says = undefined;
      }
      if (kind === "apiServer") isUp = observation.isUp;
      if (kind === "runtimeSays") says = observation.isReady;
      if (kind === "shutdown") isShuttingDown = observation.what === "begun";
      if (kind === "kubelet" || kind === "apiServer" || kind === "shutdown" || isNews) {
        steadySinceMs = atMs;
        isReported = false;
      }
      if (isReported || !isRunning || !isUp || atMs - steadySinceMs < SETTLE_MS) return undefined;
      const isRight =
        says === true && !isShuttingDown
          ? reported.status === "True" || reported.message.includes("PLEG")
          : reported.status !== "True";
      if (isRight) return undefined;
      isReported = true;
      return `Ready is ${reported.status} while the runtime is ${says === true ? "ready" : "not ready"}${isShuttingDown ? " and the machine shuts down" : ""}`;
    },
  };
}
