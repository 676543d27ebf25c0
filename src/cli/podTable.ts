/**
 * The live table of `rxlet dev`: chunks of text for standard output. On a terminal one block that is redrawn in place;
 * in a pipe one line per change and never a redraw. State lives in the subscription; bounded by the pods and the screen.
 */
import {
  combineLatest,
  concat,
  distinctUntilChanged,
  filter,
  map,
  merge,
  type Observable,
  of,
  scan,
  type SchedulerLike,
  throttleTime,
  timer,
} from "rxjs";
import type { Pod } from "../core/api.ts";
import type { EpochMs } from "../core/ids.ts";
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import { bannerLines, type DevBanner } from "./devBanner.ts";
import { type DrawnBlock, drawBlock, EMPTY_BLOCK, type TerminalSize } from "./drawBlock.ts";
import { changedLines, NO_LINES } from "./podLines.ts";
import { changedProblems, NO_PROBLEM_LINES } from "./problemLines.ts";
import { screenLines } from "./screenLines.ts";
import { byName, devRow, shownName, tableLines } from "./tableLines.ts";

export interface PodTableOptions {
  readonly changes$: Observable<readonly Pod[]>;
  /** All problems of the manifests, now and after each change. */
  readonly problems$: Observable<readonly ManifestProblem[]>;
  readonly clock: { readonly scheduler: SchedulerLike; wallTime(): EpochMs };
  readonly header: DevBanner;
  /** The size of the terminal, now and after each resize; undefined in a pipe or a file. */
  readonly terminal$: Observable<TerminalSize> | undefined;
  /** What a terminal shows under the table, asked at each redraw; undefined: nothing. */
  readonly note?: () => string | undefined;
}

/** At most ten redraws a second; ages move once a second. */
const REDRAW_MS = 100;
const AGE_MS = 1000;

/**
 * Text to write as it is.
 *
 *     changes$   a---b-b'-----------|      a terminal
 *     output     A---B-----B'---...        block redrawn, at most every 100 ms, ages every second
 *
 *     changes$   a---b-b'----|             a pipe
 *     output     (HA)B-B'----|             header, then lines of pods and problems that changed
 *
 * Cancels: on unsubscribe the last block stays on the screen. Errors: passes those of changes$ and terminal$.
 */
export function podTable(options: PodTableOptions): Observable<string> {
  const { terminal$ } = options;
  return terminal$ === undefined ? pipedTable(options) : redrawnTable(options, terminal$);
}

function pipedTable({ changes$, problems$, clock, header }: PodTableOptions): Observable<string> {
  const head = `${bannerLines(header, undefined).join("\n")}\n`;
  const pods$ = changes$.pipe(scan((last, pods) => changedLines(last, pods, clock.wallTime()), NO_LINES));
  const told$ = problems$.pipe(
    scan((last, problems) => changedProblems(last, problems, header.manifests, clock.wallTime()), NO_PROBLEM_LINES),
  );
  const lines$ = merge(told$, pods$).pipe(
    filter(({ text }) => text.length > 0),
    map(({ text }) => `${text.join("\n")}\n`),
  );
  return concat(of(head), lines$);
}

function redrawnTable(
  { changes$, problems$, clock, header, note }: PodTableOptions,
  terminal$: Observable<TerminalSize>,
): Observable<string> {
  const { manifests } = header;
  return combineLatest([changes$, problems$, terminal$, timer(0, AGE_MS, clock.scheduler)]).pipe(
    throttleTime(REDRAW_MS, clock.scheduler, { leading: true, trailing: true }),
    map(([pods, problems, size]) => {
      const now = clock.wallTime();
      const rows = pods.map((pod) => devRow(pod, now)).sort(byName);
      const banner = bannerLines(header, rows[0] && shownName(rows[0]));
      return {
        lines: screenLines(
          banner,
          [...tableLines(rows, size.columns), ...noteLines(note?.())],
          { problems, manifests },
          size,
        ),
        size,
      };
    }),
    scan((block: DrawnBlock, { lines, size }) => drawBlock(block, lines, size), EMPTY_BLOCK),
    distinctUntilChanged(),
    map(({ output }) => output),
  );
}

const noteLines = (note: string | undefined): readonly string[] => (note === undefined ? [] : ["", note]);
