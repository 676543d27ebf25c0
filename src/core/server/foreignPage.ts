/**
 * Requests that a page of another site makes in a browser. A page at a name of its own can point that name at a node (DNS
 * rebinding), and the browser then lets it read what a server without authentication answers.
 */
import { isIPAddress } from "../config/nodeNames.ts";

/** Every browser sends one of these with every request, and a page cannot leave them out. */
const BROWSER_HEADERS = ["accept-language", "origin", "sec-fetch-mode", "sec-fetch-site"];

/**
 * The name by which a browser reached this server, if that is none of `names`, no address and not localhost; undefined for
 * other requests. Other clients, such as Prometheus, may use any name.
 */
export function foreignName(
  headerOf: (name: string) => string | undefined,
  names: ReadonlySet<string>,
): string | undefined {
  if (!BROWSER_HEADERS.some((name) => headerOf(name) !== undefined)) return undefined;
  const name = (headerOf("host") ?? "").replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
  const isKnown =
    names.has(name) || name === "localhost" || name.endsWith(".localhost") || isIPAddress(name.replace(/^\[|\]$/g, ""));
  return isKnown ? undefined : name;
}
