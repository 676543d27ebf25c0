/**
 * What pods and containers are called in a scenario: `web` and `web/app`, outside the default namespace `demo/web` and
 * `demo/web/app`. Static pods go by the name in their manifest, without the node's name behind it.
 */
import { staticPodName } from "../../core/pod/staticPod.ts";
import { ScenarioError } from "./scenarioTime.ts";

const DEFAULT_NAMESPACE = "default";

export interface ScenarioNames {
  /** Of a subject as the simulation has it: `namespace/pod`, `namespace/pod/container#attempt`. */
  shown(subject: string): string;
  /** Of a pod as a scenario calls it, in the shortest form. */
  pod(name: string): string;
  /** Of a container as a scenario calls it, in the shortest form. */
  container(name: string): string;
}

/** Names on a node. Throws ScenarioError for a name that is none. */
export function createScenarioNames(nodeName: string): ScenarioNames {
  const suffix = staticPodName("", nodeName);
  const plain = (pod: string): string => (pod.endsWith(suffix) ? pod.slice(0, -suffix.length) : pod);
  const short = (namespace: string, pod: string, rest: readonly string[]): string =>
    [...(namespace === DEFAULT_NAMESPACE ? [] : [namespace]), plain(pod), ...rest].join("/");
  const read = (name: string, ownParts: number, form: string): string => {
    const parts = name.split("/");
    if (parts.length === ownParts) parts.unshift(DEFAULT_NAMESPACE);
    const [namespace = "", pod = "", ...rest] = parts;
    if (parts.length !== ownParts + 1 || parts.includes("")) {
      throw new ScenarioError(`${JSON.stringify(name)} is no name like ${form}`);
    }
    return short(namespace, pod, rest);
  };
  return {
    shown(subject) {
      const [namespace = "", pod, ...rest] = subject.split("/");
      return pod === undefined ? subject : short(namespace, pod, rest);
    },
    pod: (name) => read(name, 1, "web or demo/web"),
    container: (name) => read(name, 2, "web/app or demo/web/app"),
  };
}

/** Name of a container's pod. */
export const podOfContainer = (container: string): string => container.slice(0, container.lastIndexOf("/"));
