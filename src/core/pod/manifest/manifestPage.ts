/**
 * The HTTP source's memory and judgement, pure: what an answer of the manifest server means for the pods it gave.
 * Counterpart: extractFromURL of pkg/kubelet/config/http.go.
 */
import { sameItems } from "../../sameValue.ts";
import type { ManifestProblem, SourceSnapshot } from "../sourceSnapshot.ts";
import { manifestNote, withoutClashes } from "./manifestClashes.ts";
import type { ManifestContent, ManifestReading } from "./readManifest.ts";
import { takeOver } from "./takeOver.ts";

/** What one request came to. */
export type PageAnswer =
  /** Not modified, or the same content again. */
  | { readonly kind: "unchanged" }
  /** No usable answer: the last good pods stay. */
  | { readonly kind: "failed"; readonly reason: string }
  /** 200 with nothing in it: upstream takes that as "no pods", and complains. */
  | { readonly kind: "empty" }
  | { readonly kind: "content"; readonly content: string; readonly reading: ManifestReading };

/** The memory; opaque to its owner except for content and snapshot. */
export interface ManifestPage extends ManifestContent {
  /** Digest of the content last taken over. */
  readonly content: string | undefined;
  /** What the server wants is known. As upstream, a first page that cannot be used at all says nothing yet. */
  readonly isReady: boolean;
  readonly problems: readonly ManifestProblem[];
  /** The trouble with the last request; none when it was answered. */
  readonly trouble: ManifestProblem | undefined;
  readonly snapshot: SourceSnapshot | undefined;
}

export const NO_MANIFEST_PAGE: ManifestPage = {
  content: undefined,
  isReady: false,
  pods: [],
  objects: [],
  problems: [],
  trouble: undefined,
  snapshot: undefined,
};

const EMPTY = "zero-length data received";

/** The memory after an answer. `snapshot` is a new object only if it says something new. */
export function applyAnswer(page: ManifestPage, answer: PageAnswer, url: string): ManifestPage {
  switch (answer.kind) {
    case "unchanged":
      return withSnapshot({ ...page, trouble: undefined }, page);
    case "failed":
      return withSnapshot({ ...page, trouble: trouble(page, url, answer.reason) }, page);
    case "empty":
      return withSnapshot(
        { ...NO_MANIFEST_PAGE, content: "", isReady: true, trouble: trouble(page, url, EMPTY) },
        page,
      );
    case "content": {
      if (answer.content === page.content) return withSnapshot({ ...page, trouble: undefined }, page);
      const taken = takeOver(page, answer.reading, url);
      const { clashes, ...unique } = withoutClashes([{ ...taken, origin: url }]);
      return withSnapshot(
        {
          content: answer.content,
          isReady: page.isReady || unique.pods.length > 0 || !hasFailed(answer.reading),
          ...unique,
          problems: [...taken.problems, ...clashes],
          trouble: undefined,
          snapshot: undefined,
        },
        page,
      );
    }
  }
}

/** The same trouble stays the same object, so that it is reported once. */
const trouble = (page: ManifestPage, url: string, reason: string): ManifestProblem =>
  page.trouble?.reason === reason ? page.trouble : { ...manifestNote(url, reason), severity: "error" };

const hasFailed = ({ failed, hasNamelessFailure }: ManifestReading): boolean => failed.size > 0 || hasNamelessFailure;

function withSnapshot(next: ManifestPage, before: ManifestPage): ManifestPage {
  const problems = next.trouble === undefined ? next.problems : [next.trouble, ...next.problems];
  const { isReady } = next;
  const { snapshot: last } = before;
  const isSame =
    last !== undefined &&
    (last.ready !== false) === isReady &&
    sameItems(last.pods, next.pods) &&
    sameItems(last.objects ?? [], next.objects) &&
    sameItems(last.problems, problems);
  const snapshot: SourceSnapshot = isSame
    ? last
    : { source: "http", pods: next.pods, objects: next.objects, problems, ...(isReady ? {} : { ready: false }) };
  return { ...next, snapshot };
}
