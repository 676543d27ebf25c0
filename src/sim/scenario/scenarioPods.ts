/** Pods of a scenario: manifests as data, static pods by default, or API pods. */
import type { Container, Pod, PodSpec } from "../../core/api.ts";
import { defaultPod } from "../../core/pod/defaults.ts";
import { ScenarioError } from "./scenarioTime.ts";

/** A pod manifest as JSON data. Omitted fields get their defaults. */
export interface PodManifest {
  readonly apiVersion?: "v1";
  readonly kind?: "Pod";
  readonly metadata: {
    readonly name: string;
    /** Default: `default`. */
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Partial<PodSpec>;
}

/** A pod that comes from an API server. */
export interface ApiPod {
  readonly source: "api";
  readonly manifest: PodManifest;
}

/** A static pod or an API pod. */
export type ScenarioPod = PodManifest | ApiPod;

/** Creates a manifest. `name` is `web`, or `demo/web` with a namespace. */
export function pod(name: string, spec: Partial<PodSpec>): PodManifest {
  const parts = name.split("/");
  const [namespace, own] = parts.length === 2 ? parts : ["default", name];
  if (namespace === undefined || own === undefined || namespace === "" || own === "" || parts.length > 2) {
    throw new ScenarioError(`pod ${JSON.stringify(name)}: must be a name like web or demo/web`);
  }
  return { apiVersion: "v1", kind: "Pod", metadata: { name: own, namespace }, spec };
}

/** Creates a container with an image that every registry of the simulation has. */
export const container = (name: string, more: Partial<Container> = {}): Container => ({
  name,
  image: "registry.example/app:1",
  ...more,
});

/** Turns a manifest into an API pod, which has its own UID and can be deleted with a grace period. */
export const fromApi = (manifest: PodManifest): ApiPod => ({ source: "api", manifest });

/** Returns `namespace/name` of a pod. */
export const qualifiedNameOf = ({ metadata: { name, namespace = "default" } }: PodManifest): string =>
  `${namespace}/${name}`;

/** Returns the manifest file name of a static pod. */
export const manifestFileOf = (manifest: PodManifest): string => `${qualifiedNameOf(manifest).replace("/", "-")}.json`;

/** Returns the manifest document of a static pod. */
export const manifestDocument = (manifest: PodManifest): object => ({ apiVersion: "v1", kind: "Pod", ...manifest });

/** Returns the pod object as an API server would: with defaults and a UID. */
export function apiObject(manifest: PodManifest, uid: string): Pod {
  const { spec } = defaultPod({ spec: { containers: [], ...manifest.spec } });
  return { metadata: { namespace: "default", ...manifest.metadata, uid }, spec };
}
