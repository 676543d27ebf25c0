/** The web server that hands out pod manifests (`staticPodURL`). */
import type { Call } from "./call.ts";

/** What makes a request conditional: what the last answer said about itself. */
export interface ManifestConditions {
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

export interface ManifestResponse extends ManifestConditions {
  readonly status: number;
  /** Empty for 304 and for bodies nobody wants (any status but 200). */
  readonly body: Uint8Array;
}

export interface ManifestServer {
  /** One GET, redirects followed. Any status is an answer; fails when there is none, or with ResourceExhausted. */
  get(conditions: ManifestConditions): Call<ManifestResponse>;
}
