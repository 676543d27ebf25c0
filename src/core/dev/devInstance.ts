/** A running `rxlet dev`, as other commands of its user find it: a directory with a record and credentials. */
import type { KubeletAccess } from "../auth/kubeletAccess.ts";

/** The record of an instance. */
export interface DevRecord {
  readonly pid: number;
  /** Directory of its manifests, symbolic links resolved. */
  readonly manifests: string;
  /** Base URL of its authenticated server, on the loopback interface. */
  readonly server: string;
  /** RFC 3339. */
  readonly startedAt: string;
}

/** A record with the directory that contains it. */
export interface DevInstance extends DevRecord {
  readonly directory: string;
}

/** File names in that directory. */
export const DEV_FILES = {
  record: "dev.json",
  kubeconfig: "kubeconfig",
  authority: "ca.crt",
  /** Certificate and key in one file. */
  client: "client.pem",
} as const;

/** Returns the path of an instance's kubeconfig. */
export const kubeconfigOf = ({ directory }: Pick<DevInstance, "directory">): string =>
  `${directory}/${DEV_FILES.kubeconfig}`;

/** Returns the paths of an instance's credentials. */
export const accessOf = ({ directory }: DevInstance): KubeletAccess => ({
  certificateAuthority: `${directory}/${DEV_FILES.authority}`,
  insecure: false,
  clientCertificate: `${directory}/${DEV_FILES.client}`,
  clientKey: "",
  tokenFile: "",
});

/** Parses a record; undefined when it is malformed. */
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

/** Returns a readable directory name for the manifests; `digest` distinguishes directories of the same name. */
export function devDirectoryName(manifests: string, digest: string): string {
  const last = manifests.split("/").at(-1) ?? "";
  return `${last.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, 40) || "root"}-${digest.slice(0, 8)}`;
}
