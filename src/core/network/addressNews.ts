/** Lines of `ip -o monitor address route`, of which few concern the addresses of the node itself. */

const DEFAULT_ROUTE = /^(?:Deleted )?default\b/;
const ADDRESS = /^(?:Deleted )?\d+: \S+\s+inet6? /;
/** Addresses that each interface of a pod brings along, and those of loopback. */
const LOCAL_SCOPE = /\bscope (?:link|host)\b/;

/** Returns whether the line reports an address of the machine or its default route. */
export const isAddressNews = (line: string): boolean =>
  DEFAULT_ROUTE.test(line) || (ADDRESS.test(line) && !LOCAL_SCOPE.test(line));
