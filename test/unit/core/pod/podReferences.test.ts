import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import {
  containerReferences,
  podReferences,
  pullSecretReferences,
  volumeReferences,
} from "../../../../src/core/pod/podReferences.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const secret = (name: string) => ({ kind: "Secret", name });
const configMap = (name: string) => ({ kind: "ConfigMap", name });
type Volume = NonNullable<PodSpec["volumes"]>[number];

describe("volumeReferences", () => {
  it.each<readonly [string, Omit<Volume, "name">, readonly object[]]>([
    ["configMap", { configMap: { name: "c" } }, [configMap("c")]],
    ["secret", { secret: { secretName: "s" } }, [secret("s")]],
    [
      "projected",
      { projected: { sources: [{ configMap: { name: "c" } }, { secret: { name: "s" } }, { downwardAPI: {} }] } },
      [configMap("c"), secret("s")],
    ],
    ["azureFile", { azureFile: { secretName: "s", shareName: "x" } }, [secret("s")]],
    ["csi", { csi: { driver: "d", nodePublishSecretRef: { name: "s" } } }, [secret("s")]],
    ["iscsi", { iscsi: { iqn: "i", lun: 0, targetPortal: "t", secretRef: { name: "s" } } }, [secret("s")]],
    ["cephfs", { cephfs: { monitors: [], secretRef: { name: "s" } } }, [secret("s")]],
    ["a source without a name", { configMap: {} }, []],
    ["emptyDir", { emptyDir: {} }, []],
  ])("%s", (_source, volume, expected) => {
    expect(volumeReferences({ name: "v", ...volume })).toEqual(expected);
  });
});

describe("containerReferences", () => {
  it("names the sources of envFrom and env, in order", () => {
    const container = containerOf({
      envFrom: [{ configMapRef: { name: "c1" } }, { secretRef: { name: "s1" } }, { configMapRef: { name: "" } }],
      env: [
        { name: "A", value: "plain" },
        { name: "B", valueFrom: { secretKeyRef: { name: "s2", key: "k" } } },
        { name: "C", valueFrom: { configMapKeyRef: { name: "c2", key: "k" } } },
      ],
    });
    expect(containerReferences(container)).toEqual([configMap("c1"), secret("s1"), secret("s2"), configMap("c2")]);
  });
});

describe("podReferences", () => {
  it("names each reference once: pull secrets, all containers, volumes", () => {
    const reads = (name: string) => containerOf({ envFrom: [{ configMapRef: { name } }] });
    const spec: Partial<PodSpec> = {
      imagePullSecrets: [{ name: "pull" }, {}],
      initContainers: [reads("init")],
      containers: [reads("shared"), reads("shared")],
      ephemeralContainers: [{ ...reads("debug") }],
      volumes: [{ name: "v", secret: { secretName: "pull" } }],
    };
    const pod = podOf({ spec });
    expect([podReferences(pod), pullSecretReferences(pod.spec)]).toEqual([
      [secret("pull"), configMap("init"), configMap("shared"), configMap("debug")],
      [secret("pull")],
    ]);
  });
});
