/**
 * Static pods from a URL (`--manifest-url`): a Pod, a PodList or several documents, polled with conditional requests.
 * core/pod/manifest/manifestPage.ts decides from each response; the subscription owns its state.
 * Bounds: one request at a time, `timeoutMs` each. Upstream: pkg/kubelet/config/http.go.
 */
import { catchError, defer, distinctUntilChanged, filter, map, type Observable, of } from "rxjs";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { applyAnswer, NO_MANIFEST_PAGE, type PageAnswer } from "../core/pod/manifest/manifestPage.ts";
import { readManifest } from "../core/pod/manifest/readManifest.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { Digest } from "../core/pod/staticPod.ts";
import { deadline } from "../operators/deadline.ts";
import { inStage } from "../operators/loopStage.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";
import type { ManifestConditions, ManifestResponse, ManifestServer } from "../ports/manifestServer.ts";
import { parseManifest } from "./parseManifest.ts";

export interface HttpPodSourceOptions {
  /** The URL, for messages and as part of the UIDs. */
  readonly url: string;
  readonly server: ManifestServer;
  readonly nodeName: string;
  /** `httpCheckFrequency` in milliseconds, from the end of one request to the start of the next. */
  readonly periodMs: number;
  /** Upper bound of one request in milliseconds; upstream's is the default. */
  readonly timeoutMs?: number;
  readonly clock: Clock;
  readonly digest: Digest;
  /** Feature gate PreventStaticPodAPIReferences; on by default. */
  readonly preventApiReferences?: boolean;
  /** No API server: ConfigMaps and Secrets are manifests too; default true. */
  readonly standalone?: boolean;
}

const TIMEOUT_MS = 10_000;
const UNCONDITIONAL: ManifestConditions = { etag: undefined, lastModified: undefined };

/**
 * Emits the pods and objects of the URL, whenever they or their problems change.
 *
 *     answers     200(a)--304--500--500--200(b)--
 *     snapshots   a------------a!--------b-------      ! with a problem
 *
 * Cancels: the current request. Never errors or completes: without a response, with a status other than 200 and with
 * unusable content, the last valid pods stay. Bound: one request at a time.
 */
export function httpPodSource(options: HttpPodSourceOptions): Observable<SourceSnapshot> {
  const { clock, periodMs, server, timeoutMs = TIMEOUT_MS, url } = options;
  return defer(() => {
    let page = NO_MANIFEST_PAGE;
    let conditions = UNCONDITIONAL;
    const request = () =>
      defer(() => server.get(conditions)).pipe(
        deadline(timeoutMs, clock, () => kubeletError("DeadlineExceeded", `no answer within ${timeoutMs} ms`)),
        map((response): PageAnswer => {
          const answer = answerOf(response, page.content, options);
          if (response.status === 200) conditions = conditionsAfter(answer, response);
          return answer;
        }),
        catchError((thrown: unknown) => of<PageAnswer>({ kind: "failed", reason: toKubeletError(thrown).message })),
        map((answer) => {
          page = applyAnswer(page, answer, url);
          return page.snapshot;
        }),
      );
    return pollAfter(clock, periodMs, request).pipe(
      filter((snapshot) => snapshot !== undefined),
      distinctUntilChanged(),
    );
  });
}

/** Requests the page unconditionally after an empty one, so that each poll reports it again. */
const conditionsAfter = (answer: PageAnswer, { etag, lastModified }: ManifestResponse): ManifestConditions =>
  answer.kind === "empty" ? UNCONDITIONAL : { etag, lastModified };

function answerOf(response: ManifestResponse, known: string | undefined, options: HttpPodSourceOptions): PageAnswer {
  const { url, nodeName, digest, clock, preventApiReferences = true, standalone = true } = options;
  if (response.status === 304 && known !== undefined) return { kind: "unchanged" };
  if (response.status !== 200) return { kind: "failed", reason: `answered with status ${response.status}` };
  if (response.body.length === 0) return { kind: "empty" };
  const content = digest([new TextDecoder("latin1").decode(response.body)]);
  if (content === known) return { kind: "unchanged" };
  const context = {
    source: "http",
    origin: url,
    nodeName,
    digest,
    readAt: clock.wallTime(),
    preventApiReferences,
    standalone,
  } as const;
  const reading = inStage({ kind: "manifest", text: `manifests of ${url}` }, () =>
    readManifest(parseManifest(response.body), context),
  );
  return { kind: "content", content, reading };
}
