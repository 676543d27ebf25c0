/** Choices among free devices that plugins are asked for during the admission of a pod. Upstream: GetPreferredAllocation. */

/** A choice among free devices, for one container. */
export interface DeviceQuestion {
  readonly container: string;
  readonly resource: string;
  /** Ids of free devices; they include `mustInclude`. */
  readonly available: readonly string[];
  /** Ids that the container gets in any case. */
  readonly mustInclude: readonly string[];
  /** Number of devices of the container. */
  readonly size: number;
}

/** The ids that plugins prefer, by container and resource. They are untrusted: any ids, in any number. */
export type DeviceAnswers = ReadonlyMap<string, readonly string[]>;

/** Returns the key of an answer. A container name has no slash. */
export const answerKey = ({ container, resource }: Pick<DeviceQuestion, "container" | "resource">): string =>
  `${container}/${resource}`;
