/** The endpoint of Docker. Pure. */

/** Returns the path of a `unix://` endpoint. Throws for any other, since Docker's files are needed as well. */
export function socketOf(endpoint: string): string {
  const [, path] = /^unix:\/\/(\/.*)$/.exec(endpoint) ?? [];
  if (path !== undefined) return path;
  throw new Error(`Docker endpoint "${endpoint}": only unix:///PATH is possible, a Docker of this machine`);
}
