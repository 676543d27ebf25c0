import { concat, EMPTY, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { type LiveMessage, MAX_BATCH } from "../../../../src/core/live/liveMessages.ts";
import { MAX_KEPT, type MarbleDraft } from "../../../../src/core/live/marbleLog.ts";
import type { LiveSource } from "../../../../src/ports/liveSource.ts";
import { createLiveView } from "../../../../src/server/live/liveView.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";

const draft = (text: string): MarbleDraft => ({ place: "registry", at: 1, text });
const DRAFTS = { a: draft("a"), b: draft("b"), c: draft("c") };
const SOURCE: LiveSource = {
  parts: [{ name: "podLifecycle", reads: ["inputs"], writes: ["registry"] }],
  places: [
    { name: "registry", kind: "cell" },
    { name: "inputs", kind: "queue" },
    { name: "quiet", kind: "cell" },
  ],
  drafts$: NEVER,
  pods$: NEVER,
  queues: () => [{ name: "inputs", depth: 3, dropped: 1 }],
};
const viewOf = ({ clock }: Pick<Marbles, "clock">, source: Partial<LiveSource> = {}) =>
  createLiveView({ source: { ...SOURCE, ...source }, clock, node: "one", version: "1", node$: NEVER });

/** Kinds of messages, and the texts of marbles. */
const shown = (messages: readonly LiveMessage[]): readonly string[] =>
  messages.map((message) =>
    message.kind === "marbles"
      ? `${message.marbles.map(({ text }) => text).join("")}-${message.dropped}`
      : message.kind,
  );

describe("the live view", () => {
  it(
    "gives each watcher the graph first, then each thing that is new once",
    marbles(({ hot, clock, at, flush }) => {
      const drafts = "--a--b-c-";

      const view = viewOf({ clock }, { drafts$: hot(drafts, DRAFTS), pods$: concat(of([]), NEVER) });
      const watch = view.watch(undefined);
      const watching = watch.changes$.subscribe();
      const taken: (readonly string[])[] = [];
      for (const frame of [1, 3, 4, 8]) at(frame, () => taken.push(shown(watch.take())));
      at(9, () => watching.unsubscribe());
      flush();
      expect(taken).toEqual([["graph", "pods"], ["a-0"], [], ["bc-0"]]);
    }),
  );

  it(
    "counts the values of each place every second, and shows the queues",
    marbles(({ hot, clock, at, flush }) => {
      const drafts = "ab-c";

      const view = viewOf({ clock }, { drafts$: hot(drafts, DRAFTS) });
      const watch = view.watch(undefined);
      const watching = watch.changes$.subscribe();
      const flows: LiveMessage[] = [];
      for (const frame of [1_001, 2_001])
        at(frame, () => flows.push(...watch.take().filter(({ kind }) => kind === "flow")));
      at(2_002, () => watching.unsubscribe());
      flush();
      const queue = { name: "inputs", count: 0, depth: 3, dropped: 1 };
      expect(flows.map((flow) => flow.kind === "flow" && flow.places)).toEqual([
        [{ name: "registry", count: 3 }, queue],
        [queue],
      ]);
    }),
  );

  it(
    "works while somebody watches and half a minute longer, so that a watcher who comes back goes on",
    marbles(({ hot, clock, at, flush, expectSubscriptions }) => {
      const drafts = "  -a-b-c-- 30s -";
      const watched = " ^ 30007ms !";

      const source = hot(drafts, DRAFTS);
      const view = viewOf({ clock }, { drafts$: source });
      const first = view.watch(undefined);
      const taken: (readonly string[])[] = [];
      const watching = first.changes$.subscribe();
      at(2, () => taken.push(shown(first.take())));
      at(2, () => watching.unsubscribe());
      const second = view.watch(1);
      at(6, () => {
        const again = second.changes$.subscribe();
        taken.push(shown(second.take()));
        again.unsubscribe();
      });
      at(8, () => view.watch(undefined).changes$.subscribe().unsubscribe());
      flush();
      expect(taken).toEqual([
        ["graph", "a-0"],
        ["graph", "bc-0"],
      ]);
      expectSubscriptions(source).toBe(watched);
    }),
  );

  it(
    "gives a new watcher the last marbles, and one with a number from before a restart as well",
    marbles(({ clock, at, flush }) => {
      const many = Array.from({ length: MAX_KEPT + 5 }, () => draft("x"));
      const view = viewOf({ clock }, { drafts$: concat(many, NEVER) });
      const lengths: number[] = [];
      const watching = view.watch(undefined).changes$.subscribe();
      const countOf = (after: number | undefined): void => {
        for (const message of view.watch(after).take())
          if (message.kind === "marbles") lengths.push(message.marbles.length, message.dropped);
      };
      at(1, () => {
        countOf(undefined);
        countOf(1 << 30);
        countOf(0);
      });
      at(2, () => watching.unsubscribe());
      flush();
      expect(lengths).toEqual([MAX_BATCH, 0, MAX_BATCH, 0, MAX_BATCH, 5]);
    }),
  );

  it(
    "reads nothing of the node while nobody watches",
    marbles(({ cold, clock, flush, expectSubscriptions }) => {
      const drafts = "-a-";

      const source = cold(drafts, DRAFTS);
      viewOf({ clock }, { drafts$: source, pods$: EMPTY }).watch(undefined).take();
      flush();
      expectSubscriptions(source).toBe();
    }),
  );
});
