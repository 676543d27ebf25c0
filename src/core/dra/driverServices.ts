/** Versions of the driver API that a plugin offers, and the one to use. Upstream: validateSupportedServices. */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** A plugin of a driver as it registered. */
export interface DraPlugin {
  /** Name of the driver. */
  readonly name: string;
  /** Path of its socket. */
  readonly endpoint: string;
  /** gRPC services it offers, as it names them at its registration. */
  readonly services: readonly string[];
}

/** Services for claims, the newest first. */
const SERVICES = ["v1.DRAPlugin", "v1beta1.DRAPlugin"] as const;

export type DraService = (typeof SERVICES)[number];

const isService = (service: string): service is DraService => SERVICES.some((known) => known === service);

const quoted = (names: readonly string[]): string => `[${names.map((name) => JSON.stringify(name)).join(" ")}]`;

/** Returns the service to call: the first of the plugin's that the kubelet has. Errors: there is none. */
export function draServiceOf({ name, endpoint, services }: DraPlugin): Result<DraService> {
  const service = services.find(isService);
  if (service !== undefined) return ok(service);
  const why =
    services.length === 0
      ? "empty list of supported gRPC services (aka supported versions)"
      : `none of services supported by the plugin (${quoted(services)}) are supported by the kubelet (${quoted(SERVICES)})`;
  const what = `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}`;
  return err(kubeletError("InvalidArgument", `${what}: ${why}`));
}
