import { map } from "rxjs";
import type { ConfigLookup } from "../../../src/core/configObjects.ts";
import type { ObjectCache } from "../../../src/ports/objectCache.ts";
import { type Mutant, withPorts } from "./mutant.ts";

/** Returns the first answer in place of every other answer. */
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

/** Uses outdated ConfigMaps. */
export const staleObjects: Mutant = {
  bug: "a container is created from an older ConfigMap than the previous container",
  caughtBy: "configNeverOlder",
  seed: 20,
  createKubelet: withPorts(({ objects }) => ({ objects: objects && forgetful(objects) })),
};
