/** What a pod source says: always everything it wants, never a difference. */
import type { ToldPods } from "../api/toldPods.ts";
import type { Pod } from "../api.ts";
import type { ManifestObject } from "../configObjects.ts";

/** Pod sources, named as in the `kubernetes.io/config.source` annotation. */
export type PodSource = "file" | "http" | "api";

/** One thing wrong with a manifest. It is the same object in every snapshot until the manifest's content changes. */
export interface ManifestProblem {
  /** error: the pod it belongs to is not taken over, its last good one stays in the snapshot. warning: it is. */
  readonly severity: "error" | "warning";
  /** File path or URL. */
  readonly origin: string;
  /** One-based line in the file, when known. */
  readonly line: number | undefined;
  /** JSON path of the field, when known, e.g. `spec.containers[0].image`. */
  readonly field: string | undefined;
  readonly reason: string;
  /** Name of the pod the problem belongs to, when known. */
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string } | undefined;
  /** Pods, as `namespace/name`, of which an error leaves the last good version in place. Absent: none. */
  readonly kept?: readonly string[];
}

export interface SourceSnapshot {
  readonly source: PodSource;
  readonly pods: readonly Pod[];
  /** ConfigMaps, Secrets and RuntimeClasses of the source; absent: it gives none. */
  readonly objects?: readonly ManifestObject[];
  readonly problems: readonly ManifestProblem[];
  /** The objects behind `pods`, of a source that has any, and those of mirror pods. */
  readonly told?: ToldPods;
  /**
   * false: the source could not be read even once since the start, so `pods` says nothing yet (it is empty, and that
   * must delete nothing); only the problems are news. Absent: `pods` is what the source wants.
   */
  readonly ready?: false;
}
