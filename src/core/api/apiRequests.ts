/** Parameters and responses of Kubernetes API reads, shared by client and server. */
import type { ApiStatus } from "./apiStatus.ts";

/** Identifies an object; cluster-scoped resources have no namespace. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** Selects objects; selectors are in the server's syntax. */
export interface ApiSelection {
  /** Absent: every namespace. */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** Parameters of a list: selection, version and page size. */
export interface ApiListQuery extends ApiSelection {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** Maximum number of objects per page; the response's `metadata.continue` requests the next page. */
  readonly limit?: number;
  readonly continue?: string;
}

/**
 * Parameters of a watch: the server ends it after `timeoutSeconds` (when absent, after 30 to 60 minutes of its choice).
 */
export interface ApiWatchOptions extends ApiSelection {
  /** Starts after this version. Absent or "0": starts with an ADDED event for each existing object. */
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  /** Sends the state first; a bookmark with the annotation `k8s.io/initial-events-end` marks its end. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

/** The response to a list. */
export interface ApiList<T> {
  readonly metadata: {
    /** The version at which a watch continues. */
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** The object of a bookmark: a version and annotations, nothing else. */
export interface ApiBookmark {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** An event of a watch. ERROR is the last one; code 410 means that the requested version is no longer available. */
export type ApiWatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: ApiBookmark }
  | { readonly type: "ERROR"; readonly object: ApiStatus };
