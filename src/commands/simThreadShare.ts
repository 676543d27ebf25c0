/** The worker-thread side of a share of a fleet: one response per request, in their order. */
import { parentPort } from "node:worker_threads";
import { createFleetShare, type FleetNode } from "../sim/fleetShare.ts";
import type { CreateKubelet } from "../sim/simKubelet.ts";

/** Requests to a thread: create nodes (no answer), then the methods of `FleetShare`. */
export type ThreadRequest =
  | { readonly kind: "begin"; readonly nodes: readonly FleetNode[] }
  | { readonly kind: "turn"; readonly slices: number }
  | { readonly kind: "ends" };

/**
 * Answers the requests of the main thread. `createKubelet` replaces the production kubelet; it is a parameter, because
 * a function cannot be sent to a thread.
 */
export function serveFleetShare(createKubelet?: CreateKubelet): void {
  let share = createFleetShare([], {});
  const answerTo = (request: ThreadRequest) => {
    switch (request.kind) {
      case "begin":
        share = createFleetShare(request.nodes, { createKubelet });
        return undefined;
      case "turn":
        return share.turn(request.slices);
      case "ends":
        return share.ends();
    }
  };
  parentPort?.on("message", (request: ThreadRequest) => parentPort?.postMessage(answerTo(request)));
}
