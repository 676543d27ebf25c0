/**
 * Applies the API server's defaults to a pod, so that a manifest means the same here and in a cluster. Empty strings
 * and zeros count as unset where upstream's types cannot distinguish them. Upstream: pkg/apis/core/v1/defaults.go.
 */
import type { V1EphemeralContainer, V1Pod } from "@kubernetes/client-node";
import type { Container, PodSpec, Wire } from "../api.ts";
import { defaultPodResources, defaultRequests } from "./defaultResources.ts";
import { defaultVolume } from "./defaultVolumes.ts";
import { defaultPullPolicy } from "../image/defaultPullPolicy.ts";
import { dottedSysctl } from "./sysctls.ts";

/** A decoded pod, not validated. */
export type DecodedPod = Wire<V1Pod>;
type Env = NonNullable<Container["env"]>[number];
type Port = NonNullable<Container["ports"]>[number];
type Probe = NonNullable<Container["livenessProbe"]>;
type HttpGet = NonNullable<Probe["httpGet"]>;
type Handler = NonNullable<NonNullable<Container["lifecycle"]>["postStart"]>;
type EphemeralContainer = Wire<V1EphemeralContainer>;

/** Returns `value`, or the default when it is unset: absent, "" or 0. */
const or = <T extends string | number>(value: T | undefined, fallback: T): T =>
  value === undefined || value === "" || value === 0 ? fallback : value;

/** Returns `object` with the defined members of `changed`. */
function withDefined<T extends object>(object: T, changed: { readonly [K in keyof T]?: T[K] | undefined }): T {
  const defined = Object.entries(changed).filter(([, value]) => value !== undefined);
  return { ...object, ...Object.fromEntries(defined) };
}

/** Returns the pod with every v1 default applied. The result always has a spec, possibly without containers. */
export function defaultPod(pod: DecodedPod): DecodedPod & { readonly spec: PodSpec } {
  const spec = pod.spec ?? { containers: [] };
  return { ...pod, spec: defaultPodResources(defaultPodSpec(spec)) };
}

function defaultPodSpec(spec: PodSpec): PodSpec {
  const hostNetwork = spec.hostNetwork === true;
  const account = or(spec.serviceAccountName, spec.serviceAccount ?? "");
  return withDefined(spec, {
    restartPolicy: or(spec.restartPolicy, "Always"),
    dnsPolicy: or(spec.dnsPolicy, "ClusterFirst"),
    schedulerName: or(spec.schedulerName, "default-scheduler"),
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? 30,
    enableServiceLinks: spec.enableServiceLinks ?? true,
    securityContext: defaultSecurityContext(spec.securityContext),
    serviceAccountName: account === "" ? undefined : account,
    serviceAccount: account === "" ? undefined : account,
    volumes: spec.volumes?.map(defaultVolume),
    containers: (spec.containers ?? []).map((container) => defaultRequests(defaultContainer(container, hostNetwork))),
    initContainers: spec.initContainers?.map((container) => defaultRequests(defaultContainer(container, hostNetwork))),
    ephemeralContainers: spec.ephemeralContainers?.map((container) => defaultContainer(container, false)),
  });
}

/** Sysctl names are normalized to dots. */
function defaultSecurityContext(context: PodSpec["securityContext"] = {}): NonNullable<PodSpec["securityContext"]> {
  const { sysctls } = context;
  if (sysctls === undefined) return context;
  return { ...context, sysctls: sysctls.map((each) => ({ ...each, name: dottedSysctl(each.name) })) };
}

function defaultContainer<T extends Container | EphemeralContainer>(container: T, hostNetwork: boolean): T {
  const { lifecycle } = container;
  return withDefined<Container | EphemeralContainer>(container, {
    imagePullPolicy: or(container.imagePullPolicy, defaultPullPolicy(container.image ?? "")),
    terminationMessagePath: or(container.terminationMessagePath, "/dev/termination-log"),
    terminationMessagePolicy: or(container.terminationMessagePolicy, "File"),
    ports: container.ports?.map((port) => defaultPort(port, hostNetwork)),
    env: container.env?.map(defaultEnv),
    livenessProbe: defaultProbe(container.livenessProbe),
    readinessProbe: defaultProbe(container.readinessProbe),
    startupProbe: defaultProbe(container.startupProbe),
    lifecycle:
      lifecycle === undefined
        ? undefined
        : withDefined(lifecycle, {
            postStart: defaultHandler(lifecycle.postStart),
            preStop: defaultHandler(lifecycle.preStop),
          }),
  }) as T;
}

function defaultPort(port: Port, hostNetwork: boolean): Port {
  const hostPort = hostNetwork ? or(port.hostPort, port.containerPort) : port.hostPort;
  return withDefined(port, { protocol: or(port.protocol, "TCP"), hostPort });
}

function defaultEnv(env: Env): Env {
  const { fieldRef, resourceFieldRef, fileKeyRef } = env.valueFrom ?? {};
  if (resourceFieldRef !== undefined) {
    const divisor = or(resourceFieldRef.divisor, "0");
    return { ...env, valueFrom: { ...env.valueFrom, resourceFieldRef: { ...resourceFieldRef, divisor } } };
  }
  if (fileKeyRef !== undefined) {
    return {
      ...env,
      valueFrom: { ...env.valueFrom, fileKeyRef: { ...fileKeyRef, optional: fileKeyRef.optional ?? false } },
    };
  }
  if (fieldRef === undefined) return env;
  return {
    ...env,
    valueFrom: { ...env.valueFrom, fieldRef: { ...fieldRef, apiVersion: or(fieldRef.apiVersion, "v1") } },
  };
}

function defaultProbe(probe: Probe | undefined): Probe | undefined {
  if (probe === undefined) return undefined;
  return withDefined(probe, {
    timeoutSeconds: or(probe.timeoutSeconds, 1),
    periodSeconds: or(probe.periodSeconds, 10),
    successThreshold: or(probe.successThreshold, 1),
    failureThreshold: or(probe.failureThreshold, 3),
    httpGet: defaultHttpGet(probe.httpGet),
    grpc: probe.grpc === undefined ? undefined : { ...probe.grpc, service: probe.grpc.service ?? "" },
  });
}

const defaultHttpGet = (get: HttpGet | undefined): HttpGet | undefined =>
  get === undefined ? undefined : { ...get, path: or(get.path, "/"), scheme: or(get.scheme, "HTTP") };

const defaultHandler = (handler: Handler | undefined): Handler | undefined =>
  handler === undefined ? undefined : withDefined(handler, { httpGet: defaultHttpGet(handler.httpGet) });
