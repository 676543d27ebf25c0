/** `rxlet top`: the live view of a node in a terminal. */
import type { IncomingMessage } from "node:http";
import {
  catchError,
  combineLatest,
  concat,
  defer,
  filter,
  finalize,
  fromEvent,
  ignoreElements,
  interval,
  map,
  Observable,
  of,
  scan,
  startWith,
  switchMap,
  take,
  takeWhile,
  tap,
  throttleTime,
  timer,
} from "rxjs";
import { drawBlock, EMPTY_BLOCK, type TerminalSize } from "../cli/drawBlock.ts";
import { advanceTop, EMPTY_MODEL, type TopModel } from "../cli/top/topModel.ts";
import { TOP_VIEWS, topLines, type TopView } from "../cli/top/topViews.ts";
import type { TopOptions } from "../cli/topFlags.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { createLiveEventReader } from "../core/live/liveEvents.ts";
import { LIVE_PATHS, type LiveMessage } from "../core/live/liveMessages.ts";
import { openBody } from "../sinks/kubeletStreams.ts";
import { systemClock } from "../sources/systemClock.ts";
import type { Screen } from "./showPage.ts";
import { refusalOf, targetServer, unanswered } from "./targetServer.ts";

/** A terminal, or another destination of the output. */
export interface TopScreen extends Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

const DRAW_MS = 250;
const AGAIN_MS = 1_000;
/** The size of a view that is printed. */
const PAPER: TerminalSize = { columns: 160, rows: 10_000 };
const [ALTERNATE, NORMAL, HOME] = ["\u001b[?1049h", "\u001b[?1049l", "\u001b[H"];

/**
 * Shows the node until `q` or Ctrl-C; without a terminal prints the view once. Errors: no node answers at the start, or it
 * has no live view. A connection that breaks later is made again.
 */
export function top(options: TopOptions, input: NodeJS.ReadStream, screen: TopScreen): Observable<never> {
  const isLive = screen.isTTY === true && input.isTTY && !options.once;
  return isLive ? shown(options, input, screen) : printed(options, screen);
}

function printed({ target, view }: TopOptions, screen: TopScreen): Observable<never> {
  return messages(target).pipe(
    scan(advanceTop, EMPTY_MODEL),
    filter((model) => isComplete(model)),
    take(1),
    tap((model) => screen.write(`${topLines(model, view, PAPER, systemClock.wallTime()).slice(2).join("\n")}\n`)),
    ignoreElements(),
  );
}

/** Whether every view has something to show. */
const isComplete = ({ graph, pods, flow, node }: TopModel): boolean =>
  graph !== undefined && pods !== undefined && flow !== undefined && node !== undefined;

function shown(options: TopOptions, input: NodeJS.ReadStream, screen: TopScreen): Observable<never> {
  const size = (): TerminalSize => ({ columns: known(screen.columns, 80), rows: known(screen.rows, 24) });
  const resizes$ = fromEvent(screen as unknown as NodeJS.EventEmitter, "resize").pipe(startWith(undefined));
  const view$ = keys(input).pipe(
    takeWhile((key) => key !== "q" && key !== "\u0003"),
    scan(viewAfter, options.view),
    startWith(options.view),
    map((view) => ({ view })),
  );
  // The end of the keys ends the command.
  const views$ = concat(view$, of(undefined));
  const ticks$ = interval(DRAW_MS, systemClock.scheduler).pipe(startWith(undefined));
  let block = EMPTY_BLOCK;
  return combineLatest([views$, models(options), resizes$, ticks$]).pipe(
    takeWhile(([choice]) => choice !== undefined),
    throttleTime(DRAW_MS / 2, systemClock.scheduler, { leading: true, trailing: true }),
    tap(([choice, model]) => {
      const lines = topLines(model, choice?.view ?? options.view, size(), systemClock.wallTime());
      block = drawBlock({ ...block, lines: [] }, lines, size());
      if (block.output !== "") screen.write(`${HOME}${block.output}`);
    }),
    finalize(() => screen.write(NORMAL)),
    startingWith(() => screen.write(ALTERNATE)),
    ignoreElements(),
  );
}

/** A terminal that does not know its size says 0. */
const known = (size: number | undefined, usual: number): number => (size === undefined || size === 0 ? usual : size);

const startingWith =
  <T>(begin: () => unknown) =>
  (source$: Observable<T>): Observable<T> =>
    defer(() => {
      begin();
      return source$;
    });

/** Keeps a model up to date; a broken connection is shown, and made again. The first failure ends the command. */
function models({ target }: TopOptions): Observable<TopModel> {
  let hasAnswered = false;
  let model = EMPTY_MODEL;
  const run = (): Observable<TopModel> =>
    messages(target).pipe(
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

const viewAfter = (view: TopView, key: string): TopView => {
  if (key === "\t") return TOP_VIEWS[(TOP_VIEWS.indexOf(view) + 1) % TOP_VIEWS.length] ?? view;
  return TOP_VIEWS[Number(key) - 1] ?? view;
};

/** Emits each key; the terminal passes keys on at once meanwhile. */
const keys = (input: NodeJS.ReadStream): Observable<string> =>
  new Observable<string>((subscriber) => {
    const pressed = (data: Buffer): void => {
      for (const key of data.toString()) subscriber.next(key);
    };
    input.setRawMode(true);
    input.on("data", pressed).resume();
    return () => {
      input.off("data", pressed).pause();
      input.setRawMode(false);
    };
  });

/** Emits the messages of one connection. Errors: Unavailable when it breaks, and those of the server. */
const messages = (target: TopOptions["target"]): Observable<LiveMessage> =>
  defer(() => targetServer(target)).pipe(
    switchMap((server) =>
      openBody(`${server.url}${LIVE_PATHS.stream}`, server.access, systemClock).pipe(
        unanswered(server),
        switchMap((answer) => {
          if (!("status" in answer)) return received(answer);
          const { status, text } = answer;
          const off = kubeletError("NotFound", `${server.name} has no live view: start the node with --live-view`);
          throw status === 404 ? off : (refusalOf(server, status, text) ?? kubeletError("Unknown", text.trim()));
        }),
      ),
    ),
  );

const received = (body: IncomingMessage): Observable<LiveMessage> =>
  new Observable<LiveMessage>((subscriber) => {
    const reader = createLiveEventReader();
    body.setEncoding("utf8");
    body.on("data", (piece: string) => {
      try {
        for (const message of reader.take(piece)) subscriber.next(message);
      } catch (thrown) {
        subscriber.error(thrown);
      }
    });
    const broken = (): void => subscriber.error(kubeletError("Unavailable", "the connection broke off"));
    body.on("end", broken).on("error", broken).on("close", broken);
    return () => body.destroy();
  });
