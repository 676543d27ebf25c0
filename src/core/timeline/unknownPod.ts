/** What is said of a pod nobody knows here: with the name that was probably meant. */
import { closestName } from "../config/closestName.ts";

/** Names listed when none is close. */
const MAX_LISTED = 10;

/** One sentence; `known` are pods as `namespace/name`. Static pods carry the node's name behind their own. */
export function unknownPodMessage(namespace: string, name: string, known: readonly string[]): string {
  const wanted = `${namespace}/${name}`;
  const said = `no pod ${JSON.stringify(wanted)} on this node`;
  const guess =
    known.find((each) => each.startsWith(`${wanted}-`)) ??
    known.find((each) => each.endsWith(`/${name}`)) ??
    known.find((each) => each.includes(`/${name}-`)) ??
    closestName(wanted, known);
  if (guess !== undefined) return `${said}; did you mean ${guess}?`;
  if (known.length === 0) return `${said}; there is none at all`;
  const listed = known.slice(0, MAX_LISTED).join(", ");
  return `${said}; there are ${listed}${known.length > MAX_LISTED ? ` and ${known.length - MAX_LISTED} more` : ""}`;
}
