/**
 * Names of pods and containers in a scenario: `web` and `web/app`, outside the default namespace `demo/web` and
 * `demo/web/app`. A static pod has the name in its manifest, without the node name suffix.
 */
import { staticPodName } from "../../core/pod/staticPod.ts";
import { ScenarioError } from "./scenarioTime.ts";

const DEFAULT_NAMESPACE = "default";

export interface ScenarioNames {
  /** Converts a subject of the simulation: `namespace/pod` or `namespace/pod/container#attempt`. */
  shown(subject: string): string;
  /** Returns the shortest form of a pod name in a scenario. */
  pod(name: string): string;
  /** Returns the shortest form of a container name in a scenario. */
  container(name: string): string;
}

/** Creates the names of a node. The functions throw ScenarioError for an invalid name. */
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
      throw new ScenarioError(`${JSON.stringify(name)} is not a name like ${form}`);
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

/** Returns the pod name of a container name. */
export const podOfContainer = (container: string): string => container.slice(0, container.lastIndexOf("/"));
