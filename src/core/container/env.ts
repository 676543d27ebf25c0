/**
 * Environment of a container: its own variables in the order they are declared, then those of services it does not
 * set itself. Counterpart: makeEnvironmentVariables in kubelet_pods.go.
 */
import type { Container, Pod } from "../api.ts";
import { type Result, ok } from "../result.ts";
import { containerConfigError } from "./configError.ts";
import { expand } from "./expansion.ts";
import { type PodAddresses, podFieldText, resourceFieldText } from "./fieldRef.ts";
import type { NodeContext } from "./nodeContext.ts";
import { type EnvVar, serviceEnvironment } from "./serviceEnv.ts";

type DeclaredVar = NonNullable<Container["env"]>[number];

export interface EnvironmentInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly addresses: PodAddresses;
  readonly node: Pick<NodeContext, "services" | "allocatable">;
}

function sourcedValue(declared: DeclaredVar, input: EnvironmentInput): Result<string> {
  const { pod, container, addresses, node } = input;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = declared.valueFrom ?? {};
  const refuse = (message: string): Result<never> =>
    containerConfigError(pod, container.name, `env ${declared.name}: ${message}`);
  if (fieldRef !== undefined) {
    const text = podFieldText(pod, fieldRef.fieldPath, addresses);
    return text === undefined ? refuse(`unsupported fieldPath: ${fieldRef.fieldPath}`) : ok(text);
  }
  if (resourceFieldRef !== undefined) {
    const text = resourceFieldText(pod, container, resourceFieldRef, node.allocatable);
    const { resource, containerName, divisor } = resourceFieldRef;
    const what = [resource, containerName && `of container ${containerName}`, divisor && `divided by ${divisor}`];
    return text === undefined ? refuse(`unsupported resourceFieldRef: ${what.filter(Boolean).join(" ")}`) : ok(text);
  }
  const unserved =
    (configMapKeyRef && "configMapKeyRef") || (secretKeyRef && "secretKeyRef") || (fileKeyRef && "fileKeyRef");
  if (unserved === undefined) return ok("");
  return containerConfigError(
    pod,
    container.name,
    `env ${declared.name}: valueFrom.${unserved} is not served yet`,
    "Unimplemented",
  );
}

/** The environment of a container; fails with CreateContainerConfigError naming the variable. */
export function containerEnvironment(input: EnvironmentInput): Result<readonly EnvVar[]> {
  const { pod, container, node } = input;
  if ((container.envFrom ?? []).length > 0) {
    return containerConfigError(pod, container.name, "envFrom is not served yet", "Unimplemented");
  }
  const { enableServiceLinks = true } = pod.spec;
  const services = serviceEnvironment(node.services, pod.metadata.namespace, enableServiceLinks);
  const ofServices = new Map(services.map(({ name, value }) => [name, value]));
  const own = new Map<string, string>();
  for (const declared of container.env ?? []) {
    const sourced = declared.value ? ok(declared.value) : sourcedValue(declared, input);
    if (!sourced.ok) return sourced;
    const value = declared.value
      ? expand(sourced.value, (name) => own.get(name) ?? ofServices.get(name))
      : sourced.value;
    own.set(declared.name, value);
  }
  const rest = [...ofServices].filter(([name]) => !own.has(name));
  return ok([...own, ...rest].map(([name, value]) => ({ name, value })));
}
