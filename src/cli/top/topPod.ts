/** A pod in `rxlet top`: its timeline or the end of a log, as far as the screen has room. Pure. */
import type { LivePod } from "../../core/live/liveMessages.ts";
import type { TerminalSize } from "../drawBlock.ts";
import type { TopModel } from "./topModel.ts";
import { podLine } from "./topPods.ts";
import { shown, wrappedLines } from "./topText.ts";
import { positionLines, windowOn } from "./topWindow.ts";

/** A page about a pod. Each opened page is an object of its own. */
export type PodPage = PodName & ({ readonly kind: "timeline" } | { readonly kind: "log"; readonly container: string });

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** The pod that is open. */
export interface OpenPod extends PodName {
  readonly uid: string;
  /** The container whose log is shown: the first that is no init container, if there is one. */
  readonly container: string | undefined;
  readonly page: PodPage;
  /** The lines of the page; undefined before they are known. */
  readonly lines: readonly string[] | undefined;
  /** Why nothing new is known of the page. */
  readonly problem: string | undefined;
  /** First row on the screen; END follows the last rows. */
  readonly top: number;
  readonly retry: { readonly isAsked: boolean; readonly said: string };
}

/** Follows the end of a page. */
const END = Infinity;

/** Opens the timeline of a pod. */
export function openPod({ uid, namespace, name, containers }: LivePod): OpenPod {
  const first = containers.find(({ kind }) => kind !== "init") ?? containers[0];
  return {
    ...{ uid, namespace, name, container: first?.name },
    ...timelinePage({ namespace, name }),
    retry: { isAsked: false, said: "" },
  };
}

const timelinePage = ({ namespace, name }: PodName) => ({
  page: { kind: "timeline", namespace, name } as const,
  ...{ lines: undefined, problem: undefined, top: 0 },
});

/** Switches between the timeline and the log, whose end is shown first. */
export function switched(pod: OpenPod): OpenPod {
  const { namespace, name, container, page } = pod;
  if (page.kind === "log") return { ...pod, ...timelinePage(pod) };
  if (container === undefined) return { ...pod, problem: "the pod has no container yet" };
  return {
    ...pod,
    page: { kind: "log", namespace, name, container },
    ...{ lines: undefined, problem: undefined, top: END },
  };
}

/** Lines above the rows of the page: the head, the pod, a notice, and an empty line. */
const HEAD_LINES = 4;
/** The line below them, and the one where the cursor rests. */
const FOOT_LINES = 2;

/** Returns the rows of the page that fit the screen, and the number of all. */
function pageWindow({ lines = [], top }: OpenPod, { columns, rows: screen }: TerminalSize) {
  const rows = wrappedLines(lines, columns);
  return { seen: windowOn(rows, top, Math.max(1, screen - HEAD_LINES - FOOT_LINES)), all: rows.length };
}

/** Moves the page by rows. The end of a log is followed once it is reached. */
export function scrolled(pod: OpenPod, by: number, size: TerminalSize): OpenPod {
  const { first, last } = pageWindow(pod, size).seen;
  const top = Math.max(0, first + by);
  return { ...pod, top: top < last ? top : pod.page.kind === "log" ? END : last };
}

/** Returns the lines of the view at `now`. */
export function podView(
  pod: OpenPod,
  { pods, problem: broken }: TopModel,
  size: TerminalSize,
  now: number,
): readonly string[] {
  const { namespace, name, uid, page, lines, problem, retry } = pod;
  const known = pods?.pods.find((each) => each.uid === uid);
  const notices = [broken, problem].flatMap((text) => (text === undefined ? [] : [`! ${text}`]));
  const { seen, all } = pageWindow(pod, size);
  return [
    `${shown(`${namespace}/${name}`)}   ${pageTabs(pod)}   r tries again   Esc goes back   q ends`,
    known === undefined ? "The node has it no longer." : podLine(known, now),
    shown([...notices, retry.said].filter((text) => text !== "").join("   ")),
    "",
    ...(lines === undefined && problem === undefined ? [`Reading the ${page.kind}.`] : seen.lines),
    ...positionLines(seen, all),
  ];
}

function pageTabs({ page, container }: OpenPod): string {
  const log = `log${container === undefined ? "" : ` of ${shown(container)}`}`;
  return page.kind === "timeline" ? `[timeline]  l ${log}` : `l timeline  [${log}]`;
}
