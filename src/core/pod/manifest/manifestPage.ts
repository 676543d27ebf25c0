/**
 * State of the HTTP source, as pure functions: the effect of each response of the manifest server on its pods.
 * Upstream: extractFromURL of pkg/kubelet/config/http.go.
 */
import { sameItems } from "../../sameValue.ts";
import type { ManifestProblem, SourceSnapshot } from "../sourceSnapshot.ts";
import { manifestNote, withoutClashes } from "./manifestClashes.ts";
import type { ManifestContent, ManifestReading } from "./readManifest.ts";
import { takeOver } from "./takeOver.ts";

/** The result of one request. */
export type PageAnswer =
  /** Not modified, or the same content as before. */
  | { readonly kind: "unchanged" }
  /** No usable response: the last valid pods stay. */
  | { readonly kind: "failed"; readonly reason: string }
  /** Status 200 with an empty body: no pods, reported as a problem, as in upstream. */
  | { readonly kind: "empty" }
  | { readonly kind: "content"; readonly content: string; readonly reading: ManifestReading };

/** The state; opaque to its owner except for content and snapshot. */
export interface ManifestPage extends ManifestContent {
  /** Digest of the accepted content. */
  readonly content: string | undefined;
  /** Whether the desired pods are known. As in upstream, a first page that is entirely unusable does not count. */
  readonly isReady: boolean;
  readonly problems: readonly ManifestProblem[];
  /** The problem of the last request, if any. */
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

/** Returns the state after a response. `snapshot` is a new object only if it differs. */
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

/** Keeps the same problem object while the reason is the same, so that it is reported once. */
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
