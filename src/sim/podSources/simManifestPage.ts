/**
 * A simulated web server for `staticPodURL` with the pods of one node: conditional requests, an entity tag per
 * content. Owns the page and all its earlier contents. Bound: the contents its owner writes.
 */
import { concat, defer, ignoreElements, NEVER, type Observable, of, throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ManifestResponse, ManifestServer } from "../../ports/manifestServer.ts";

/** The outcome of one request. */
export type SimPageFate =
  | { readonly kind: "answer" }
  /** The connection is refused. */
  | { readonly kind: "refuse" }
  /** The request is never answered. */
  | { readonly kind: "hang" }
  | { readonly kind: "status"; readonly status: number }
  /** Only this fraction of the body, in [0, 1), arrives. */
  | { readonly kind: "cut"; readonly part: number }
  /** An older content, this many changes ago, as from a cache in between. */
  | { readonly kind: "stale"; readonly changesAgo: number };

/** The port, and the functions that edit the page. */
export interface SimManifestPage extends ManifestServer {
  /** Replaces the content of the page. */
  put(text: string): void;
}

export interface SimManifestPageOptions {
  readonly clock: Clock;
  /** Called with each request. */
  readonly fate?: (() => SimPageFate) | undefined;
  /** Latency of a request in milliseconds. Default 20. */
  readonly latencyMs?: number;
}

/** The initial page: a list without pods. */
const EMPTY_LIST = JSON.stringify({ apiVersion: "v1", kind: "PodList", items: [] });
const UNCHANGED: ManifestResponse = { status: 304, body: new Uint8Array(), etag: undefined, lastModified: undefined };

/** Creates the server. */
export function createSimManifestPage({ clock, fate, latencyMs = 20 }: SimManifestPageOptions): SimManifestPage {
  const contents = [EMPTY_LIST];
  const encoder = new TextEncoder();
  /** The answer has the content of the instant it is sent. */
  const answer = (action: SimPageFate, etag: string | undefined): Observable<ManifestResponse> => {
    const newest = contents.length - 1;
    const version = action.kind === "stale" ? Math.max(0, newest - action.changesAgo) : newest;
    const tag = `"${version}"`;
    const body = encoder.encode(contents[version]);
    switch (action.kind) {
      case "refuse":
        return throwError(() => kubeletError("Unavailable", "connect ECONNREFUSED"));
      case "hang":
        return NEVER;
      case "status":
        return of({ ...UNCHANGED, status: action.status });
      case "cut": {
        const first = body.subarray(0, Math.floor(body.length * action.part));
        return of({ status: 200, body: first, etag: undefined, lastModified: undefined });
      }
      case "answer":
      case "stale":
        return of(etag === tag ? UNCHANGED : { status: 200, body, etag: tag, lastModified: undefined });
    }
  };
  return {
    get: ({ etag }) =>
      defer(() => {
        const action = fate?.() ?? { kind: "answer" };
        return concat(
          longTimer(clock, latencyMs).pipe(ignoreElements()),
          defer(() => answer(action, etag)),
        );
      }),
    put(text) {
      contents.push(text);
    },
  };
}
