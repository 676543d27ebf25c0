/** Services as environment variables (`REDIS_SERVICE_HOST=...`). Upstream: pkg/kubelet/envvars. */
import type { ApiObjects } from "../api/apiResources.ts";

/** The facts of a service that environment variables contain. */
export interface ServiceForEnv {
  readonly name: string;
  readonly namespace: string;
  /** Empty or `None` for headless services, which get no variables. */
  readonly clusterIp: string;
  readonly ports: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
}

/** Returns these facts of an API service. */
export const serviceForEnv = ({ metadata, spec }: ApiObjects["services"]): ServiceForEnv => ({
  name: metadata?.name ?? "",
  namespace: metadata?.namespace ?? "",
  clusterIp: spec?.clusterIP ?? "",
  ports: spec?.ports ?? [],
});

/** An environment variable of a container. */
export interface EnvVar {
  readonly name: string;
  readonly value: string;
  /** The raw value when it is not valid UTF-8. */
  readonly bytes?: Uint8Array;
}

const envName = (name: string): string => name.toUpperCase().replaceAll("-", "_");

const isMaster = ({ name, namespace }: ServiceForEnv): boolean => namespace === "default" && name === "kubernetes";

function variables({ name, clusterIp, ports }: ServiceForEnv): readonly EnvVar[] {
  const prefix = envName(name);
  const [first] = ports;
  if (first === undefined) return [];
  const address = clusterIp.includes(":") ? `[${clusterIp}]` : clusterIp;
  const url = (port: number, protocol = "TCP"): string => `${protocol.toLowerCase()}://${address}:${port}`;
  const named = ports.filter((port) => port.name);
  return [
    { name: `${prefix}_SERVICE_HOST`, value: clusterIp },
    { name: `${prefix}_SERVICE_PORT`, value: String(first.port) },
    ...named.map((each) => ({ name: `${prefix}_SERVICE_PORT_${envName(each.name ?? "")}`, value: String(each.port) })),
    { name: `${prefix}_PORT`, value: url(first.port, first.protocol) },
    ...ports.flatMap(({ port, protocol = "TCP" }) => {
      const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
      return [
        { name: link, value: url(port, protocol) },
        { name: `${link}_PROTO`, value: protocol.toLowerCase() },
        { name: `${link}_PORT`, value: String(port) },
        { name: `${link}_ADDR`, value: clusterIp },
      ];
    }),
  ];
}

/**
 * Returns the service variables of a pod in `namespace`: always those of the API server's service, and with
 * `enableServiceLinks` those of the services in its namespace, which override services of the same name elsewhere.
 */
export function serviceEnvironment(
  services: readonly ServiceForEnv[],
  namespace: string,
  enableServiceLinks: boolean,
): readonly EnvVar[] {
  const visible = new Map<string, ServiceForEnv>();
  for (const service of services) {
    if (service.clusterIp === "" || service.clusterIp === "None") continue;
    if (isMaster(service)) {
      if (!visible.has(service.name)) visible.set(service.name, service);
    } else if (enableServiceLinks && service.namespace === namespace) visible.set(service.name, service);
  }
  return [...visible.values()].flatMap(variables);
}
