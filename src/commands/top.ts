/** `rxlet top`: the live view of a node in a terminal. */
import {
  catchError,
  combineLatest,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  endWith,
  filter,
  finalize,
  fromEvent,
  ignoreElements,
  interval,
  map,
  merge,
  type Observable,
  of,
  scan,
  startWith,
  switchMap,
  take,
  takeUntil,
  tap,
  throttleTime,
  timer,
} from "rxjs";
import { drawBlock, EMPTY_BLOCK, type TerminalSize } from "../cli/drawBlock.ts";
import { advanceTop, EMPTY_MODEL, type TopModel } from "../cli/top/topModel.ts";
import { afterKey, afterModel, afterPage, afterRetry, beginTop, type TopState } from "../cli/top/topState.ts";
import { topLines } from "../cli/top/topViews.ts";
import type { TopOptions } from "../cli/topFlags.ts";
import { toKubeletError } from "../core/errors.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import { systemClock } from "../sources/systemClock.ts";
import { type Cell, createCell, type ReadonlyCell } from "../state/cell.ts";
import type { Screen } from "./showPage.ts";
import { terminalKeys } from "./topKeys.ts";
import { liveMessages } from "./topMessages.ts";
import { createTopRequests } from "./topRequests.ts";

/** A terminal, or another destination of the output. */
export interface TopScreen extends Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

const DRAW_MS = 250;
const AGAIN_MS = 1_000;
/** Time between two looks at the open page of a pod. */
const PAGE_MS = 2_000;
/** The size of a view that is printed. */
const PAPER: TerminalSize = { columns: 160, rows: 10_000 };
const [ALTERNATE, NORMAL, HOME] = ["\u001b[?1049h", "\u001b[?1049l", "\u001b[H"];

/**
 * Shows the node until `q`, Ctrl-C, or the end of the terminal; without a terminal prints the view once. Errors: no node answers at the start, or it
 * has no live view. A connection that breaks later is made again.
 */
export function top(options: TopOptions, input: NodeJS.ReadStream, screen: TopScreen): Observable<never> {
  const isLive = screen.isTTY === true && input.isTTY && !options.once;
  return isLive ? shown(options, input, screen) : printed(options, screen);
}

function printed({ target, view }: TopOptions, screen: TopScreen): Observable<never> {
  return liveMessages(target).pipe(
    scan(advanceTop, EMPTY_MODEL),
    filter((model) => isComplete(model)),
    take(1),
    tap((model) => {
      const lines = topLines(afterModel(beginTop(view, false), model), PAPER, systemClock.wallTime());
      screen.write(`${lines.slice(2).join("\n")}\n`);
    }),
    ignoreElements(),
  );
}

/** Whether every view has something to show. */
const isComplete = ({ graph, pods, flow, node }: TopModel): boolean =>
  graph !== undefined && pods !== undefined && flow !== undefined && node !== undefined;

function shown(options: TopOptions, input: NodeJS.ReadStream, screen: TopScreen): Observable<never> {
  const size = (): TerminalSize => ({ columns: known(screen.columns, 80), rows: known(screen.rows, 24) });
  return defer(() => {
    const state = createCell(beginTop(options.view, true));
    screen.write(ALTERNATE);
    return merge(
      terminalKeys(input).pipe(
        endWith("q"),
        tap((key) => state.set(afterKey(state.value, key, size()))),
      ),
      models(options).pipe(tap((model) => state.set(afterModel(state.value, model)))),
      openPages(options, state),
      drawings(state, size, screen),
    ).pipe(
      ignoreElements(),
      takeUntil(state.changes$.pipe(filter(({ isOver }) => isOver))),
      finalize(() => screen.write(NORMAL)),
    );
  });
}

/** Draws the state after changes, and again as time goes by. */
function drawings(state: ReadonlyCell<TopState>, size: () => TerminalSize, screen: TopScreen): Observable<unknown> {
  const resizes$ = fromEvent(screen as unknown as NodeJS.EventEmitter, "resize").pipe(startWith(undefined));
  const ticks$ = interval(DRAW_MS, systemClock.scheduler).pipe(startWith(undefined));
  let block = EMPTY_BLOCK;
  return combineLatest([state.changes$, resizes$, ticks$]).pipe(
    throttleTime(DRAW_MS / 2, systemClock.scheduler, { leading: true, trailing: true }),
    tap(() => {
      const lines = topLines(state.value, size(), systemClock.wallTime());
      block = drawBlock({ ...block, lines: [] }, lines, size());
      if (block.output !== "") screen.write(`${HOME}${block.output}`);
    }),
  );
}

/** Reads the open page of a pod again and again, and tries the pod again when its user asks for it. */
function openPages({ target }: TopOptions, state: Cell<TopState>): Observable<unknown> {
  const requests = createTopRequests(target);
  const pages$ = state.changes$.pipe(
    map(({ pod }) => pod?.page),
    distinctUntilChanged(),
    switchMap((page) => {
      if (page === undefined) return EMPTY;
      return pollAfter(systemClock, PAGE_MS, () => requests.page(page)).pipe(
        tap((answer) => state.set(afterPage(state.value, page, answer))),
      );
    }),
  );
  const retries$ = state.changes$.pipe(
    map(({ pod }) => (pod?.retry.isAsked === true ? pod : undefined)),
    // A request that was sent goes on when its pod is closed.
    filter((pod) => pod !== undefined),
    distinctUntilChanged((a, b) => a.retry === b.retry),
    switchMap((pod) => requests.retry(pod).pipe(tap((said) => state.set(afterRetry(state.value, pod, said))))),
  );
  return merge(pages$, retries$);
}

/** A terminal that does not know its size says 0. */
const known = (size: number | undefined, usual: number): number => (size === undefined || size === 0 ? usual : size);

/** Keeps a model up to date; a broken connection is shown, and made again. The first failure ends the command. */
function models({ target }: TopOptions): Observable<TopModel> {
  let hasAnswered = false;
  let model = EMPTY_MODEL;
  const run = (): Observable<TopModel> =>
    liveMessages(target).pipe(
      map((message) => {
        hasAnswered = true;
        model = advanceTop(model, message);
        return model;
      }),
      catchError((thrown: unknown) => {
        if (!hasAnswered) throw thrown;
        model = { ...model, problem: `${toKubeletError(thrown).message}; trying again` };
        const again$ = timer(AGAIN_MS, systemClock.scheduler).pipe(switchMap(run));
        return concat(of(model), again$);
      }),
    );
  return defer(run);
}
