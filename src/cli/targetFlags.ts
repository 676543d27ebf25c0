/** Flags of commands that query a running kubelet: its address, credentials and trusted authority. */
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { trimmedEnd } from "../core/trimmedEnd.ts";
import { ACCESS_FLAGS, readAccess } from "./accessFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";
import type { ParsedFlags } from "./parseKubeletFlags.ts";

/** The kubelet to query. */
export type KubeletTarget =
  | {
      readonly kind: "server";
      /** Base URL without a slash at the end. */
      readonly url: string;
      readonly access: KubeletAccess;
    }
  | {
      /** A running `rxlet dev` of this user, or else the local socket of the node. */
      readonly kind: "dev";
      /** Directory of its manifests as given; absent where any one will do. */
      readonly dir?: string;
      /** URL of the server to ask when neither is there. */
      readonly otherwise: string;
    }
  | {
      /** The local socket of a node. */
      readonly kind: "socket";
      readonly path: string;
    };

/** The local socket of a node: that of the flag, or the usual one. */
export type LocalTarget = { readonly kind: "usual" } | { readonly kind: "socket"; readonly path: string };

/** Port of the authenticated server of a node. */
export const AUTHENTICATED = "https://127.0.0.1:10250";

const text = (name: string, about: string): FlagSpec => ({
  ...{ group: "rxlet", effective: true, type: "string", default: "" },
  name,
  about,
});

/** The flags. */
export const TARGET_FLAGS: readonly FlagSpec[] = [
  text("dev", "Manifest directory of the rxlet dev to query, when several run"),
  text(
    "socket",
    "Local socket of the node to query; when empty, that of a rxlet dev or of this node where it is there",
  ),
  text("server", `URL of the server of another kubelet to query, such as ${AUTHENTICATED}`),
  ...ACCESS_FLAGS,
];

/** Flags of a command that only the local socket serves. */
export const SOCKET_FLAGS: readonly FlagSpec[] = [
  text("socket", "Local socket of the node; when empty, the usual place where it is there"),
];

/** Reads those flags. */
export const readSocket = (values: Readonly<Record<string, unknown>>): LocalTarget => {
  const socket = String(values["socket"]);
  return socket === "" ? { kind: "usual" } : { kind: "socket", path: socket };
};

/** Servers that a command may use. */
export interface TargetRules {
  /** URL to query when no `rxlet dev` runs. */
  readonly otherwise: string;
  /** Whether a server without TLS, which is read-only, can answer. */
  readonly readOnly: boolean;
  /** URL that another flag stands for. */
  readonly local?: string | undefined;
}

/**
 * Returns the target, and the faults of the flags. Credentials without a server are for the authenticated server of
 * this machine.
 */
export function readTarget(
  values: Readonly<Record<string, unknown>>,
  { given }: Pick<ParsedFlags, "given">,
  { otherwise, readOnly, local }: TargetRules,
): { readonly target: KubeletTarget; readonly faults: readonly string[] } {
  const isGiven = (names: readonly FlagSpec[]): boolean =>
    given.some(({ spec }) => names.some(({ name }) => name === spec.name));
  const [dir, server, socket] = [String(values["dev"]), String(values["server"]), String(values["socket"])];
  if (socket !== "") {
    const names = ["dev", "server", ...ACCESS_FLAGS.map(({ name }) => name)];
    const useless = given.filter(({ spec }) => names.includes(spec.name));
    const faults = useless.map(({ spec }) => `--${spec.name}: has no effect with --socket`);
    return { target: { kind: "socket", path: socket }, faults };
  }
  const url = server !== "" ? server : (local ?? (isGiven(ACCESS_FLAGS) ? AUTHENTICATED : undefined));
  if (url === undefined) return { target: { kind: "dev", ...(dir === "" ? {} : { dir }), otherwise }, faults: [] };
  const faults = dir === "" ? [] : ["--dev: has no effect with a server"];
  const trimmed = trimmedEnd(url, "/");
  if (!(readOnly ? /^https?:\/\/[^/]/ : /^https:\/\/[^/]/).test(trimmed)) {
    faults.push(`--server: must be a URL such as ${otherwise}, got ${trimmed}`);
  }
  const { access, faults: useless } = readAccess(values, { given }, trimmed);
  return {
    target: { kind: "server", url: trimmed, access },
    faults: [...faults, ...(faults.length > 0 ? [] : useless)],
  };
}
