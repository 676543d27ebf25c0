/**
 * Which handler of the runtime runs a pod, what that costs, and what pods can have under it. Counterparts: pkg/kubelet/runtimeclass,
 * kubelet_getters.go, kubelet_pods.go.
 */
import type { Pod } from "../api.ts";
import type { ApiObjects } from "../api/apiResources.ts";
import { kubeletError } from "../errors.ts";
import { isStaticPod } from "../pod/criticalPod.ts";
import { err, ok, type Result } from "../result.ts";
import type { RuntimeState } from "./runtimeState.ts";

/** All RuntimeClasses there are, by name. */
export type RuntimeClasses = ReadonlyMap<string, ApiObjects["runtimeclasses"]>;

/**
 * A static pod with the overhead of its class, which the API server's admission gives others. One it states itself counts
 * as it is, as upstream; one it got before (`known`) it keeps, whatever becomes of the class.
 * Counterpart: plugin/pkg/admission/runtimeclass.
 */
export function withOverhead(pod: Pod, classes: RuntimeClasses, known?: Pod): Pod {
  const { runtimeClassName = "", overhead } = pod.spec;
  if (runtimeClassName === "" || overhead !== undefined || !isStaticPod(pod)) return pod;
  const added = known?.spec.overhead ?? classes.get(runtimeClassName)?.overhead?.podFixed;
  return added === undefined ? pod : { ...pod, spec: { ...pod.spec, overhead: added } };
}

/** The handler's name, empty for the default one; NotFound when the pod's class is not there, or its overhead on its way. */
export function runtimeHandlerOf(pod: Pod, classes: RuntimeClasses): Result<string> {
  const name = pod.spec.runtimeClassName ?? "";
  if (name === "") return ok("");
  const found = classes.get(name);
  if (found !== undefined && withOverhead(pod, classes) === pod) return ok(found.handler);
  const message = `runtimeclass.node.k8s.io ${JSON.stringify(name)} not found`;
  return err(kubeletError("NotFound", message, { reason: "CreatePodSandboxError" }));
}

/** Why pods under this handler cannot have user ids of their own, in upstream's words; undefined when they can. */
export function userNamespacesFault({ handlers }: Pick<RuntimeState, "handlers">, handler: string): string | undefined {
  const known = handlers?.find(({ name }) => name === handler);
  if (known?.userNamespaces === true) return undefined;
  const what = handler === "" ? "runtime does" : `RuntimeClass handler ${JSON.stringify(handler)} does`;
  const fault = `can't set \`spec.hostUsers: false\`, ${what} not support user namespaces`;
  if (handlers === undefined) return `${fault}: runtime handlers are not set`;
  return known === undefined ? `${fault}: the handler ${JSON.stringify(handler)} is not known` : fault;
}

/** Whether containers under this handler can have mounts that are read-only with all that is mounted below. */
export const hasRecursiveReadOnlyMounts = ({ handlers }: Pick<RuntimeState, "handlers">, handler: string): boolean =>
  handlers?.find(({ name }) => name === handler)?.recursiveReadOnlyMounts ?? false;
