/** The view that the page shows, as it is in the address after `#`. */

export type Route =
  | { readonly view: "marbles" | "pipeline" | "node" }
  | { readonly view: "pod"; readonly namespace: string; readonly name: string };

/** Returns the route of an address; unknown ones are that of the marbles. */
export function routeOf(hash: string): Route {
  const [, view, ...rest] = hash.split("/");
  if (view === "pipeline" || view === "node") return { view };
  const [namespace, name] = rest.map(decoded);
  return view === "pod" && namespace && name ? { view, namespace, name } : { view: "marbles" };
}

/** Returns the address of a route. */
export const hashOf = (route: Route): string =>
  route.view === "pod"
    ? `#/pod/${encodeURIComponent(route.namespace)}/${encodeURIComponent(route.name)}`
    : `#/${route.view}`;

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
