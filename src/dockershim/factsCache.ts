/**
 * Constant facts about containers, which Docker's lists do not tell: each container is inspected once. Bounds: the
 * containers of the last list of each kind and newer ones, `MAX_KNOWN` in all; `AT_ONCE` inspections at a time.
 */
import type { ContainerDetails, ContainerSummary } from "./engine/answers.ts";
import { isNotFound } from "./engine/engineFault.ts";
import type { DockerCalls } from "./dockerCalls.ts";
import { imageDetails } from "./engine/images.ts";
import type { ContainerFacts } from "./mapping/containerMessages.ts";
import { LABEL, SANDBOX } from "./mapping/names.ts";

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
const MAX_KNOWN = 16_384;

/** Creates an empty cache. */
export function createFactsCache(docker: DockerCalls): FactsCache {
  const known = new Map<string, { readonly isSandbox: boolean; readonly facts: ContainerFacts }>();
  const of = async (details: ContainerDetails): Promise<ContainerFacts> => {
    const found = known.get(details.id);
    if (found !== undefined) return found.facts;
    const facts = await factsOf(docker, details);
    known.set(details.id, { isSandbox: details.labels[LABEL.type] === SANDBOX, facts });
    const [oldest] = known.keys();
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    return facts;
  };
  return {
    of,
    ofListed: async (kind, listed) => {
      const facts = new Map<string, ContainerFacts>();
      for (let from = 0; from < listed.length; from += AT_ONCE) {
        await Promise.all(
          listed.slice(from, from + AT_ONCE).map(async ({ id }) => {
            const details = known.has(id) ? undefined : await docker.find(kind, id);
            const found = known.get(id)?.facts ?? (details && (await of(details)));
            if (found !== undefined) facts.set(id, found);
          }),
        );
      }
      for (const [id, { isSandbox }] of known)
        if (isSandbox === (kind === "sandbox") && !facts.has(id)) known.delete(id);
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
