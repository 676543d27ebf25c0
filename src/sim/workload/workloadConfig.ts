/**
 * What API pods are configured from, and how its owners change it: ConfigMaps and Secrets of the API server that come
 * late, change and go for a while. Drawn apart from all else of a pod, which stays as it is without them. Plain data.
 */
import type { Container, Wire } from "../../core/api.ts";
import type { V1ConfigMap, V1Secret } from "@kubernetes/client-node";
import { encodeBase64 } from "../../core/base64.ts";
import type { Prng } from "../prng.ts";

/** What one pod is configured from. */
export interface SimConfiguring {
  /** Its own objects, or those all pods share. */
  readonly objects: "own" | "shared";
  /** Beside the ConfigMap, which all have. */
  readonly hasSecret: boolean;
}

/** The objects of a pod are put, or taken away until they are put again. */
export interface SimConfigStep {
  readonly atMs: number;
  readonly kind: "configure" | "unconfigure";
}

/** The variable that says which writing of the objects a container was made from. */
export const REVISION_VARIABLE = "CONFIG_REVISION";
const PASSWORD = "password";
const SHARED = "everyones";
const LATEST_MS = 60_000;

/** How one pod is configured; undefined for most. */
export const drawConfiguring = (prng: Prng): SimConfiguring | undefined =>
  prng.chance(0.4) ? { objects: prng.chance(0.3) ? "shared" : "own", hasSecret: prng.chance(0.5) } : undefined;

/** When the objects of a pod are written and taken away, from its own beginning on. */
export function drawConfigSteps(prng: Prng, fromMs: number, untilMs: number): readonly SimConfigStep[] {
  const steps: SimConfigStep[] = [{ atMs: fromMs + prng.pick([0, 0, prng.int(0, LATEST_MS)]), kind: "configure" }];
  for (let left = prng.int(0, 4), atMs = fromMs; left > 0; left -= 1) {
    atMs += prng.int(1_000, Math.max(2_000, untilMs / 3));
    if (atMs >= untilMs) break;
    const isAway = prng.chance(0.2);
    if (isAway) steps.push({ atMs, kind: "unconfigure" });
    steps.push({ atMs: isAway ? atMs + prng.int(0, 3 * LATEST_MS) : atMs, kind: "configure" });
  }
  return steps;
}

/** Name of the objects a pod of this name reads. */
export const configNameOf = ({ objects }: SimConfiguring, podName: string): string =>
  objects === "shared" ? SHARED : `${podName}-config`;

/** The container as it reads them. */
export function configured(container: Container, configuring: SimConfiguring | undefined, podName: string): Container {
  if (configuring === undefined) return container;
  const name = configNameOf(configuring, podName);
  const secret = { name: "PASSWORD", valueFrom: { secretKeyRef: { name, key: PASSWORD } } };
  return {
    ...container,
    envFrom: [{ configMapRef: { name } }],
    ...(configuring.hasSecret ? { env: [...(container.env ?? []), secret] } : {}),
  };
}

/** The n-th writing of the objects of this name. */
export function configObjects(
  namespace: string,
  name: string,
  revision: number,
): { readonly configMap: Wire<V1ConfigMap>; readonly secret: Wire<V1Secret> } {
  const metadata = { namespace, name };
  const password = encodeBase64(new TextEncoder().encode(`secret ${revision}`));
  return {
    configMap: { metadata, data: { [REVISION_VARIABLE]: String(revision) } },
    secret: { metadata, type: "Opaque", data: { [PASSWORD]: password } },
  };
}
