/**
 * The runtime handler of a pod, its overhead, and the features that pods have under it. Upstream:
 * pkg/kubelet/runtimeclass, kubelet_getters.go, kubelet_pods.go.
 */
import type { Pod } from "../api.ts";
import type { ApiObjects } from "../api/apiResources.ts";
import { kubeletError } from "../errors.ts";
import { isStaticPod } from "../pod/criticalPod.ts";
import { err, ok, type Result } from "../result.ts";
import type { RuntimeState } from "./runtimeState.ts";

/** All RuntimeClasses by name. */
export type RuntimeClasses = ReadonlyMap<string, ApiObjects["runtimeclasses"]>;

/**
 * Adds the overhead of its RuntimeClass to a static pod; other pods get it from the API server's admission. As in
 * upstream, an overhead in the manifest is kept. An overhead that was added before (`known`) stays, even if the class
 * changes. Upstream: plugin/pkg/admission/runtimeclass.
 */
export function withOverhead(pod: Pod, classes: RuntimeClasses, known?: Pod): Pod {
  const { runtimeClassName = "", overhead } = pod.spec;
  if (runtimeClassName === "" || overhead !== undefined || !isStaticPod(pod)) return pod;
  const added = known?.spec.overhead ?? classes.get(runtimeClassName)?.overhead?.podFixed;
  return added === undefined ? pod : { ...pod, spec: { ...pod.spec, overhead: added } };
}

/**
 * Returns the name of the handler, empty for the default. Returns NotFound when the pod's class does not exist, or its
 * overhead is not added yet.
 */
export function runtimeHandlerOf(pod: Pod, classes: RuntimeClasses): Result<string> {
  const name = pod.spec.runtimeClassName ?? "";
  if (name === "") return ok("");
  const found = classes.get(name);
  if (found !== undefined && withOverhead(pod, classes) === pod) return ok(found.handler);
  const message = `runtimeclass.node.k8s.io ${JSON.stringify(name)} not found`;
  return err(kubeletError("NotFound", message, { reason: "CreatePodSandboxError" }));
}

/** Returns upstream's message why pods under this handler cannot have user namespaces; undefined when they can. */
export function userNamespacesFault({ handlers }: Pick<RuntimeState, "handlers">, handler: string): string | undefined {
  const known = handlers?.find(({ name }) => name === handler);
  if (known?.userNamespaces === true) return undefined;
  const what = handler === "" ? "runtime does" : `RuntimeClass handler ${JSON.stringify(handler)} does`;
  const fault = `can't set \`spec.hostUsers: false\`, ${what} not support user namespaces`;
  if (handlers === undefined) return `${fault}: runtime handlers are not set`;
  return known === undefined ? `${fault}: the handler ${JSON.stringify(handler)} is not known` : fault;
}

/** Whether containers under this handler can have recursive read-only mounts. */
export const hasRecursiveReadOnlyMounts = ({ handlers }: Pick<RuntimeState, "handlers">, handler: string): boolean =>
  handlers?.find(({ name }) => name === handler)?.recursiveReadOnlyMounts ?? false;
