/** resolv.conf, parsed as upstream does: servers add up, of search and options the last line counts. */

export interface ResolvConf {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** Parses the content of a resolv.conf; lines it does not know are ignored. */
export function parseResolvConf(content: string): ResolvConf {
  const nameservers: string[] = [];
  let searches: readonly string[] = [];
  let options: readonly string[] = [];
  for (const line of content.split("\n")) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === "nameserver") nameservers.push(...values.slice(0, 1));
    // The same domain with and without its dot counts once; the root is a domain of its own.
    if (keyword === "search") searches = values.map((domain) => (domain === "." ? domain : domain.replace(/\.$/, "")));
    if (keyword === "options") options = values;
  }
  return { nameservers, searches, options };
}
