/** Events of Docker about containers. Pure. */
import { fieldsOf, textMapOf, textOf } from "./fields.ts";

/** Change of a container. */
export type ContainerChange = "create" | "start" | "die" | "destroy";

/** An event about a container. */
export interface ContainerEvent {
  readonly id: string;
  readonly change: ContainerChange;
  /** Nanoseconds since 1970, at the precision of a number. */
  readonly at: bigint;
  /** Labels of the container and more, by name. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** The changes to ask Docker for. */
export const CHANGES: readonly ContainerChange[] = ["create", "start", "die", "destroy"];

/** Reads an event; undefined for one about anything else. */
export function containerEvent(document: unknown): ContainerEvent | undefined {
  const fields = fieldsOf(document);
  const actor = fieldsOf(fields["Actor"]);
  const change = CHANGES.find((each) => each === textOf(fields, "Action"));
  const id = textOf(actor, "ID");
  if (textOf(fields, "Type") !== "container" || change === undefined || !/^[0-9a-f]{64}$/.test(id)) return undefined;
  const at = fields["timeNano"];
  return {
    id,
    change,
    at: typeof at === "number" ? BigInt(Math.trunc(at)) : 0n,
    attributes: textMapOf(actor, "Attributes"),
  };
}
