import { of } from "rxjs";
import { withRuntime, type Mutant } from "./mutant.ts";

/** Does not ask the runtime for another size, and believes that it has it. */
export const unmadeSizes: Mutant = {
  bug: "a resize is told as completed and containers keep the size they had",
  caughtBy: "sizesSettle",
  createKubelet: withRuntime(() => ({ updateContainerResources: () => of({}) })),
};
