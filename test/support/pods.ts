/** Pods for tests: complete enough to have passed a source, with what a test is about given by it. */
import type { Container, Pod, PodSpec } from "../../src/core/api.ts";

/** By default everything of a pod can be resized. */
export const ALL_RESIZABLE = { initContainers: true, podLevel: true };

/** A container as the defaults leave it. */
export const containerOf = (more: Partial<Container> = {}): Container => ({
  name: "main",
  image: "registry.example/app:1",
  resources: {},
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
  imagePullPolicy: "IfNotPresent",
  ...more,
});

/** Fields of a pod that a test may set; identity defaults to `demo/plain`. */
export interface PodParts {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionGracePeriodSeconds?: number;
  readonly spec?: Partial<PodSpec>;
}

/** A pod of one plain container, unless the spec says otherwise. */
export function podOf({ spec, name = "plain", namespace = "demo", uid = "uid-1", ...metadata }: PodParts = {}): Pod {
  return {
    metadata: { name, namespace, uid, ...metadata },
    spec: {
      containers: [containerOf()],
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      securityContext: {},
      enableServiceLinks: true,
      ...spec,
    },
  };
}
