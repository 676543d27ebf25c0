/** Pods from disk, until the API server has confirmed or removed them: none once it has answered. */
import { isRestored } from "../../core/pod/restoredMark.ts";
import type { SimNode } from "../simNode.ts";

/** Lists a sentence per pod that still has the mark. */
export const openRestored = (node: Pick<SimNode, "pods">): readonly string[] =>
  node
    .pods()
    .filter(isRestored)
    .map(({ metadata: { namespace, name } }) => `${namespace}/${name} is still marked as restored from disk`);
