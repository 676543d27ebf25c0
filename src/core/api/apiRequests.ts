/** What reads of the Kubernetes API name and answer, on either side of it. */
import type { ApiStatus } from "./apiStatus.ts";

/** Which object; cluster-wide resources have no namespace. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** Which objects; selectors in the server's own syntax. */
export interface ApiSelection {
  /** Absent: every namespace. */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** A list: which objects, at which version, and how many at once. */
export interface ApiListQuery extends ApiSelection {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** Objects per answer at most; the answer's `metadata.continue` leads to the next ones. */
  readonly limit?: number;
  readonly continue?: string;
}

/** Bounds of a watch: the server ends it after `timeoutSeconds` (its own choice of 30 to 60 minutes when absent). */
export interface ApiWatchOptions extends ApiSelection {
  /** Events after this version. Absent or "0": first an ADDED for each object there is. */
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  /** The state first, its end marked by a bookmark with the annotation `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

/** A list as it is answered. */
export interface ApiList<T> {
  readonly metadata: {
    /** Where a watch goes on from. */
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** A bookmark carries a version and nothing else of an object. */
export interface ApiBookmark {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** One line of a watch. ERROR is the last one; with code 410 the version asked for is no longer known. */
export type ApiWatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: ApiBookmark }
  | { readonly type: "ERROR"; readonly object: ApiStatus };
