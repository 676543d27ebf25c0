/** An iSCSI initiator in memory, and the disks of its node: portals answer or not, and sessions have devices. */
import { BehaviorSubject, defer, EMPTY, type Observable, of, throwError } from "rxjs";
import { kubeletError } from "../../src/core/errors.ts";
import type { HostDisks } from "../../src/ports/hostDisks.ts";
import type { IscsiInitiator } from "../../src/ports/iscsi.ts";

export interface FakeIscsiOptions {
  readonly iqn: string;
  /** Portals at which the target answers, each with its device. */
  readonly portals: Readonly<Record<string, string>>;
  /** LUN of the device. */
  readonly lun?: number;
  /** The multipath device of all devices. */
  readonly multipath?: string;
  /** Whether links appear at once; otherwise after `udev()`. */
  readonly hasLinks?: boolean;
  readonly isMissing?: boolean;
  /** Returns another answer than the usual one. */
  readonly answer?: (line: string) => { readonly status: number; readonly said: string } | undefined;
}

const SHOWN = "iface.iscsi_ifacename = default\niface.transport_name = tcp\niface.initiatorname = <empty>\n";
const NOT_FOUND = { status: 21, said: "iscsiadm: No records found" };

/** Creates the node. `calls` are the lines of iscsiadm and the changes of disks. */
export function fakeIscsi(options: FakeIscsiOptions) {
  const { iqn, portals, lun = 0, multipath, isMissing = false } = options;
  const calls: string[] = [];
  /** Sessions: interface by portal. */
  const sessions = new Map<string, string>();
  const removed = new Set<string>();
  const links$ = new BehaviorSubject<unknown>("watching");
  let hasLinks = options.hasLinks ?? true;
  const devices = (): readonly string[] =>
    [...sessions.keys()].map((portal) => portals[portal] ?? "").filter((device) => !removed.has(device));
  const answerTo = (args: readonly string[], line: string) => {
    const after = (flag: string): string => args[args.indexOf(flag) + 1] ?? "";
    const [portal, iface] = [after("-p"), args.includes("-I") ? after("-I") : undefined];
    const isHere = portal in portals;
    if (line.endsWith("-o show")) return { status: 0, said: SHOWN };
    if (line.endsWith("--discover")) return isHere ? { status: 0, said: "" } : { status: 4, said: "cannot connect" };
    if (line.endsWith("--login")) {
      if (!isHere) return { status: 8, said: "no login" };
      if (sessions.has(portal)) return { status: 15, said: "session exists" };
      sessions.set(portal, iface ?? "default");
      removed.delete(portals[portal] ?? "");
    }
    if (line.endsWith("--logout")) {
      if (sessions.get(portal) !== (iface ?? sessions.get(portal)) || !sessions.has(portal)) return NOT_FOUND;
      sessions.delete(portal);
    }
    return { status: 0, said: "" };
  };
  const changing = (call: string, change = (): unknown => undefined): Observable<never> =>
    defer(() => {
      calls.push(call);
      change();
      return EMPTY;
    });
  const port: IscsiInitiator = {
    admin: ({ args }) => {
      if (isMissing) {
        return throwError(() =>
          kubeletError("NotFound", "cannot run iscsiadm: iscsiadm is not installed on this node"),
        );
      }
      const line = args.join(" ");
      return defer(() => {
        calls.push(line);
        return of(options.answer?.(line) ?? answerTo(args, line));
      });
    },
    sessions: (target) =>
      defer(() =>
        of(target === iqn ? [...sessions].map(([portal, iface], host) => ({ host, portals: [portal], iface })) : []),
      ),
    devices: (target, wanted = lun) => defer(() => of(target === iqn && wanted === lun ? devices() : [])),
    scan: (host, scanned) => changing(`scan ${host} ${scanned}`, () => removed.clear()),
    linkChanges$: links$,
  };
  const linkOf = (portal: string): string => `ip-${portal}-iscsi-${iqn}-lun-${lun}`;
  const disks: HostDisks = {
    links: () => defer(() => of(hasLinks ? [...sessions.keys()].map(linkOf).sort() : [])),
    deviceOf: (path) => {
      const found = Object.keys(portals).find((portal) => path.endsWith(`/${linkOf(portal)}`));
      return of(found === undefined ? path : portals[found]);
    },
    multipathOf: () => of(multipath),
    membersOf: () => of(devices()),
    rescan: () => EMPTY,
    flush: () => EMPTY,
    removeMultipath: (device) => changing(`multipath ${device}`),
    remove: (device) => changing(`remove ${device}`, () => removed.add(device)),
  };
  return {
    port,
    disks,
    calls,
    sessions,
    /** Lets the links appear. */
    udev: () => {
      hasLinks = true;
      links$.next("link");
    },
  };
}
