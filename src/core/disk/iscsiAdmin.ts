/**
 * Calls of iscsiadm, and their answers. Upstream: iscsi_util.go of pkg/volume/iscsi, whose order of calls and exit statuses
 * these are.
 */
import { type KubeletError, kubeletError } from "../errors.ts";
import type { IscsiChap, IscsiDisk } from "./iscsiDisk.ts";

/** A call of iscsiadm. */
export interface AdminCall {
  readonly args: readonly string[];
  /** The last argument is a secret, which must not appear in any text. */
  readonly isSecret?: true;
}

/** Exit status of a call, with its output. */
export interface AdminAnswer {
  readonly status: number;
  readonly said: string;
}

/** Exit statuses of iscsiadm. */
const SESSION_NOT_FOUND = 2;
const SESSION_EXISTS = 15;
const NO_OBJECTS_FOUND = 21;

/** CHAP limits its texts to 255 bytes. */
const MAX_SECRET_CHARS = 255;

type Session = Pick<IscsiDisk, "iqn" | "iface">;

const at = (portal: string, { iqn, iface }: Session) => ["-m", "node", "-p", portal, "-T", iqn, "-I", iface];
const discovery = (portal: string, { iface }: Session) => [
  ...["-m", "discoverydb", "-t", "sendtargets", "-p", portal, "-I", iface],
];
const interfaceOf = (iface: string) => ["-m", "iface", "-I", iface];
const update = (name: string, value: string) => ["-o", "update", "-n", name, "-v", value];

/** Calls about a session of a target at a portal. */
export const sessionCalls = {
  newDiscovery: (portal: string, disk: Session) => [...discovery(portal, disk), "-o", "new"],
  discover: (portal: string, disk: Session) => [...discovery(portal, disk), "--discover"],
  deleteDiscovery: (portal: string, disk: Session) => [...discovery(portal, disk), "-o", "delete"],
  /** A node that logs in must not see LUNs of other nodes: each volume scans for its own. */
  scanManually: (portal: string, disk: Session) => [...at(portal, disk), ...update("node.session.scan", "manual")],
  login: (portal: string, disk: Session) => [...at(portal, disk), "--login"],
  startManually: (portal: string, { iqn }: Session) => [
    ...["-m", "node", "-p", portal, "-T", iqn, ...update("node.startup", "manual")],
  ],
  logout: (portal: string, disk: Session) => [...at(portal, disk), "--logout"],
  deleteNode: (portal: string, disk: Session) => [...at(portal, disk), "-o", "delete"],
} as const;

/** Calls about an interface. */
export const interfaceCalls = {
  show: (iface: string) => [...interfaceOf(iface), "-o", "show"],
  create: (iface: string) => [...interfaceOf(iface), "-o", "new"],
  set: (iface: string, name: string, value: string) => [...interfaceOf(iface), ...update(name, value)],
  delete: (iface: string) => [...interfaceOf(iface), "-o", "delete"],
} as const;

const KEYS = ["username", "password", "username_in", "password_in"] as const;

/** Returns the calls that set the credentials of the discovery, or of the session. Empty values are left out. */
export function chapCalls(
  what: "discovery" | "session",
  portal: string,
  disk: Session,
  { chap, secrets }: { readonly chap: IscsiChap | undefined; readonly secrets: ReadonlyMap<string, string> },
): readonly AdminCall[] {
  if (chap?.[what] !== true) return [];
  const [prefix, place] =
    what === "discovery"
      ? (["discovery.sendtargets.auth", discovery(portal, disk)] as const)
      : (["node.session.auth", at(portal, disk)] as const);
  const credentials = KEYS.flatMap((key): readonly AdminCall[] => {
    const [name, value] = [`${prefix}.${key}`, secrets.get(`${prefix}.${key}`) ?? ""];
    return value === "" ? [] : [{ args: [...place, ...update(name, value)], isSecret: true }];
  });
  return [{ args: [...place, ...update(`${prefix}.authmethod`, "CHAP")] }, ...credentials];
}

/** Returns the texts of a Secret whose values are in base64. Errors name the key, never the value. */
export function chapSecrets(data: Readonly<Record<string, string>>): ReadonlyMap<string, string> | KubeletError {
  const texts = new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  for (const [key, text] of texts) {
    if (!/^(?:discovery\.sendtargets|node\.session)\.auth\./.test(key)) texts.delete(key);
    else if (text.length > MAX_SECRET_CHARS || /\p{Cc}/u.test(text)) {
      return kubeletError("InvalidArgument", `the value of ${key} has control characters or more than 255 characters`);
    }
  }
  return texts;
}

/** Returns the answer without the secret of its call. */
export function withoutSecret({ args, isSecret }: AdminCall, answer: AdminAnswer): AdminAnswer {
  const secret = isSecret === true ? (args.at(-1) ?? "") : "";
  return secret === "" ? answer : { ...answer, said: answer.said.replaceAll(secret, "***") };
}

/** Returns whether a session, a record or an interface is gone after this answer to its removal. */
export const isGone = ({ status }: AdminAnswer): boolean =>
  status === 0 || status === SESSION_NOT_FOUND || status === NO_OBJECTS_FOUND;

/** Returns whether an interface exists after this answer to its creation, or is used by other sessions. */
export const hasSessions = ({ status }: AdminAnswer): boolean => status === SESSION_EXISTS;

/** Returns the transport of an interface from `show`; undefined when it has none. */
export function transportOf(shown: string): string | undefined {
  const found = /^iface\.transport_name = (.*)$/m.exec(shown)?.[1];
  return found === "<empty>" ? "tcp" : found || undefined;
}

/** Returns the settings of an interface from `show`, sorted, for its copy; undefined when they cannot be read. */
export function settingsOf(shown: string): ReadonlyMap<string, string> | undefined {
  const settings: [string, string][] = [];
  for (const line of shown.split("\n")) {
    if (!line.startsWith("iface.") || line.includes("<empty>")) continue;
    const [name = "", sign, value, ...rest] = line.trim().split(/\s+/);
    if (sign !== "=" || value === undefined || rest.length > 0) return undefined;
    // The name of an interface never changes.
    if (name !== "iface.iscsi_ifacename") settings.push([name, value]);
  }
  return new Map(settings.sort(([a], [b]) => (a < b ? -1 : 1)));
}
