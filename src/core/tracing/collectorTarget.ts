/** The address of the collector of spans. */

/** Address without a configured one, as upstream's. */
const DEFAULT_ENDPOINT = "localhost:4317";

/**
 * Returns the target of a gRPC client for a valid `tracing.endpoint`: `host:port`, or the path of a Unix socket, which
 * begins with NUL for an abstract one. The authority of a `dns` target, a name server, is ignored, as Node has no place
 * for it.
 */
export function collectorTarget(endpoint = DEFAULT_ENDPOINT): { readonly host: string } | { readonly socket: string } {
  const [, scheme = "", rest = ""] = /^(dns|unix|unix-abstract):(.*)$/s.exec(endpoint) ?? [];
  switch (scheme) {
    case "unix":
      return { socket: rest.replace(/^\/\/(?=\/)/, "") };
    case "unix-abstract":
      return { socket: `\0${rest.replace(/^\/\//, "")}` };
    case "dns":
      return { host: rest.startsWith("//") ? (rest.slice(2).split("/").at(-1) ?? "") : rest };
    default:
      return { host: endpoint };
  }
}
