import { map } from "rxjs";
import { type Mutant, withRuntime } from "./mutant.ts";

/** Takes every answer of the runtime about itself for a good one. */
export const trustedRuntime: Mutant = {
  bug: "a node is Ready whenever its runtime answers",
  caughtBy: "nodeReady",
  // It is the node that is told wrong: its pods would only take time.
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
