/**
 * The live table of `rxlet dev`: chunks of text for standard output. On a terminal one block that is redrawn in place;
 * in a pipe one line per change and never a redraw. State lives in the subscription; bounded by the pods and the screen.
 */
import {
  combineLatest,
  distinctUntilChanged,
  EMPTY,
  filter,
  map,
  merge,
  type Observable,
  scan,
  type SchedulerLike,
  switchMap,
  throttleTime,
  timer,
} from "rxjs";
import type { Pod } from "../core/api.ts";
import type { PodTrouble } from "../core/dev/podTrouble.ts";
import type { EpochMs } from "../core/ids.ts";
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import { bannerBlock, bannerLines, type DevBanner } from "./devBanner.ts";
import { type DrawnBlock, drawBlock, EMPTY_BLOCK, type TerminalSize } from "./drawBlock.ts";
import { changedLines, NO_LINES } from "./podLines.ts";
import { changedProblems, NO_PROBLEM_LINES } from "./problemLines.ts";
import { screenLines } from "./screenLines.ts";
import { changedTroubles, NO_TROUBLE_LINES, troubleAsProblem, type TroubleLines } from "./troubleLines.ts";
import { wrapText } from "./wrapText.ts";
import { byName, devRow, shownName, tableLines } from "./tableLines.ts";

export interface PodTableOptions {
  readonly changes$: Observable<readonly Pod[]>;
  /** All problems of the manifests, now and after each change. */
  readonly problems$: Observable<readonly ManifestProblem[]>;
  /** Path of the manifests, which the problems leave out. */
  readonly manifests: string;
  readonly clock: { readonly scheduler: SchedulerLike; wallTime(): EpochMs };
  /** The header: emits at once, and again when more is known. */
  readonly header$: Observable<DevBanner>;
  /** The size of the terminal, now and after each resize; undefined in a pipe or a file. */
  readonly terminal$: Observable<TerminalSize> | undefined;
  /** A note that a terminal shows below the banner, evaluated at each redraw; undefined shows none. */
  readonly note?: () => string | undefined;
  /** Problems of pods, evaluated at each change and once a second; none when absent. */
  readonly troubles?: () => readonly PodTrouble[];
}

/** The table is redrawn at most ten times a second; ages move once a second. */
const REDRAW_MS = 100;
const AGE_MS = 1000;
/** Problems that end within this time are not shown. */
const TROUBLE_MS = 100;
/** Rows that a note may take on a narrow terminal. */
const MAX_LINES_EACH = 4;

/**
 * Text to write as it is.
 *
 *     changes$   a---b-b'-----------|      a terminal
 *     output     A---B-----B'---...        block redrawn, at most every 100 ms, ages every second
 *
 *     changes$   a---b-b'----|             a pipe
 *     header$    H---H'-----|
 *     output     (HA)(BH')B'-|            header, then what is new of it, lines of pods and problems that changed
 *
 * Cancels: on unsubscribe the last block stays on the screen. Errors: passes those of changes$ and terminal$.
 */
export function podTable(options: PodTableOptions): Observable<string> {
  const { terminal$ } = options;
  return terminal$ === undefined ? pipedTable(options) : redrawnTable(options, terminal$);
}

function pipedTable({ changes$, problems$, clock, header$, manifests, troubles }: PodTableOptions): Observable<string> {
  const head$ = header$.pipe(scan(newHeadLines, { said: [], text: [] }));
  const pods$ = changes$.pipe(scan((last, pods) => changedLines(last, pods, clock.wallTime()), NO_LINES));
  const problemLines$ = problems$.pipe(
    scan((last, problems) => changedProblems(last, problems, manifests, clock.wallTime()), NO_PROBLEM_LINES),
  );
  const troubled$ = troubles === undefined ? EMPTY : troubledPods(changes$, troubles, clock);
  return merge(head$, problemLines$, pods$, troubled$).pipe(
    filter(({ text }) => text.length > 0),
    map(({ text }) => `${text.join("\n")}\n`),
  );
}

/** A cause may become known without a change of the pod. */
const troubledPods = (
  changes$: Observable<readonly Pod[]>,
  troubles: () => readonly PodTrouble[],
  clock: PodTableOptions["clock"],
): Observable<TroubleLines> =>
  changes$.pipe(
    switchMap((pods) => timer(TROUBLE_MS, AGE_MS, clock.scheduler).pipe(map(() => pods))),
    scan((last, pods) => {
      const names = new Set(pods.map((pod) => shownName(devRow(pod, clock.wallTime()))));
      return changedTroubles(last, troubles(), names, clock.wallTime());
    }, NO_TROUBLE_LINES),
  );

interface HeadLines {
  readonly said: readonly string[];
  readonly text: readonly string[];
}

/** The lines of the banner that were not printed before. */
function newHeadLines({ said }: HeadLines, header: DevBanner): HeadLines {
  const text = bannerLines(header, undefined).filter((line) => !said.includes(line));
  return { said: [...said, ...text], text };
}

function redrawnTable(
  { changes$, problems$, clock, header$, manifests, note, troubles }: PodTableOptions,
  terminal$: Observable<TerminalSize>,
): Observable<string> {
  return combineLatest([changes$, problems$, terminal$, header$, timer(0, AGE_MS, clock.scheduler)]).pipe(
    throttleTime(REDRAW_MS, clock.scheduler, { leading: true, trailing: true }),
    map(([pods, problems, size, header]) => {
      const now = clock.wallTime();
      const rows = pods.map((pod) => devRow(pod, now)).sort(byName);
      const banner = bannerLines(header, rows[0] && shownName(rows[0]));
      const below = noteLines(note?.(), size.columns);
      const head = (rows: number): readonly string[] => [
        ...bannerBlock(banner, size.columns, rows - below.length),
        ...below,
      ];
      const all = [...problems, ...(troubles?.() ?? []).map(troubleAsProblem)];
      return { lines: screenLines(head, tableLines(rows, size.columns), { problems: all, manifests }, size), size };
    }),
    scan((block: DrawnBlock, { lines, size }) => drawBlock(block, lines, size), EMPTY_BLOCK),
    distinctUntilChanged(),
    map(({ output }) => output),
  );
}

/** Drawn below the banner, where no table pushes it off the screen. */
const noteLines = (note: string | undefined, columns: number): readonly string[] =>
  note === undefined ? [] : ["", ...wrapText(note, columns, MAX_LINES_EACH)];
