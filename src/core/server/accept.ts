/** Whether a client takes what a route has. Counterpart: Route.matchesAccept of go-restful. */

/** Whether one of the media types an Accept header names is `produced`; none named takes all. */
export const takes = (accept: string | undefined, produced: string): boolean =>
  accept === undefined ||
  accept === "" ||
  accept
    .split(",")
    .map((range) => range.split(";")[0]?.trim())
    .some((type) => type === "" || type === "*/*" || type === produced);
