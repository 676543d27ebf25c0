/**
 * `rxlet dev [DIR]`: the embedded runtime as a child process, a node on it, and a live table of its pods. Ctrl-C stops
 * the pods, ends the runtime and removes a temporary state directory. After a SIGKILL of this process the runtime kills
 * its containers, ends, and removes that directory (parentEnd.ts).
 */
import {
  catchError,
  concat,
  connect,
  defer,
  filter,
  from,
  fromEvent,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  scan,
  shareReplay,
  skip,
  startWith,
  switchMap,
  take,
  takeUntil,
  tap,
  throwError,
} from "rxjs";
import type { DevBanner } from "../cli/devBanner.ts";
import { podTable, type PodTableOptions } from "../cli/podTable.ts";
import type { DevOptions } from "../cli/subCommands.ts";
import { podTrouble, type PodTrouble } from "../core/dev/podTrouble.ts";
import { stoppingNote } from "../core/dev/stoppingNote.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import type { TimelineView } from "../core/timeline/timelineView.ts";
import type { Kubelet } from "../kubelet.ts";
import { createLogger } from "../sinks/logger.ts";
import { toOne } from "../sinks/logOutput.ts";
import { systemClock } from "../sources/systemClock.ts";
import { type DevSpace, openDevSpace } from "./devSpace.ts";
import type { ListeningServer, NodeOutput } from "./nodeOutput.ts";
import { runNode } from "./runNode.ts";
import { KUBERNETES_VERSION } from "./version.ts";

/** Time for pods to stop after the first Ctrl-C; a second Ctrl-C does not wait. */
const DRAIN_MS = 40_000;

/** The output of the table. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
}

/**
 * Runs until a signal, then drains the node and completes. Errors when it cannot start. A signal during the start takes
 * effect once all resources are open, so that everything is cleaned up.
 */
export function dev(options: DevOptions, signals$: Observable<unknown>, screen: Screen): Observable<never> {
  return signals$.pipe(
    connect((heard$) => devUntil(options, heard$, screen), { connector: () => new ReplaySubject<unknown>(2) }),
  );
}

function devUntil(options: DevOptions, signals$: Observable<unknown>, screen: Screen): Observable<never> {
  let notice: string | undefined;
  const onRestart = (how: string): void => {
    notice = `The built-in runtime ended (${how}) and was started again; containers run on`;
    if (screen.isTTY !== true) screen.write(`${notice}\n`);
  };
  return defer(() => from(openDevSpace(options, onRestart))).pipe(
    switchMap((space) => {
      let kubelet: Kubelet | undefined;
      let isStopping = false;
      notice = space.notices.length === 0 ? undefined : space.notices.join("; ");
      if (screen.isTTY !== true) for (const line of space.notices) screen.write(`${line}\n`);
      const note = (): string | undefined => (isStopping && kubelet ? stoppingNote(leaving(kubelet)) : notice);
      const log = createLogger({
        format: "text",
        verbosity: options.logLevel,
        wallTime: () => systemClock.wallTime(),
        output: toOne(space.log),
      });
      const drained$ = signals$.pipe(
        take(1),
        switchMap(() => {
          isStopping = true;
          // On a terminal the table shows it, and another line would break the table.
          if (screen.isTTY !== true) screen.write("\nStopping pods...\n");
          return kubelet === undefined ? of(undefined) : kubelet.drain(DRAIN_MS);
        }),
        catchError((error: unknown) => {
          screen.write(`${toKubeletError(error).message}\n`);
          return of(undefined);
        }),
      );
      const hurried$ = signals$.pipe(
        skip(1),
        take(1),
        tap(() => screen.write("Stopping now...\n")),
      );
      const { options: nodeOptions, mayMoveReadOnly } = space;
      const setup = { options: nodeOptions, log, version: KUBERNETES_VERSION, localApi: space, mayMoveReadOnly };
      const node$ = runNode(setup).pipe(
        connect((output$) => {
          const kubelet$ = startedKubelet(output$).pipe(tap((started) => (kubelet = started)));
          const troubles = (): readonly PodTrouble[] => (kubelet === undefined ? [] : troublesOf(kubelet));
          return showPods(kubelet$, bannerOf(space, output$), screen, {
            troubles,
            manifests: space.banner.manifests,
            note,
          });
        }),
      );
      const died$ = from(space.runtime.ended).pipe(
        switchMap((how) => throwError(() => kubeletError("Unavailable", `the built-in runtime ended: ${how}`))),
      );
      const untilStopped$ = merge(node$, died$).pipe(takeUntil(merge(drained$, hurried$)));
      return concat(
        untilStopped$.pipe(
          catchError((error: unknown) =>
            concat(
              closeSpace(space, screen, true),
              throwError(() => error),
            ),
          ),
        ),
        closeSpace(space, screen, false),
      );
    }),
  );
}

