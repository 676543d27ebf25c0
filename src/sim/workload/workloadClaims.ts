/**
 * CSI volumes of API pods, by claims and without. Drawn separately, so that the rest of a pod does not depend on them. Plain
 * data.
 */
import type { PodSpec } from "../../core/api.ts";
import type { Prng } from "../prng.ts";

/**
 * A CSI volume: of the pod's name alone, of several pods on a driver that attaches, of several on one that does not, of a
 * driver that does not stage, of the pod itself; a device of the pod's name alone, or of several pods.
 */
export type SimClaimKind = "own" | "pool" | "common" | "plain" | "inline" | "device" | "devices";

/** Kinds that containers get as a device. */
const BLOCK_KINDS: ReadonlySet<string> = new Set<SimClaimKind>(["device", "devices"]);

/** CSI volumes of a pod. */
export interface SimClaimUse {
  readonly volumes: readonly SimClaimKind[];
  readonly fsGroup: number | undefined;
  /** Whether the pod has an SELinux level. */
  readonly hasLevel?: boolean;
}

const DISK = "disk.csi.example.com";
const SHARE = "share.csi.example.com";
const PLAIN = "plain.csi.example.com";
/** Claims that several pods share. */
const POOLS = 2;

/** Returns the CSI volumes of a pod; undefined for a fifth of the pods. */
export function drawClaimUse(prng: Prng): SimClaimUse | undefined {
  if (prng.chance(0.2)) return undefined;
  const volumes = prng.pick<readonly SimClaimKind[]>([
    ["own"],
    ["own"],
    ["pool"],
    ["pool"],
    ["common"],
    ["common"],
    ["plain"],
    ["inline"],
    ["own", "common"],
    ["pool", "inline"],
    ["own", "pool", "common", "plain"],
  ]);
  const fsGroup = prng.chance(0.3) ? 2_000 : undefined;
  const devices = prng.pick<readonly SimClaimKind[]>([[], [], ["device"], ["devices"], ["device", "devices"]]);
  return { volumes: [...volumes, ...devices], fsGroup };
}

/** Returns the driver of a claim by its name. */
export function claimDriver(claim: string): SimClaimDriver {
  const kind = claim.slice(claim.lastIndexOf("-") + 1);
  const volumeMode = BLOCK_KINDS.has(kind) ? "Block" : "Filesystem";
  if (kind === "common") return { driver: SHARE, accessModes: ["ReadWriteMany"], volumeMode };
  return { driver: kind === "plain" ? PLAIN : DISK, accessModes: ["ReadWriteOnce"], volumeMode };
}

/** The volume of a claim. */
export interface SimClaimDriver {
  readonly driver: string;
  readonly accessModes: readonly string[];
  readonly volumeMode: "Filesystem" | "Block";
}

const SHARED_KINDS: ReadonlySet<string> = new Set<SimClaimKind>(["pool", "common", "devices"]);

/** Pods with the same first letter share a pool. */
const claimName = (kind: SimClaimKind, pod: string): string =>
  SHARED_KINDS.has(kind) ? `${(pod.codePointAt(0) ?? 0) % POOLS}-${kind}` : `${pod}-${kind}`;

/** Returns whether several pods share the file system of a claim. */
export const isSharedFileSystem = (claim: string): boolean =>
  SHARED_MOUNTS.has(claim.slice(claim.lastIndexOf("-") + 1));

const SHARED_MOUNTS: ReadonlySet<string> = new Set([...SHARED_KINDS].filter((kind) => !BLOCK_KINDS.has(kind)));

/**
 * SELinux level of a pod: another one than that of its predecessor, so a shared volume keeps it waiting while pods with the
 * former level have it. Pods that share several file systems all have one level: they would wait for each other.
 */
const levelOf = ({ volumes }: SimClaimUse, incarnation: number): string => {
  const shared = volumes.filter((kind) => SHARED_MOUNTS.has(kind));
  return `s0:c1,c${2 + (shared.length > 1 ? 0 : incarnation % 2)}`;
};

type Fields = Readonly<Record<string, unknown>>;

/** Returns the spec with its CSI volumes, which every container has; `incarnation` counts the pods of this name. */
export function claimedSpec(spec: Fields, use: SimClaimUse | undefined, pod: string, incarnation: number): Fields {
  if (use === undefined) return spec;
  const { containers, volumes: own = [], securityContext } = spec as unknown as PodSpec;
  const volumes = use.volumes.map((kind) =>
    kind === "inline"
      ? { name: kind, csi: { driver: PLAIN, volumeAttributes: { size: "1" } } }
      : { name: kind, persistentVolumeClaim: { claimName: claimName(kind, pod) } },
  );
  const security = {
    ...(use.fsGroup === undefined ? {} : { fsGroup: use.fsGroup }),
    ...(use.hasLevel === true ? { seLinuxOptions: { level: levelOf(use, incarnation) } } : {}),
  };
  const devices = volumes
    .filter(({ name }) => BLOCK_KINDS.has(name))
    .map(({ name }) => ({ name, devicePath: `/dev/${name}` }));
  return {
    ...spec,
    ...(Object.keys(security).length === 0 ? {} : { securityContext: { ...securityContext, ...security } }),
    containers: containers.map((container) => ({
      ...container,
      volumeMounts: [
        ...(container.volumeMounts ?? []),
        ...volumes
          .filter(({ name }) => !BLOCK_KINDS.has(name))
          .map(({ name }) => ({ name, mountPath: `/csi/${name}` })),
      ],
      ...(devices.length === 0 ? {} : { volumeDevices: devices }),
    })),
    volumes: [...own, ...volumes],
  };
}
