import { map } from "rxjs";
import type { ConfigLookup } from "../../../src/core/configObjects.ts";
import type { ObjectCache } from "../../../src/ports/objectCache.ts";
import { type Mutant, withPorts } from "./mutant.ts";

/** Every other answer is the first one there ever was. */
function forgetful(objects: ObjectCache): ObjectCache {
  const first = new Map<string, ConfigLookup>();
  let answers = 0;
  return {
    ...objects,
    get: (ref) =>
      objects.get(ref).pipe(
        map((lookup) => {
          const key = `${ref.kind} ${ref.namespace}/${ref.name}`;
          if (lookup.kind === "found" && !first.has(key)) first.set(key, lookup);
          answers += 1;
          return answers % 2 === 0 ? lookup : (first.get(key) ?? lookup);
        }),
      ),
  };
}

/** Takes old ConfigMaps for new ones. */
export const staleObjects: Mutant = {
  bug: "a container is made from an older ConfigMap than the one before it",
  caughtBy: "configNeverOlder",
  createKubelet: withPorts(({ objects }) => ({ objects: objects && forgetful(objects) })),
};
