/** The web server that serves pod manifests (`staticPodURL`). */
import type { Call } from "./call.ts";

/** Validators of the previous response, which make a request conditional. */
export interface ManifestConditions {
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** A response of the server. */
export interface ManifestResponse extends ManifestConditions {
  readonly status: number;
  /** Empty for any status but 200. */
  readonly body: Uint8Array;
}

export interface ManifestServer {
  /**
   * Sends one GET and follows redirects. Any status is a value. Errors: a KubeletError when there is no response,
   * ResourceExhausted when the body is too large.
   */
  get(conditions: ManifestConditions): Call<ManifestResponse>;
}
