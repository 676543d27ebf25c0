/**
 * Environment of a container: variables of whole ConfigMaps and Secrets, then its own in declaration order, then those
 * of services unless already set. Upstream: makeEnvironmentVariables in kubelet_pods.go.
 */
import type { Container, Pod } from "../api.ts";
import type { ConfigObjects } from "../configObjects.ts";
import { kubeletError } from "../errors.ts";
import { type Result, err, ok } from "../result.ts";
import { utf8Length } from "../utf8Length.ts";
import { containerConfigError } from "./configError.ts";
import { type EnvFiles, fileKeyValue } from "./envFile.ts";
import { type EnvValue, keyRefValue, wholeSources } from "./envSources.ts";
import { allocatableToPod, type PodAddresses, podFieldText, resourceFieldText } from "./fieldRef.ts";
import type { NodeContext } from "./nodeContext.ts";
import { type EnvVar, serviceEnvironment } from "./serviceEnv.ts";
import { programText, type TextBudget } from "./textBudget.ts";

type DeclaredVar = NonNullable<Container["env"]>[number];

/** The inputs of a container's environment. */
export interface EnvironmentInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly addresses: PodAddresses;
  readonly objects: ConfigObjects;
  readonly files: EnvFiles;
  readonly node: Pick<NodeContext, "allocatable" | "hostIpUnknown">;
}

const HOST_IP = /^status\.hostIPs?$/;

/**
 * Returns the value that a variable references; undefined when the reference is optional and missing, then the variable
 * is not set.
 */
function sourcedValue(declared: DeclaredVar, input: EnvironmentInput): Result<EnvValue | undefined> {
  const { pod, container, addresses, objects, node } = input;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = declared.valueFrom ?? {};
  const { namespace } = pod.metadata;
  const textOr = (text: string | undefined, message: string): Result<EnvValue> =>
    text === undefined ? containerConfigError(message) : ok({ text });
  if (fieldRef !== undefined) {
    // A cloud controller may not have set the addresses yet, so the container waits for them.
    if (HOST_IP.test(fieldRef.fieldPath) && addresses.nodeIps.length === 0) {
      return err(kubeletError("NotFound", node.hostIpUnknown, { reason: "CreateContainerConfigError" }));
    }
    return textOr(podFieldText(pod, fieldRef.fieldPath, addresses), `field label not supported: ${fieldRef.fieldPath}`);
  }
  if (resourceFieldRef !== undefined) {
    const { resource, containerName, divisor } = resourceFieldRef;
    const what = [
      resource,
      containerName && `of container ${containerName}`,
      divisor !== undefined && divisor !== "0" && `divided by ${divisor}`,
    ];
    const text = resourceFieldText(pod, container, resourceFieldRef, allocatableToPod(pod, node.allocatable));
    return textOr(text, `unsupported container resource : ${what.filter(Boolean).join(" ")}`);
  }
  if (configMapKeyRef !== undefined) return keyRefValue("ConfigMap", namespace, configMapKeyRef, objects);
  if (secretKeyRef !== undefined) return keyRefValue("Secret", namespace, secretKeyRef, objects);
  if (fileKeyRef === undefined) return ok({ text: "" });
  const value = fileKeyValue(fileKeyRef, input.files);
  return value.ok ? ok(value.value === undefined ? undefined : { text: value.value }) : value;
}

/** Returns the size of a value for the budget; a value that is set again counts again. */
const valueBytes = ({ text, bytes }: EnvValue): number => bytes?.length ?? utf8Length(text);

/**
 * Returns the environment of a container. Errors: CreateContainerConfigError. `$(NAME)` in a declared value refers to
 * earlier variables; other values are literal.
 */
export function containerEnvironment(
  input: EnvironmentInput,
  budget: TextBudget = programText(input.container.name),
): Result<readonly EnvVar[]> {
  const { pod, container, objects } = input;
  const { namespace } = pod.metadata;
  const { enableServiceLinks = true } = pod.spec;
  const services = serviceEnvironment(objects.services, namespace, enableServiceLinks);
  const ofServices = new Map(services.map(({ name, value }) => [name, value]));
  const whole = wholeSources(container, namespace, objects, (field, name, value) =>
    budget.take(field, utf8Length(name) + valueBytes(value)),
  );
  if (!whole.ok) return whole;
  const own = new Map(whole.value);
  const valueOf = (name: string): string | undefined => own.get(name)?.text ?? ofServices.get(name);
  for (const [index, declared] of (container.env ?? []).entries()) {
    const { name } = declared;
    if (declared.value) {
      const text = budget.expand(`env[${index}]`, declared.value, valueOf);
      if (!text.ok) return text;
      own.set(name, { text: text.value });
      continue;
    }
    const sourced = sourcedValue(declared, input);
    if (!sourced.ok) return sourced;
    if (sourced.value === undefined) continue;
    const taken = budget.take(`env[${index}]`, valueBytes(sourced.value));
    if (!taken.ok) return taken;
    own.set(name, sourced.value);
  }
  const rest = [...ofServices].filter(([name]) => !own.has(name)).map(([name, value]) => ({ name, value }));
  const linked = rest.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  const taken = budget.take("variables of services", linked);
  if (!taken.ok) return taken;
  return ok([...[...own].map(([name, { text, ...more }]) => ({ name, value: text, ...more })), ...rest]);
}
