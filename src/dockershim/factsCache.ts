/**
 * Constant facts about containers, which Docker's lists do not tell: each container is inspected once. Docker answers nothing about
 * a container that it is starting, and that may hang: a list does without it then. Bounds: the containers of the last whole
 * list of each kind and newer ones, `MAX_KNOWN` in all; `AT_ONCE` inspections at a time; `PATIENCE_MS` for all of a list; lists
 * ask nothing more while about `MAX_UNANSWERED` inspections are without an answer.
 */
import { within } from "../criServer/within.ts";
import type { ContainerDetails, ContainerSummary } from "./engine/answers.ts";
import { isNotFound } from "./engine/engineFault.ts";
import type { DockerCalls } from "./dockerCalls.ts";
import { imageDetails } from "./engine/images.ts";
import { type ContainerFacts, listedFacts } from "./mapping/containerMessages.ts";
import { LABEL, SANDBOX } from "./mapping/names.ts";

type Kind = "sandbox" | "container";

/** When a list inspects a container: never, if its facts are not known, or each time. */
export type Look = "never" | "once" | "always";

/** A listed container: facts, which are those of the list where Docker tells no others, and an inspection if there was one. */
export interface Listed {
  readonly facts: ContainerFacts;
  readonly details?: ContainerDetails;
}

/** How containers of a list are looked at. */
export interface ListLook {
  /** Whether the list has all containers of its kind, so that all others are gone. */
  readonly isWhole?: boolean;
  readonly lookAt?: (summary: ContainerSummary) => Look;
}

/** See the file header. */
export interface FactsCache {
  /** The facts of an inspected container. */
  of(details: ContainerDetails): Promise<ContainerFacts>;
  /** Listed containers by id, without those that are gone meanwhile. */
  ofListed(kind: Kind, listed: readonly ContainerSummary[], how?: ListLook): Promise<ReadonlyMap<string, Listed>>;
}

const AT_ONCE = 16;
const MAX_KNOWN = 16_384;
const PATIENCE_MS = 2_000;
const MAX_UNANSWERED = 64;

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
  const inspect = createInspections(async (kind, id) => {
    const details = await docker.find(kind, id);
    return details && { details, facts: await of(details) };
  });
  return {
    of,
    ofListed: async (kind, listed, { isWhole = true, lookAt = () => "once" } = {}) => {
      const found = new Map<string, Listed>();
      const patience = new AbortController();
      const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
      const look = async (summary: ContainerSummary): Promise<void> => {
        const how = lookAt(summary);
        const fact = known.get(summary.id)?.facts;
        const asList = { facts: fact ?? listedFacts(summary) };
        const isEnough = how === "never" || (how === "once" && fact !== undefined);
        const seen = isEnough ? asList : await inspect(kind, summary.id, patience.signal);
        if (seen !== undefined) found.set(summary.id, seen === "unanswered" ? asList : seen);
      };
      for (let from = 0; from < listed.length; from += AT_ONCE) {
        await Promise.all(listed.slice(from, from + AT_ONCE).map(look));
      }
      clearTimeout(timer);
      if (isWhole) {
        for (const [id, { isSandbox }] of known)
          if (isSandbox === (kind === "sandbox") && !found.has(id)) known.delete(id);
      }
      return found;
    },
  };
}

type Inspection = (kind: Kind, id: string, patience: AbortSignal) => Promise<Listed | "unanswered" | undefined>;

/** Inspections that end with the patience of their list. A failed one is unanswered: the list itself tells what matters. */
function createInspections(ask: (kind: Kind, id: string) => Promise<Listed | undefined>): Inspection {
  const unanswered = new Set<string>();
  return async (kind, id, patience) => {
    if (patience.aborted || unanswered.has(id) || unanswered.size >= MAX_UNANSWERED) return "unanswered";
    const asked = ask(kind, id).catch((): "unanswered" => "unanswered");
    if (await within(PATIENCE_MS, asked, patience)) return asked;
    unanswered.add(id);
    asked.finally(() => unanswered.delete(id)).catch(() => undefined);
    return "unanswered";
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
