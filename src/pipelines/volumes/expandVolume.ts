/**
 * Expands a volume on the node, by its CSI driver or with the tools of its file system, and tells its claim. Stateless; the
 * sizes are in volumeSizes.ts. Bounds: the deadlines of the calls. Upstream: expandVolumeDuringMount and nodeExpandVolume of
 * operation_generator.go, node_expander.go. Differs from upstream: a claim that is left to the controller is no failure.
 *
 *     claim      NodeResizePending    NodeResizeInProgress           (status gone, new capacity)
 *     driver                                           [NodeExpand]
 */
import { catchError, concat, defer, EMPTY, endWith, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { CSI_PLUGIN } from "../../core/csi/csiLayout.ts";
import { expandRequest, grpcStatusOf, isFinal } from "../../core/csi/csiRequests.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import {
  type Claim,
  type ExpansionStep,
  expansionStep,
  finishedPatch,
  type RefusedExpansion,
  refusedExpansion,
  refusedPatch,
  sizeBytes,
  startedPatch,
  type VolumeCapacity,
} from "../../core/volume/volumeExpansion.ts";
import { expansionEvents, type ExpansionOutcome } from "../../core/volume/expansionEvents.ts";
import { type VolumeLayout, volumeKey } from "../../core/volume/volumeLayout.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import type { CsiContext, CsiVolume } from "./csiContext.ts";
import { addressOf, isCsi, registeredDriver, secretOf } from "./csiVolumes.ts";
import { isFlex } from "./flexVolumes.ts";
import { growFlex, isGrownHere } from "./growFlex.ts";
import type { VolumePorts } from "./volumeEffects.ts";
import type { VolumeSize, VolumeSizes } from "./volumeSizes.ts";
import type { VolumeKinds } from "./volumeKinds.ts";

export interface ExpansionDeps {
  readonly ports: VolumePorts;
  readonly kinds: Pick<VolumeKinds, "csi" | "flex">;
  /** undefined on a standalone node. */
  readonly claims: Pick<ApiServer, "get" | "patch"> | undefined;
  readonly sizes: VolumeSizes;
}

/** A volume that the node can expand. */
export interface Expandable {
  readonly pod: Pod;
  readonly layout: VolumeLayout & { readonly capacity: VolumeCapacity };
}

/** Returns whether the PersistentVolume is larger than the node has it, and an attempt is of use. */
export function isLarger({ capacity, isReadOnly, ...layout }: VolumeLayout, { sizes }: Pick<ExpansionDeps, "sizes">) {
  const known = sizes.of(volumeKey(layout));
  if (capacity === undefined || known === undefined || isReadOnly || known.isInUse) return false;
  return sizeBytes(capacity.size) > known.size;
}

/**
 * Expands a volume right after its set up, when its claim is smaller than its PersistentVolume. Emits events. Errors:
 * KubeletError; the volume is set up, but its pod must wait.
 */
export function expandAfterSetUp({ pod, layout }: Expandable, deps: ExpansionDeps): Observable<PodOutput> {
  if (!isGrownHere(layout, deps.kinds.flex)) return EMPTY;
  const { claimed, size } = layout.capacity;
  const known = deps.sizes.hold(volumeKey(layout), pod.metadata.uid, sizeBytes(claimed));
  if (sizeBytes(size) <= known.size) return EMPTY;
  return expand({ pod, layout }, known, deps, (claim) => {
    if (sizeBytes(claim.status?.capacity?.["storage"]) < sizeBytes(size)) return true;
    known.size = sizeBytes(size);
    return false;
  });
}

/** Expands a volume that containers use. Emits events. Errors: KubeletError. */
export function expandInUse(volume: Expandable, deps: ExpansionDeps): Observable<PodOutput> {
  return defer(() => {
    const known = deps.sizes.of(volumeKey(volume.layout));
    // Meanwhile it may have been expanded for another pod, or its driver may have refused that.
    return known === undefined || !isLarger(volume.layout, deps) ? EMPTY : expand(volume, known, deps, () => true);
  });
}

function expand(
  volume: Expandable,
  known: VolumeSize,
  deps: ExpansionDeps,
  isNeeded: (claim: Claim) => boolean,
): Observable<PodOutput> {
  const { claims } = deps;
  const { capacity, isReadOnly } = volume.layout;
  if (claims === undefined) return EMPTY;
  return claims.get("persistentvolumeclaims", capacity.claim).pipe(
    prefixed("mountVolume.NodeExpandVolume get PVC failed : "),
    switchMap((claim): Observable<PodOutput> => {
      if (!isNeeded(claim)) return EMPTY;
      if (isReadOnly) {
        known.size = sizeBytes(capacity.size);
        return told(volume, claim, "readOnly");
      }
      const step = expansionStep(claim, capacity.size, known.hasFailed);
      return step.kind === "leave" ? EMPTY : carryOut(volume, { claims, claim, step, known }, deps);
    }),
  );
}

interface Attempt {
  readonly claims: NonNullable<ExpansionDeps["claims"]>;
  readonly claim: Claim;
  readonly step: Extract<ExpansionStep, { readonly kind: "expand" }>;
  readonly known: VolumeSize;
}

