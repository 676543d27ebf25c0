/** resolv.conf as upstream parses it: name servers accumulate; of the search and options lines the last one counts. */

export interface ResolvConf {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** Bounds of the settings that a pod gets: domains, their length together, and the length of one. */
export const MAX_SEARCH_PATHS = 32;
export const MAX_SEARCH_LIST_LENGTH = 2048;
export const MAX_DOMAIN_LENGTH = 253;

/** Returns whether a line names no server after `nameserver`. */
export const hasBareNameserver = (content: string): boolean =>
  content.split("\n").some((line) => line.trim() === "nameserver");

/** Parses the content of a resolv.conf; ignores unknown lines. */
export function parseResolvConf(content: string): ResolvConf {
  const nameservers: string[] = [];
  let searches: readonly string[] = [];
  let options: readonly string[] = [];
  for (const line of content.split("\n")) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === "nameserver") nameservers.push(...values.slice(0, 1));
    // A trailing dot is dropped, so that a domain with and without it counts once; the root domain is kept.
    if (keyword === "search") searches = values.map((domain) => (domain === "." ? domain : domain.replace(/\.$/, "")));
    if (keyword === "options") options = values;
  }
  return { nameservers, searches, options };
}
