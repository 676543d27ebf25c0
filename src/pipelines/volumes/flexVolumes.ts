/**
 * Volumes of flexVolume drivers: a driver that attaches volumes mounts each once for the node, and every driver mounts it for
 * each pod. Stateless; what pods share is in heldVolumes.ts. Every step can be repeated. Bounds: the deadlines of the calls.
 * Upstream: attacher.go, mounter.go and their defaults of pkg/volume/flexvolume.
 *
 *     [attach]-[waitforattach]-[mountdevice]      once for the node, of drivers that attach
 *                                           [mount]-[group]     for each pod
 */
import { catchError, concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import type { Node, Pod } from "../../core/api.ts";
import { attachmentWait } from "../../core/csi/attachmentWait.ts";
import { type FlexCommand, type FlexDriver, type FlexDriverMap, flexOutcome } from "../../core/flex/flexAnswer.ts";
import { type FlexLayout, flexMountOptions, flexOptions } from "../../core/flex/flexLayout.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { mountAt } from "../../core/mount/mountInfo.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import { noPlugin, type VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { FlexDrivers } from "../../ports/flexDrivers.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import { type HeldVolumes, holderOf } from "./heldVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";
import type { VolumePorts } from "./volumeEffects.ts";
import { giveAway } from "./volumeOwnership.ts";

/** The drivers of the node, and what calls to them need. */
export interface FlexContext {
  readonly port: FlexDrivers;
  readonly drivers: ReadonlyCell<FlexDriverMap>;
  readonly node: ReadonlyCell<Node | undefined>;
  /** undefined on a standalone node. */
  readonly api: Pick<ApiServer, "get"> | undefined;
  readonly nodeName: string;
  /** Otherwise the node attaches volumes itself. */
  readonly isAttachedByController: boolean;
  readonly heldVolumes: HeldVolumes;
}

/** A flexVolume of a pod. */
export interface FlexVolume {
  readonly pod: Pod;
  readonly layout: VolumeLayout & { readonly flex: FlexLayout };
}

const PRIVATE_MODE = 0o750;
/** Upstream's limit for the wait for a device; growing a file system may take as long. */
const ATTACH_MS = 600_000;
const SLOW: ReadonlySet<FlexCommand> = new Set(["waitforattach", "expandfs"]);

/** Returns whether this is a flexVolume. */
export const isFlex = (layout: VolumeLayout): layout is FlexVolume["layout"] => layout.flex !== undefined;

/** Notes that the pod's volume is needed, and returns why it must wait; undefined: it can be set up. */
export function flexWait({ pod, layout }: FlexVolume, context: FlexContext): string | undefined {
  const { flex, name } = layout;
  if (context.drivers.value.get(flex.driver)?.capabilities.attach !== true) return undefined;
  context.heldVolumes.hold(flex.volumeName, holderOf(pod.metadata.uid, name), true, flex.volumeName);
  return context.isAttachedByController ? attachmentWait({ attachment: flex }, context.node.value) : undefined;
}

/** Sets the volume up. Emits notices for its pod. Errors: SetUpError; completed steps stay. */
export function setUpFlex(ports: VolumePorts, context: FlexContext, volume: FlexVolume): Observable<VolumeNotice> {
  const { layout, pod } = volume;
  return defer(() => {
    if (layout.fault !== undefined) throw layout.fault;
    const driver = knownDriver(context, layout.flex.driver, layout.name);
    const published$ = publish(ports, context, volume, driver);
    const held = context.heldVolumes.of(holderOf(pod.metadata.uid, layout.name));
    if (!driver.capabilities.attach || held === undefined) return published$;
    return held.volume.turns.run(concat(stage(ports, context, layout.flex), published$));
  });
}

/** Returns whether the runtime may label the files of its volumes. Upstream: GetAttributes of mounter-defaults.go. */
export const isFlexLabelled = ({ driver }: FlexLayout, { drivers }: Pick<FlexContext, "drivers">): boolean =>
  drivers.value.get(driver)?.capabilities.selinuxRelabel !== false;

/** Returns the state outside of the volume that decides whether it may proceed. */
export function flexNews({ node, drivers }: FlexContext, flex: FlexLayout | undefined): readonly unknown[] {
  if (flex === undefined) return [];
  return [attachmentWait({ attachment: flex }, node.value), drivers.value.get(flex.driver)];
}

/** Returns the driver. Throws a KubeletError in upstream's words while it is not installed. */
export function knownDriver({ drivers }: Pick<FlexContext, "drivers">, name: string, volume: string): FlexDriver {
  const driver = drivers.value.get(name);
  if (driver !== undefined) return driver;
  throw noPlugin(volume, `the flexVolume driver ${name} is not installed`);
}

/** Calls the driver: its answer, or undefined for a call that it lacks. Errors: KubeletError. */
export function callFlex(
  { port }: Pick<FlexContext, "port">,
  driver: string,
  [command, ...args]: readonly [FlexCommand, ...string[]],
): Observable<{ readonly device: string } | undefined> {
  return port.run(driver, [command, ...args], SLOW.has(command) ? { deadlineMs: ATTACH_MS } : {}).pipe(
    map((output) => {
      const outcome = flexOutcome(command, output);
      if (outcome.kind === "failed") throw outcome.error;
      return outcome.kind === "done" ? outcome : undefined;
    }),
  );
}

/** Mounts the volume for the node, unless an earlier pod uses it. */
function stage(ports: VolumePorts, context: FlexContext, flex: FlexLayout): Observable<never> {
  const { driver, mountPoint } = flex;
  const options = flexOptions(flex);
  const made$ = attachedDevice(context, flex, options).pipe(
    switchMap((attached) =>
      callFlex(context, driver, ["waitforattach", attached, options]).pipe(map((found) => found?.device ?? attached)),
    ),
    switchMap((device) =>
      callFlex(context, driver, ["mountdevice", mountPoint, device, options]).pipe(
        switchMap((done) => (done === undefined && device !== "" ? mountDevice(ports, flex, device) : EMPTY)),
      ),
    ),
    ignoreElements(),
  );
  // The directory comes first: by it an attached volume is found and detached, also by a later kubelet.
  const staged$ = concat(ports.files.makeDirectory(mountPoint, PRIVATE_MODE).pipe(ignoreElements()), made$);
  return isMounted(ports, mountPoint).pipe(
    switchMap((isThere) => (isThere ? EMPTY : staged$)),
    catchError((thrown: unknown) => {
      throw failedAt("MountDevice", toKubeletError(thrown));
    }),
  );
}

/** Emits the device of an attached volume, which may be empty. */
function attachedDevice(context: FlexContext, flex: FlexLayout, options: string): Observable<string> {
  if (context.isAttachedByController) {
    const attached = context.node.value?.status?.volumesAttached ?? [];
    return of(attached.find(({ name }) => name === flex.volumeName)?.devicePath ?? "");
  }
  return callFlex(context, flex.driver, ["attach", options, context.nodeName]).pipe(map((done) => done?.device ?? ""));
}

function mountDevice({ mounts }: VolumePorts, { fsType, options, mountPoint }: FlexLayout, source: string) {
  if (mounts === undefined) throw kubeletError("PermissionDenied", "the kubelet may not mount file systems");
  const mode = options["kubernetes.io/readwrite"] ?? "rw";
  return mounts.mount({ source, target: mountPoint, fsType: fsType || "auto", options: [mode] });
}

/** Mounts the volume for the pod, unless it is mounted. An earlier attempt may have failed before all files had the group. */
function publish(
  ports: VolumePorts,
  context: FlexContext,
  { pod, layout }: FlexVolume,
  driver: FlexDriver,
): Observable<VolumeNotice> {
  const { flex, path } = layout;
  const mounted$ = secretsOf(context, flex).pipe(
    switchMap((secrets) =>
      concat(
        ports.files.makeDirectory(path, PRIVATE_MODE),
        callFlex(context, flex.driver, ["mount", path, flexMountOptions(flex, pod, secrets)]).pipe(
          switchMap((done) => (done === undefined ? bindDevice(ports, flex, path) : EMPTY)),
        ),
      ),
    ),
    ignoreElements(),
  );
  const group$ = driver.capabilities.fsGroup ? giveAway(ports, layout) : EMPTY;
  return isMounted(ports, path).pipe(switchMap((isThere) => concat(isThere ? EMPTY : mounted$, group$)));
}

function bindDevice({ mounts }: VolumePorts, { mountPoint }: FlexLayout, target: string): Observable<void> {
  if (mounts === undefined) throw kubeletError("PermissionDenied", "the kubelet may not mount file systems");
  return mounts.bind({ source: mountPoint, target });
}

export const isMounted = ({ mounts }: Pick<RemovalPorts, "mounts">, path: string): Observable<boolean> =>
  mounts?.list().pipe(map((entries) => mountAt(entries, path) !== undefined)) ?? of(false);

type Texts = Readonly<Record<string, string>>;

/** Emits the secret's data in base64. A secret of another type than the driver's is refused, as upstream. */
function secretsOf({ api }: FlexContext, { secret, driver }: FlexLayout): Observable<Texts> {
  const { name = "", namespace = "" } = secret ?? {};
  if (secret === undefined) return of({});
  if (api === undefined) throw kubeletError("Unimplemented", "cannot get kube client");
  return api.get("secrets", { name, namespace }).pipe(
    map(({ type, data = {} }): Texts => {
      if (type !== driver) throw kubeletError("InvalidArgument", `cannot get secret of type ${driver}`);
      return data;
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      throw { ...error, message: `couldn't get secret ${namespace}/${name} err: ${error.message}` };
    }),
  );
}

/** Notes the volumes of an earlier kubelet that are mounted for the node. Errors: those of Files. */
export const restoreFlex = (
  { files }: Pick<RemovalPorts, "files">,
  { heldVolumes }: Pick<FlexContext, "heldVolumes">,
  found: readonly { readonly holder: string; readonly volumeName: string; readonly mountPoint: string }[],
): Observable<never> =>
  inSequence(found, ({ holder, volumeName, mountPoint }) =>
    files.kindOf(mountPoint).pipe(
      map((kind) => (kind === undefined ? undefined : heldVolumes.hold(volumeName, holder, true, volumeName))),
      ignoreElements(),
    ),
  );
