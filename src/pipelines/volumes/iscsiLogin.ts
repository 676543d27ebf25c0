/**
 * Logs the node in to a target at a portal, unless it is. One call for each target and portal at a time, so that no logout
 * comes between. Stateless but for these turns. Upstream: AttachDisk and cloneIface of pkg/volume/iscsi.
 *
 *     [new discovery]-[CHAP]-[discover]-[manual scan]-[CHAP]-[login]-[manual start]
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  switchMap,
  throwError,
} from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { goQuote } from "../../core/container/goJson.ts";
import {
  type AdminAnswer,
  type AdminCall,
  chapCalls,
  hasSessions,
  interfaceCalls,
  sessionCalls,
  settingsOf,
} from "../../core/disk/iscsiAdmin.ts";
import type { IscsiTarget } from "../../core/disk/iscsiDisk.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { KeyedTurns } from "../../operators/keyedTurns.ts";
import { orElse } from "../../operators/orElse.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IscsiInitiator } from "../../ports/iscsi.ts";

/** The initiator, and the state that volumes on iSCSI disks share. */
export interface IscsiContext {
  readonly port: IscsiInitiator;
  readonly clock: Clock;
  /** undefined on a standalone node. */
  readonly api: Pick<ApiServer, "get"> | undefined;
  /** Turns of a portal of a target, and of an interface that is made or removed. */
  readonly turns: KeyedTurns;
  /** Directories of disks that are being detached: they keep no session. */
  readonly leaving: Set<string>;
}

/** Credentials by the name of their setting. */
export type IscsiSecrets = ReadonlyMap<string, string>;

/** Key of the turns of a portal. */
export const portalKey = (iqn: string, portal: string): string => `${iqn} ${portal}`;

/** Longest part of an output that an error repeats. */
const MAX_SAID_CHARS = 1_000;

/** Returns an output as errors have it. */
export const saidOf = ({ said }: AdminAnswer): string => said.trim().slice(0, MAX_SAID_CHARS);

/** Makes a call that must succeed. Errors: `why`, or those of the port. */
export const mustAdmin = (
  { port }: Pick<IscsiContext, "port">,
  call: AdminCall,
  why: (answer: AdminAnswer) => string,
  isDone: (answer: AdminAnswer) => boolean = ({ status }) => status === 0,
): Observable<never> =>
  port.admin(call).pipe(
    map((answer) => {
      if (!isDone(answer)) throw kubeletError("Io", why(answer));
    }),
    ignoreElements(),
  );

/** Makes a call whose outcome does not matter. */
export const mayAdmin = ({ port }: Pick<IscsiContext, "port">, args: readonly string[]): Observable<never> =>
  port.admin({ args }).pipe(
    orElse(() => EMPTY),
    ignoreElements(),
  );

/** Emits the SCSI host of the node's session with the target at a portal. Errors: KubeletError in upstream's words. */
export function sessionAt(
  context: IscsiContext,
  target: IscsiTarget,
  portal: string,
  secrets: IscsiSecrets,
): Observable<number> {
  const host$ = defer(() => context.port.sessions(target.iqn)).pipe(
    map((sessions) => sessions.find(({ portals }) => portals.includes(portal))?.host),
  );
  const login$ = concat(
    login(context, target, portal, secrets),
    host$.pipe(
      map((host) => {
        if (host !== undefined) return host;
        throw kubeletError("NotFound", `Could not get SCSI host number for portal ${portal} after logging in`);
      }),
    ),
  );
  return context.turns.run(
    portalKey(target.iqn, portal),
    host$.pipe(switchMap((host) => (host === undefined ? login$ : of(host)))),
  );
}

function login(context: IscsiContext, target: IscsiTarget, portal: string, secrets: IscsiSecrets): Observable<never> {
  const calls = sessionCalls;
  const args = (call: (portal: string, disk: IscsiTarget) => readonly string[]) => call(portal, target);
  return concat(
    mayAdmin(context, args(calls.newDiscovery)),
    setChap(context, "discovery", target, portal, secrets),
    mustAdmin(
      context,
      { args: args(calls.discover) },
      (answer) =>
        `iscsi: failed to sendtargets to portal ${portal} output: ${saidOf(answer)}, err exit status ${answer.status}`,
    ).pipe(afterFailure(() => mayAdmin(context, args(calls.deleteDiscovery)))),
    mayAdmin(context, args(calls.scanManually)),
    setChap(context, "session", target, portal, secrets),
    mustAdmin(
      context,
      { args: args(calls.login) },
      (answer) => `iscsi: failed to attach disk: Error: ${saidOf(answer)} (exit status ${answer.status})`,
      (answer) => answer.status === 0 || hasSessions(answer),
    ).pipe(afterFailure(() => mayAdmin(context, args(calls.deleteNode)))),
    mayAdmin(context, args(calls.startManually)),
  );
}

/** Runs `then` after a failure, and passes the failure on. */
const afterFailure = (then: () => Observable<never>): MonoTypeOperatorFunction<never> =>
  catchError((thrown: unknown) =>
    concat(
      then(),
      throwError(() => thrown),
    ),
  );

function setChap(
  context: IscsiContext,
  what: "discovery" | "session",
  target: IscsiTarget,
  portal: string,
  secrets: IscsiSecrets,
): Observable<never> {
  const [place, name] =
    what === "discovery" ? (["discoverydb", "discoverydb"] as const) : (["iscsi node", "node"] as const);
  const failed = `iscsi: failed to update ${place} to portal ${portal} error: iscsi: failed to update ${name}`;
  return inSequence(chapCalls(what, portal, target, { chap: target.chap, secrets }), (call) =>
    mustAdmin(context, call, (answer) => {
      const key = goQuote(call.args.at(-3) ?? "");
      const session = what === "session" ? " session" : "";
      return call.isSecret === true
        ? `${failed}${session} key ${key} error: ${saidOf(answer)}`
        : `${failed} with CHAP, output: ${saidOf(answer)}`;
    }),
  );
}

/** Makes the interface of a volume with an initiator of its own, from the settings of another one. Errors: KubeletError. */
export function cloneInterface(context: IscsiContext, target: IscsiTarget, shown: string): Observable<never> {
  const { iface, initIface, initiatorName } = target;
  const settings = settingsOf(shown);
  const cloned$ = defer(() => {
    if (settings === undefined) {
      throw kubeletError("Io", `iscsi: failed to parse iface records: ${shown.slice(0, MAX_SAID_CHARS)}`);
    }
    const wanted = new Map([...settings, ["iface.initiatorname", initiatorName] as const].sort(byName));
    return concat(
      mustAdmin(
        context,
        { args: interfaceCalls.create(iface) },
        (answer) => `iscsi: failed to create new iface: ${saidOf(answer)} (exit status ${answer.status})`,
        (answer) => answer.status === 0 || hasSessions(answer),
      ),
      inSequence([...wanted], ([name, value]) =>
        mustAdmin(
          context,
          { args: interfaceCalls.set(iface, name, value) },
          (answer) =>
            `iscsi: failed to update iface records: ${saidOf(answer)} (exit status ${answer.status}). iface(${initIface}) will be used`,
        ),
      ).pipe(afterFailure(() => mayAdmin(context, interfaceCalls.delete(iface)))),
    );
  });
  return context.turns.run(`iface ${iface}`, cloned$);
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);
