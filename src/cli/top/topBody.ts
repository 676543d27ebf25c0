/** The views of `rxlet top` but for the pods, as lines of any number. Pure. */
import type { TerminalSize } from "../drawBlock.ts";
import { marbleLines } from "./topMarbles.ts";
import type { TopModel } from "./topModel.ts";
import { nodeLines } from "./topNode.ts";
import { downLines, partLines, sourceLines } from "./topPipeline.ts";

/** The views, by the digit that chooses each. */
export const TOP_VIEWS = ["pods", "pipeline", "marbles", "node"] as const;
export type TopView = (typeof TOP_VIEWS)[number];

/** Lines of the head, the position in the view, and the line where the cursor of the terminal rests. */
const OTHER_LINES = 4;

/** Returns the number of lines that a view has on the screen; a problem takes one. */
export const bodyHeight = ({ problem }: TopModel, { rows }: TerminalSize): number =>
  Math.max(1, rows - OTHER_LINES - (problem === undefined ? 0 : 1));

/** Returns all lines of a view at `now`. Their number does not depend on the time. */
export function bodyLines(
  { graph, flow, node, ...model }: TopModel,
  view: Exclude<TopView, "pods">,
  size: TerminalSize,
  now: number,
): readonly string[] {
  switch (view) {
    case "pipeline": {
      const sources = node?.sources ?? [];
      return [...downLines(sources), ...partLines(graph?.parts ?? [], flow), ...sourceLines(sources)];
    }
    case "marbles":
      return marbleLines(model, size, now);
    case "node":
      return nodeLines(node);
  }
}
