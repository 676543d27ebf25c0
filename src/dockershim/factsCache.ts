/**
 * What never changes about containers, which Docker's lists do not tell: each container is inspected once. Bound: the
 * containers of the last list of each kind; `AT_ONCE` inspections at a time.
 */
import type { ContainerDetails, ContainerSummary } from "./engine/answers.ts";
import { isNotFound } from "./engine/engineFault.ts";
import type { DockerCalls } from "./dockerCalls.ts";
import { imageDetails } from "./engine/images.ts";
import type { ContainerFacts } from "./mapping/containerMessages.ts";

/** See the file header. */
export interface FactsCache {
  /** The facts of an inspected container. */
  of(details: ContainerDetails): Promise<ContainerFacts>;
  /** The facts of listed containers by id, without those that are gone meanwhile; drops all others of the kind. */
  ofListed(
    kind: "sandbox" | "container",
    listed: readonly ContainerSummary[],
  ): Promise<ReadonlyMap<string, ContainerFacts>>;
}

const AT_ONCE = 16;

/** Creates an empty cache. */
export function createFactsCache(docker: DockerCalls): FactsCache {
  const known = new Map<string, ContainerFacts>();
  const of = async (details: ContainerDetails): Promise<ContainerFacts> => {
    const found = known.get(details.id);
    if (found !== undefined) return found;
    const facts = await factsOf(docker, details);
    known.set(details.id, facts);
    return facts;
  };
  let listedIds: Readonly<Record<string, ReadonlySet<string>>> = {};
  return {
    of,
    ofListed: async (kind, listed) => {
      const unknown = listed.filter(({ id }) => !known.has(id));
      for (let from = 0; from < unknown.length; from += AT_ONCE) {
        const batch = unknown.slice(from, from + AT_ONCE);
        await Promise.all(
          batch.map(async ({ id }) => {
            const details = await docker.find(kind, id);
            if (details !== undefined) await of(details);
          }),
        );
      }
      const ids = new Set(listed.map(({ id }) => id));
      const facts = new Map([...known].filter(([id]) => ids.has(id)));
      for (const id of listedIds[kind] ?? []) if (!ids.has(id)) known.delete(id);
      listedIds = { ...listedIds, [kind]: ids };
      return facts;
    },
  };
}

async function factsOf(docker: DockerCalls, details: ContainerDetails): Promise<ContainerFacts> {
  const { createdAt, imageId, imageName } = details;
  try {
    const path = `/images/${encodeURIComponent(imageId)}/json`;
    const image = imageDetails(await docker.engine.call({ method: "GET", path }));
    return { createdAt, imageId, imageRef: image.digests[0] ?? imageId, imageName: image.tags[0] ?? imageName };
  } catch (thrown) {
    if (isNotFound(thrown)) return { createdAt, imageId, imageRef: imageId, imageName };
    throw thrown;
  }
}
