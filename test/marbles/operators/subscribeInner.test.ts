import { Observable, of, Subject, type Subscriber, type Subscription, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { subscribeInner } from "../../../src/operators/subscribeInner.ts";

/** Subscribes to `inner` on behalf of a destination, and notes what happens. */
function follow(inner: Observable<string>, seen: string[], onNext?: (value: string) => void): Subscription {
  const outer$ = new Observable<never>((destination) => {
    subscribeInner(destination, () => inner, {
      next: (value) => {
        seen.push(value);
        onNext?.(value);
      },
      complete: () => void seen.push("complete"),
      ended: () => void seen.push("ended"),
    });
  });
  return outer$.subscribe({ error: (thrown) => void seen.push(`error ${String(thrown)}`) });
}

/** Emits and completes with the subject; its teardown is noted, also a part that is added later. */
const held = (subject: Subject<string>, seen: string[]): Observable<string> =>
  new Observable<string>((subscriber) => {
    subject.subscribe(subscriber);
    subject.subscribe(() => subscriber.add(() => void seen.push("late teardown")));
    return () => void seen.push("teardown");
  });

describe("subscribeInner", () => {
  it("reports the end after every teardown of the source, also of parts that it added later", () => {
    const [subject, seen] = [new Subject<string>(), new Array<string>()];
    follow(held(subject, seen), seen);
    subject.next("a");
    subject.complete();
    expect(seen).toEqual(["a", "complete", "teardown", "late teardown", "ended"]);
  });

  it("reports the end of a synchronous source after its teardown", () => {
    const seen: string[] = [];
    const source$ = new Observable<string>((subscriber) => {
      subscriber.next("a");
      subscriber.complete();
      return () => void seen.push("teardown");
    });
    follow(source$, seen);
    expect(seen).toEqual(["a", "complete", "teardown", "ended"]);
  });

  it("reports no end of a source that is unsubscribed, or that fails", () => {
    const [subject, seen] = [new Subject<string>(), new Array<string>()];
    follow(held(subject, seen), seen).unsubscribe();
    follow(
      throwError(() => "broken"),
      seen,
    );
    expect(seen).toEqual(["teardown", "error broken"]);
  });

  it("passes the source the subscription that it returns, without another subscriber around it", () => {
    const subscribers: unknown[] = [];
    let returned: Subscription | undefined;
    const source$ = new Observable<string>((subscriber) => void subscribers.push(subscriber));
    new Observable<never>((destination) => {
      returned = subscribeInner(destination, () => source$, { next: () => {}, ended: () => {} });
    }).subscribe();
    expect(subscribers[0]).toBe(returned);
  });

  it("ignores what a source emits after its end", () => {
    const seen: string[] = [];
    let late: Subscriber<string> | undefined;
    const source$ = new Observable<string>((subscriber) => {
      late = subscriber;
      subscriber.next("a");
      subscriber.complete();
    });
    follow(source$, seen);
    late?.next("b");
    late?.error("late");
    late?.complete();
    expect(seen).toEqual(["a", "complete", "ended"]);
  });

  it("errors when a function of the observer throws at the end", () => {
    for (const failing of ["complete", "ended"] as const) {
      const failed: unknown[] = [];
      const broken = (): void => {
        throw `${failing} failed`;
      };
      new Observable<never>((destination) => {
        subscribeInner(destination, () => of("a"), { next: () => {}, ended: () => {}, [failing]: broken });
      }).subscribe({ error: (thrown) => failed.push(thrown) });
      expect(failed).toEqual([`${failing} failed`]);
    }
  });

  it("stops a synchronous source half-way when the destination fails", () => {
    const seen: string[] = [];
    follow(of("a", "b", "c"), seen, (value) => {
      if (value === "b") throw "enough";
    });
    expect(seen).toEqual(["a", "b", "error enough"]);
  });
});
