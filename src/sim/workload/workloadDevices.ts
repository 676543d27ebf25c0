/**
 * Devices and claims that API pods ask for on a node with device plugins and drivers. Drawn separately, so that the rest of a
 * pod does not depend on them. Plain data. Static pods ask for none: a kubelet that does not know the resource yet starts a
 * static pod without it.
 */
import type { Container, PodSpec } from "../../core/api.ts";
import { isSidecar } from "../../core/pod/containers.ts";
import type { Prng } from "../prng.ts";

/** How a pod names a claim: made from a template, made for the pod under a fixed name, or one of several pods. */
export type SimClaimKind = "template" | "own" | "shared";

/** Devices and claims of a pod. */
export interface SimDeviceUse {
  /** Devices of its first container, by resource. */
  readonly main: Readonly<Record<string, string>>;
  /** Devices of its first init container. */
  readonly init: Readonly<Record<string, string>>;
  readonly claims: readonly SimClaimKind[];
}

const GPU = "example.com/gpu";
const NIC = "example.com/nic";
const FPGA = "example.com/fpga";

/** Returns the devices of a pod; undefined for a third of the pods. */
export function drawDeviceUse(prng: Prng): SimDeviceUse | undefined {
  if (prng.chance(0.33)) return undefined;
  const main = prng.pick<SimDeviceUse["main"]>([
    {},
    { [GPU]: "1" },
    { [GPU]: "1" },
    { [GPU]: "2", [NIC]: "1" },
    { [NIC]: "2" },
    { [NIC]: "1", [FPGA]: "1" },
    { [FPGA]: "2" },
  ]);
  const init = prng.pick<SimDeviceUse["init"]>([{}, { [GPU]: "1" }, { [NIC]: "3" }]);
  const claims = prng.pick<SimDeviceUse["claims"]>([
    [],
    ["template"],
    ["template"],
    ["own"],
    ["shared"],
    ["own", "template"],
    ["shared", "template"],
  ]);
  return { main, init, claims };
}

/** Names of the claims that several pods share. */
export const SHARED_CLAIM = "shared-claim";

/** Returns the name of the claim that a pod names by itself. */
export const ownClaim = (pod: string): string => `${pod}-claim`;

/** Returns the resources that a pod needs to find on its node. */
export const neededResources = ({ main, init }: SimDeviceUse): readonly string[] => [
  ...new Set([...Object.keys(main), ...Object.keys(init)]),
];

type Fields = Readonly<Record<string, unknown>>;

/** Returns the spec with devices and claims. */
export function deviceSpec(spec: Fields, use: SimDeviceUse | undefined, pod: string): Fields {
  if (use === undefined) return spec;
  const { containers, initContainers } = spec as unknown as PodSpec;
  const resourceClaims = use.claims.map((kind) => ({
    name: kind,
    ...(kind === "template" ? { resourceClaimTemplateName: "devices" } : {}),
    ...(kind === "own" ? { resourceClaimName: ownClaim(pod) } : {}),
    ...(kind === "shared" ? { resourceClaimName: SHARED_CLAIM } : {}),
  }));
  const claims = use.claims.map((name) => ({ name }));
  const equipped = (container: Container, devices: Readonly<Record<string, string>>, isMain: boolean): Container => {
    const { requests, limits } = container.resources ?? {};
    const resources = {
      ...container.resources,
      ...(requests === undefined && Object.keys(devices).length === 0 ? {} : { requests: { ...requests, ...devices } }),
      ...(limits === undefined && Object.keys(devices).length === 0 ? {} : { limits: { ...limits, ...devices } }),
      ...(isMain && claims.length > 0 ? { claims } : {}),
    };
    return { ...container, resources };
  };
  const isFirstInit = (container: Container, index: number): boolean => index === 0 && !isSidecar(container);
  return {
    ...spec,
    containers: containers.map((each, index) => equipped(each, index === 0 ? use.main : {}, index === 0)),
    ...(initContainers === undefined
      ? {}
      : { initContainers: initContainers.map((it, at) => equipped(it, isFirstInit(it, at) ? use.init : {}, false)) }),
    ...(resourceClaims.length > 0 ? { resourceClaims } : {}),
  };
}
