/** The pipeline of the node: its parts, cells and queues, with what goes through them. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { LiveGraph } from "../../core/live/liveMessages.ts";
import { type GraphArrow, type GraphBox, type GraphDrawing, graphLayout, type GraphRow } from "../model/graphLayout.ts";
import { shownCount } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { type Flow, writerKey } from "../pageState.ts";
import { usePage } from "../page.ts";
import { PlaceTable } from "./PlaceTable.tsx";
import { SourceTable } from "./SourceTable.tsx";

type Flows = ReadonlyMap<string, Flow>;

export function PipelineView() {
  const graph = usePage().graph.value;
  return (
    <section class="pipeline" aria-label="Pipeline">
      <h2 class="hidden">Pipeline</h2>
      {graph === undefined ? <p class="muted">Waiting for the node.</p> : <Pipeline graph={graph} />}
    </section>
  );
}

function Pipeline({ graph }: { readonly graph: LiveGraph }) {
  const drawing = useMemo(() => graphLayout(graph), [graph]);
  const chosen = useSignal<string | undefined>(undefined);
  const { flow, writes, node } = usePage();
  const sources = node.value?.sources ?? [];
  const flows = flow.value;
  const choose = (key: string): void => void (chosen.value = chosen.value === key ? undefined : key);
  return (
    <>
      <p class="muted intro">
        Each box is a part: above its name the queues it takes values from, below it the cells it writes. Choose one to
        follow its arrows.
      </p>
      <div class="graph" tabIndex={0} role="region" aria-label="Graph of the pipeline">
        <svg
          class={chosen.value === undefined ? "" : "has-chosen"}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
          role="group"
          aria-label="Parts, cells and queues"
        >
          {drawing.arrows.map((arrow) => (
            <Arrow
              key={arrow.key}
              arrow={arrow}
              pace={arrow.writer === undefined ? paceOf(flows.get(arrow.place)) : paceOfWriter(writes.value, arrow)}
              chosen={chosen.value}
            />
          ))}
          {drawing.boxes.map((box) => (
            <Box
              key={box.key}
              box={box}
              flows={flows}
              isChosen={box.key === chosen.value}
              isNear={isNear(drawing, box.key, chosen.value)}
              choose={choose}
            />
          ))}
        </svg>
      </div>
      {drawing.apart.length > 0 && (
        <p class="muted">{`Parts without cells and queues: ${drawing.apart.map((name) => shownText(name, 64)).join(", ")}`}</p>
      )}
      {sources.length > 0 && <SourceTable sources={sources} />}
      <PlaceTable graph={graph} />
    </>
  );
}

const isNear = ({ arrows }: GraphDrawing, key: string, chosen: string | undefined): boolean =>
  arrows.some(({ from, to }) => (from === chosen && to === key) || (to === chosen && from === key));

/** Values per second from which an arrow counts as busy. */
const BUSY = 10;

const paceOf = (flow: Flow | undefined): string =>
  flow === undefined || flow.count === 0 ? "still" : flow.perSecond < BUSY ? "slow" : "busy";

/** A queue does not say who fills it: its marbles do. */
function paceOfWriter(writes: ReadonlyMap<string, number>, { writer = "", place }: GraphArrow): string {
  const count = writes.get(writerKey(writer, place)) ?? 0;
  return count === 0 ? "still" : count < BUSY ? "slow" : "busy";
}

interface ArrowProps {
  readonly arrow: GraphArrow;
  readonly pace: string;
  readonly chosen: string | undefined;
}

function Arrow({ arrow: { path, from, to }, pace, chosen }: ArrowProps) {
  const isChosen = chosen !== undefined && (from === chosen || to === chosen);
  return <path d={path} class={`arrow ${pace}${isChosen ? " chosen" : ""}`} />;
}

interface BoxProps {
  readonly box: GraphBox;
  readonly flows: Flows;
  readonly isChosen: boolean;
  readonly isNear: boolean;
  readonly choose: (key: string) => void;
}

function Box({ box, flows, isChosen, isNear: near, choose }: BoxProps) {
  const { key, kind, label, labelY, x, y, width, height, rows } = box;
  const name = shownText(label, 24);
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(key);
  };
  return (
    <g
      class={`box ${kind}${isChosen ? " chosen" : ""}${near ? " near" : ""}`}
      role="button"
      // SVG knows this spelling only.
      tabindex={0}
      aria-pressed={isChosen}
      onClick={() => choose(key)}
      onKeyDown={press}
    >
      <rect x={x} y={y} width={width} height={height} rx={5} />
      <text class="label" x={x + 10} y={labelY + 4}>
        {kind === "shared" ? "of no single part" : name}
      </text>
      {rows.map((row) => (
        <Row key={row.place} row={row} flow={flows.get(row.place)} x={x} width={width} />
      ))}
    </g>
  );
}

/** Rate of a queue, with the values that wait in it and those it has dropped. */
function rateText({ perSecond, depth = 0, dropped = 0 }: Flow): string {
  const rate = perSecond === 0 ? "" : `${shownCount(Math.round(perSecond))}/s`;
  const waiting = depth === 0 ? "" : `${shownCount(depth)} wait`;
  const lost = dropped === 0 ? "" : `${shownCount(dropped)} lost`;
  return [rate, waiting, lost].filter((text) => text !== "").join(" ");
}

interface RowProps {
  readonly row: GraphRow;
  readonly flow: Flow | undefined;
  readonly x: number;
  readonly width: number;
}

function Row({ row: { place, kind, y }, flow, x, width }: RowProps) {
  return (
    <>
      {kind === "queue" ? (
        <rect class={`inlet ${paceOf(flow)}`} x={x + 4} y={y - 8} width={width - 8} height={16} rx={8} />
      ) : (
        <circle class={paceOf(flow)} cx={x + 14} cy={y} r={3.5} />
      )}
      <text class={kind} x={x + (kind === "queue" ? 12 : 23)} y={y + 4}>
        {shownText(place, 22)}
      </text>
      <text class="rate" x={x + width - 10} y={y + 4}>
        {flow === undefined ? "" : rateText(flow)}
      </text>
    </>
  );
}
