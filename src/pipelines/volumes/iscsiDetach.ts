/**
 * Detaches an unmounted iSCSI disk from the node: removes its devices, ends the sessions with its target unless another
 * volume or mount uses the target, and removes its directory. Works from the directory alone, so also for disks of an earlier
 * kubelet. Stateless but for `leaving`. Every step can be repeated. Upstream: DetachDisk of pkg/volume/iscsi.
 *
 *     [iscsi.json]-[remove devices]-[logout, delete node]-[delete interface]-[remove directory]
 *                                     for each portal, unless the target is in use
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  map,
  type Observable,
  of,
  reduce,
  switchMap,
  toArray,
} from "rxjs";
import { interfaceCalls, hasSessions, isGone, sessionCalls } from "../../core/disk/iscsiAdmin.ts";
import { isCloned, isDirectoryOf, type IscsiDisk } from "../../core/disk/iscsiDisk.ts";
import { ISCSI_FILE, iscsiDiskAt } from "../../core/disk/iscsiFile.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { boundDevice } from "../../core/volume/blockVolume.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import type { HostDisks } from "../../ports/hostDisks.ts";
import type { IscsiSession } from "../../ports/iscsi.ts";
import { type IscsiContext, mustAdmin, portalKey, saidOf } from "./iscsiLogin.ts";
import { type RemovalPorts, removeUnmounted } from "./removeUnmounted.ts";

const MAX_FILE_BYTES = 64 * 1024;
const BLOCK_DIRECTORY = "volumeDevices";

/** Context of the steps of one detachment. */
interface Detachment {
  readonly ports: RemovalPorts;
  readonly disks: HostDisks;
  readonly context: IscsiContext;
  readonly disk: IscsiDisk;
  /** Directory of all iSCSI disks of the node. */
  readonly pluginDir: string;
}

/**
 * Completes when the directory at `mountPoint`, on which nothing is mounted, is gone; that of a block volume has no devices.
 * Errors: KubeletError. Differs from upstream, which ends the sessions of a block volume even while others use the target.
 */
export function detachIscsi(
  ports: RemovalPorts,
  disks: HostDisks,
  context: IscsiContext,
  mountPoint: string,
): Observable<never> {
  const above = mountPoint.split("/").slice(0, -2);
  const pluginDir = (above.at(-1) === BLOCK_DIRECTORY ? above.slice(0, -1) : above).join("/");
  const file$ = ports.files.readTail(`${mountPoint}/${ISCSI_FILE}`, MAX_FILE_BYTES).pipe(orElse(() => of(undefined)));
  const detached$ = defer(() => {
    context.leaving.add(mountPoint);
    return file$.pipe(
      switchMap((text) => {
        const disk = iscsiDiskAt(mountPoint, text);
        if (disk === undefined) throw kubeletError("InvalidArgument", "iscsi detach disk: malformatted mnt path");
        const detachment = { ports, disks, context, disk, pluginDir };
        return concat(removeDevices(detachment), endSessions(detachment));
      }),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        throw { ...error, message: `iscsi: failed to detach disk: ${mountPoint}\nError: ${error.message}` };
      }),
      (made$) => concat(made$, removeUnmounted(ports, mountPoint)),
      finalize(() => context.leaving.delete(mountPoint)),
    );
  });
  return ports.files.kindOf(mountPoint).pipe(switchMap((kind) => (kind === undefined ? EMPTY : detached$)));
}

/** A device and the multipath device that has it. */
interface DeviceNames {
  readonly device: string;
  readonly multipath: string | undefined;
}

const namesOf = (disks: HostDisks, devices: readonly string[]): Observable<readonly DeviceNames[]> =>
  inSequence(devices, (device) => disks.multipathOf(device).pipe(map((multipath) => ({ device, multipath })))).pipe(
    toArray(),
  );

/** Emits the devices of all mounts and block volumes of the node. */
function mountedDevices({ ports, disks }: Detachment): Observable<ReadonlySet<string>> {
  const sources$ = ports.mounts?.list().pipe(
    map((entries) => {
      const sources = entries.map((entry) => boundDevice(entry) ?? entry.source);
      return new Set(sources.filter((source) => source.startsWith("/dev/")));
    }),
  );
  return (sources$ ?? of(new Set<string>())).pipe(
    switchMap((sources) =>
      inSequence([...sources], (source) => disks.deviceOf(source).pipe(map((device) => device ?? source))).pipe(
        reduce((all, device) => all.add(device), new Set<string>()),
      ),
    ),
  );
}

/** Emits those of the devices that nothing of this node mounts, alone or as a part of a multipath device. */
const unmounted = (detachment: Detachment, devices: readonly string[]): Observable<readonly DeviceNames[]> =>
  mountedDevices(detachment).pipe(
    switchMap((mounted) =>
      namesOf(detachment.disks, devices).pipe(
        map((names) =>
          names.filter(
            ({ device, multipath }) => !mounted.has(device) && (multipath === undefined || !mounted.has(multipath)),
          ),
        ),
      ),
    ),
  );

