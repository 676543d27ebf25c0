/** The knowledge of `rxlet top` about a node: the latest message of each kind, and the last marbles. Pure. */
import type { LiveFlow, LiveGraph, LiveMarble, LiveMessage, LiveNode, LivePods } from "../../core/live/liveMessages.ts";

/** Marbles that a screen can show. */
export const MAX_MARBLES = 2_000;

export interface TopModel {
  readonly graph: LiveGraph | undefined;
  readonly pods: LivePods | undefined;
  readonly flow: LiveFlow | undefined;
  readonly node: LiveNode | undefined;
  /** Oldest first. */
  readonly marbles: readonly LiveMarble[];
  /** Why nothing new comes; undefined while the node answers. */
  readonly problem: string | undefined;
}

/** The model before the first message. */
export const EMPTY_MODEL: TopModel = {
  ...{ graph: undefined, pods: undefined, flow: undefined, node: undefined },
  ...{ marbles: [], problem: undefined },
};

/** Returns the model after a message. */
export function advanceTop(model: TopModel, message: LiveMessage): TopModel {
  // A new connection begins with the graph, and the last marbles come again.
  if (message.kind === "graph") return { ...model, problem: undefined, graph: message, marbles: [] };
  if (message.kind !== "marbles") return { ...model, problem: undefined, [message.kind]: message };
  return { ...model, problem: undefined, marbles: [...model.marbles, ...message.marbles].slice(-MAX_MARBLES) };
}