function carryOut(volume: Expandable, attempt: Attempt, deps: ExpansionDeps): Observable<PodOutput> {
  const { claim, step, known } = attempt;
  const { size } = volume.layout.capacity;
  const started$ = step.tells === "all" ? patched(attempt, claim, startedPatch(claim)) : of(claim);
  return started$.pipe(
    switchMap((current) => {
      const expanded$ = grown(volume, deps).pipe(
        endWith(true),
        catchError((thrown: unknown) => refused(thrown, { ...attempt, claim: current }, deps)),
      );
      return expanded$.pipe(
        switchMap((isDone): Observable<PodOutput> => {
          if (!isDone) return EMPTY;
          const finished$ =
            step.tells === "nothing"
              ? EMPTY
              : patched(attempt, current, finishedPatch(current, size)).pipe(
                  prefixed("mountVolume.NodeExpandVolume update pvc status failed: "),
                  ignoreElements(),
                );
          const recorded$ = defer(() => {
            known.size = sizeBytes(size);
            known.hasFailed = false;
            // The driver may have refused it for another pod meanwhile.
            known.isInUse = false;
            return EMPTY;
          });
          return concat(told(volume, current, "succeeded"), finished$, recorded$);
        }),
      );
    }),
  );
}

/** Records a failure; emits false if the volume may be used as it is, and throws otherwise. */
function refused(thrown: unknown, attempt: Attempt, { ports }: ExpansionDeps): Observable<boolean> {
  const { claim, step, known } = attempt;
  const error = toKubeletError(thrown);
  const kind = refusalOf(error);
  if (kind === undefined) throw error;
  known.hasFailed = true;
  if (kind === "inUse") known.isInUse = true;
  const isInfeasible = kind === "infeasible" || step.isLast;
  const refusal = { isInfeasible, message: error.message, now: formatInstant(ports.clock.wallTime()) };
  const told$ = step.isRecoverable ? patched(attempt, claim, refusedPatch(claim, refusal)) : of(claim);
  return told$.pipe(
    catchError((failed: unknown) => {
      const why = toKubeletError(failed);
      ports.telemetry.log.warn("Cannot tell a claim that its volume was not expanded", { error: why });
      return of(claim);
    }),
    map(() => {
      if (kind === "inUse") return false;
      throw error;
    }),
  );
}

/** Returns the kind of a failure; undefined: the expansion may still go on, or has not begun. */
function refusalOf(error: KubeletError): RefusedExpansion | undefined {
  const status = grpcStatusOf(error);
  if (status !== undefined) return isFinal(error) ? refusedExpansion(status) : undefined;
  return error.code === "Unavailable" || error.code === "DeadlineExceeded" ? undefined : "failed";
}

/** Grows the volume; completes. */
function grown({ layout }: Expandable, { ports, kinds }: ExpansionDeps): Observable<never> {
  if (kinds.csi !== undefined && isCsi(layout)) return grownByDriver(layout, layout.capacity.size, kinds.csi);
  if (kinds.flex !== undefined && isFlex(layout)) return growFlex(ports, kinds.flex, layout, layout.capacity);
  const { bound, path } = layout;
  const { mounts, files } = ports;
  // A local device without a file system grows by itself.
  if (bound === undefined || mounts === undefined) return EMPTY;
  const device = bound.device.source;
  return files.kindOf(device).pipe(
    switchMap((kind) => {
      if (kind === "Directory") return EMPTY;
      if (kind === "BlockDevice") return mounts.growFileSystem({ device, mountPoint: path });
      throw kubeletError("InvalidArgument", "only directory and block device are supported");
    }),
    ignoreElements(),
  );
}

function grownByDriver({ csi }: CsiVolume["layout"], size: string, context: CsiContext): Observable<never> {
  return defer(() => {
    const facts = registeredDriver(context, csi.driver, "Expander.NodeExpand failed to get CSI client");
    if (!facts.capabilities.has("EXPAND_VOLUME")) {
      const found = `Expander.NodeExpand found CSI plugin ${CSI_PLUGIN}/${csi.driver} to not support node expansion`;
      throw kubeletError("Unimplemented", found);
    }
    return secretOf(context, csi.expandSecret, "NodeExpandSecretRef").pipe(
      switchMap((secrets) =>
        context.port
          .at(addressOf(facts, csi))
          .nodeExpandVolume(expandRequest(csi, facts, { size: sizeBytes(size), secrets })),
      ),
      catchError((thrown: unknown) => {
        const { message, ...error } = toKubeletError(thrown);
        const colon = refusedExpansion(grpcStatusOf(thrown)) === "infeasible" ? "" : " :";
        throw { ...error, message: `Expander.NodeExpand failed to expand the volume${colon} ${message}` };
      }),
    );
  }).pipe(ignoreElements());
}

function patched(
  { claims, claim: { metadata } }: Attempt,
  claim: Claim,
  body: Readonly<Record<string, unknown>> | undefined,
): Observable<Claim> {
  if (body === undefined) return of(claim);
  const { namespace = "", name = "" } = metadata ?? {};
  const patch = { type: "application/strategic-merge-patch+json", body } as const;
  return claims
    .patch("persistentvolumeclaims", { namespace, name }, patch, { subresource: "status" })
    .pipe(prefixed(`patchPVCStatus failed to patch PVC "${name}": `));
}

const told = ({ pod, layout }: Expandable, claim: Claim, outcome: ExpansionOutcome): Observable<PodOutput> =>
  of(...expansionEvents(pod, claim, layout.name, outcome).map(eventOutput));

const prefixed =
  (prefix: string) =>
  <T>(made$: Observable<T>): Observable<T> =>
    made$.pipe(
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        throw { ...error, message: `${prefix}${error.message}` };
      }),
    );
