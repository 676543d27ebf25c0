/** A running `rxlet dev` as other commands of its user find it: one directory with a record and credentials. */
import type { KubeletAccess } from "../auth/kubeletAccess.ts";

/** The record. */
export interface DevRecord {
  readonly pid: number;
  /** Directory of its manifests, without symbolic links. */
  readonly manifests: string;
  /** Base URL of its authenticated server, on loopback. */
  readonly server: string;
  /** RFC 3339. */
  readonly startedAt: string;
}

/** A record, and the directory it was found in. */
export interface DevInstance extends DevRecord {
  readonly directory: string;
}

/** Names of the files in that directory. */
export const DEV_FILES = {
  record: "dev.json",
  kubeconfig: "kubeconfig",
  authority: "ca.crt",
  /** Certificate and key in one file. */
  client: "client.pem",
} as const;

/** Path of the kubeconfig of an instance. */
export const kubeconfigOf = ({ directory }: Pick<DevInstance, "directory">): string =>
  `${directory}/${DEV_FILES.kubeconfig}`;

/** The credentials of an instance, as files. */
export const accessOf = ({ directory }: DevInstance): KubeletAccess => ({
  certificateAuthority: `${directory}/${DEV_FILES.authority}`,
  insecure: false,
  clientCertificate: `${directory}/${DEV_FILES.client}`,
  clientKey: "",
  tokenFile: "",
});

/** Reads a record; undefined for anything else. */
export function parseDevRecord(text: string): DevRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, manifests, server, startedAt } = value as Readonly<Record<string, unknown>>;
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid < 1) return undefined;
  if (typeof manifests !== "string" || typeof startedAt !== "string") return undefined;
  if (typeof server !== "string" || !/^https:\/\/127\.0\.0\.1:\d{1,5}$/.test(server)) return undefined;
  return { pid, manifests, server, startedAt };
}

/** A readable directory name for the manifests; `digest` keeps apart directories of one name. */
export function devDirectoryName(manifests: string, digest: string): string {
  const last = manifests.split("/").at(-1) ?? "";
  return `${last.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, 40) || "root"}-${digest.slice(0, 8)}`;
}
