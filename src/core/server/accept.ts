/** Content negotiation of routes. Upstream: Route.matchesAccept of go-restful. */

/** Returns whether an Accept header allows the media type `produced`; an absent header allows all. */
export const takes = (accept: string | undefined, produced: string): boolean =>
  accept === undefined ||
  accept === "" ||
  accept
    .split(",")
    .map((range) => range.split(";")[0]?.trim())
    .some((type) => type === "" || type === "*/*" || type === produced);
