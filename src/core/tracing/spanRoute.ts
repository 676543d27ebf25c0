/** Routes of the server in spans. */

/** Upstream's names of the parameters of routes. */
const PARAMETERS: Readonly<Record<string, string>> = {
  namespace: "podNamespace",
  pod: "podID",
  container: "containerName",
};

/** Returns a route as upstream's router spells it; undefined for the route of all requests, which matches no page. */
export function spanRoute(route: string): string | undefined {
  if (route === "*" || route === "/*" || route === "") return undefined;
  const spelled = route.replace(/:(\w+)/g, (_, name: string) => `{${PARAMETERS[name] ?? name}}`);
  return spelled.length > 1 && spelled.endsWith("/") ? spelled.slice(0, -1) : spelled;
}
