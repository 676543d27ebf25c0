/**
 * Expansion of a volume on the node, once its PersistentVolume has become larger than its claim has. The claim's status
 * says whether it may proceed. Upstream: node_expander.go of pkg/volume/util/operationexecutor.
 *
 *     NodeResizePending, NodeResizeInProgress     expand
 *     no status, the claim has the size           expand: another node has updated the claim
 *     no status, no allocated resources           expand: an older controller, which tells neither
 *     any other status                            leave it to the controller
 *
 * Differs from upstream: an expansion waits for the size that the controller has allocated. Upstream's view of a volume is
 * younger, but can be older than its claim as well.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import { parseQuantity, quantityValue } from "../quantity.ts";

export type Claim = ApiObjects["persistentvolumeclaims"];

/** Sizes of a volume behind a claim. */
export interface VolumeCapacity {
  readonly claim: { readonly namespace: string; readonly name: string };
  /** Capacity of the PersistentVolume. */
  readonly size: string;
  /** Capacity in the status of the claim. */
  readonly claimed: string;
}

/** Returns a size in bytes; a size that is none counts as zero. */
export function sizeBytes(size: string | undefined): bigint {
  const quantity = parseQuantity(size ?? "0");
  return quantity === undefined ? 0n : quantityValue(quantity);
}

/** The next step of an expansion. */
export type ExpansionStep =
  | { readonly kind: "leave" }
  | {
      readonly kind: "expand";
      /** The parts of the expansion that the status of the claim tells. */
      readonly tells: "all" | "end" | "nothing";
      /** The controller reads failures. An older one tells and reads nothing about the node. */
      readonly isRecoverable: boolean;
      /** A failure is left to the controller: the claim has another size now, and an earlier attempt has failed. */
      readonly isLast: boolean;
    };

/** Returns the step; `hasFailed`: the driver has refused an earlier attempt. */
export function expansionStep({ spec, status }: Claim, size: string, hasFailed: boolean): ExpansionStep {
  const resizing = status?.allocatedResourceStatuses?.["storage"] ?? "";
  const hasSize = sizeBytes(status?.capacity?.["storage"]) >= sizeBytes(size);
  const isLast = hasFailed && sizeBytes(spec?.resources?.requests?.["storage"]) !== sizeBytes(size);
  if (resizing === "" && status?.allocatedResources === undefined) {
    return { kind: "expand", tells: hasSize ? "nothing" : "end", isRecoverable: false, isLast: false };
  }
  if (resizing === "" && hasSize) return { kind: "expand", tells: "nothing", isRecoverable: true, isLast };
  if (resizing === PENDING || resizing === IN_PROGRESS) {
    // The volume has grown again since its size was looked up: telling the old size would end the new expansion.
    if (sizeBytes(status?.allocatedResources?.["storage"]) > sizeBytes(size)) return { kind: "leave" };
    return { kind: "expand", tells: "all", isRecoverable: true, isLast };
  }
  return { kind: "leave" };
}

const PENDING = "NodeResizePending";
const IN_PROGRESS = "NodeResizeInProgress";

/** Numbers of gRPC. */
const IN_USE = 9;
/** InvalidArgument, NotFound, OutOfRange. */
const INFEASIBLE: ReadonlySet<unknown> = new Set([3, 5, 11]);

/** Kind of a failure that has changed nothing. */
export type RefusedExpansion = "inUse" | "infeasible" | "failed";

/** Returns the kind for the gRPC status of a driver's answer. */
export function refusedExpansion(status: unknown): RefusedExpansion {
  if (status === IN_USE) return "inUse";
  return INFEASIBLE.has(status) ? "infeasible" : "failed";
}

type Patch = Readonly<Record<string, unknown>>;

/** Returns the patch that tells that the node expands the volume; undefined: the claim says so. */
export function startedPatch({ metadata, status }: Claim): Patch | undefined {
  if (status?.allocatedResourceStatuses?.["storage"] === IN_PROGRESS) return undefined;
  const { resourceVersion } = metadata ?? {};
  return { metadata: { resourceVersion }, status: { allocatedResourceStatuses: { storage: IN_PROGRESS } } };
}

/** Conditions that an expansion removes when it has ended. */
const RESIZE_CONDITIONS: ReadonlySet<string> = new Set([
  "FileSystemResizePending",
  "Resizing",
  "ControllerResizeError",
  "NodeResizeError",
]);

/** Returns the patch that tells the new size. */
export function finishedPatch({ metadata, status = {} }: Claim, size: string): Patch {
  const { resourceVersion } = metadata ?? {};
  const { conditions = [], allocatedResourceStatuses = {} } = status;
  const over = conditions.filter(({ type }) => RESIZE_CONDITIONS.has(type));
  const hasOthers = Object.keys(allocatedResourceStatuses).some((name) => name !== "storage");
  return {
    metadata: { resourceVersion },
    status: {
      capacity: { storage: size },
      ...("storage" in allocatedResourceStatuses && {
        allocatedResourceStatuses: hasOthers ? { storage: null } : null,
      }),
      ...(over.length > 0 && { conditions: over.map(({ type }) => ({ $patch: "delete", type })) }),
    },
  };
}

/** Returns the patch that tells a refusal; undefined: the claim has it. An earlier condition keeps its text, as upstream. */
export function refusedPatch(
  { status }: Claim,
  refusal: { readonly isInfeasible: boolean; readonly message: string; readonly now: string },
): Patch | undefined {
  const known = status?.conditions?.some((each) => each.type === "NodeResizeError" && each.status === "True") === true;
  const { isInfeasible, message, now: lastTransitionTime } = refusal;
  if (known && !isInfeasible) return undefined;
  const condition = { type: "NodeResizeError", status: "True", lastTransitionTime };
  return {
    status: {
      ...(isInfeasible && { allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } }),
      ...(!known && { conditions: [{ ...condition, message: `failed to expand pvc with ${message}` }] }),
    },
  };
}
