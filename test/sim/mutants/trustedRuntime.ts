import { map } from "rxjs";
import { type Mutant, withRuntime } from "./mutant.ts";

/** Treats every status response of the runtime as ready. */
export const trustedRuntime: Mutant = {
  bug: "a node is Ready whenever its runtime responds",
  caughtBy: "nodeReady",
  seed: 30,
  // Only the condition of the node is wrong, so the run needs few pods.
  pods: 1,
  createKubelet: withRuntime((runtime) => ({
    status: (request, options) =>
      runtime.status(request, options).pipe(
        map((answer) => ({
          ...answer,
          status: { conditions: (answer.status?.conditions ?? []).map((each) => ({ ...each, status: true })) },
        })),
      ),
  })),
};
