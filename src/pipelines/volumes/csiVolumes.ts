/**
 * Sets up a CSI volume: stages it once for the node, publishes it for the pod, gives it to the pod's group. Keeps no
 * state of its own: heldVolumes.ts has what pods share, and csiAttachment.ts adds the volume there. Every step can be
 * repeated. Bounds: the deadlines of the driver's calls. Upstream: MountDevice of csi_attacher.go and SetUpAt of csi_mounter.go.
 */
import { catchError, concat, defer, EMPTY, forkJoin, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { decodeBase64 } from "../../core/base64.ts";
import type { CsiDriverFacts } from "../../core/csi/csiDriverFacts.ts";
import type { CsiLayout } from "../../core/csi/csiVolumeLayout.ts";
import { csiTokenWish, isFinal, publishRequest, stageRequest, tokenText } from "../../core/csi/csiRequests.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { hasFileLabels } from "../../core/mount/mountInfo.ts";
import type { SecretName } from "../../core/volume/csiVolume.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import { orElse } from "../../operators/orElse.ts";
import type { CsiAddress } from "../../ports/csiDrivers.ts";
import { attachedMetadata } from "./csiAttachment.ts";
import type { CsiContext, CsiVolume } from "./csiContext.ts";
import { type HeldVolume, holderOf } from "./heldVolumes.ts";
import { mapDevice } from "./blockMaps.ts";
import { publishPlace, recordBlock, stagePlace } from "./csiPlaces.ts";
import type { VolumePorts } from "./volumeEffects.ts";
import { giveAway } from "./volumeOwnership.ts";

/** Returns the driver as the peer of a call about the volume. Calls that end its use name no kind, as upstream. */
export const addressOf = ({ name, endpoint }: CsiDriverFacts, { isMigrated }: CsiLayout): CsiAddress => ({
  ...{ name, endpoint, isMigrated: isMigrated === true },
});

const MOUNT_CLIENT = "attacher.MountDevice failed to create newCsiDriverClient";

/** Returns whether this is a CSI volume. */
export const isCsi = (layout: VolumeLayout): layout is CsiVolume["layout"] => layout.csi !== undefined;

/** Returns the driver. Throws a KubeletError in upstream's words while it is not registered. */
export function registeredDriver(
  { drivers }: Pick<CsiContext, "drivers">,
  name: string,
  doing: string,
): CsiDriverFacts {
  const facts = drivers.value.get(name);
  if (facts !== undefined) return facts;
  const why = `driver name ${name} not found in the list of registered CSI drivers`;
  throw kubeletError("Unavailable", `kubernetes.io/csi: ${doing}: ${why}`);
}

/** Sets the volume up. Emits notices for its pod. Errors: SetUpError; completed steps stay. */
export function setUpCsi(ports: VolumePorts, context: CsiContext, volume: CsiVolume): Observable<VolumeNotice> {
  const { csi } = volume.layout;
  const holder = holderOf(volume.pod.metadata.uid, volume.layout.name);
  const shared = csi.stageDir === undefined ? undefined : context.heldVolumes.of(holder)?.volume;
  const { block, name } = volume.layout;
  const setUp$ = defer(() => {
    refuseSecondPod(csi, holder, shared);
    if (shared !== undefined) context.heldVolumes.mounting(shared, holder, csi.label);
    return attachedMetadata(context, csi);
  }).pipe(
    switchMap((publishContext) =>
      concat(
        block === undefined ? EMPTY : recordDevice(ports, context, volume),
        // Another pod may stage it while this one waits for its turn.
        defer(() => stage(ports, context, { ...volume, publishContext }, shared)),
        publish(ports, context, { ...volume, publishContext }, shared),
        block === undefined ? EMPTY : mapDevice(ports, name, block),
      ),
    ),
  );
  return shared === undefined ? setUp$ : shared.turns.run(setUp$);
}

/**
 * Emits whether the files of a volume that is set up have SELinux labels of their own, as far as the kubelet can see mounts.
 * Errors: KubeletError. Upstream: SetUpAt of csi_mounter.go.
 */
export const isCsiLabelled = ({ mounts }: VolumePorts, { path }: Pick<VolumeLayout, "path">): Observable<boolean> =>
  mounts === undefined
    ? of(true)
    : mounts.list().pipe(
        map((entries) => hasFileLabels(entries, path)),
        catchError((thrown: unknown) => {
          const error = toKubeletError(thrown);
          throw { ...error, message: `error checking for SELinux support: ${error.message}` };
        }),
      );

/** A volume that is attached, with the metadata of its attachment. */
type AttachedVolume = CsiVolume & { readonly publishContext: Texts };

/** Throws a SetUpError if another pod has a volume that is for one pod. Upstream: IsVolumeMountedElsewhere. */
function refuseSecondPod({ isForOnePod, block }: CsiLayout, holder: string, shared: HeldVolume | undefined): void {
  if (isForOnePod !== true || shared === undefined || [...shared.users].every((user) => user === holder)) return;
  const why = "volume uses the ReadWriteOncePod access mode and is already in use by another pod";
  throw failedAt(block === undefined ? "SetUp" : "SetUpDevice", kubeletError("Rejected", why));
}

const DEVICE_CLIENT = "blockMapper.SetUpDevice failed to get CSI client";

/** Records a device once its driver is known: a record has the driver called in the tear down. Errors: SetUpError. */
const recordDevice = (
  ports: VolumePorts,
  context: CsiContext,
  { layout: { csi, name } }: CsiVolume,
): Observable<never> =>
  defer(() => {
    registeredDriver(context, csi.driver, DEVICE_CLIENT);
    return recordBlock(ports, csi, name, context.nodeName);
  }).pipe(
    catchError((thrown: unknown) => {
      throw failedAt("SetUpDevice", toKubeletError(thrown));
    }),
  );

/** Stages a persistent volume unless an earlier pod did; a driver without stages keeps only the directory, as upstream. */
function stage(
  ports: VolumePorts,
  context: CsiContext,
  { layout: { csi, name }, publishContext }: AttachedVolume,
  shared: HeldVolume | undefined,
): Observable<never> {
  const { stageDir } = csi;
  if (stageDir === undefined || shared === undefined || shared.isStaged) return EMPTY;
  const isBlock = csi.block !== undefined;
  const doing = isBlock ? DEVICE_CLIENT : MOUNT_CLIENT;
  return defer(() => {
    const facts = registeredDriver(context, csi.driver, doing);
    if (!facts.capabilities.has("STAGE_UNSTAGE_VOLUME")) return EMPTY;
    const secrets$ = secretOf(context, csi.stageSecret, "NodeStageSecretRef");
    const { prepared$, cleared$ } = stagePlace(ports, { ...csi, stageDir }, name, context.nodeName);
    return secrets$.pipe(
      switchMap((secrets) =>
        concat(
          prepared$,
          context.port
            .at(addressOf(facts, csi))
            .nodeStageVolume(stageRequest({ ...csi, stageDir }, facts, { publishContext, secrets })),
        ).pipe(cleaningUp(cleared$)),
      ),
      ignoreElements(),
    );
  }).pipe(
    catchError((thrown: unknown) => {
      throw failedAt(isBlock ? "SetUpDevice" : "MountDevice", toKubeletError(thrown));
    }),
    completing(() => (shared.isStaged = true)),
  );
}

function publish(
  ports: VolumePorts,
  context: CsiContext,
  { pod, layout, publishContext }: AttachedVolume,
  shared: HeldVolume | undefined,
): Observable<VolumeNotice> {
  const { csi, isReadOnly, name } = layout;
  const isBlock = csi.block !== undefined;
  const doing = isBlock
    ? "blockMapper.MapPodDevice failed to get CSI client"
    : "mounter.SetUpAt failed to get CSI client";
  return defer(() => {
    const facts = registeredDriver(context, csi.driver, doing);
    const inputs$ = forkJoin({
      secrets: secretOf(context, csi.publishSecret, "NodePublishSecretRef"),
      tokens: tokensOf(context, pod, csi),
    });
    const isDelegated = facts.capabilities.has("VOLUME_MOUNT_GROUP");
    const { prepared$, cleared$ } = publishPlace(ports, csi, name, context.nodeName);
    const published$ = inputs$.pipe(
      switchMap(({ tokens, secrets }) =>
        concat(
          prepared$,
          context.port
            .at(addressOf(facts, csi))
            .nodePublishVolume(
              publishRequest({ layout: csi, isReadOnly, pod }, facts, { publishContext, secrets }, tokens),
            ),
        ).pipe(using(shared, holderOf(pod.metadata.uid, name)), cleaningUp(cleared$)),
      ),
      ignoreElements(),
    );
    return concat(published$, isDelegated ? EMPTY : giveAway(ports, layout));
  }).pipe(
    catchError((thrown: unknown) => {
      throw isBlock ? failedAt("MapPodDevice", toKubeletError(thrown)) : thrown;
    }),
  );
}

/** After an answer that nothing has changed, removes the traces; they must stay otherwise, for the tear down. */
const cleaningUp =
  (cleared$: Observable<never>) =>
  <T>(made$: Observable<T>): Observable<T> =>
    made$.pipe(
      catchError((thrown: unknown) => {
        const failed$ = defer(() => {
          throw thrown;
        });
        return isFinal(thrown) ? concat(cleared$.pipe(orElse(() => EMPTY)), failed$) : failed$;
      }),
    );

const completing =
  (then: () => unknown) =>
  <T>(made$: Observable<T>): Observable<T> =>
    concat(
      made$,
      defer(() => {
        then();
        return EMPTY;
      }),
    );

/** Notes that the pod may have the volume, unless an answer says that nothing has changed. */
const using =
  (shared: HeldVolume | undefined, holder: string) =>
  <T>(published$: Observable<T>): Observable<T> =>
    defer(() => {
      const wasUser = shared === undefined || shared.users.has(holder);
      shared?.users.add(holder);
      return published$.pipe(
        catchError((thrown: unknown) => {
          if (!wasUser && isFinal(thrown)) shared.users.delete(holder);
          throw thrown;
        }),
      );
    });

type Texts = Readonly<Record<string, string>>;

/** Reads the secret that a field names. */
export function secretOf({ api }: CsiContext, secret: SecretName | undefined, field: string): Observable<Texts> {
  const { name = "", namespace = "" } = secret ?? {};
  if (secret === undefined) return of({});
  const decoder = new TextDecoder();
  return api.get("secrets", { name, namespace }).pipe(
    map(
      ({ data = {} }): Texts =>
        Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decoder.decode(decodeBase64(value))])),
    ),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      const why = `kubernetes.io/csi: failed to find the secret ${name} in the namespace ${namespace} with error: ${error.message}`;
      throw { ...error, message: `fetching ${field} ${namespace}/${name} failed: ${why}` };
    }),
  );
}

function tokensOf({ tokens }: CsiContext, pod: Pod, csi: CsiLayout): Observable<string | undefined> {
  if (csi.tokens.length === 0) return of(undefined);
  const failed = "kubernetes.io/csi: mounter.SetUpAt failed to get service accoount token attributes";
  const issued = csi.tokens.map((wish) => {
    if (tokens === undefined) throw kubeletError("Unimplemented", `${failed}: there is no API server`);
    return tokens.get(csiTokenWish(pod, wish)).pipe(
      map((token) => {
        if (!token.ok) throw { ...token.error, message: `${failed}: ${token.error.message}` };
        return [wish.audience, token.value] as const;
      }),
    );
  });
  return forkJoin(issued).pipe(map(tokenText));
}
