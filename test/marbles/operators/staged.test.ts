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
  "values, error and unsubscription are those of the source",
  marbles(({ cold, expectObservable, expectSubscriptions }) => {
    watched();
    const source$ = cold("  --a--b--#");
    expectObservable(source$.pipe(staged(housekeeping))).toBe("--a--b--#");
    expectObservable(source$.pipe(staged(housekeeping)), "----!").toBe("--a--");
    expectSubscriptions(source$).toBe("^-------!", "^---!");
  }),
);

it("the source is subscribed in the stage", () => {
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
  "a timer belongs to the stage it was made in",
  marbles(({ clock, expectObservable }) => {
    watched();
    const owners = longTimer(clock, 3).pipe(
      (timer$) => new Observable<string | undefined>((to) => timer$.subscribe(() => to.next(ownerStage()?.text))),
      staged(housekeeping),
    );
    expectObservable(owners, "-----!").toBe("---(o)", { o: "housekeeping" });
  }),
);

it("returns the source unchanged without a watch, and when it ends at once", () => {
  const source$ = new Observable<never>();
  expect(source$.pipe(staged(housekeeping))).toBe(source$);
  watched();
  expect(EMPTY.pipe(staged(housekeeping))).toBe(EMPTY);
});