/**
 * Removes the devices of the disk from the node: its multipath device, then each path. Differs from upstream: the paths of a
 * multipath device that cannot be removed stay, and so do devices that another volume has mounted.
 */
function removeDevices(detachment: Detachment): Observable<never> {
  const { context, disks, disk, ports } = detachment;
  return context.port.devices(disk.iqn, disk.lun).pipe(
    switchMap((devices) => unmounted(detachment, devices)),
    switchMap((free) => {
      const multipaths = [...new Set(free.flatMap(({ multipath }) => multipath ?? []))];
      return concat(
        inSequence(multipaths, (multipath) => disks.removeMultipath(multipath)),
        inSequence(free, ({ device }) =>
          disks.remove(device).pipe(
            catchError((thrown: unknown) => {
              // The end of the session removes it too.
              ports.telemetry.log.warn("Cannot remove a device", { device, error: toKubeletError(thrown) });
              return EMPTY;
            }),
          ),
        ),
      );
    }),
    ignoreElements(),
  );
}

/** Ends the sessions with the target, and removes the interfaces that were made for them, unless the target is in use. */
function endSessions(detachment: Detachment): Observable<never> {
  const { context, disk } = detachment;
  const { iqn, portals } = disk;
  const unlessBusy = (then: () => Observable<never>) =>
    isBusy(detachment).pipe(switchMap((busy) => (busy ? EMPTY : then())));
  return context.port.sessions(iqn).pipe(
    switchMap((sessions) => {
      const ifaces = interfacesOf(disk, sessions);
      const cloned = ifaces.filter((iface) => iface !== disk.iface || isCloned(disk));
      return concat(
        inSequence(portals, (portal) =>
          context.turns.run(
            portalKey(iqn, portal),
            unlessBusy(() => inSequence(ifaces, (iface) => logout(context, { iqn, iface }, portal))),
          ),
        ),
        inSequence(cloned, (iface) =>
          context.turns.run(
            `iface ${iface}`,
            unlessBusy(() => removeInterface(context, iface)),
          ),
        ),
      );
    }),
  );
}

/**
 * Returns the interfaces of the disk's sessions: its own, and those made for earlier volumes of the target. Volumes share a
 * session, so the interface of the first one may outlive it. Differs from upstream, which leaves such sessions.
 */
function interfacesOf({ iface }: IscsiDisk, sessions: readonly IscsiSession[]): readonly string[] {
  const portals = sessions.flatMap((session) => session.portals);
  const made = sessions
    .map((session) => session.iface)
    .filter((name) => portals.some((at) => name.startsWith(`${at}:`)));
  return [...new Set([iface, ...made])];
}

const logout = (
  context: IscsiContext,
  session: { readonly iqn: string; readonly iface: string },
  portal: string,
): Observable<never> =>
  concat(
    mustAdmin(context, { args: sessionCalls.logout(portal, session) }, saidOf, isGone),
    mustAdmin(context, { args: sessionCalls.deleteNode(portal, session) }, saidOf, isGone),
  );

/** Sessions of another target may use the interface: the last one of them removes it. */
const removeInterface = (context: IscsiContext, iface: string): Observable<never> =>
  mustAdmin(context, { args: interfaceCalls.delete(iface) }, saidOf, (answer) => isGone(answer) || hasSessions(answer));

/** Emits whether another volume of the kubelet, or any other mount of the node, uses the target. */
function isBusy(detachment: Detachment): Observable<boolean> {
  const { context, disk, pluginDir, ports } = detachment;
  const isMounted$ = defer(() => context.port.devices(disk.iqn)).pipe(
    switchMap((devices) => unmounted(detachment, devices).pipe(map((free) => free.length < devices.length))),
  );
  return othersBelow(ports, pluginDir, detachment).pipe(
    switchMap((others) => (others ? of(true) : othersBelow(ports, `${pluginDir}/${BLOCK_DIRECTORY}`, detachment))),
    switchMap((others) => (others ? of(true) : isMounted$)),
    orElse(() => {
      // Without an answer the sessions stay, as upstream.
      ports.telemetry.log.warn("Cannot tell whether an iSCSI target is in use", { iqn: disk.iqn });
      return of(true);
    }),
  );
}

/** Emits whether the directory has one of another disk of the target, in those of the interfaces. */
function othersBelow({ files }: RemovalPorts, directory: string, { context, disk }: Detachment): Observable<boolean> {
  return files.list(directory).pipe(
    switchMap((ifaces) =>
      inSequence(
        ifaces.filter((iface) => iface.startsWith("iface-")),
        (iface) =>
          files
            .list(`${directory}/${iface}`)
            .pipe(
              map((names) =>
                names.some(
                  (name) => isDirectoryOf(disk.iqn, name) && !context.leaving.has(`${directory}/${iface}/${name}`),
                ),
              ),
            ),
      ).pipe(reduce((any, next) => any || next, false)),
    ),
  );
}
