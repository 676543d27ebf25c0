/**
 * Attaches iSCSI disks: logs in to each portal, lets its SCSI host look for the LUN, and waits for the link to the device,
 * which a watch reports. Stateless. Bounds: rounds of core/disk/iscsiPaths.ts, LINK_MS per portal and round, MULTIPATH_MS.
 * Upstream: AttachDisk of pkg/volume/iscsi.
 *
 *     round     [portal 1: login-scan-link]-[portal 2: login-scan-link]     again while paths are missing
 *     device                                                           [multipath]
 */
import {
  catchError,
  concat,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  switchMap,
  take,
  takeUntil,
  throwError,
  toArray,
} from "rxjs";
import { chapSecrets, interfaceCalls, transportOf } from "../../core/disk/iscsiAdmin.ts";
import { isCloned, type IscsiTarget } from "../../core/disk/iscsiDisk.ts";
import { afterRound, linkAt } from "../../core/disk/iscsiPaths.ts";
import { isKubeletError, type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { orElse } from "../../operators/orElse.ts";
import type { HostDisks } from "../../ports/hostDisks.ts";
import { cloneInterface, type IscsiContext, type IscsiSecrets, mayAdmin, saidOf, sessionAt } from "./iscsiLogin.ts";

const LINK_MS = 30_000;
const MULTIPATH_MS = 10_000;
const BY_PATH = "/dev/disk/by-path";

/** Emits the credentials of a target; empty without CHAP. Errors: KubeletError, never with a value of the Secret. */
export function iscsiSecrets({ api }: Pick<IscsiContext, "api">, { chap }: IscsiTarget): Observable<IscsiSecrets> {
  if (chap === undefined) return of(new Map());
  const { name = "", namespace = "" } = chap.secret;
  if (api === undefined) return throwError(() => kubeletError("Unimplemented", "Cannot get kube client"));
  return api.get("secrets", { name, namespace }).pipe(
    map(({ data = {} }) => {
      const secrets = chapSecrets(data);
      if (isKubeletError(secrets)) throw secrets;
      return secrets;
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      throw { ...error, message: `Couldn't get secret ${namespace}/${name} error: ${error.message}` };
    }),
  );
}

/** Emits the device of a disk: its multipath device, else one path to it. Errors: KubeletError. */
export function attachIscsi(
  disks: HostDisks,
  context: IscsiContext,
  target: IscsiTarget,
  secrets: IscsiSecrets,
): Observable<string> {
  const { initIface, iface } = target;
  return context.port.admin({ args: interfaceCalls.show(initIface) }).pipe(
    switchMap((shown) => {
      const why = `iscsi: could not read iface ${initIface} error: ${saidOf(shown)} (exit status ${shown.status})`;
      if (shown.status !== 0) throw kubeletError("Io", why);
      const transport = transportOf(shown.said);
      if (transport === undefined) throw kubeletError("Io", `Could not parse iface file for ${iface}`);
      const paths$ = pathsOf({ disks, context, target, secrets, transport }, new Map(), 1);
      return concat(isCloned(target) ? cloneIfNeeded(context, target, shown.said) : EMPTY, paths$).pipe(
        catchError((thrown: unknown) =>
          concat(
            // An interface of the node stays.
            isCloned(target) ? mayAdmin(context, interfaceCalls.delete(iface)) : EMPTY,
            throwError(() => thrown),
          ),
        ),
      );
    }),
    switchMap((paths) => multipathOf(disks, context, target, paths)),
  );
}

/** The settings of an interface stay while there are sessions at all portals. */
const cloneIfNeeded = (context: IscsiContext, target: IscsiTarget, shown: string): Observable<never> =>
  context.port.sessions(target.iqn).pipe(
    switchMap((sessions) => {
      const entered = new Set(sessions.flatMap(({ portals }) => portals));
      return target.portals.every((portal) => entered.has(portal)) ? EMPTY : cloneInterface(context, target, shown);
    }),
  );

interface Attempt {
  readonly disks: HostDisks;
  readonly context: IscsiContext;
  readonly target: IscsiTarget;
  readonly secrets: IscsiSecrets;
  readonly transport: string;
}

/** Emits the devices of all paths, in the order of the portals. */
function pathsOf(attempt: Attempt, known: ReadonlyMap<string, string>, round: number): Observable<readonly string[]> {
  const { portals } = attempt.target;
  let last: KubeletError | undefined;
  const missing = portals.filter((portal) => !known.has(portal));
  return inSequence(missing, (portal) =>
    pathAt(attempt, portal).pipe(
      map((device) => [portal, device] as const),
      catchError((thrown: unknown) => {
        last = toKubeletError(thrown);
        return EMPTY;
      }),
    ),
  ).pipe(
    toArray(),
    switchMap((found) => {
      const paths = new Map([...known, ...found]);
      switch (afterRound(round, paths.size, portals.length)) {
        case "failed": {
          const { code = "NotFound", message = "" } = last ?? {};
          throw kubeletError(code, `failed to get any path for iscsi disk, last err seen:\n${message}`);
        }
        case "enough":
          return of(portals.flatMap((portal) => paths.get(portal) ?? []));
        case "again":
          return pathsOf(attempt, paths, round + 1);
      }
    }),
  );
}

/** Emits the device of the disk at one portal. */
function pathAt({ disks, context, target, secrets, transport }: Attempt, portal: string): Observable<string> {
  const { lun, iqn } = target;
  const look = () =>
    disks.links("by-path").pipe(
      switchMap((names) => {
        const name = linkAt(names, target, portal, transport);
        return name === undefined ? of(undefined) : disks.deviceOf(`${BY_PATH}/${name}`);
      }),
    );
  return sessionAt(context, target, portal, secrets).pipe(
    switchMap((host) => concat(context.port.scan(host, lun).pipe(ignoreElements()), whenFound(context, look, LINK_MS))),
    map((device) => {
      if (device !== undefined) return device;
      const path = `${BY_PATH}/${transport === "tcp" ? "" : "pci-*-"}ip-${portal}-iscsi-${iqn}-lun-${lun}`;
      const message = `Timed out waiting for device at path ${path} after ${LINK_MS / 1_000}s`;
      throw kubeletError("DeadlineExceeded", message);
    }),
  );
}

/** Emits the multipath device of the paths, which may take a while with several portals, else the first path. */
function multipathOf(
  disks: HostDisks,
  context: IscsiContext,
  { portals }: IscsiTarget,
  paths: readonly string[],
): Observable<string> {
  const look = () =>
    inSequence(paths, (path) => disks.multipathOf(path).pipe(filter((device) => device !== undefined))).pipe(
      take(1),
      defaultIfEmpty(undefined),
    );
  const found$ = portals.length > 1 ? whenFound(context, look, MULTIPATH_MS) : look();
  return found$.pipe(map((device) => device ?? paths[0] ?? ""));
}

/** Looks now, after each change of links, and at the deadline. Emits the first find, or undefined. */
function whenFound<T>(
  { port, clock }: Pick<IscsiContext, "port" | "clock">,
  look: () => Observable<T | undefined>,
  ms: number,
): Observable<T | undefined> {
  // Without a watch, the look at the deadline remains.
  const changes$ = port.linkChanges$.pipe(orElse(() => NEVER));
  const seen$ = merge(of("now"), changes$).pipe(conflateMap(look), takeUntil(longTimer(clock, ms)));
  return concat(seen$, defer(look)).pipe(
    filter((found) => found !== undefined),
    take(1),
    defaultIfEmpty(undefined),
  );
}
