/** Types and operators for lists of parts, beside `src/kubelet.ts`. */
import { tap } from "rxjs";
import type { NodeState } from "../state/nodeState.ts";
import type { Parts } from "../state/parts.ts";
import type { Queues } from "./queues.ts";

/** Adds a part to the kubelet: its name, the cells and queues that it uses, and its start. */
export type RunPart = Parts<NodeState, Queues>["run"];

/** Passes values on to a queue as well. */
export const into = <T>(queue: { push(value: T): void }) => tap<T>((value) => queue.push(value));
