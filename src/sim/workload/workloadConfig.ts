/**
 * The ConfigMaps and Secrets that API pods read, and how their owners change them: the objects come late, change and
 * are absent for a while. Drawn separately, so that the rest of a pod does not depend on them. Plain data.
 */
import type { Container, Wire } from "../../core/api.ts";
import type { V1ConfigMap, V1Secret } from "@kubernetes/client-node";
import { encodeBase64 } from "../../core/base64.ts";
import type { Prng } from "../prng.ts";

/** The configuration of a pod. */
export interface SimConfiguring {
  /** Whether the pod has objects of its own or reads those that all pods share. */
  readonly objects: "own" | "shared";
  /** Whether the pod reads a Secret too; every pod reads a ConfigMap. */
  readonly hasSecret: boolean;
}

/** The owner writes the objects of a pod, or deletes them until it writes them again. */
export interface SimConfigStep {
  readonly atMs: number;
  readonly kind: "configure" | "unconfigure";
}

/** The variable with the revision of the objects that a container was created from. */
export const REVISION_VARIABLE = "CONFIG_REVISION";
const PASSWORD = "password";
const SHARED = "everyones";
const LATEST_MS = 60_000;

/** Returns the configuration of a pod; undefined for most. */
export const drawConfiguring = (prng: Prng): SimConfiguring | undefined =>
  prng.chance(0.4) ? { objects: prng.chance(0.3) ? "shared" : "own", hasSecret: prng.chance(0.5) } : undefined;

/** Returns the times at which the objects of a pod are written and deleted, from the creation of the pod on. */
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

/** Returns the name of the objects that a pod of this name reads. */
export const configNameOf = ({ objects }: SimConfiguring, podName: string): string =>
  objects === "shared" ? SHARED : `${podName}-config`;

/** Returns the container with references to the objects. */
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

/** Returns the n-th revision of the objects of this name. */
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