/** Shows the last errors of the log, then closes the space. */
const closeSpace = (space: DevSpace, screen: Screen, hasFailed: boolean): Observable<never> =>
  defer(async () => {
    const errors = await space.lastErrors(hasFailed);
    if (errors.length > 0)
      screen.write(`Last ${hasFailed ? "warnings and " : ""}errors of the log:\n${indented(errors)}`);
    await space.close();
  }).pipe(ignoreElements());

const leaving = ({ queries }: Kubelet): readonly TimelineView[] =>
  queries.shownPods().flatMap(({ metadata }) => queries.timeline(metadata.namespace, metadata.name) ?? []);

const troublesOf = ({ queries }: Kubelet): readonly PodTrouble[] =>
  queries.shownPods().flatMap((pod) => {
    const { namespace, name } = pod.metadata;
    const text = podTrouble(pod, queries.timeline(namespace, name));
    return text === undefined ? [] : [{ namespace, name, text }];
  });

const indented = (lines: readonly string[]): string => lines.map((line) => `  ${line}\n`).join("");

const startedKubelet = (output$: Observable<NodeOutput>): Observable<Kubelet> =>
  output$.pipe(
    filter((output) => output.kind === "started"),
    map(({ kubelet }) => kubelet),
  );

/** The banner, and again with each server that listens. */
const bannerOf = (space: DevSpace, output$: Observable<NodeOutput>): Observable<DevBanner> =>
  merge(
    portOf("readOnly", output$).pipe(map((port) => space.readOnlyAt(port))),
    portOf("https", output$).pipe(switchMap((port) => from(space.announce(port)))),
  ).pipe(
    scan((banner: DevBanner, more: Partial<DevBanner>) => ({ ...banner, ...more }), space.banner),
    startWith(space.banner),
  );

const portOf = (wanted: ListeningServer, output$: Observable<NodeOutput>): Observable<number> =>
  output$.pipe(
    filter((output) => output.kind === "listening"),
    filter(({ server }) => server === wanted),
    map(({ at }) => at.port),
  );

function showPods(
  started$: Observable<Kubelet>,
  header$: Observable<DevBanner>,
  screen: Screen,
  fixed: Pick<PodTableOptions, "manifests" | "note" | "troubles">,
): Observable<never> {
  const resized$ = fromEvent(screen as unknown as NodeJS.EventEmitter, "resize").pipe(
    startWith(undefined),
    map(() => ({ columns: screen.columns ?? 80, rows: screen.rows ?? 24 })),
  );
  const kubelet$ = started$.pipe(shareReplay({ bufferSize: 1, refCount: true }));
  return podTable({
    ...fixed,
    changes$: kubelet$.pipe(
      switchMap(({ podsChanged$, queries }) => podsChanged$.pipe(map(() => queries.shownPods()))),
      startWith([]),
    ),
    problems$: kubelet$.pipe(
      switchMap(({ problemsChanged$, queries }) => problemsChanged$.pipe(map(() => queries.manifestProblems()))),
      startWith([]),
    ),
    clock: systemClock,
    header$,
    terminal$: screen.isTTY === true ? resized$ : undefined,
  }).pipe(
    tap((text) => screen.write(text)),
    ignoreElements(),
  );
}
