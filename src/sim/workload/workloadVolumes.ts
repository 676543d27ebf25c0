/**
 * The volumes that API pods mount: files of their ConfigMap and Secret, memory, a token of their service account,
 * parts of a volume. Drawn separately, so that the rest of a pod does not depend on them. Plain data.
 */
import type { PodSpec } from "../../core/api.ts";
import type { Prng } from "../prng.ts";

/** The volumes of a pod. */
export interface SimMounting {
  /** Mounts its ConfigMap, and its Secret if it has one; only set for configured pods. */
  readonly hasConfig: boolean;
  readonly hasMemory: boolean;
  readonly hasToken: boolean;
  /** Mounts a subPath of a directory, a different one in each container. */
  readonly hasPart: boolean;
}

/** The service account of all pods with a token. */
export const SIM_ACCOUNT = "worker";

/** Returns the volumes of a pod; undefined for half of the pods. */
export function drawMounting(prng: Prng): SimMounting | undefined {
  if (prng.chance(0.5)) return undefined;
  return {
    hasConfig: prng.chance(0.7),
    hasMemory: prng.chance(0.4),
    hasToken: prng.chance(0.5),
    hasPart: prng.chance(0.3),
  };
}

type Fields = Readonly<Record<string, unknown>>;
type Volumes = NonNullable<PodSpec["volumes"]>;

function volumesOf(
  mounting: SimMounting,
  config: { readonly name: string; readonly hasSecret: boolean } | undefined,
): Volumes {
  const { hasConfig, hasMemory, hasToken, hasPart } = mounting;
  const sources = [
    { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
    { downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
  ];
  return [
    ...(hasConfig && config !== undefined ? [{ name: "settings", configMap: { name: config.name } }] : []),
    ...(hasConfig && config?.hasSecret === true ? [{ name: "login", secret: { secretName: config.name } }] : []),
    ...(hasMemory ? [{ name: "fast", emptyDir: { medium: "Memory", sizeLimit: "8Mi" } }] : []),
    ...(hasToken ? [{ name: "access", projected: { sources } }] : []),
    ...(hasPart ? [{ name: "shared", emptyDir: {} }] : []),
  ];
}

/** Returns the spec with its volumes, which every container mounts. */
export function mountedSpec(
  spec: Fields,
  mounting: SimMounting | undefined,
  config: { readonly name: string; readonly hasSecret: boolean } | undefined,
): Fields {
  if (mounting === undefined) return spec;
  const { containers: given, volumes: own = [] } = spec as unknown as PodSpec;
  const volumes = volumesOf(mounting, config);
  const containers = given.map((container) => ({
    ...container,
    volumeMounts: volumes.map(({ name }) => ({
      name,
      mountPath: `/${name}`,
      ...(name === "shared" ? { subPath: container.name } : {}),
    })),
  }));
  const account = mounting.hasToken ? { serviceAccountName: SIM_ACCOUNT } : {};
  return { ...spec, ...account, containers, volumes: [...own, ...volumes] };
}
