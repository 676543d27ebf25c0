import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { appArmorFault, appArmorProfile } from "../../../../src/core/container/appArmorProfile.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

type Profile = NonNullable<NonNullable<Container["securityContext"]>["appArmorProfile"]>;

const ANNOTATION = "container.apparmor.security.beta.kubernetes.io/";
const ofContainer = (appArmorProfile: Profile, name = "main"): Container =>
  containerOf({ name, securityContext: { appArmorProfile } });
const ofPod = (type: string): Partial<PodSpec> => ({ securityContext: { appArmorProfile: { type } } });

describe("appArmorProfile", () => {
  const field = ofContainer({ type: "Unconfined" });

  it.each<[string, Container, string | undefined, Partial<PodSpec>, Profile | undefined]>([
    ["nobody says", containerOf(), undefined, {}, undefined],
    ["the pod says", containerOf(), undefined, ofPod("RuntimeDefault"), { type: "RuntimeDefault" }],
    ["an annotation wins over the pod", containerOf(), "unconfined", ofPod("RuntimeDefault"), { type: "Unconfined" }],
    ["the container wins over both", field, "runtime/default", ofPod("RuntimeDefault"), { type: "Unconfined" }],
    ["the runtime's by annotation", containerOf(), "runtime/default", {}, { type: "RuntimeDefault" }],
    [
      "a profile of the node by annotation",
      containerOf(),
      "localhost/a/b",
      {},
      { type: "Localhost", localhostProfile: "a/b" },
    ],
    ["an annotation that makes no sense", containerOf(), "odd", ofPod("RuntimeDefault"), { type: "RuntimeDefault" }],
  ])("%s", (_, container, annotation, spec, expected) => {
    const annotations = annotation === undefined ? {} : { [`${ANNOTATION}main`]: annotation };
    expect(appArmorProfile(podOf({ annotations, spec }), container)).toEqual(expected);
  });

  it("ignores the annotation of another container", () => {
    const pod = podOf({ annotations: { [`${ANNOTATION}other`]: "unconfined" } });
    expect(appArmorProfile(pod, containerOf())).toBeUndefined();
  });
});

describe("appArmorFault", () => {
  const DISABLED = "AppArmor is not enabled on the host";
  const NAMELESS = 'invalid empty AppArmor profile name: "localhost/"';

  it.each<[string, Parameters<typeof podOf>[0], boolean, string | undefined]>([
    ["no profile on a node without", {}, false, undefined],
    ["Unconfined on a node without", { spec: ofPod("Unconfined") }, false, undefined],
    ["unconfined by annotation", { annotations: { [`${ANNOTATION}main`]: "unconfined" } }, false, undefined],
    ["the pod's profile on a node without", { spec: ofPod("RuntimeDefault") }, false, DISABLED],
    [
      "a container's profile on a node without",
      { spec: { containers: [ofContainer({ type: "Localhost", localhostProfile: "x" })] } },
      false,
      DISABLED,
    ],
    [
      "an init container's profile on a node without",
      { spec: { initContainers: [ofContainer({ type: "RuntimeDefault" }, "init")] } },
      false,
      DISABLED,
    ],
    ["an annotation on a node without", { annotations: { [`${ANNOTATION}main`]: "runtime/default" } }, false, DISABLED],
    ["a profile on a node with", { spec: ofPod("RuntimeDefault") }, true, undefined],
    [
      "a named profile on a node with",
      { spec: { containers: [ofContainer({ type: "Localhost", localhostProfile: "x" })] } },
      true,
      undefined,
    ],
    ["a nameless profile", { annotations: { [`${ANNOTATION}main`]: "localhost/" } }, true, NAMELESS],
    [
      "a blank profile",
      { spec: { containers: [ofContainer({ type: "Localhost", localhostProfile: " " })] } },
      true,
      NAMELESS,
    ],
  ])("%s", (_, parts, isEnabled, expected) => {
    expect(appArmorFault(podOf(parts), isEnabled)).toBe(expected);
  });
});
