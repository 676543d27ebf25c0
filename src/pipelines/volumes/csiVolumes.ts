/**
 * Sets up a CSI volume: stages it once for the node, publishes it for the pod, gives it to the pod's group. Keeps no
 * state of its own: heldVolumes.ts has what pods share, and `csiWait` adds the volume there. Every step can be repeated. Bounds: the deadlines of the driver's calls. Upstream:
 * MountDevice of csi_attacher.go and SetUpAt of csi_mounter.go.
 */
import { catchError, concat, defer, EMPTY, forkJoin, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import type { Node, Pod } from "../../core/api.ts";
import { decodeBase64 } from "../../core/base64.ts";
import { attachmentWait } from "../../core/csi/attachmentWait.ts";
import type { CsiDriverFacts, CsiDrivers } from "../../core/csi/csiDriverFacts.ts";
import { csiVolumeName } from "../../core/csi/csiLayout.ts";
import type { CsiLayout } from "../../core/csi/csiVolumeLayout.ts";
import { csiTokenWish, isFinal, publishRequest, stageRequest, tokenText } from "../../core/csi/csiRequests.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { SecretName } from "../../core/volume/csiVolume.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import { orElse } from "../../operators/orElse.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { CsiDriverPort } from "../../ports/csiDrivers.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { Tokens } from "../projections/tokens.ts";
import { type HeldVolume, type HeldVolumes, holderOf } from "./heldVolumes.ts";
import { mapDevice } from "./blockMaps.ts";
import { publishPlace, recordBlock, stagePlace } from "./csiPlaces.ts";
import type { VolumePorts } from "./volumeEffects.ts";
import { giveAway } from "./volumeOwnership.ts";

/** The drivers of the node, and what requests to them need. */
export interface CsiContext {
  readonly port: CsiDriverPort;
  readonly drivers: ReadonlyCell<CsiDrivers>;
  readonly node: ReadonlyCell<Node | undefined>;
  readonly api: Pick<ApiServer, "get">;
  readonly tokens: Tokens | undefined;
  readonly nodeName: string;
  readonly heldVolumes: HeldVolumes;
}

/** A CSI volume of a pod. */
export interface CsiVolume {
  readonly pod: Pod;
  readonly layout: VolumeLayout & { readonly csi: CsiLayout };
}

const MOUNT_CLIENT = "attacher.MountDevice failed to create newCsiDriverClient";

/** Returns whether this is a CSI volume. */
export const isCsi = (layout: VolumeLayout): layout is CsiVolume["layout"] => layout.csi !== undefined;

/** Notes that the pod's volume is needed, and returns why it must wait; undefined: it can be set up. */
export function csiWait({ pod, layout }: CsiVolume, { heldVolumes, node }: CsiContext): string | undefined {
  const { csi } = layout;
  if (csi.stageDir === undefined) return undefined;
  const holder = holderOf(pod.metadata.uid, layout.name);
  heldVolumes.hold(csiVolumeName(csi.driver, csi.handle), holder, csi.attachment !== undefined);
  return attachmentWait(csi, node.value);
}

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
  const held = context.heldVolumes.of(holderOf(volume.pod.metadata.uid, volume.layout.name));
  const { block, name } = volume.layout;
  const setUp$ = concat(
    block === undefined ? EMPTY : recordDevice(ports, context, volume),
    // Another pod may stage it while this one waits for its turn.
    defer(() => stage(ports, context, volume, held?.volume)),
    publish(ports, context, volume),
    block === undefined ? EMPTY : mapDevice(ports, name, block),
  );
  return csi.stageDir === undefined || held === undefined ? setUp$ : held.volume.turns.run(setUp$);
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
  { layout: { csi, name } }: CsiVolume,
  shared: HeldVolume | undefined,
): Observable<never> {
  const { stageDir } = csi;
  if (stageDir === undefined || shared === undefined || shared.isStaged) return EMPTY;
  const isBlock = csi.block !== undefined;
  const doing = isBlock ? DEVICE_CLIENT : MOUNT_CLIENT;
  return defer(() => {
    const facts = registeredDriver(context, csi.driver, doing);
    if (!facts.capabilities.has("STAGE_UNSTAGE_VOLUME")) return EMPTY;
    const inputs$ = forkJoin({
      publishContext: attachmentMetadata(context, csi),
      secrets: secretOf(context, csi.stageSecret, "NodeStageSecretRef"),
    });
    const { prepared$, cleared$ } = stagePlace(ports, { ...csi, stageDir }, name, context.nodeName);
    return inputs$.pipe(
      switchMap((inputs) =>
        concat(
          prepared$,
          context.port.at(facts).nodeStageVolume(stageRequest({ ...csi, stageDir }, facts, inputs)),
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

function publish(ports: VolumePorts, context: CsiContext, { pod, layout }: CsiVolume): Observable<VolumeNotice> {
  const { csi, isReadOnly, name } = layout;
  const isBlock = csi.block !== undefined;
  const doing = isBlock
    ? "blockMapper.MapPodDevice failed to get CSI client"
    : "mounter.SetUpAt failed to get CSI client";
  return defer(() => {
    const facts = registeredDriver(context, csi.driver, doing);
    const inputs$ = forkJoin({
      publishContext: attachmentMetadata(context, csi),
      secrets: secretOf(context, csi.publishSecret, "NodePublishSecretRef"),
      tokens: tokensOf(context, pod, csi),
    });
    const isDelegated = facts.capabilities.has("VOLUME_MOUNT_GROUP");
    const { prepared$, cleared$ } = publishPlace(ports, csi, name, context.nodeName);
    const published$ = inputs$.pipe(
      switchMap(({ tokens, ...inputs }) =>
        concat(
          prepared$,
          context.port
            .at(facts)
            .nodePublishVolume(publishRequest({ layout: csi, isReadOnly, pod }, facts, inputs, tokens)),
        ).pipe(cleaningUp(cleared$)),
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

type Texts = Readonly<Record<string, string>>;

function attachmentMetadata({ api }: CsiContext, { attachment }: CsiLayout): Observable<Texts> {
  if (attachment === undefined) return of({});
  return api
    .get("volumeattachments", { name: attachment.id })
    .pipe(map(({ status }): Texts => status?.attachmentMetadata ?? {}));
}

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
