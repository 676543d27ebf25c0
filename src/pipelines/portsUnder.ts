/** Ports whose calls to the runtime belong to a span. */
import { ImageServiceDefinition, RuntimeServiceDefinition } from "../gen/cri.ts";
import type { CallOptions } from "../ports/call.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { Span } from "../ports/tracing.ts";

type RuntimePorts = Partial<Pick<KubeletPorts, "runtime" | "images">>;

const RUNTIME_CALLS = Object.keys(RuntimeServiceDefinition.methods);
const IMAGE_CALLS = Object.keys(ImageServiceDefinition.methods);

/** Returns the same ports, with the span as the parent of each call to the runtime; without a span the ports. */
export function portsUnder<P extends RuntimePorts>(ports: P, span: Span | undefined): P {
  if (span === undefined) return ports;
  const { runtime, images } = ports;
  return {
    ...ports,
    ...(runtime === undefined ? {} : { runtime: under(runtime, RUNTIME_CALLS, span) }),
    ...(images === undefined ? {} : { images: under(images, IMAGE_CALLS, span) }),
  };
}

type AnyCall = (request: unknown, options?: CallOptions) => unknown;

function under<Service extends object>(service: Service, names: readonly string[], { context: parent }: Span): Service {
  const calls = service as Readonly<Record<string, AnyCall>>;
  const bound = names.map((name): readonly [string, AnyCall] => [
    name,
    (request, options) => calls[name]?.(request, { ...options, parent }),
  ]);
  return Object.fromEntries(bound) as Service;
}
