import { map, type Observable, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { BackoffPolicy } from "../../src/core/backoff.ts";
import { monotonicMs } from "../../src/core/ids.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { type ContainerExit, crashLoopBackoff } from "../../src/operators/crashLoopBackoff.ts";
import { marbles } from "../support/marbles.ts";

const upstream: BackoffPolicy = { initialMs: 10_000, maxMs: 300_000, resetAfterMs: 600_000 };
const short: BackoffPolicy = { initialMs: 4, maxMs: 16, resetAfterMs: 50 };

const exitsOf = (source$: Observable<string>, clock: Clock): Observable<ContainerExit> =>
  source$.pipe(map((key) => ({ key, exitedAt: clock.monotonicMs() })));

/** Waits in seconds when a container exits `runMs` after every start. */
function waitsOf(clock: Clock, runsMs: readonly number[], flush: () => void): number[] {
  const exits = new Subject<ContainerExit>();
  const waits: number[] = [];
  const exitAfter = (ms: number) =>
    clock.scheduler.schedule(() => exits.next({ key: "c", exitedAt: clock.monotonicMs() }), ms);
  const left = [...runsMs];
  exits.pipe(crashLoopBackoff(upstream, clock)).subscribe({
    next: ({ waitedMs }) => {
      waits.push(waitedMs / 1000);
      const next = left.shift();
      if (next !== undefined) exitAfter(next);
    },
  });
  exitAfter(left.shift() ?? 0);
  flush();
  return waits;
}

describe("crashLoopBackoff", () => {
  it(
    "follows upstream's curve: at once, 10 s doubling to 300 s",
    marbles(({ clock, flush }) => {
      expect(waitsOf(clock, [1, 1, 1, 1, 1, 1, 1, 1, 1], flush)).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
    }),
  );

  it(
    "counts the wait from the exit, so that a longer run is not punished",
    marbles(({ hot, clock, expectObservable }) => {
      const permitted$ = exitsOf(hot("-a---a-------|"), clock).pipe(
        crashLoopBackoff(short, clock),
        map(({ key }) => key),
      );
      expectObservable(permitted$).toBe("-a-------a---|");
    }),
  );

  it(
    "forgets after more than ten minutes between a restart and the next exit",
    marbles(({ clock, flush }) => {
      expect(waitsOf(clock, [1, 1, 1, 600_000, 1, 600_001, 1], flush)).toEqual([0, 10, 20, 40, 80, 0, 10]);
    }),
  );

  it(
    "keeps keys apart, also while one waits for long",
    marbles(({ hot, clock, expectObservable }) => {
      const permitted$ = exitsOf(hot("a-ab-b----|"), clock).pipe(
        crashLoopBackoff(short, clock),
        map(({ key }) => key),
      );
      expectObservable(permitted$).toBe("a--b--a--b|");
    }),
  );

  it(
    "does not forget a key that waits when another key's exit comes",
    marbles(({ clock, at, flush }) => {
      const exits = new Subject<ContainerExit>();
      const seen: (readonly [string, number])[] = [];
      exits.pipe(crashLoopBackoff(short, clock)).subscribe({ next: (p) => seen.push([p.key, p.waitedMs]) });
      const exitAt = (ms: number, key: string) => at(ms, () => exits.next({ key, exitedAt: clock.monotonicMs() }));
      exitAt(0, "a");
      exitAt(50, "a");
      exitAt(52, "b");
      exitAt(60, "a");
      exits.next({ key: "z", exitedAt: clock.monotonicMs() });
      flush();
      expect(seen).toEqual([
        ["z", 0],
        ["a", 0],
        ["b", 0],
        ["a", 4],
        ["a", 8],
      ]);
    }),
  );

  it(
    "waits anew when the same container exits again during its wait",
    marbles(({ hot, clock, expectObservable }) => {
      const permitted$ = exitsOf(hot("a-a-a-----|"), clock).pipe(
        crashLoopBackoff(short, clock),
        map(({ waitedMs }) => String(waitedMs)),
      );
      expectObservable(permitted$).toBe("a-------b-|", { a: "0", b: "4" });
    }),
  );

  it(
    "permits at once what exited longer ago than its delay",
    marbles(({ clock, at, expectObservable }) => {
      const exits = new Subject<ContainerExit>();
      at(1, () => exits.next({ key: "c", exitedAt: clock.monotonicMs() }));
      at(9, () => exits.next({ key: "c", exitedAt: monotonicMs(5) }));
      const permitted$ = exits.pipe(
        crashLoopBackoff(short, clock),
        map(({ waitedMs }) => waitedMs),
      );
      expectObservable(permitted$, "-----------!").toBe("-a-------b--", { a: 0, b: 4 });
    }),
  );

  it(
    "completes after the last wait, passes an error on and stops on unsubscribe",
    marbles(({ hot, clock, scheduler, expectObservable, expectSubscriptions, flush }) => {
      const permissions = (source$: Observable<string>) =>
        exitsOf(source$, clock).pipe(
          crashLoopBackoff(short, clock),
          map(({ key }) => key),
        );
      const failing = hot("a-a-#");
      expectObservable(permissions(hot("a-a|"))).toBe("a-----(a|)");
      expectObservable(permissions(failing)).toBe("a---#");
      expectObservable(permissions(hot("a-a--")), "---!").toBe("a---");
      expectSubscriptions(failing).toBe("^---!");
      flush();
      expect(scheduler.actions.length).toBe(0);
    }),
  );
});
