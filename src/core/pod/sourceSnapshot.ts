/** The output of a pod source: always its full desired state, never a difference. */
import type { ApiPodObjects } from "../api/apiPodObjects.ts";
import type { Pod } from "../api.ts";
import type { ManifestObject } from "../configObjects.ts";
import type { KubeletEvent } from "../events.ts";

/** Pod sources, named as in the `kubernetes.io/config.source` annotation. */
export type PodSource = "file" | "http" | "api";

/** A problem of a manifest. It stays the same object in every snapshot until the manifest's content changes. */
export interface ManifestProblem {
  /** error: the pod is not accepted, and its last valid version stays in the snapshot. warning: the pod is accepted. */
  readonly severity: "error" | "warning";
  /** File path or URL. */
  readonly origin: string;
  /** Line in the file, counted from 1, when known. */
  readonly line: number | undefined;
  /** JSON path of the field, when known, e.g. `spec.containers[0].image`. */
  readonly field: string | undefined;
  readonly reason: string;
  /** The pod that the problem belongs to, when known. */
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string } | undefined;
  /** Pods, as `namespace/name`, that keep their last valid version because of the error. Absent: none. */
  readonly kept?: readonly string[];
}

/** Returns the source of a pod, from its annotation. */
export const sourceOf = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.["kubernetes.io/config.source"];

export interface SourceSnapshot {
  readonly source: PodSource;
  readonly pods: readonly Pod[];
  /** ConfigMaps, Secrets and RuntimeClasses of the source. Absent: the source has none. */
  readonly objects?: readonly ManifestObject[];
  readonly problems: readonly ManifestProblem[];
  /** Events about the pods, to be recorded once. Absent: none. */
  readonly events?: readonly KubeletEvent[];
  /** The API objects of `pods` and of mirror pods, for a source that has them. */
  readonly reported?: ApiPodObjects;
  /**
   * False: the source has not been read since the start, so `pods` is empty and must not delete anything; only the
   * problems count. Absent: `pods` is the desired state.
   */
  readonly ready?: false;
  /**
   * True: the pods were kept on disk and may be incomplete. They are run, and the source still counts as one that has
   * not reported.
   */
  readonly restored?: true;
  /** True: the source has read its whole state anew, after a gap in which it could not follow the changes. */
  readonly afterGap?: true;
}
