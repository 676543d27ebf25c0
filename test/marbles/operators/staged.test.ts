import { EMPTY, Observable } from "rxjs";
import { expect, it, onTestFinished } from "vitest";
import { inStage, ownerStage, type Stage, staged, watchStages } from "../../../src/operators/loopStage.ts";
import { longTimer } from "../../../src/operators/longTimer.ts";
import { TurnWatch } from "../../../src/sources/turnWatch.ts";
import { marbles } from "../../support/marbles.ts";

const housekeeping: Stage = { kind: "part_housekeeping", text: "housekeeping" };
const other: Stage = { kind: "registry", text: "pod registry" };
const watched = (): void => onTestFinished(watchStages(new TurnWatch({ nowMs: () => 0, atTurnEnd: () => {} })));

it(
  "passes on values and error of the source",
  marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source = "    --a--b--#";
    const sourceSubs = "^-------!";
    const expected = "  --a--b--#";

    watched();
    const source$ = cold(source);
    expectObservable(source$.pipe(staged(housekeeping))).toBe(expected);
    expectSubscriptions(source$).toBe(sourceSubs);
  }),
);

it(
  "unsubscribes from the source on unsubscribe",
  marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source = "    --a--b--#";
    const sourceSubs = "^---!";
    const unsub = "     ----!";
    const expected = "  --a--";

    watched();
    const source$ = cold(source);
    expectObservable(source$.pipe(staged(housekeeping)), unsub).toBe(expected);
    expectSubscriptions(source$).toBe(sourceSubs);
  }),
);

it("subscribes to the source in the stage", () => {
  watched();
  let seen: Stage | undefined;
  const source$ = new Observable<never>((subscriber) => {
    seen = ownerStage();
    subscriber.complete();
  });
  inStage(other, () => source$.pipe(staged(housekeeping)).subscribe());
  expect(seen).toBe(housekeeping);
});

it(
  "assigns a timer to the stage in which it was made",
  marbles(({ clock, expectObservable }) => {
    const unsub = "   -----!";
    const expected = "---(o)";

    watched();
    const owners = longTimer(clock, 3).pipe(
      (timer$) => new Observable<string | undefined>((to) => timer$.subscribe(() => to.next(ownerStage()?.text))),
      staged(housekeeping),
    );
    expectObservable(owners, unsub).toBe(expected, { o: "housekeeping" });
  }),
);

it("returns the source unchanged without a watch", () => {
  const source$ = new Observable<never>();
  expect(source$.pipe(staged(housekeeping))).toBe(source$);
});
it("returns a source that ends at once unchanged", () => {
  watched();
  expect(EMPTY.pipe(staged(housekeeping))).toBe(EMPTY);
});
