import { of } from "rxjs";
import { withRuntime, type Mutant } from "./mutant.ts";

/** Treats a resize as applied without a request to the runtime. */
export const unmadeSizes: Mutant = {
  bug: "a resize is reported as completed but containers keep their size",
  caughtBy: "sizesSettle",
  seed: 10,
  createKubelet: withRuntime(() => ({ updateContainerResources: () => of({}) })),
};
